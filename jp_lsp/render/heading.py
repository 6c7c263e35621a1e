"""The heading that a text begins with, as plain text: what somebody who writes `# Plan` calls the matter.

Only the beginning is looked at, so the cost does not grow with the text. What is a heading follows
CommonMark: `# Plan`, or a paragraph that is underlined with `===` or `---`. Front matter may stand before it.
"""

import re
from collections.abc import Sequence

from jp_lsp.render.line import (
    CODE_INDENT,
    PREFIX_SIZE,
    interrupts_paragraph,
    is_blank,
    is_heading,
    is_underline,
    measure,
    opens_paragraph,
)
from jp_lsp.render.text import clean_line

READ_SIZE = 16_384
"""So many characters are looked at: front matter and a heading."""

_SOURCE_SIZE = 500
"""So many characters of a heading's Markdown are read, the cost of which may grow with their square."""

_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}
_CLOSING_MARKS = re.compile(r"(?:\A|[ \t])#+[ \t]*\Z")
_LITERAL = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<address>(?:[a-z][a-z0-9+.-]+:|[^\s<>@]+@)[^\s<>]*)>"
    r"|</?[A-Za-z][^<>]*>"
)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\n]*\)|\[[^\[\]]*\])")
_EMPHASIS = re.compile(r"(\*{1,3}|~~)(?=\S)(.+?)(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\3(?!\w)")
_HIDDEN = re.compile("\ue000([0-9]+)\ue001")


def leading_heading(text: str) -> str | None:
    """Give the plain text of the heading that `text` begins with; `None` for no heading, or an empty one."""
    lines = _without_front_matter(text[:READ_SIZE].replace("\r\n", "\n").split("\n"))
    first = next((number for number, line in enumerate(lines) if not is_blank(line)), None)
    if first is None:
        return None
    source = _atx_heading(lines[first]) or _underlined_heading(lines[first:])
    return None if source is None else plain_text(source[:_SOURCE_SIZE]) or None


def plain_text(source: str) -> str:
    """Give inline Markdown without its marks, on one line: links and images as their text, tags left out."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match["escaped"] or _code(match["code"]) or match["address"] or "")
        return f"\ue000{len(hidden) - 1}\ue001"

    text = _LITERAL.sub(hide, source.replace("\ue000", "").replace("\ue001", ""))
    for pattern, replacement in ((_LINK, r"\1"), (_EMPHASIS, r"\2\4")):
        count = 1
        while count:  # what stands within is next
            text, count = pattern.subn(replacement, text)
    return clean_line(_HIDDEN.sub(lambda match: hidden[int(match[1])], text))


def _without_front_matter(lines: Sequence[str]) -> Sequence[str]:
    """Drop what stands between two fences at the very beginning; a fence that is never closed is none."""
    closings = _FRONT_MATTER.get(lines[0].rstrip())
    if closings is None:
        return lines
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in closings), None)
    return lines if end is None else lines[end + 1 :]


def _atx_heading(line: str) -> str | None:
    column, rest = measure(line)
    if column >= CODE_INDENT or not is_heading(rest):
        return None
    return _CLOSING_MARKS.sub("", rest.lstrip("#")).strip(" \t")


def _underlined_heading(lines: Sequence[str]) -> str | None:
    first = lines[0][:PREFIX_SIZE]
    if first.lstrip(" ").startswith(">") or not opens_paragraph(first):
        return None
    for number, line in enumerate(lines[1:], 1):
        column, rest = measure(line)
        if column < CODE_INDENT and is_underline(rest):
            return " ".join(part.strip(" \t") for part in lines[:number])
        if is_blank(line) or (column < CODE_INDENT and interrupts_paragraph(rest)):
            return None
    return None


def _code(source: str | None) -> str:
    """Give what a code span shows; one blank at each end only keeps backticks apart."""
    if source is None:
        return ""
    is_padded = source[0] == source[-1] == " " and bool(source.strip(" "))
    return source[1:-1] if is_padded else source
