"""What a configuration file means among the others (config-and-tools 1.2 to 1.5, 1.12)."""

from pathlib import Path

import pytest

from jp_lsp.config.about_file import UNREACHABLE, extended_files
from tests.adapters.config.conftest import World


def shadowed(world: World, path: Path) -> list[tuple[str, str]]:
    return [(each.key, str(each.winner)) for each in world.settings().about_file(path).shadowed]


def test_a_setting_that_a_higher_layer_decides(world: World) -> None:
    path = world.workspace("[assistant]\nname = 'low'\n[style.code]\ncolor = false\n")
    world.workspace("[assistant]\nname = 'high'\n", ".jp.toml")
    assert shadowed(world, path) == [("assistant.name", ".jp.toml:2")]
    assert shadowed(world, world.root / ".jp.toml") == []


def test_a_file_counts_through_another_one(world: World) -> None:
    world.workspace("extends = ['parts/*.toml']\n")
    part = world.workspace("[assistant]\nname = 'x'\n", ".jp/parts/a.toml")
    other = world.workspace("[assistant]\nname = 'x'\n", ".jp/other/b.toml")
    assert world.settings().about_file(part).unreachable is None
    assert world.settings().about_file(other).unreachable == UNREACHABLE


def test_a_named_file_is_looked_at_as_if_it_was_named(world: World) -> None:
    world.workspace("config_load_paths = ['.jp/config']\n[assistant]\nname = 'base'\n")
    persona = world.workspace(
        "extends = ['../deep.toml']\n[assistant]\nname = 'dev'\n", ".jp/config/personas/dev.toml"
    )
    deep = world.workspace("[user]\nname = 'me'\n", ".jp/config/deep.toml")
    settings = world.settings()
    facts = settings.about_file(persona)
    assert (facts.overrides, facts.unreachable) == (("dev",), None) or facts.overrides == ("personas/dev",)
    assert settings.about_file(deep).overrides == ("deep",)
    assert settings.explain("assistant.name", facts.overrides).value == "dev"


@pytest.mark.parametrize(
    ("files", "asked", "reason"),
    [
        (
            {".jp/config.toml": "inherit = false\n", ".jp.toml": ""},
            ".jp.toml",
            "nothing reads this file: `inherit` is false in .jp/config.toml",
        ),
        (
            {".jp/config.toml": "", ".jp/config.yaml": ""},
            ".jp/config.yaml",
            "nothing reads this file: `config.toml` beside it is taken instead",
        ),
    ],
)
def test_why_nothing_reads_a_file(world: World, files: dict[str, str], asked: str, reason: str) -> None:
    for name, text in files.items():
        world.workspace(text, name)
    assert world.settings().about_file(world.root / asked).unreachable == reason


def test_problems_of_this_file_alone(world: World) -> None:
    path = world.workspace("extends = ['gone.toml']\n[conversation.tools.x]\nrun = 'ask'\n")
    world.workspace("wrong = 1\n", ".jp.toml")
    facts = world.settings().about_file(path)
    assert [(problem.key, problem.origin and problem.origin.line) for problem in facts.problems] == [
        ("extends.0", 1),
        ("conversation.tools.x", 2),
    ]


def test_the_text_in_the_editor_counts(world: World) -> None:
    path = world.workspace("[assistant]\nname = 'on disk'\n")
    edited = world.settings().with_text(path, "\n[assistant]\nname = 'in the editor'\n")
    explanation = edited.explain("assistant.name")
    assert (explanation.value, str(explanation.origin)) == ("in the editor", ".jp/config.toml:3")
    assert world.settings().explain("assistant.name").value == "on disk"
    broken = world.settings().with_text(path, "[assistant]\nname = ")
    assert broken.explain("assistant.name").value == "on disk"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        (".jp/config.toml", True),
        (".jp.toml", True),
        ("sub/.jp.toml", False),
        (".jp/anything/deep.toml", True),
        ("personas/dev.toml", True),
        ("pyproject.toml", False),
        ("src/config.toml", False),
        ("package.json", False),
        (".jp/conversations/17000000000-a/base_config.json", False),
        (".jp/conversations/.archive/17000000000-a/metadata.json", False),
        (".jp/config.yaml", True),
    ],
)
def test_where_configuration_lies(world: World, name: str, is_one: bool) -> None:
    world.workspace("config_load_paths = ['personas', '.']\n")
    assert world.settings().is_configuration(world.root / name) is is_one


def test_what_an_entry_stands_for(world: World) -> None:
    one = world.workspace("", ".jp/parts/a.toml")
    two = world.workspace("", ".jp/parts/b.toml")
    world.workspace("", ".jp/parts/readme.md")
    folder = world.root / ".jp"
    assert extended_files(folder, "parts/*") == [one, two]
    assert extended_files(folder, "parts/a") == [one]
    assert extended_files(folder, "/parts/b.toml") == [two]
    assert extended_files(folder, "gone") == []
