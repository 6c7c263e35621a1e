"""The labels of new conversations, as the driver gets them (config-and-tools 2.3, 7.7)."""

from typing import Any

import pytest

from jp_lsp.ports.settings import LabelRule
from jp_lsp.tools.spec import Command


@pytest.mark.requirement("R221")
@pytest.mark.parametrize(
    ("toml", "rules"),
    [
        ("", ()),
        ("a = 'x'", (LabelRule("a", "x"),)),
        ("a = { value = 'x', apply_on = { new = false, fork = true } }",
         (LabelRule("a", "x", on_new=False, on_fork=True),)),
        ("a = { value = 'x', apply_on = { fork = true } }", (LabelRule("a", "x", on_fork=True),)),
        ("a = { run = 'deny' }", (LabelRule("a", "", run="deny"),)),
        ("a = { value = { cmd = 'git branch --show-current' } }",
         (LabelRule("a", Command("git", ("branch", "--show-current"))),)),
        ("a = { value = { cmd = { program = 'date | tr a b', shell = true } }, run = 'unattended' }",
         (LabelRule("a", Command("date | tr a b", (), shell=True), run="unattended"),)),
        ("a = { value = { cmd = '' } }\nb = 'x'", (LabelRule("b", "x"),)),
    ],
)  # fmt: skip
def test_label_rules(world: Any, toml: str, rules: tuple[LabelRule, ...]) -> None:
    world.workspace(f"[conversation.labels]\n{toml}\n")
    assert world.settings().resolve([], None).labels == rules
