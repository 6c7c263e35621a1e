"""What a model is told about tools in general, where it is offered any (config-and-tools 4.2, 7.2)."""

from collections.abc import Iterable, Sequence

from jp_lsp.conversation.section import Section
from jp_lsp.tools.builtin import DESCRIBE_TOOLS
from jp_lsp.tools.spec import BuiltinSource, ToolSpec

_RULES = (
    "Call a tool when it brings you nearer to what the user asked for, and answer without one when not. Look things "
    "up instead of guessing what a tool would tell you.",
    "Give every argument that a tool requires, and leave out those you have no value for.",
    "Calls that do not depend on each other may be made together; their results come in the same order.",
    "A result that reports an error is an answer: read it and adapt, do not repeat the same call.",
    "The user may skip or cancel a call, or change its arguments. Take that as guidance: do not repeat the "
    "call unchanged.",
)
_DESCRIBE = (
    "Descriptions are short. Before you use a tool for the first time, or after it refused your arguments, "
    f"call `{DESCRIBE_TOOLS}` with its name to read how it is used."
)


def with_tool_usage(sections: Sequence[Section], tools: Iterable[ToolSpec]) -> tuple[Section, ...]:
    """Add the section about tools, behind others of its position, unless there are none."""
    names = [tool.name for tool in tools]
    if not names:
        return tuple(sections)
    rules = (*_RULES[:1], *((_DESCRIBE,) if DESCRIBE_TOOLS in names else ()), *_RULES[1:])
    text = "\n".join(f"- {rule}" for rule in rules)
    usage = Section(text, "instruction", "Tool Usage")
    return tuple(sorted((*sections, usage), key=lambda section: section.position))


def without_lone_description(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Leave `describe_tools` out where it would be the only tool: there is nothing to describe then."""
    is_alone = all(tool.name == DESCRIBE_TOOLS and isinstance(tool.source, BuiltinSource) for tool in tools)
    return () if is_alone else tuple(tools)
