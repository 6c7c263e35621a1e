"""Directives that switch tools, applied from left to right (config-and-tools 4.3)."""

from typing import Any

import pytest

from jp_lsp.tools.switches import ImpossibleSwitch, Switchable, ToolSwitch, switched

TOOLS = {
    "on": Switchable(True),
    "off": Switchable(False),
    "named": Switchable(False, "if_named"),
    "group": Switchable(True, "if_named_or_group"),
    "always": Switchable(True, "never"),
    "never": Switchable(False, "never"),
}


def switches(*words: str) -> list[ToolSwitch]:
    """`+name` switches on, `-name` off; no name means all."""
    return [ToolSwitch(word[0] == "+", word[1:] or None) for word in words]


@pytest.mark.requirement("R239")
@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["+"], {"off": True}),
        (["-"], {"on": False}),
        (["-", "+"], {"off": True}),
        (["-", "+on", "+named"], {"named": True}),
        (["-named"], {}),
        (["-group"], {"group": False}),
        (["+always", "-never"], {}),
        (["+off", "-off"], {}),
    ],
)
def test_what_stands_otherwise(words: list[str], changed: dict[str, bool]) -> None:
    assert switched(TOOLS, switches(*words)) == changed


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-always"], "cannot disable always: this tool is configured as locked-on"),
        (["+never"], "cannot enable never: this tool is configured as locked-off"),
        (["+frob"], "Tool not found: frob"),
        (["-frob", "+gone"], "Tools not found: frob, gone"),
        (["+nammed"], "Tool not found: nammed; did you mean `named`?"),
    ],
)
def test_what_cannot_be(words: list[str], problem: str) -> None:
    with pytest.raises(ImpossibleSwitch) as raised:
        switched(TOOLS, switches(*words))
    assert str(raised.value) == problem


def test_no_tools_at_all() -> None:
    nothing: dict[str, Any] = {}
    assert switched(nothing, switches("+", "-")) == {}
