"""The access policy that a local tool is handed (config-and-tools 4.9)."""

import json
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.access import Approvals, CompiledAccess, compile_access, lexical_path, read_approvals
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.tools.spec import ToolSpec

NOTHING = dict.fromkeys(("read", "write", "create", "update", "delete", "execute"))
NO_APPROVALS = Approvals({})


def rule(path: str, target: str | None = None, **granted: bool) -> JsonObject:
    return {
        "lexical_path": path,
        "external": target is not None,
        "approved_target": target,
        **NOTHING,
        **granted,
    }


def tool(world: Any, access: str) -> ToolSpec:
    world.workspace(f"[conversation.tools.x]\nsource = 'local'\ncommand = 'run'\n{access}\n")
    found: ToolSpec = world.settings().resolve([], None).tools[0]
    return found


def test_without_a_policy_nothing_is_restricted_and_an_empty_one_is_seen(world: Any):
    assert tool(world, "").access is None
    assert tool(world, "access.fs = []").access == {"fs": [], "net": [], "env": []}
    assert tool(world, "access = {}").access == {"fs": [], "net": [], "env": []}


def test_rules_of_all_layers_add_up_in_the_wire_form(world: Any):
    world.user("[[conversation.tools.x.access.fs]]\npath = '.'\nread = true\n")
    found = tool(world, "access.fs = [{ path = 'src', write = true, delete = false }]")
    assert found.access == {
        "fs": [rule("", read=True), rule("src", write=True, delete=False)],
        "net": [],
        "env": [],
    }
    assert list(found.access["fs"][0]) == [  # type: ignore[index, arg-type]
        "lexical_path", "external", "approved_target", "read", "write", "create", "update", "delete", "execute",
    ]  # fmt: skip


LEXICAL = {".": "", "src": "src", "./src/": "src", "a/../b": "b", "a//b/./c": "a/b/c", "src/..": ""}


@pytest.mark.parametrize("path", LEXICAL)
def test_paths_are_normalised(path: str):
    assert lexical_path(path) == LEXICAL[path]


@pytest.mark.parametrize("path", ["/etc", "..", "a/../../b", "C:\\x", "\\\\host\\x", "a\0b"])
@pytest.mark.parametrize("external", [True, False])
def test_a_path_that_leaves_the_workspace_is_an_error_and_never_no_limit(
    tmp_path: Path, path: str, external: bool
):
    found = compile_access([{"path": path, "external": external, "read": True}], tmp_path, NO_APPROVALS)
    assert found.wire is None
    assert found.error is not None
    assert found.error.startswith(f"the path `{path}` cannot be used: it ")


def test_an_ordinary_rule_follows_links_within_the_workspace(tmp_path: Path):
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "out").symlink_to(tmp_path.parent)
    (tmp_path / "loop").symlink_to("loop")
    assert compile_access([{"path": "link/deep"}], tmp_path, NO_APPROVALS).wire == {
        "fs": [rule("real/deep")],
        "net": [],
        "env": [],
    }
    assert compile_access([{"path": "not/there"}], tmp_path, NO_APPROVALS).error is None
    for path in ("out", "loop"):
        found = compile_access([{"path": path, "read": True}, {"path": "real"}], tmp_path, NO_APPROVALS)
        assert (found.wire, found.error is None) == (None, False)


def test_an_invalid_policy_keeps_the_tool_from_running(world: Any):
    found = tool(world, "access.fs = [{ path = '../elsewhere', read = true }]")
    assert found.access is None
    assert found.access_error == "the path `../elsewhere` cannot be used: it leads out of the workspace"


def approve(world: Any, *mounts: tuple[str, Path | str]) -> None:
    world.user_workspace.mkdir(parents=True, exist_ok=True)
    listed = [
        {"rule_path": name, "canonical_target": str(target), "approved_at": "2026-01-01T00:00:00Z"}
        for name, target in mounts
    ]
    (world.user_workspace / "approvals.json").write_text(json.dumps({"mounts": listed}), encoding="utf-8")


