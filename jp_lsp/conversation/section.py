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


TOOL_USAGE = Section(
    tag="instruction",
    title="Tool Usage",
    content=(
        "Tools are available to you in this conversation.\n\n"
        "- Look things up with a tool instead of guessing what it would tell you.\n"
        "- Ask for calls that do not depend on each other at the same time.\n"
        "- Give every argument that a tool requires, and leave out those you have no value for.\n"
        "- A result that reports an error is an answer: read it and adapt, do not repeat the same call.\n"
        "- A call that the user skipped or changed was decided by the user; respect that decision."
    ),
)


def system_parts(
    system_prompt: str | None, sections: Iterable[Section], *, has_tools: bool
) -> tuple[str, ...]:
    """Give the system prompt and then each section as finished text.

    Sections stand by ascending position, equal ones in the order they came; the one about tools comes
    last among those at position 0.
    """
    every = [*sections, *((TOOL_USAGE,) if has_tools else ())]
    rendered = (render(section) for section in sorted(every, key=lambda section: section.position))
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
