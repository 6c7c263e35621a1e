"""Reads YAML by indentation and keeps the place of everything, however broken the text is.

A block is a table if it begins with a key, a list if it begins with a dash, and a scalar otherwise. What is written
on one line beside its key is read up to where a line begins that is indented no deeper than the key, so that quotes
and brackets which were not closed yet cost only what is in their own block.
"""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from jp_lsp.config.value import ABSENT, Absent, Path
from jp_lsp.config.yaml_core import YamlError, load
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.brackets import BracketReader
from jp_lsp.language.document import MAX_DEPTH, Entry, Name, Node

_FILLER = re.compile(r"(?:[ \t\r\n\ufeff]+|(?<!\S)#[^\n]*|^(?:---|\.\.\.)(?!\S)|^%[^\n]*)*", re.MULTILINE)
_PROPERTIES = re.compile(r"[ \t]*(?:[&!]\S*(?:[ \t]+|(?=\r?\n|\Z)))*")
_NO_CONTENT = re.compile(r"[ \t]*(?:(?<!\S)#|\r?\n|\Z)")
_ITEM = re.compile(r"-(?!\S)")
_ASKED_KEY = re.compile(r"\?(?!\S)[ \t]*")
_ASKED_VALUE = re.compile(r":(?!\S)")
"""A key that is written as `? key`, and what comes before its value, on a line of its own."""

_KEY = re.compile(
    r"""("(?:[^"\\\n]|\\.){0,1000}"|'(?:[^'\n]|''){0,1000}'"""
    r"""|(?:[^\s"'#&*!|>%@`\[\]{},?:-]|[?:-](?=\S))(?:[^:#\n]|:(?=\S)|(?<=\S)#){0,200}?)[ \t]{0,100}:(?!\S)"""
)
_SIMPLE = re.compile(
    r"""([A-Za-z_][A-Za-z0-9_-]*):[ ]+([A-Za-z_/][^\n#:]*?|"[^"\\\n]*"|'[^'\n]*')[ \t]*\r?\n([ ]*)(?=[A-Za-z_])"""
)
_SIMPLE_TABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):[ \t]*\r?\n([ ]*)(?=[A-Za-z_][A-Za-z0-9_-]*:[ \r\n])")
_SIMPLE_ITEM = re.compile(r"-[ ]+([A-Za-z_/][^\n#:]*?)[ \t]*\r?\n([ ]*)(?=[A-Za-z_-])")
"""A key with a word or text, one with a table, and an item; each up to where the next line begins. Nearly all are."""

_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'""")
_QUOTED_LINES = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""", re.DOTALL)
_PLAIN_QUOTED = re.compile(r""""[^"\\\n\r\x85\u2028\u2029]*"|'[^'\n\r\x85\u2028\u2029]*'""")
"""Text between quotes that means itself: nothing is escaped, and no line ends, of which YAML knows more kinds."""

