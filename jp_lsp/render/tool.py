"""How a tool call and its result read (query pipeline 5.8). It turns values into text and decides nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.json_display import compact, pretty, pretty_json_text
from jp_lsp.render.line import fence_opening, measure
from jp_lsp.render.options import FileLink, InlineResults, ParameterStyle, ToolStyle
from jp_lsp.render.region import settle
from jp_lsp.render.text import clean

ARGUMENTS_SHOWN_MAX = 4096
"""How many bytes of arguments the text shows; the chunk's `arguments` has all of them."""

RESULT_SHOWN_MAX = 65536
"""How many bytes of a result are shown when the style limits its lines, however long a line is."""

_BACKTICKS = re.compile("`+")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.:/-]*")
_XML_START = re.compile(r"\s*(?:<\?xml\b|<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>)")


def code_span(text: str) -> str:
    """Put text on one line into a code span that it cannot end."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    run = "`" * (longest + 1 if longest else 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{run}{pad}{text}{pad}{run}"


def name_text(name: str) -> str:
    """Write a tool's name, which a model may have made up, so that it is no markdown."""
    return name if _PLAIN_NAME.fullmatch(name) else code_span(name or "?")


def fenced(content: str, language: str = "") -> str:
    """Put text into a fence that is longer than any run in it (trap 101)."""
    longest = max((len(run) for run in _BACKTICKS.findall(content)), default=0)
    run = "`" * max(3, longest + 1)
    body = content if content.endswith("\n") or not content else content + "\n"
    return f"{run}{language}\n{body}{run}"


@dataclass(frozen=True, slots=True)
class CallText:
    """The text of a call; `is_custom` when a formatter wrote the arguments."""

    md: str
    is_custom: bool


def call_text(
    name: str, position: int, arguments: JsonValue, style: ParameterStyle, rendered: str | None
) -> CallText:
    """Write a call.

    Args:
        name: the tool.
        position: which call of this tool it is within its batch, from 1.
        arguments: what it is called with.
        style: how arguments are written.
        rendered: what a formatter command made of the arguments, now or when the call was stored.
    """
    suffix = f" ({position})" if position > 1 else ""
    header = f"Calling tool {name_text(name)}{suffix}"
    if rendered is not None and style != "off":
        shown = settle(_cut(clean(rendered)))
        return CallText(f"{header}\n\n{shown}" if shown.strip() else header, is_custom=bool(shown.strip()))
    if _is_empty(arguments):
        return CallText(header, is_custom=False)
    match style:
        case "json":
            return CallText(f"{header}\n\n{_fenced_cut(pretty(arguments))}", is_custom=False)
        case "function_call":
            span = code_span(_cut(f"{name}{_as_parameters(arguments)}", mark=" …"))
            return CallText(f"Calling tool {span}{suffix}", is_custom=False)
        case "off" | "custom":
            return CallText(header, is_custom=False)


def raw_arguments_text(name: str, arguments: JsonValue) -> tuple[str, str]:
    """Give all arguments of a call, as Markdown and as plain text."""
    shown = pretty(arguments)
    return f"Arguments of {name_text(name)}:\n\n{fenced(shown, 'json')}", f"Arguments of {name}:\n{shown}"


def spoken_text(arguments: JsonValue, style: ToolStyle) -> str | None:
    """Give the message that a call carries, of a tool that only speaks; `None` where there is none."""
    message = (
        arguments.get(style.spoken) if style.spoken is not None and isinstance(arguments, Mapping) else None
    )
    return message if isinstance(message, str) and message.strip() else None


def _is_empty(arguments: JsonValue) -> bool:
    if isinstance(arguments, str):
        return False
    return arguments is None or (isinstance(arguments, (Mapping, Sequence)) and not arguments)


def _as_parameters(arguments: JsonValue) -> str:
    if not isinstance(arguments, Mapping):
        return f"({compact(arguments)})"
    return "(" + ", ".join(f"{key}: {compact(value)}" for key, value in arguments.items()) + ")"


