"""System text as a model reads it (config-and-tools 7.1, 7.2).

Nothing here may differ from one query to the next, because vendors keep the system part in a cache.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of system text; `tag` and `title` decide how it is framed (config-and-tools 7.2)."""

    content: str
    tag: str | None = None
    title: str | None = None
    position: int = 0


def system_parts(system_prompt: str | None, sections: Iterable[Section]) -> tuple[str, ...]:
    """Give the system prompt and then each section as finished text.

    Sections stand by ascending position, equal ones in the order they came.
    """
    rendered = (render(section) for section in sorted(sections, key=lambda section: section.position))
    return (*(() if system_prompt is None else (system_prompt,)), *rendered)


def render(section: Section) -> str:
    """Give one section as text; the tag is used literally, it only has to mean something to a model."""
    if section.tag is not None:
        title = "" if section.title is None else f' title="{_escaped(section.title)}"'
        return f"<{section.tag}{title}>\n{_protected(section.content.strip())}\n</{section.tag}>"
    if section.title is not None:
        return f"# {section.title}\n\n{section.content}"
    return section.content.strip()


def _protected(text: str) -> str:
    """Wrap text that could be taken for markup."""
    if not any(character in text for character in "<>&"):
        return text
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    return text
