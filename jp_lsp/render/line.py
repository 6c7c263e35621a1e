"""What a single line of markdown can be (query pipeline 5.4; the rules are CommonMark's).

Plain questions about one line: how far it is indented, whether it opens a heading, a fence, a list item
and so on. What a line means also depends on what is open around it; that is the business of `blocks`.
"Rest" is always the line without its indentation and its line end.
"""

import re
from dataclasses import dataclass

TAB_SIZE = 4
CODE_INDENT = 4
PREFIX_SIZE = 32
"""How many characters of a line decide whether it can only be a paragraph."""

_HEADING = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_FENCE = re.compile(r"(?:(`{3,})([^`]*)|(~{3,})(.*))\Z", re.DOTALL)
_DEFINITION = re.compile(r"\[(?!\^)(?:[^\[\]\\]|\\.)+\]:[ \t]*\S")
_MARKER = re.compile(r"(?:[-*+]|([0-9]{1,9})[.)])(?=[ \t])")
_INTERRUPTING = frozenset("#*-_`~<")
_BLANKS = str.maketrans("", "", " \t")

_HTML_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    "dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|"
    "link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|"
    "tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTES = r"""(?:[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*"""
_HTML_RAW_TAG = re.compile(r"<(script|pre|style|textarea)(?:[ \t>]|\Z)", re.IGNORECASE)
_HTML_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_HTML_TERMINATED = (
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile(r"<![A-Za-z]"), ">"),
)
_HTML_BLOCK = re.compile(rf"</?(?:{_HTML_BLOCK_TAGS})(?:[ \t]|/?>|\Z)", re.IGNORECASE)
_HTML_ALONE = re.compile(rf"(?:<[A-Za-z][\w-]*{_ATTRIBUTES}[ \t]*/?>|</[A-Za-z][\w-]*[ \t]*>)[ \t]*\Z")


def is_blank(line: str) -> bool:
    """Tell whether a line holds nothing but white space (trap 107)."""
    return not line.strip(" \t\n")


def measure(line: str) -> tuple[int, str]:
    """Give the column of the first character that is no blank, and the rest of the line."""
    rest = line.lstrip(" \t")
    indentation = line[: len(line) - len(rest)]
    if "\t" not in indentation:
        return len(indentation), rest.rstrip("\n")
    return _columns(indentation), rest.rstrip("\n")


def _columns(text: str, start: int = 0) -> int:
    column = start
    for character in text:
        column += TAB_SIZE - column % TAB_SIZE if character == "\t" else 1
    return column


def strip_columns(line: str, count: int) -> str:
    """Remove up to `count` columns of indentation; what is left of a tab becomes spaces."""
    column = position = 0
    while column < count and position < len(line) and line[position] in " \t":
        column += TAB_SIZE - column % TAB_SIZE if line[position] == "\t" else 1
        position += 1
    return " " * max(column - count, 0) + line[position:]


def strip_spaces(line: str, count: int) -> str:
    """Remove up to `count` leading spaces."""
    removed = min(count, len(line) - len(line.lstrip(" ")))
    return line[removed:]


def is_heading(rest: str) -> bool:
    """Tell whether it is a heading that starts with `#`."""
    return _HEADING.match(rest) is not None


def is_rule(rest: str) -> bool:
    """Tell whether it is a thematic break."""
    if rest[:1] not in {"*", "-", "_"}:
        return False
    marks = rest.translate(_BLANKS)
    return len(marks) >= 3 and marks == marks[0] * len(marks)


def is_underline(rest: str) -> bool:
    """Tell whether it makes a heading of the paragraph before it."""
    marks = rest.rstrip(" \t")
    return marks != "" and marks[0] in "=-" and marks == marks[0] * len(marks)


def is_definition(rest: str) -> bool:
    """Tell whether it defines the target of a link; a footnote has lines of its own and is a paragraph."""
    return _DEFINITION.match(rest) is not None


@dataclass(frozen=True, slots=True)
class FenceOpening:
    """The run of a fence and what follows it."""

    run: str
    info: str

    @property
    def language(self) -> str | None:
        """The first word of the info string."""
        words = self.info.split(maxsplit=1)
        return words[0] if words else None


def fence_opening(rest: str) -> FenceOpening | None:
    """Read the opening of a fence; the info string of a backtick fence holds no backtick."""
    if not rest.startswith(("```", "~~~")):
        return None
    match = _FENCE.match(rest)
    if match is None:
        return None
    return FenceOpening(match[1] or match[3], (match[2] or match[4] or "").strip())


@dataclass(frozen=True, slots=True)
class HtmlEnd:
    """What ends a block of HTML: a line with a match of `pattern`, or a blank line when there is none.

    `missing` is what to add when the text ends before.
    """

    pattern: re.Pattern[str] | None = None
    missing: str = ""


def html_start(rest: str, *, interrupts: bool = False) -> HtmlEnd | None:
    """Tell what will end the HTML that starts here, if any does.

    A lone tag of any name (type 7) cannot interrupt a paragraph.
    """
    if not rest.startswith("<"):
        return None
    if (raw := _HTML_RAW_TAG.match(rest)) is not None:
        return HtmlEnd(_HTML_RAW_END, f"</{raw[1]}>")
    for start, end in _HTML_TERMINATED:
        if start.match(rest):
            return HtmlEnd(re.compile(re.escape(end)), end)
    if _HTML_BLOCK.match(rest) or (not interrupts and _HTML_ALONE.match(rest)):
        return HtmlEnd()
    return None


def interrupts_paragraph(rest: str) -> bool:
    """Tell whether a line with at most three columns of indent ends the paragraph before it.

    Lists do not: text that refers to them is mostly written right above them.
    """
    return rest[:1] in _INTERRUPTING and (
        is_heading(rest)
        or is_rule(rest)
        or fence_opening(rest) is not None
        or html_start(rest, interrupts=True) is not None
    )


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of a list item.

    `delimiter` is the bullet, or the character behind the number. `column` is where it stands and
    `content_column` where the text of the item begins; `text` is the marker as written and `content` what
    follows it, blanks included.
    """

    column: int
    content_column: int
    text: str
    content: str
    delimiter: str
    number: int | None


def list_marker(column: int, rest: str) -> Marker | None:
    """Read the marker of a list item at `column`; a rule such as `* * *` is none."""
    match = _MARKER.match(rest)
    if match is None or is_rule(rest):
        return None
    text, content = match[0], rest[match.end() :]
    after_marker = column + len(text)
    body = content.lstrip(" \t")
    content_column = _columns(content[: len(content) - len(body)], after_marker)
    if not body or content_column - after_marker > CODE_INDENT:
        # An empty item, or one that starts with indented code.
        content_column = after_marker + 1
    number = int(match[1]) if match[1] else None
    return Marker(column, content_column, text, content, text[-1], number)


def opens_paragraph(prefix: str) -> bool:
    """Tell whether a line that begins with `prefix` can only be a paragraph, however it goes on.

    `prefix` is at most the first `PREFIX_SIZE` characters, so the answer does not depend on how the line
    was cut into pieces and its cost does not grow with the line.
    """
    column, rest = measure(prefix)
    if column >= CODE_INDENT or not rest:
        return False
    first = rest[0]
    if first in "<[|":
        return False
    if first in "-*_+":
        return _is_no_bullet(first, rest)
    if first == "#":
        after = rest.lstrip("#")
        return len(rest) - len(after) > 6 or (after != "" and after[0] not in " \t")
    if first in "`~":
        after = rest.lstrip(first)
        return after != "" and (len(rest) - len(after) < 3 or (first == "`" and "`" in after))
    if first in "0123456789":
        return _is_no_number(rest)
    return True


def _is_no_bullet(first: str, rest: str) -> bool:
    after = rest[1:2]
    if after == "" or (after in " \t" and first != "_"):
        return False
    return first == "+" or rest.strip(f"{first} \t") != ""


def _is_no_number(rest: str) -> bool:
    after = rest.lstrip("0123456789")
    if len(rest) - len(after) > 9:
        return True
    if after == "":
        return False
    return after[0] not in ".)" or (len(after) > 1 and after[1] not in " \t")
