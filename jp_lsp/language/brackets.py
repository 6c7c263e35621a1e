"""Reads `{…}` and `[…]` as JSON, JSON5 and YAML have them, with the place of everything, also when broken.

A list that is not closed ends where a key of the table around it comes. Formats differ in what may stand between
the pieces, in what a word is, and in what a word means; the reader is given those three.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from jp_lsp.config.value import Absent, Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.document import MAX_DEPTH, Entry, Name, Node

_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class BracketReader:
    """Reads one text up to `end`.

    Attributes:
        filler: blanks and comments; may match nothing.
        simple: an entry that can be read at once, its name and its value as groups; nearly all are.
        word: a quoted text or a bare word, of at least one character.
        meaning: what a word means; `ABSENT` for nothing.
        missing_commas: the offsets at which a comma has to stand, and none does.
    """

    text: str
    end: int
    filler: re.Pattern[str]
    simple: re.Pattern[str]
    word: re.Pattern[str]
    meaning: Callable[[str], "JsonValue | Absent"]
    missing_commas: list[int] = field(default_factory=lambda: [])

    def value(self, start: int, path: Path, depth: int) -> Node:
        """Read the value that begins at an offset before the end."""
        mark = self.text[start]
        if mark in "{[" and depth >= MAX_DEPTH:
            return Node("scalar", start, self._end_of_group(start))
        if mark == "{":
            return self._table(start, path, depth)
        if mark == "[":
            return self._list(start, path, depth)
        end = self._end_of_word(start)
        return Node("scalar", start, end, self.meaning(self.text[start:end]))

    def skip(self, position: int) -> int:
        """Go on to what is neither blank nor comment."""
        found = self.filler.match(self.text, position, self.end)
        return position if found is None else found.end()

    def _list(self, start: int, path: Path, depth: int) -> Node:
        items: list[Node] = []
        position = self.skip(start + 1)
        while (mark := self._mark(position)) not in {"", "]", "}"}:
            if mark in ",:":
                position = self.skip(position + 1)
                continue
            if mark not in "{[" and self._is_key(position):
                break
            items.append(self.value(position, (*path, len(items)), depth + 1))
            position = self.skip(items[-1].end)
            is_followed = self._mark(position) not in {"", ",", ":", "]", "}"} and not self._is_key(position)
            if is_followed and self._is_closed(items[-1]):
                self.missing_commas.append(items[-1].end)
        return Node("list", start, self._closed(start, position, "]"), items=tuple(items))

    def _table(self, start: int, path: Path, depth: int) -> Node:
        entries: list[Entry] = []
        position = self.skip(start + 1)
        while (mark := self._mark(position)) not in {"", "]", "}"}:
            if mark in ",:":
                position += 1
            elif mark in "{[":
                position = self._end_of_group(position)
            else:
                entries.append(self._entry(position, path, depth))
                position = entries[-1].end
                value = entries[-1].value
                if value is not None and self._is_closed(value) and self._is_key(self.skip(position)):
                    self.missing_commas.append(position)
            position = self.skip(position)
        return Node("table", start, self._closed(start, position, "}"), entries=tuple(entries))

    def _entry(self, start: int, base: Path, depth: int) -> Entry:
        simple = self.simple.match(self.text, start, self.end)
        if simple is not None:
            return self._simple_entry(simple, base)
        end = self._end_of_word(start)
        word = self.text[start:end]
        meaning = self.meaning(word) if word[0] in "\"'" else word
        name = Name(meaning if isinstance(meaning, str) else word.strip("\"'"), start, end)
        path = (*base, name.text)
        sign = self.skip(end)
        if self._mark(sign) != ":":
            return Entry((name,), base, path, name.start, name.end)
        position = self.skip(sign + 1)
        mark = self._mark(position)
        if mark in {"", ",", ":", "}", "]"} or (mark not in "{[" and self._is_key(position)):
            end = position if "\n" not in self.text[sign:position] else sign + 1
            return Entry((name,), base, path, start, end, sign=sign)
        value = self.value(position, path, depth + 1)
        return Entry((name,), base, path, start, value.end, sign=sign, value=value)

    def _simple_entry(self, found: re.Match[str], base: Path) -> Entry:
        start, end = found.span()
        word, written = found[1], found[2]
        name = Name(word[1:-1] if word[0] == '"' else word, start, start + len(word))
        path = (*base, name.text)
        value = Node("scalar", end - len(written), end, self.meaning(written))
        sign = self.text.index(":", start + len(word))
        return Entry((name,), base, path, start, end, sign=sign, value=value)

    def _mark(self, position: int) -> str:
        return self.text[position] if position < self.end else ""

    def _is_key(self, position: int) -> bool:
        """Tell whether a word is followed by a colon."""
        word = self.word.match(self.text, position, self.end)
        return word is not None and self._mark(self.skip(word.end())) == ":"

    def _end_of_word(self, start: int) -> int:
        word = self.word.match(self.text, start, self.end)
        return start + 1 if word is None else word.end()

    def _end_of_group(self, start: int) -> int:
        """Find the bracket that closes a group, without looking at what is in it."""
        depth = 0
        for found in _BRACKET.finditer(self.text, start, self.end):
            depth += (found[0] in {"{", "["}) - (found[0] in {"}", "]"})
            if depth == 0:
                return found.end()
        return self.end

    def _is_closed(self, node: Node) -> bool:
        """Tell whether a value has the mark at its end that its first one asks for."""
        first = self.text[node.start]
        wanted = {"{": "}", "[": "]", '"': '"', "'": "'"}.get(first)
        return wanted is None or (node.end > node.start + 1 and self.text[node.end - 1] == wanted)

    def _closed(self, start: int, position: int, bracket: str) -> int:
        """Give the end of a group: behind its bracket, or behind the last thing in it."""
        if self._mark(position) == bracket:
            return position + 1
        return max(position, start + 1)
