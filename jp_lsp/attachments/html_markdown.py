"""A web page as markdown: what a reader would see of it, without scripts, styles and frames.

It is made for a model to read and not to be turned back: layout is dropped, and what is broken in the page is
taken as it comes. The page is fed in pieces, so that the task that waits for it can be cancelled.
"""

import re
from html.parser import HTMLParser

from anyio import from_thread

_PIECE = 64 * 1024
_DEEPEST = 20
_SKIPPED = frozenset({"script", "style", "noscript", "svg", "iframe", "template", "head"})
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")


def to_markdown(page: str) -> str:
    """Turn a page into markdown; to be used in a worker thread."""
    writer = _Writer()
    for at in range(0, len(page), _PIECE):
        from_thread.check_cancelled()
        writer.feed(page[at : at + _PIECE])
    writer.close()
    return writer.text()


class _Writer(HTMLParser):
    """Writes markdown while tags go by."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._written: list[str] = []
        self._skipped: list[str] = []
        self._lists: list[int | None] = []
        self._links: list[str | None] = []
        self._in_pre = 0
        self._break = ""
        self._quotes = 0

    def text(self) -> str:
        """Give the markdown."""
        text = "".join(self._written)
        lines = "\n".join(line.rstrip() for line in text.split("\n"))
        return _BLANK_LINES.sub("\n\n", lines).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        if tag in _SKIPPED:
            self._skipped.append(tag)
        if self._skipped:
            return
        given = dict(attrs)
        if tag in _HEADINGS:
            self._block(f"{_HEADINGS[tag]} ")
        elif tag in {"ul", "ol"}:
            self._lists.append(1 if tag == "ol" else None)
            self._block()
        elif tag == "li":
            self._begin_item()
        elif tag == "pre":
            self._in_pre += 1
            self._block("```\n")
        elif tag == "blockquote":
            self._quotes += 1
            self._block()
        elif tag == "br":
            self._line()
        elif tag == "hr":
            self._block("---")
            self._block()
        elif tag == "tr":
            self._line("|")
        elif tag in {"td", "th"}:
            self._write(" ")
        elif tag in _BLOCKS:
            self._block()
        elif tag == "a":
            self._links.append(given.get("href"))
            self._write("[" if given.get("href") else "")
        elif tag == "img":
            self._write(f"![{given['alt']}]" if given.get("alt") else "")
        elif not self._in_pre:
            self._write("`" if tag == "code" else _MARKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if self._skipped:
            if tag in self._skipped:
                del self._skipped[self._skipped.index(tag) :]
            return
        if tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self._block()
        elif tag == "pre" and self._in_pre:
            self._line("```")
            self._in_pre -= 1
            self._block()
        elif tag == "blockquote" and self._quotes:
            self._quotes -= 1
            self._block()
        elif tag in {"td", "th"}:
            self._write(" |")
        elif tag == "a" and self._links:
            target = self._links.pop()
            self._write(f"]({target})" if target else "")
        elif tag in _HEADINGS or (tag in _BLOCKS and tag not in {"li", "tr"}):
            self._block()
        elif not self._in_pre:
            self._write("`" if tag == "code" else _MARKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        """Write text; outside of `pre`, all space is one blank."""
        if self._skipped:
            return
        if self._in_pre:
            self._write(data.replace("\n", f"\n{self._prefix}"))
            return
        text = _SPACE.sub(" ", data)
        if self._is_at_begin:
            text = text.lstrip(" ")
        self._write(text)

    @property
    def _prefix(self) -> str:
        return "> " * min(self._quotes, _DEEPEST)

    @property
    def _is_at_begin(self) -> bool:
        return bool(self._break) or not self._written or self._written[-1].endswith((" ", "\n"))

    def _write(self, text: str) -> None:
        """Write text, behind the line end or blank line that it was to begin after."""
        if not text:
            return
        if self._break:
            self._written.append(f"{self._break}{self._prefix}")
            self._break = ""
        self._written.append(text)

    def _line(self, text: str = "") -> None:
        """Begin a new line."""
        self._break = self._break or "\n"
        self._write(text)

    def _block(self, text: str = "") -> None:
        """Begin anew behind a blank line; however many elements begin here, it is one."""
        self._break = "\n\n"
        self._write(text)

    def _begin_item(self) -> None:
        depth = min(len(self._lists), _DEEPEST)
        indent = "  " * max(depth - 1, 0)
        number = self._lists[-1] if self._lists else None
        if number is None:
            self._line(f"{indent}- ")
        else:
            self._lists[-1] = number + 1
            self._line(f"{indent}{number}. ")
