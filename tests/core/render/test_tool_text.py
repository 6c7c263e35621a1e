"""How tool calls and their results read (query pipeline 5.8)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.chunk import ToolCall, ToolResult
from jp_lsp.render.options import DisplayOptions, ParameterStyle, ToolStyle
from jp_lsp.render.tool import ARGUMENTS_SHOWN_MAX, RESULT_SHOWN_MAX, fenced
from tests.support.view import Watcher

ARGUMENTS: JsonValue = {"path": "a.txt", "lines": [1, 2], "deep": {"x": None}}


def call(
    arguments: JsonValue,
    parameters: ParameterStyle = "json",
    *,
    name: str = "read",
    rendered: str | None = None,
) -> tuple[str, ToolCall]:
    watcher = Watcher(DisplayOptions(default_tool=ToolStyle(parameters=parameters)))
    watcher.begin()
    watcher.see(watcher.view.tool_call("c1", name, arguments, rendered=rendered))
    return watcher.text, next(chunk for chunk in watcher.durable if isinstance(chunk, ToolCall))


def result(
    content: str, style: ToolStyle | None = None, *, is_error: bool = False, uri: str | None = None
) -> ToolResult:
    watcher = Watcher(DisplayOptions(default_tool=style or ToolStyle()))
    watcher.begin()
    watcher.see(watcher.view.tool_call("c1", "read", {}))
    watcher.see(watcher.view.tool_result("c1", content, is_error=is_error, uri=uri))
    return next(chunk for chunk in watcher.durable if isinstance(chunk, ToolResult))


CALLS: list[tuple[str, ParameterStyle, JsonValue, str]] = [
    ("json", "json", {"path": "a.txt"}, 'Calling tool read\n\n```json\n{\n  "path": "a.txt"\n}\n```'),
    ("no arguments", "json", {}, "Calling tool read"),
    ("an empty list", "json", [], "Calling tool read"),
    ("null", "json", None, "Calling tool read"),
    ("an empty string is something", "json", "", 'Calling tool read\n\n```json\n""\n```'),
    (
        "function call",
        "function_call",
        ARGUMENTS,
        'Calling tool `read(path: "a.txt", lines: [1,2], deep: {"x":null})`',
    ),
    ("a function call with a backtick", "function_call", {"a": "`b`"}, 'Calling tool ``read(a: "`b`")``'),
    ("a function call without arguments", "function_call", {}, "Calling tool read"),
    ("a function call with something else", "function_call", [1], "Calling tool `read([1])`"),
    ("off", "off", ARGUMENTS, "Calling tool read"),
    ("custom, not yet rendered", "custom", ARGUMENTS, "Calling tool read"),
]


@pytest.mark.requirement("F39")
@pytest.mark.parametrize(
    ("style", "arguments", "expected"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS]
)
def test_call(style: ParameterStyle, arguments: JsonValue, expected: str) -> None:
    text, chunk = call(arguments, style)
    assert text == expected
    assert json.loads(chunk.arguments) == arguments


@pytest.mark.requirement("F39")
@pytest.mark.parametrize("style", ["json", "function_call"])
def test_a_call_shows_its_arguments_when_nothing_is_set(style: ParameterStyle) -> None:
    assert '"a.txt"' in call({"path": "a.txt"}, style)[0]


def test_what_a_formatter_wrote_is_shown_and_nothing_in_it_stays_open() -> None:
    text, _ = call(ARGUMENTS, "custom", rendered="**edit**\n```diff\n- a\n+ \x1b[31mb\n")
    assert text == "Calling tool read\n\n**edit**\n\n`````diff\n- a\n+ b\n`````"
    assert call(ARGUMENTS, "json", rendered="x")[0] == "Calling tool read\n\nx"
    assert call(ARGUMENTS, "custom", rendered=" \n")[0] == "Calling tool read"
    assert call(ARGUMENTS, "off", rendered="x")[0] == "Calling tool read"


def test_long_arguments_are_cut_at_a_line_and_the_chunk_has_all() -> None:
    arguments: JsonValue = {f"key{n}": "v" * 50 for n in range(200)}
    text, chunk = call(arguments)
    assert json.loads(chunk.arguments) == arguments
    body = text.removeprefix("Calling tool read\n\n```json\n").partition("\n```\n\n")
    assert len(body[0].encode()) <= ARGUMENTS_SHOWN_MAX
    assert body[0].endswith('",')
    assert body[2].startswith(f"(arguments cut: {len(body[0])} of ")


@pytest.mark.parametrize("style", ["json", "function_call"])
def test_one_long_argument_is_cut_in_its_line(style: ParameterStyle) -> None:
    text, _ = call({"text": "é" * 100_000}, style)
    assert len(text.encode()) < ARGUMENTS_SHOWN_MAX + 200


def test_long_text_of_a_formatter_is_cut_too() -> None:
    text, _ = call({}, "custom", rendered="line\n" * 10_000)
    assert len(text) < ARGUMENTS_SHOWN_MAX + 200
    assert text.endswith("line\n…")


@pytest.mark.requirement("R342")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fs_read-file.v2", "fs_read-file.v2"),
        ("a`b", "``a`b``"),
        ("*x*", "`*x*`"),
        ("\x1b[31mred\nline", "`red line`"),
        ("", "`?`"),
        ("`", "`` ` ``"),
    ],
)
def test_names_are_no_markdown(name: str, shown: str) -> None:
    """Trap 102."""
    assert call({}, name=name)[0] == f"Calling tool {shown}"


RESULTS: list[tuple[str, str, ToolStyle, str]] = [
    ("text", "a\nb\n", ToolStyle(), "Tool result:\n\n```\na\nb\n```"),
    ("nothing", "", ToolStyle(), "Tool result: (empty)"),
    ("blank", " \n", ToolStyle(), "Tool result: (empty)"),
    ("json", '{"a":[1]}', ToolStyle(), 'Tool result:\n\n```json\n{\n  "a": [\n    1\n  ]\n}\n```'),
    ("xml", "<out>\n<x/></out>\n", ToolStyle(), "Tool result:\n\n```xml\n<out>\n<x/></out>\n```"),
    (
        "xml with a head",
        '<?xml version="1.0"?><a/>',
        ToolStyle(),
        'Tool result:\n\n```xml\n<?xml version="1.0"?><a/>\n```',
    ),
    ("no xml", "<b> is bold", ToolStyle(), "Tool result:\n\n```\n<b> is bold\n```"),
    ("one fence", "```py\nx\n```\n", ToolStyle(), "Tool result:\n\n```py\nx\n```"),
    ("a fence and more", "```py\nx\n```\ny", ToolStyle(), "Tool result:\n\n````\n```py\nx\n```\ny\n````"),
    (
        "two fences",
        "```\nx\n```\n```\ny\n```",
        ToolStyle(),
        "Tool result:\n\n````\n```\nx\n```\n```\ny\n```\n````",
    ),
    ("an open fence", "```\nx", ToolStyle(), "Tool result:\n\n````\n```\nx\n````"),
    ("long runs", "a ``````` b", ToolStyle(), "Tool result:\n\n````````\na ``````` b\n````````"),
    ("two lines", "a\nb\nc\n", ToolStyle(inline_results=2), "Tool result (truncated):\n\n```\na\nb\n```"),
    ("just two lines", "a\nb\n", ToolStyle(inline_results=2), "Tool result:\n\n```\na\nb\n```"),
    (
        "two lines of json",
        "[1,2]",
        ToolStyle(inline_results=2),
        "Tool result (truncated):\n\n```json\n[\n  1,\n```",
    ),
    ("ten lines", "x\n" * 11, ToolStyle(), "Tool result (truncated):\n\n```\n" + "x\n" * 10 + "```"),
    ("full", "x\n" * 11, ToolStyle(inline_results="full"), "Tool result:\n\n```\n" + "x\n" * 11 + "```"),
    ("off", "a", ToolStyle(inline_results="off"), ""),
    ("no lines", "a", ToolStyle(inline_results=0), ""),
]


@pytest.mark.requirement("T10")
@pytest.mark.parametrize(
    ("content", "style", "expected"), [c[1:] for c in RESULTS], ids=[c[0] for c in RESULTS]
)
def test_result(content: str, style: ToolStyle, expected: str) -> None:
    assert result(content, style).md.removeprefix("\n\n") == expected


@given(st.text("`~a\n ", max_size=60))
def test_a_fence_is_longer_than_any_run_in_it(content: str) -> None:
    """Trap 101."""
    lines = fenced(content).split("\n")
    assert lines[0] == lines[-1]
    assert all(lines[0] not in line for line in lines[1:-1])


def test_a_result_says_how_much_there_is() -> None:
    chunk = result("é\n" * 20)
    assert (chunk.line_count, chunk.size, chunk.is_truncated, chunk.is_ok) == (20, 60, True, True)
    chunk = result("a\nb", is_error=True)
    assert (chunk.line_count, chunk.size, chunk.is_truncated, chunk.is_ok) == (2, 3, False, False)
    chunk = result("a", ToolStyle(inline_results="off"))
    assert (chunk.line_count, chunk.size, chunk.is_truncated) == (1, 1, True)
    assert result("").line_count == 0


def test_a_huge_line_is_bounded_unless_all_is_wanted() -> None:
    assert len(result("x" * 5_000_000).md) < RESULT_SHOWN_MAX + 100
    watcher = Watcher(DisplayOptions(default_tool=ToolStyle(inline_results="full")))
    watcher.begin()
    watcher.see(watcher.view.tool_result("1", "x" * 200_000))
    sizes = [len(chunk.md) for chunk in watcher.durable if isinstance(chunk, ToolResult)]
    assert len(sizes) == 4
    assert max(sizes) == 65536


ERROR_STYLE = ToolStyle(error_inline_results="full", error_results_file_link="off")


def test_failed_calls_may_have_a_style_of_their_own() -> None:
    long = "x\n" * 12
    assert (
        result(long, ERROR_STYLE, is_error=True, uri="file:///r").md == f"\n\nTool result:\n\n```\n{long}```"
    )
    assert result(long, ERROR_STYLE, uri="file:///r").md.endswith("see: <file:///r>")


@pytest.mark.requirement("R270")
@pytest.mark.parametrize(
    ("link", "expected"),
    [("full", "\n\nsee: <file:///r>"), ("osc8", "\n\n[full result](file:///r)"), ("off", "")],
)
def test_the_file_of_a_result_is_a_link(link: str, expected: str) -> None:
    chunk = result("a", ToolStyle(results_file_link=link), uri="file:///r")  # type: ignore[arg-type]
    assert chunk.md == "\n\nTool result:\n\n```\na\n```" + expected
    assert chunk.uri == "file:///r"
    only = result("a", ToolStyle(inline_results="off", results_file_link=link), uri="file:///r")  # type: ignore[arg-type]
    assert only.md == expected


@pytest.mark.requirement("R189", "S2")
def test_calls_of_a_batch_are_told_apart_and_results_do_not_mix() -> None:
    watcher = Watcher()
    watcher.begin()
    for call_id, name in (("1", "read"), ("2", "read"), ("3", "list")):
        watcher.see(watcher.view.tool_call(call_id, name, {}))
    for call_id in ("2", "3", "1"):
        watcher.see(watcher.view.tool_result(call_id, call_id))
    watcher.see(watcher.view.tool_call("4", "read", {}))
    watcher.see(watcher.view.tool_result("4", "4"))
    watcher.see(watcher.view.tool_result("unknown", "5"))
    watcher.end()
    assert watcher.text == (
        "Calling tool read\nCalling tool read (2)\nCalling tool list"
        "\n\nTool result of read (2):\n\n```json\n2\n```"
        "\n\nTool result of list:\n\n```json\n3\n```"
        "\n\nTool result of read:\n\n```json\n1\n```"
        "\n\nCalling tool read"
        "\n\nTool result:\n\n```json\n4\n```"
        "\n\nTool result:\n\n```json\n5\n```"
    )


def test_an_id_may_be_used_again_for_a_later_call() -> None:
    watcher = Watcher()
    watcher.begin()
    for name in ("read", "list"):
        watcher.see(watcher.view.tool_call("1", name, {}))
        watcher.see(watcher.view.tool_result("1", "x"))
    assert [chunk.name for chunk in watcher.durable if isinstance(chunk, ToolResult)] == ["read", "list"]


@pytest.mark.requirement("F39")
def test_an_edited_call_is_shown_again_in_its_place() -> None:
    watcher = Watcher()
    watcher.begin()
    watcher.see(watcher.view.tool_call("1", "read", {"a": 1}))
    watcher.see(watcher.view.tool_call("2", "read", {"a": 2}, source="mcp", server="files"))
    watcher.see(watcher.view.tool_call("2", "read", {"a": 3}, source="mcp", server="files", is_edited=True))
    calls = [chunk for chunk in watcher.durable if isinstance(chunk, ToolCall)]
    assert [(c.arguments, c.is_edited, c.source, c.server) for c in calls] == [
        ('{"a":1}', False, "local", None),
        ('{"a":2}', False, "mcp", "files"),
        ('{"a":3}', True, "mcp", "files"),
    ]
    assert watcher.text.count("Calling tool read (2)") == 2


def test_a_style_of_its_own_replaces_the_common_one() -> None:
    options = DisplayOptions(
        tools={"quiet": ToolStyle(parameters="off")}, default_tool=ToolStyle(is_hidden=True)
    )
    assert options.tool_style("quiet").parameters == "off"
    assert options.tool_style("other").is_hidden


@given(st.data())
def test_no_content_escapes_from_its_fence(data: DataObject) -> None:
    content = data.draw(st.text("`~ab\n#>-", max_size=80))
    text = result(content, ToolStyle(inline_results="full")).md.strip("\n")
    if text == "Tool result: (empty)":
        return
    head, _, fence = text.partition("\n\n")
    assert head == "Tool result:"
    opening, *inside, closing = fence.split("\n")
    run = opening.rstrip("abjson#>-~ ")
    assert set(run) == {"`"}
    assert closing == run
    assert all(not line.lstrip().startswith(run) for line in inside)
