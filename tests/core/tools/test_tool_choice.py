"""The choice of a tool by its name, and what a model is told about tools in general (config-and-tools 4.3, 7.2)."""

import pytest

from jp_lsp.conversation.section import Section
from jp_lsp.tools.choice import ImpossibleChoice, require_declared, with_chosen
from jp_lsp.tools.definition import NamedTool, ToolChoice
from jp_lsp.tools.usage import with_tool_usage
from tests.support.calls import spec

A, B, C = spec("alpha"), spec("beta"), spec("gamma")


@pytest.mark.requirement("R239")
@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("auto", ["alpha"]),
        ("none", ["alpha"]),
        ("required", ["alpha"]),
        (NamedTool("alpha"), ["alpha"]),
        (NamedTool("beta"), ["alpha", "beta"]),
    ],
)
def test_a_named_tool_joins_those_that_are_on(choice: ToolChoice, wanted: list[str]):
    assert [tool.name for tool in with_chosen(choice, (A,), (B, C))] == wanted


IMPOSSIBLE = {
    "a slip": (NamedTool("bta"), (A,), (B,), "`bta` does not match any enabled tools; did you mean `beta`?"),
    "two near ones": (
        NamedTool("alphaa"),
        (A, spec("alpha2")),
        (),
        "`alphaa` does not match any enabled tools; did you mean `alpha` or `alpha2`?",
    ),
    "nothing like it": (
        NamedTool("zzz"),
        (B,),
        (A,),
        "`zzz` does not match any enabled tools; there are `alpha`, `beta`",
    ),
    "nothing at all": (
        NamedTool("x"),
        (),
        (),
        "`x` does not match any enabled tools, because none is configured",
    ),
    "none to require": ("required", (), (A,), "`required` needs a tool, and none is enabled"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_a_choice_that_cannot_be_says_what_can(case: str):
    choice, offered, idle, text = IMPOSSIBLE[case]
    with pytest.raises(ImpossibleChoice) as caught:
        with_chosen(choice, offered, idle)  # type: ignore[arg-type]
    assert str(caught.value) == f"tool choice {text}"


def test_many_tools_are_not_all_listed():
    many = [spec(f"tool{number:02}") for number in range(30)]
    with pytest.raises(ImpossibleChoice, match=r"`tool19` and 10 more\Z"):
        with_chosen(NamedTool("zzz"), many, ())


@pytest.mark.requirement("G65")
def test_trap_65_what_was_chosen_must_still_be_there_when_the_request_is_made():
    require_declared(NamedTool("a"), {"a"}, {})
    require_declared("auto", (), {})
    require_declared("required", {"a"}, {})
    with pytest.raises(
        ImpossibleChoice, match=r"`a` cannot be kept, because the tool is not available: it died"
    ):
        require_declared(NamedTool("a"), {"b"}, {"a": "it died"})
    with pytest.raises(ImpossibleChoice, match=r"not available\Z"):
        require_declared(NamedTool("a"), {"b"}, {})
    with pytest.raises(ImpossibleChoice, match="none is available"):
        require_declared("required", (), {})


@pytest.mark.requirement("R237")
def test_the_section_about_tools_is_there_where_tools_are():
    first, last = Section("first", position=-1), Section("last", position=1)
    assert with_tool_usage((first, last), ()) == (first, last)
    before, usage, after = with_tool_usage((first, last), (A,))
    assert (before, after) == (first, last)
    assert (usage.tag, usage.title, usage.position) == ("instruction", "Tool Usage", 0)
    assert "describe_tools" not in usage.content
    assert "`describe_tools`" in with_tool_usage((), (A, spec("describe_tools")))[0].content
