"""Finding the files that a request names (config-and-tools 1.5)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Value = Callable[..., Any]


@pytest.fixture
def roles(world: Any) -> Any:
    world.workspace('config_load_paths = ["cfg", "cfg/roles"]')
    world.workspace('assistant.name = "workspace"\neditor.envs = ["W"]', "cfg/roles/reviewer.toml")
    return world


@pytest.mark.parametrize(
    "name", ["reviewer", "roles/reviewer", "@reviewer", "reviewer.toml", "reviewer.json"]
)
def test_a_name_is_found_below_each_load_path(roles: Any, value_of: Value, name: str):
    assert value_of("assistant.name", name) == "workspace"


def test_all_roots_count_and_the_users_copy_is_on_top(roles: Any, value_of: Value):
    roles.user('assistant.name = "global"\neditor.envs = ["G"]', "config/cfg/roles/reviewer.toml")
    roles.user_of_workspace('assistant.name = "own"\neditor.envs = ["O"]', "config/cfg/reviewer.toml")
    assert value_of("assistant.name", "reviewer") == "own"
    assert value_of("editor.envs", "reviewer") == ["G", "W", "O"]


def test_within_a_root_the_first_load_path_wins(roles: Any, value_of: Value):
    roles.workspace('assistant.name = "first"', "cfg/reviewer.toml")
    assert value_of("assistant.name", "reviewer") == "first"


def test_a_path_to_a_file_is_taken_as_it_is(roles: Any, value_of: Value, tmp_path: Path):
    roles.workspace('assistant.name = "here"', "reviewer")
    roles.workspace('assistant.name = "here"', "reviewer.toml")
    assert value_of("assistant.name", "./reviewer.toml") == "here"
    assert value_of("assistant.name", str(roles.root / "reviewer.toml")) == "here"


def test_a_file_without_a_format_is_an_error(roles: Any):
    roles.workspace("x", "reviewer")
    assert roles.refusal("reviewer") == (
        "reviewer: has no format that is understood (toml, json, json5, yaml, yml)"
    )


@pytest.mark.requirement("G6")
def test_trap_06_a_folder_of_that_name_does_not_end_the_search(roles: Any, value_of: Value):
    (roles.root / "reviewer").mkdir()
    assert value_of("assistant.name", "reviewer") == "workspace"


@pytest.mark.requirement("G1")
def test_trap_01_a_dot_in_the_name(roles: Any, value_of: Value):
    roles.workspace('assistant.name = "v1"', "cfg/v1.toml")
    assert value_of("assistant.name", "v1.2") == "v1"
    roles.workspace('assistant.name = "v1.2"', "cfg/v1.2.toml")
    assert value_of("assistant.name", "v1.2") == "v1.2"


def test_nothing_found_says_where_it_was_looked_for(roles: Any):
    assert roles.refusal("reviewr") == (
        "--cfg reviewr: no file of that name was found, in "
        f"`{roles.user_config}/config/cfg`, `{roles.user_config}/config/cfg/roles`, `cfg`, `cfg/roles`, "
        f"`{roles.user_workspace}/config/cfg`, `{roles.user_workspace}/config/cfg/roles`"
    )


def test_nothing_found_without_load_paths_says_so(world: Any):
    assert world.refusal("reviewer") == (
        "--cfg reviewer: no file of that name was found, because `config_load_paths` is empty"
    )


def test_an_absolute_load_path_is_taken_for_a_relative_one(world: Any, value_of: Value, tmp_path: Path):
    """So a workspace cannot lead into folders of the disk that it does not know the place of (1.4, 1.5)."""
    outside = tmp_path / "outside"
    world.workspace(f'config_load_paths = ["/cfg", "{outside}"]')
    world.workspace('assistant.name = "inside"', "cfg/reviewer.toml")
    world.workspace('assistant.name = "outside"', f"{outside}/other.toml")
    assert value_of("assistant.name", "reviewer") == "inside"
    assert "no file of that name was found" in world.refusal("other")
    assert [each.name for each in world.settings().named()] == ["reviewer"]


def test_a_request_cannot_change_where_names_are_looked_for(roles: Any):
    roles.workspace("", "elsewhere/other.toml")
    assert "no file of that name was found" in roles.refusal("config_load_paths=elsewhere", "other")


def test_a_reserved_word_names_a_file_only_when_it_is_written_so(roles: Any, value_of: Value):
    roles.workspace('assistant.name = "none"', "cfg/NONE.toml")
    assert "reserved word" in roles.refusal("NONE")
    assert value_of("assistant.name", "@NONE") == "none"


@pytest.mark.parametrize("repeated", [1, 2, 3])
def test_trap_36_a_named_file_applied_again_adds_nothing(roles: Any, value_of: Value, repeated: int):
    roles.workspace(
        'conversation.attachments = ["file:a"]\n'
        'assistant.system_prompt = { value = "More.", strategy = "append", separator = "line" }\n'
        '[[assistant.instructions]]\ntitle = "T"\n',
        "cfg/extra.toml",
    )
    overrides = ["assistant.system_prompt=Base.", *["extra"] * repeated]
    assert value_of("conversation.attachments", *overrides) == ["file:a"]
    assert [item["title"] for item in value_of("assistant.instructions", *overrides)] == ["T"]
    assert value_of("assistant.system_prompt", *overrides) == "Base.\nMore."


@pytest.mark.requirement("G36")
def test_what_two_named_files_share_is_there_once(roles: Any, value_of: Value):
    """Two personas that extend the same skill (7.3); what is new in the second is added."""
    shared = 'conversation.attachments = ["file:a"]\neditor.envs = ["S"]\n[[assistant.instructions]]\ntitle = "S"\n'
    roles.workspace(shared, "cfg/skills/skill.toml")
    roles.workspace('extends = ["skills/skill.toml"]\neditor.envs = ["1"]', "cfg/one.toml")
    roles.workspace('extends = ["../skills/*"]\neditor.envs = ["2", "1"]', "cfg/roles/two.toml")
    overrides = ["one", "roles/two", "conversation.attachments+=file:a"]
    assert value_of("editor.envs", *overrides) == ["S", "1", "2"]
    assert [item["title"] for item in value_of("assistant.instructions", *overrides)] == ["S"]
    assert value_of("conversation.attachments", *overrides) == ["file:a", "file:a"]
    roles.workspace('editor.envs = ["S"]', "cfg/stranger.toml")
    assert value_of("editor.envs", "one", "stranger") == ["S", "1", "S"]


def test_trap_36_unless_doubles_are_asked_for(roles: Any, value_of: Value):
    roles.workspace('conversation.attachments = { value = ["file:a"], dedup = false }', "cfg/extra.toml")
    assert value_of("conversation.attachments", "extra", "extra") == ["file:a", "file:a"]


def test_a_diamond_within_one_named_file_keeps_its_doubles(roles: Any, value_of: Value):
    roles.workspace('extends = ["a.toml", "b.toml"]', "cfg/top.toml")
    for name in ("a", "b"):
        roles.workspace('extends = ["shared.toml"]', f"cfg/{name}.toml")
    roles.workspace('editor.envs = ["S"]', "cfg/shared.toml")
    assert value_of("editor.envs", "top") == ["S", "S"]