_BLOCK_HEADER = re.compile(r"[|>][-+0-9]{0,3}[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_IS_INDENTED = re.compile(r"[|>][-+]?[1-9]")
"""The header of a block scalar that says how deep it is indented, seen from what it belongs to."""

_COMMENT = re.compile(r"(?<!\S)#")
_SIMPLE_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):[ ]+([A-Za-z_/][A-Za-z0-9_/-]*)(?=[,}])")
_FLOW_WORD = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|["'](?:[^,\[\]{}:#"'\n]*[^\s,\[\]{}:#"'])?"""
    r"""|(?:[^\s,\[\]{}:#"']|:(?![\s,\[\]{}]))(?:[^,\[\]{}:#\n]|:(?![\s,\[\]{}]|\Z)|(?<=\S)#"""
    r"""|\n(?=[ \t]*[^\s,\[\]{}:#"'](?![^,\[\]{}\n]*:(?:\s|\Z))))*(?<!\s)""",
    re.DOTALL,
)
"""What stands between brackets and commas; it goes on in the next line, unless that begins with a key.

A text that is not closed yet reaches to what ends a word without quotes.
"""

_LIKE_NO_TEXT = re.compile(r"[~nNtTfF.+0-9-]")
_LONGEST_WORD = 40
"""Characters; no number or other word that means something is longer."""

_MERGE = "<<"


@dataclass(slots=True)
class YamlReader:
    """Reads one text, once; `dashes` has the path of each item of a list by the offset of its dash."""

    text: str
    dashes: dict[int, Path] = field(default_factory=lambda: {})
    _at: int = 0
    _column: int = 0

    def entries(self) -> tuple[Entry, ...]:
        """Read all of it."""
        entries: list[Entry] = []
        self._go(0)
        while not self._is_over:
            start = self._at
            node = self._block((), -1, 0)
            if node is not None and node.kind == "table":
                entries += node.entries
            elif node is not None and node.kind == "scalar" and node.end > start:
                word = self.text[start : node.end].partition("\n")[0].rstrip()
                name = Name(word, start, start + len(word))
                entries.append(Entry((name,), (), (word,), name.start, name.end))
        return tuple(entries)

    def _block(self, path: Path, above: int, depth: int) -> Node | None:
        """Read the block that begins here; `above` is the column of what it belongs to."""
        if depth > MAX_DEPTH:
            self._go(self._limit(self._at, above))
            return None
        if _ITEM.match(self.text, self._at):
            return self._list(path, depth)
        if self._begins_table():
            return self._table(path, depth)
        return self._inline(path, above, depth)

    def _begins_table(self) -> bool:
        """Tell whether a key stands here, or a word that may become one: if a key follows it below."""
        if _KEY.match(self.text, self._at) or _ASKED_KEY.match(self.text, self._at):
            return True
        if not self.text[self._at].isalnum():
            return False
        start, column = self._at, self._column
        self._go(self._line_end(start))
        is_followed = self._column == column and _KEY.match(self.text, self._at) is not None
        self._at, self._column = start, column
        return is_followed

    def _table(self, path: Path, depth: int) -> Node:
        column, start, end = self._column, self._at, self._at
        entries: list[Entry] = []
        while not self._is_over and self._column == column and not _ITEM.match(self.text, self._at):
            entry = self._entry(path, column, depth)
            end = entry.end
            if entry.names[0].text != _MERGE:
                entries.append(entry)
            self._leave_deeper(column)
        return Node("table", start, end, entries=tuple(entries))

    def _entry(self, base: Path, column: int, depth: int) -> Entry:
        start = self._at
        simple = _SIMPLE.match(self.text, start)
        if simple is not None and len(simple[3]) <= column:
            return self._simple_entry(simple, base)
        table = _SIMPLE_TABLE.match(self.text, start)
        if table is not None and len(table[2]) > column and depth < MAX_DEPTH:
            return self._simple_table(table, base, depth)
        if _ASKED_KEY.match(self.text, start):
            return self._asked_entry(base, column, depth)
        key = _KEY.match(self.text, start)
        if key is None:
            end = self._content_end(start)
            name = Name(self.text[start:end], start, end)
            self._go(self._line_end(start))
            return Entry((name,), base, (*base, name.text), name.start, name.end)
        name = Name(_name(key[1]), start, key.end(1))
        path = (*base, name.text)
        value = self._value(key.end(), path, column, depth)
        end = value.end if value is not None else self._blank_end(key.end())
        return Entry((name,), base, path, start, end, sign=key.end() - 1, value=value)

    def _asked_entry(self, base: Path, column: int, depth: int) -> Entry:
        """Read `? key`, and `: value` below it if that is there by now; a key that is no text has no meaning here."""
        start = self._at
        asked = _ASKED_KEY.match(self.text, start)
        place = start + 1 if asked is None else asked.end()
        key = self._value(start + 1, (*base, ""), column, depth, is_item=True)
        self._leave_deeper(column)
        name = Name("", place, place) if key is None else self._asked_name(key)
        path = (*base, name.text)
        if self._column != column or _ASKED_VALUE.match(self.text, self._at) is None:
            return Entry((name,), base, path, start, name.end)
        sign = self._at
        value = self._value(sign + 1, path, column, depth, is_item=True)
        if value is None and self._column == column and _ITEM.match(self.text, self._at):
            value = self._list(path, depth)
        end = value.end if value is not None else self._blank_end(sign + 1)
        return Entry((name,), base, path, start, end, sign=sign, value=value)

    def _asked_name(self, key: Node) -> Name:
        written = self.text[key.start : key.end]
        if written.startswith(("|", ">")) and isinstance(key.scalar, str):
            return Name(key.scalar, key.start, key.end)
        return Name(_name(written), key.start, key.end)

    def _simple_entry(self, found: re.Match[str], base: Path) -> Entry:
        self._at, self._column = found.end(), len(found[3])
        start, written = found.start(), found[1]
        value = Node("scalar", *found.span(2), _meaning(found[2]))
        name = Name(written, start, start + len(written))
        return Entry((name,), base, (*base, written), start, value.end, sign=name.end, value=value)

    def _simple_table(self, found: re.Match[str], base: Path, depth: int) -> Entry:
        self._at, self._column = found.end(), len(found[2])
        start, written = found.start(), found[1]
        path = (*base, written)
        value = self._table(path, depth + 1)
        name = Name(written, start, start + len(written))
        return Entry((name,), base, path, start, value.end, sign=name.end, value=value)

    def _list(self, path: Path, depth: int) -> Node:
        column, start = self._column, self._at
        items: list[Node] = []
        while not self._is_over and self._column == column and _ITEM.match(self.text, self._at):
            dash, its_path = self._at, (*path, len(items))
            self.dashes[dash] = its_path
            simple = _SIMPLE_ITEM.match(self.text, dash)
            if simple is not None and len(simple[2]) <= column:
                items.append(Node("scalar", *simple.span(1), _meaning(simple[1])))
                self._at, self._column = simple.end(), len(simple[2])
                continue
            item = self._value(dash + 1, its_path, column, depth, is_item=True)
            items.append(Node("scalar", dash + 1, dash + 1, None) if item is None else item)
            self._leave_deeper(column)
        return Node("list", start, items[-1].end, items=tuple(items))

    def _value(
        self, position: int, path: Path, column: int, depth: int, *, is_item: bool = False
    ) -> Node | None:
        """Read what follows a key or dash of a column: on its line, or as a block below."""
        properties = _PROPERTIES.match(self.text, position)
        position = position if properties is None else properties.end()
        if _NO_CONTENT.match(self.text, position) is None:
            self._at, self._column = position, self._column_of(position)
            is_block = is_item and (_ITEM.match(self.text, position) or self._begins_table())
            node = self._block(path, column, depth + 1) if is_block else self._inline(path, column, depth)
            return node if properties is None else self._tagged(properties[0].strip(), node, column)
        self._go(position)
        is_list_beside = not is_item and self._column == column and _ITEM.match(self.text, self._at)
        if not self._is_over and (self._column > column or is_list_beside):
            return self._block(path, column, depth + 1)
        return None

    def _inline(self, path: Path, column: int, depth: int) -> Node | None:
        """Read a value that is neither table nor list by its lines."""
        start = self._at
        match self.text[start]:
            case "{" | "[":
                limit = self._limit_of_brackets(start, column)
                reader = BracketReader(self.text, limit, _FILLER, _SIMPLE_PAIR, _FLOW_WORD, _meaning)
                node = reader.value(start, path, depth)
                self._go(self._line_end(node.end))
                return node
            case "|" | ">" if _BLOCK_HEADER.match(self.text, start):
                limit = self._limit(start, column)
                self._go(limit)
                end = start + len(self.text[start:limit].rstrip())
                return Node("scalar", start, end, _meaning(self._block_text(start, limit, column)))
            case '"' | "'":
                end = self._quoted_end(start, column)
                self._go(self._line_end(end))
                return self._scalar(start, end)
            case _:
                return self._words(path, column, depth)

    def _words(self, path: Path, column: int, depth: int) -> Node | None:
        """Read a plain scalar with the lines that continue it; a table below is meant instead of it."""
        start = self._at
        end = self._content_end(start)
        self._go(self._line_end(start))
        while not self._is_over and self._column > column and self.text[self._at] != "#":
            if _KEY.match(self.text, self._at):
                return self._block(path, column, depth + 1)
            end = self._content_end(self._at)
            self._go(self._line_end(self._at))
        return self._scalar(start, end)

    def _scalar(self, start: int, end: int) -> Node:
        return Node("scalar", start, end, _meaning(self.text[start:end]))

    def _block_text(self, start: int, end: int, column: int) -> str:
        """Give a block scalar as it would be written at the left edge, where its depth is said to be counted from."""
        written = self.text[start:end]
        if column <= 0 or _IS_INDENTED.match(written) is None:
            return written
        return re.sub(rf"(?<=\n) {{1,{column}}}", "", written)

    def _tagged(self, properties: str, node: Node | None, column: int) -> Node | None:
        """Give a scalar the meaning that its tag says."""
        if node is None or node.kind != "scalar" or "!" not in properties:
            return node
        is_block = self.text.startswith(("|", ">"), node.start)
        end = self._limit(node.start, column) if is_block else node.end
        written = self._block_text(node.start, end, column)
        return replace(node, scalar=_loaded(f"{properties} {written}"))

    def _quoted_end(self, start: int, column: int) -> int:
        quoted = _QUOTED.match(self.text, start)
        if quoted is not None and _NO_CONTENT.match(self.text, quoted.end()):
            return quoted.end()
        lines = _QUOTED_LINES.match(self.text, start, self._limit(start, column))
        return self._content_end(start) if lines is None else lines.end()

    def _content_end(self, start: int) -> int:
        """Find the end of what stands on a line, without a comment and the blanks before it."""
        line = self.text[start : self._line_end(start)]
        if "#" in line and (comment := _COMMENT.search(line)) is not None:
            line = line[: comment.start()]
        return start + len(line.rstrip())

    def _limit(self, position: int, column: int) -> int:
        """Find the next line that is indented no deeper than a column; blank ones do not count."""
        if column < 0:
            return len(self.text)
        found = re.compile(rf"\n(?= {{0,{column}}}[^\s])").search(self.text, position)
        return len(self.text) if found is None else found.end()

    def _limit_of_brackets(self, position: int, column: int) -> int:
        """Find the same, with the brackets that close what was opened above."""
        limit = self._limit(position, column)
        line = self.text[limit : self._line_end(limit)]
        if line.lstrip()[:1] in {"]", "}"}:
            return limit + len(line)
        return limit - 1 if self.text[limit - 1] == "\n" else limit

    def _leave_deeper(self, column: int) -> None:
        """Leave lines out that are indented deeper than they can be."""
        while not self._is_over and self._column > column:
            self._go(self._line_end(self._at))

    def _go(self, position: int) -> None:
        """Go to what comes next, at or behind an offset."""
        filler = _FILLER.match(self.text, position)
        self._at = position if filler is None else filler.end()
        self._column = self._column_of(self._at)

    def _column_of(self, position: int) -> int:
        return position - self.text.rfind("\n", 0, position) - 1

    def _line_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _blank_end(self, position: int) -> int:
        line = self.text[position : self._line_end(position)]
        return position + len(line) - len(line.lstrip(" \t"))

    @property
    def _is_over(self) -> bool:
        return self._at >= len(self.text)


def _name(written: str) -> str:
    if not written.startswith(("'", '"')):
        return written
    meaning = _meaning(written)
    return meaning if isinstance(meaning, str) else written.strip("\"'")


def _meaning(word: str) -> "JsonValue | Absent":
    """Say what a scalar means; `ABSENT` for an alias and for what makes no sense."""
    if word[:1] in {"*", "&", "!"}:
        return ABSENT
    if word[:1] in {'"', "'"}:
        return word[1:-1] if _PLAIN_QUOTED.fullmatch(word) else _loaded(word)
    if word[:1] in {"|", ">"}:
        return _loaded(word)
    if len(word) <= _LONGEST_WORD and _LIKE_NO_TEXT.match(word):
        return _loaded(word)
    return " ".join(word.split()) if "\n" in word else word


@lru_cache(maxsize=512)
def _loaded(word: str) -> "JsonValue | Absent":
    """Give what the library makes of a scalar; `ABSENT` for none."""
    try:
        value = load(word)
    except (YamlError, RecursionError):
        return ABSENT
    return value if value is None or isinstance(value, (str, bool, int, float)) else ABSENT