EXTERNAL = "access.fs = [{ path = 'ext', external = true, read = true }]"


def test_a_rule_about_the_outside_counts_while_the_user_approves_of_the_place(world: Any, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.root / "ext").symlink_to(outside)
    approve(world, ("ext", outside))
    assert tool(world, EXTERNAL).access == {
        "fs": [rule("ext", str(outside), read=True)],
        "net": [],
        "env": [],
    }
    moved = tmp_path / "moved"
    outside.rename(moved)
    (world.root / "ext").unlink()
    (world.root / "ext").symlink_to(moved)
    assert tool(world, EXTERNAL).access == {"fs": [rule("")], "net": [], "env": []}


@pytest.mark.parametrize(
    "approvals", [None, "", "[]", "{", '{"mounts": 3}', '{"mounts": [{"rule_path": 1}, 7]}']
)
@pytest.mark.requirement("G57")
def test_trap_57_no_rule_that_counts_is_no_access_at_all(world: Any, tmp_path: Path, approvals: str | None):
    (tmp_path / "outside").mkdir()
    (world.root / "ext").symlink_to(tmp_path / "outside")
    if approvals is not None:
        world.user_of_workspace(approvals, "approvals.json")
    found = tool(world, EXTERNAL)
    assert found.access == {"fs": [rule("")], "net": [], "env": []}
    (warning,) = world.settings().resolve([], None).warnings
    assert warning == (
        ".jp/config.toml:4: `conversation.tools.x.access.fs`: the rule for `ext` does not count: "
        f"nobody approved of {tmp_path / 'outside'}"
    )


def test_other_rules_stay_when_an_external_one_does_not_count(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    found = compile_access(
        [{"path": "src", "read": True}, {"path": "gone", "external": True}], root, NO_APPROVALS
    )
    assert found == CompiledAccess(
        {"fs": [rule("src", read=True)], "net": [], "env": []},
        None,
        ("the rule for `gone` does not count: there is nothing at its end",),
    )


def test_an_external_rule_that_stays_inside_is_an_error(tmp_path: Path):
    (tmp_path / "src").mkdir()
    found = compile_access([{"path": "src", "external": True}], tmp_path, NO_APPROVALS)
    assert found.error == "the path `src` is external, but leads into the workspace"


def test_the_record_of_approvals_is_read_whatever_is_in_it(tmp_path: Path):
    assert read_approvals(None).targets == {}
    assert read_approvals(tmp_path).targets == {}
    (tmp_path / "approvals.json").write_text("x" * 2_000_000, encoding="utf-8")
    assert read_approvals(tmp_path).targets == {}
    mounts = {
        "mounts": [
            {"rule_path": "./ext/", "canonical_target": "/o"},
            {"rule_path": "../x", "canonical_target": "/p"},
        ]
    }
    (tmp_path / "approvals.json").write_text(json.dumps(mounts), encoding="utf-8")
    assert read_approvals(tmp_path).allows("ext", "/o")
    assert not read_approvals(tmp_path).allows("ext", "/other")


def test_without_a_workspace_there_is_nothing_to_be_relative_to(world: Any):
    from jp_lsp.config.settings import WorkspaceSettings

    world.user(
        "conversation.tools.x = { source = 'local', command = 'run', access = { fs = [{ path = '.' }] } }"
    )
    settings = WorkspaceSettings(
        None, world.cwd, {}, world.user_config, None, world.server, lambda: world.default_model
    )
    spec = settings.resolve([], None).tools[0]
    assert spec.access_error == "there is no workspace that its paths could be relative to"


def test_access_rules_on_other_tools_leave_the_tool_out(world: Any):
    world.workspace("conversation.tools.x = { source = 'mcp.s', access = { fs = [{ path = '.' }] } }")
    found = world.settings().resolve([], None)
    assert found.tools == ()
    assert "`access` is only supported on local tools" in found.warnings[0]
