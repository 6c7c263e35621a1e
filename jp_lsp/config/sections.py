"""The system texts of a configuration: the prompt, its sections, and instructions as sections (7.1, 7.2)."""

from collections.abc import Iterator, Mapping, Sequence

from jp_lsp.config.value import ABSENT, MergedList, MergedText, Partial, Value, entries_of, value_at
from jp_lsp.conversation.thread import Section

INSTRUCTION_TAG = "instruction"


def system_prompt(tree: Partial) -> str | None:
    """Give the first system text; `None` for an empty one."""
    prompt = value_at(tree, ("assistant", "system_prompt"))
    return (prompt.text or None) if isinstance(prompt, MergedText) else None


def sections(tree: Partial) -> tuple[Section, ...]:
    """Give all sections in the order in which they are sent: by position, then sections before instructions."""
    configured = (_section(item) for item in _items(tree, "system_prompt_sections"))
    instructions = (instruction_section(item) for item in _items(tree, "instructions"))
    return tuple(sorted((*configured, *instructions), key=lambda section: section.position))


def _items(tree: Partial, name: str) -> Sequence[Partial]:
    held = value_at(tree, ("assistant", name))
    return [entries_of(item) for item in held.items] if isinstance(held, MergedList) else []


def _section(item: Partial) -> Section:
    return Section(_text(item, "content") or "", _text(item, "tag"), _text(item, "title"), _position(item))


def instruction_section(item: Partial) -> Section:
    """Write an instruction as a section: what it is about, its rules, then its examples."""
    blocks = [description.strip()] if (description := _text(item, "description")) else []
    rules = [f"- {_indented(rule.strip())}" for rule in _list(item, "items") if isinstance(rule, str)]
    if rules:
        blocks.append("\n".join(rules))
    examples = [_example(example) for example in _list(item, "examples")]
    if examples:
        blocks.append("\n\n".join(["## Examples", *examples]))
    return Section("\n\n".join(blocks), INSTRUCTION_TAG, _text(item, "title"), _position(item))


def _example(example: Value) -> str:
    if not isinstance(example, Mapping):
        return str(example).strip()
    return "\n".join(_contrast(example))


def _contrast(example: Partial) -> Iterator[str]:
    for name, label in (("good", "Good"), ("bad", "Bad"), ("reason", "Reason")):
        text = _text(example, name)
        if text is not None:
            stripped = text.strip()
            yield f"{label}:\n{stripped}" if "\n" in stripped else f"{label}: {stripped}"


def _indented(text: str) -> str:
    """Indent further lines, so that they stay within their list item."""
    return "\n".join(
        line and (line if index == 0 else f"  {line}") for index, line in enumerate(text.split("\n"))
    )


def _list(item: Partial, name: str) -> Sequence[Value]:
    held = item.get(name, ABSENT)
    return held.items if isinstance(held, MergedList) else ()


def _text(item: Partial, name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) else None


def _position(item: Partial) -> int:
    value = item.get("position")
    return value if isinstance(value, int) else 0
