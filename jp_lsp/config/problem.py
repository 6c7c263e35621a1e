"""What is wrong with a configuration, and where: findings while reading, problems once their place is known."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jp_lsp.config.layer import Origin
from jp_lsp.config.value import Path
from jp_lsp.ports.refusal import Refusal

Severity = Literal["error", "warning", "hint"]

_SHOWN_PROBLEMS = 20
_SEGMENT = re.compile(r'"([^"]*)"(?:\.|\Z)|([^.]*)(?:\.|\Z)')


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one key, before it is known which file it stands in."""

    path: Path
    text: str
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class Report:
    """Collects findings below `path`."""

    findings: list[Finding] = field(default_factory=lambda: [])
    path: Path = ()

    def at(self, segment: str | int) -> "Report":
        """Give a report for a member."""
        return Report(self.findings, (*self.path, segment))

    def add(self, text: str, severity: Severity = "error") -> None:
        """Note something about the value at `path`."""
        self.findings.append(Finding(self.path, text, severity))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong, with its place. Errors stop a query, warnings are shown, hints wait to be asked for."""

    key: str
    text: str
    origin: Origin | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        parts = [str(self.origin)] if self.origin is not None else []
        if self.key:
            parts.append(f"`{self.key}`")
        return ": ".join([*parts, self.text])


def dotted(path: Iterable[str | int]) -> str:
    """Write a path as `a.b.0`; names with dots or blanks are quoted."""
    return ".".join(_segment_text(segment) for segment in path)


def undotted(key: str) -> Sequence[str]:
    """Split a key at its dots; names that have dots themselves are quoted, as `dotted` writes them."""
    if '"' not in key:
        return key.split(".")
    return [quoted or plain for quoted, plain in _SEGMENT.findall(key)][:-1]  # the last match is always empty


def _segment_text(segment: str | int) -> str:
    text = str(segment)
    return f'"{text}"' if not text or any(mark in text for mark in '. \n"') else text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that `word` was most likely meant to be, if any is near."""
    lowered = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.72)
    return lowered[matches[0]] if matches else None


def errors_in(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Give the problems that stop a query."""
    return (problem for problem in problems if problem.severity == "error")


def refusal(problems: Sequence[Problem]) -> Refusal:
    """Say that a query cannot begin, with all that is wrong; there is at least one problem."""
    first = problems[0]
    origin = first.key if first.origin is None else str(first.origin)
    lines = tuple(str(problem) for problem in problems[:_SHOWN_PROBLEMS])
    if len(problems) == 1:
        return Refusal("config_invalid", lines[0], chain=lines, origin=origin)
    more = len(problems) - len(lines)
    text = "\n".join(f"- {line}" for line in lines) + (f"\n- and {more} more" if more else "")
    return Refusal(
        "config_invalid",
        f"The configuration has {len(problems)} problems:\n{text}",
        chain=lines,
        origin=origin,
    )


def refuse_errors(problems: Iterable[Problem]) -> None:
    """Let nothing begin with errors.

    Raises:
        Refusal: there are some; names them all.
    """
    errors = tuple(dict.fromkeys(errors_in(problems)))
    if errors:
        raise refusal(errors)


def warnings_in(problems: Iterable[Problem]) -> Sequence[str]:
    """Give the problems that the user should know of, as sentences."""
    return [str(problem) for problem in problems if problem.severity == "warning"]
