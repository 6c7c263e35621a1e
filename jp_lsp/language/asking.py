"""What can be asked about a piece of code: the texts of queries that show it to the model, diagnostics included."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from jp_lsp.render.tool import fenced

MAX_CODE = 60_000
"""Characters of code that are quoted; a longer piece is cut."""

_MOST_COMPLAINTS = 20
_LONGEST_COMPLAINT = 2000
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")


@dataclass(frozen=True, slots=True)
class Complaint:
    """A diagnostic; `line` counts from 1."""

    line: int
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a file. Lines count from 1; `name` is the file's, as the model will know it."""

    name: str
    language: str
    first_line: int
    last_line: int
    code: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Something to ask. Without a `text` the user writes it; the `quote` is shown to the model below it."""

    title: str
    purpose: Literal["ask", "fix", "explain"]
    text: str | None
    quote: str


def asks_about(excerpt: Excerpt, complaints: Sequence[Complaint]) -> Iterator[Ask]:
    """Give what can be asked: about the code, or with complaints about those."""
    quote = _quote(excerpt, complaints)
    if complaints:
        what = "this problem" if len(complaints) == 1 else "these problems"
        yield Ask(f"JP: Fix {what}", "fix", f"Fix {what} in `{excerpt.name}`.", quote)
        yield Ask(f"JP: Explain {what}", "explain", f"Explain {what}, and what can be done.", quote)
        yield Ask(f"JP: Ask about {what} …", "ask", None, quote)
    else:
        yield Ask("JP: Ask about this code …", "ask", None, quote)
        yield Ask("JP: Explain this code", "explain", "Explain what this code does.", quote)
        fix = f"Look for mistakes in this code of `{excerpt.name}`, and fix them."
        yield Ask("JP: Fix this code", "fix", fix, quote)


def _quote(excerpt: Excerpt, complaints: Sequence[Complaint]) -> str:
    lines = f"line {excerpt.first_line}"
    if excerpt.last_line > excerpt.first_line:
        lines = f"lines {excerpt.first_line} to {excerpt.last_line}"
    code = excerpt.code if len(excerpt.code) <= MAX_CODE else f"{excerpt.code[:MAX_CODE]}\n…"
    language = excerpt.language if _LANGUAGE.fullmatch(excerpt.language) else ""
    parts = [f"`{excerpt.name}`, {lines}:", fenced(code, language)]
    if complaints:
        parts.append("\n".join(["The editor says:", "", *map(_complaint, complaints[:_MOST_COMPLAINTS])]))
    return "\n\n".join(parts)


def _complaint(complaint: Complaint) -> str:
    text = " ".join(complaint.text[:_LONGEST_COMPLAINT].split())
    source = f" ({complaint.source})" if complaint.source else ""
    return f"- line {complaint.line}: {text}{source}"
