import tomllib
from pathlib import Path

import pytest

from jp_lsp.workspace.init import initialise
from jp_lsp.workspace.locate import find_workspace, read_workspace_id
from jp_lsp.workspace.paths import WorkspaceError
from tests.support.workspaces import START, states, tree


@pytest.mark.parametrize(
    ("model", "config"),
    [
        (None, {"conversation": {"tools": {"*": {"run": "ask"}}}}),
        (
            "anthropic/claude-sonnet-4-5",
            {
                "assistant": {"model": {"id": "anthropic/claude-sonnet-4-5"}},
                "conversation": {"tools": {"*": {"run": "ask"}}},
            },
        ),
        (
            'odd "name"\\',
            {
                "assistant": {"model": {"id": 'odd "name"\\'}},
                "conversation": {"tools": {"*": {"run": "ask"}}},
            },
        ),
    ],
)
def test_a_workspace_has_an_id_and_a_configuration(
    tmp_path: Path, model: str | None, config: dict[str, object]
) -> None:
    storage = initialise(tmp_path, START, model=model)
    assert find_workspace(tmp_path) == tmp_path
    assert read_workspace_id(storage) is not None
    assert tree(tmp_path) == [".jp/.id", ".jp/config.toml"]
    assert tomllib.loads((storage / "config.toml").read_text(encoding="utf-8")) == config


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    initialise(tmp_path, START, model="a/b")
    before = states(tmp_path)
    initialise(tmp_path, START, model="c/d")
    assert states(tmp_path) == before


@pytest.mark.parametrize("name", ["config.json", "config.yaml", "config.json5"])
def test_a_configuration_in_another_format_is_enough(tmp_path: Path, name: str) -> None:
    (tmp_path / ".jp").mkdir()
    (tmp_path / ".jp" / name).write_text("{}", encoding="utf-8")
    initialise(tmp_path, START)
    assert tree(tmp_path) == [".jp/.id", f".jp/{name}"]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / ".jp").write_text("x", encoding="utf-8")
    with pytest.raises(WorkspaceError, match="is a file; a workspace needs a folder of that name"):
        initialise(tmp_path, START)
    with pytest.raises(WorkspaceError, match="is not a folder; create it first"):
        initialise(tmp_path / "none", START)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / ".jp").mkdir()
    (tmp_path / ".jp" / ".id").mkdir()
    with pytest.raises(WorkspaceError, match="cannot be written"):
        initialise(tmp_path, START)