def _fenced_cut(text: str) -> str:
    shown = _cut(text, mark="")
    fence = fenced(shown, "json")
    if len(shown) == len(text):
        return fence
    return f"{fence}\n\n(arguments cut: {len(shown.encode())} of {len(text.encode())} bytes shown)"


def _cut(text: str, limit: int = ARGUMENTS_SHOWN_MAX, mark: str = "\n…") -> str:
    """Cut text at a line border, or in the middle of a line that is too long by itself."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    kept = data[:limit].decode("utf-8", "ignore")
    border = kept.rfind("\n")
    return (kept[:border] if border > 0 else kept) + mark


@dataclass(frozen=True, slots=True)
class ResultText:
    """The text of a result: whether it shows less than there is, and how much there is."""

    md: str
    is_truncated: bool
    line_count: int
    size: int


def result_text(label: str, content: str, style: ToolStyle, *, is_error: bool, uri: str | None) -> ResultText:
    """Write a result.

    Args:
        label: names the call when there are several to choose from, else empty.
        content: what the tool answered.
        style: how much of it is shown.
        is_error: the call failed, so the style's values for errors count.
        uri: a file that holds all of it.
    """
    inline: InlineResults = style.inline_results
    link: FileLink = style.results_file_link
    if is_error:
        inline = inline if style.error_inline_results is None else style.error_inline_results
        link = style.error_results_file_link or link
    line_count = content.count("\n") + (0 if content.endswith("\n") or not content else 1)
    size = len(content.encode("utf-8", "surrogatepass"))
    shown, is_truncated = _shown(content, inline)
    parts: list[str] = []
    if shown is not None:
        of_call = f" of {label}" if label else ""
        title = f"Tool result{of_call}{' (truncated)' if is_truncated else ''}:"
        parts.append(f"{title}\n\n{shown}" if shown else f"{title} (empty)")
    if uri is not None and link != "off":
        parts.append(f"see: <{uri}>" if link == "full" else f"[full result]({uri})")
    return ResultText("\n\n".join(parts), is_truncated, line_count, size)


def _shown(content: str, inline: InlineResults) -> tuple[str | None, bool]:
    """Give the fence with what is shown of a result, and whether that is less than all of it."""
    if inline == "off" or inline == 0:
        return None, content != ""
    limit = None if inline == "full" else inline
    text, language = _unwrapped(clean(content), limit)
    if not text.strip():
        return "", False
    if limit is None:
        return fenced(text, language), False
    lines = text.rstrip("\n").split("\n", limit)
    kept = _cut("\n".join(lines[:limit]), RESULT_SHOWN_MAX, mark="")
    return fenced(kept, language), len(kept) < len(text.rstrip("\n"))


def _unwrapped(content: str, line_count: int | None) -> tuple[str, str]:
    """Give the content of a result without a fence of its own, and its language."""
    pretty_text = pretty_json_text(content, line_count)
    if pretty_text is not None:
        return pretty_text, "json"
    unfenced = _single_fence(content)
    if unfenced is not None:
        return unfenced
    return content, "xml" if _is_xml(content) else ""


def _single_fence(content: str) -> tuple[str, str] | None:
    """Take the fence off content that is one fence and nothing else."""
    content = content.strip("\n")
    first_end = content.find("\n")
    opening = fence_opening(measure(content[:first_end])[1]) if first_end > 0 else None
    if opening is None:
        return None
    lines = content.split("\n")
    for index, line in enumerate(lines[1:], 1):
        closing = fence_opening(measure(line)[1])
        if closing is not None and not closing.info and closing.run.startswith(opening.run):
            is_last = index == len(lines) - 1
            return ("\n".join(lines[1:-1]), opening.language or "") if is_last else None
    return None


def _is_xml(content: str) -> bool:
    """Tell whether one element stands around all of the content."""
    match = _XML_START.match(content)
    if match is None:
        return False
    return match[1] is None or content.rstrip().endswith(f"</{match[1]}>")
