"""`jp-lsp doctor` and `jp-lsp init`: what they find, say, and never say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jp_lsp.doctor import Diagnosis, diagnose, init_workspace, report_lines
from jp_lsp.providers.local.installed import current_installation
from tests.support.terminal_process import PATIENCE
from tests.support.user_folders import UserFolders
from tests.support.workspaces import states

KEY = "sk-ant-do-not-show-me"


@pytest.fixture
def user(tmp_path: Path) -> UserFolders:
    return UserFolders(tmp_path)


def look(user: UserFolders, folder: Path | None = None, **environ: str) -> Diagnosis:
    return diagnose(folder or user.workspace, user.environment(**environ), home=user.home)


def last_lines(found: Diagnosis) -> list[str]:
    """Give what is said about who would answer."""
    lines = report_lines(found)
    return lines[len(lines) - lines[::-1].index("") :]


def configure(user: UserFolders, text: str) -> None:
    (user.workspace / ".jp" / "config.toml").write_text(text, encoding="utf-8")


ANTHROPIC = '[assistant.model]\nid = "anthropic/claude-sonnet-4-5"\n[conversation.tools.\'*\']\nrun = "ask"\n'


def test_with_nothing_set_up_it_says_how_to_begin(user: UserFolders) -> None:
    found = look(user)
    assert not found.is_ready
    (line,) = last_lines(found)
    assert line.startswith("A new conversation cannot begin: no model is set: run `jp-lsp local install` ")
    assert "Local model: not installed; `jp-lsp local install` installs it (about 127 MB, no key needed)" in (
        report_lines(found)
    )


def test_with_model_and_key_it_is_ready(user: UserFolders) -> None:
    configure(user, ANTHROPIC)
    found = look(user, ANTHROPIC_API_KEY=KEY)
    assert found.is_ready
    assert last_lines(found) == [
        "A new conversation would ask anthropic/claude-sonnet-4-5 (set in .jp/config.toml:2).",
        'Ready. Ask something: jp-lsp query "..."',
    ]
    assert found.problems == ()
    lines = report_lines(found)
    assert f"Workspace:          {user.workspace}" in lines
    assert "  anthropic   ready, with the key in ANTHROPIC_API_KEY" in lines


@pytest.mark.parametrize(
    ("environ", "obstacle"),
    [
        ({}, "environment variable ANTHROPIC_API_KEY is not set"),
        ({"ANTHROPIC_API_KEY": " "}, "environment variable ANTHROPIC_API_KEY is empty"),
    ],
)
def test_a_missing_key_is_named(user: UserFolders, environ: dict[str, str], obstacle: str) -> None:
    configure(user, ANTHROPIC)
    found = look(user, None, **environ)
    assert not found.is_ready
    assert last_lines(found) == [
        "A new conversation would ask anthropic/claude-sonnet-4-5 (set in .jp/config.toml:2), but cannot: "
        f"Provider 'anthropic' needs a key: {obstacle}."
    ]


def test_a_variable_that_decides_is_named(user: UserFolders) -> None:
    configure(user, ANTHROPIC)
    found = look(user, JP_CFG_ASSISTANT_MODEL_ID="llamacpp/mine")
    assert found.new.model == "llamacpp/mine"
    assert found.new.why == "set in JP_CFG_ASSISTANT_MODEL_ID"


def test_wrong_settings_are_told_with_their_place(user: UserFolders) -> None:
    configure(user, ANTHROPIC + "[assistant]\nnam = 3\n")
    found = look(user, ANTHROPIC_API_KEY=KEY)
    assert not found.is_ready
    told = [line for line in report_lines(found) if line.startswith("  error: .jp/config.toml")]
    assert told
    assert str(found.new.obstacle) in last_lines(found)[0]


def test_a_vendor_that_the_workspace_must_not_choose_is_told(user: UserFolders) -> None:
    configure(user, ANTHROPIC + '[providers.llm.anthropic]\nbase_url = "https://evil.example"\n')
    found = look(user, ANTHROPIC_API_KEY=KEY)
    assert not found.is_ready
    assert any("evil.example" in line for line in found.untrusted)
    assert any(
        line.startswith("Not used, because the workspace is not trusted:") for line in report_lines(found)
    )


def test_outside_a_workspace(user: UserFolders, tmp_path: Path) -> None:
    found = look(user, tmp_path)
    assert found.root is None
    expected = (
        f"Workspace:          none at or above {tmp_path}; the first query makes one here, or `jp-lsp init`"
    )
    assert expected in report_lines(found)


def test_a_damaged_local_model_is_told(user: UserFolders) -> None:
    current_installation(user.data).folder.mkdir(parents=True)
    assert "Local model: damaged; `jp-lsp local install` replaces it" in report_lines(look(user))


def test_the_last_conversation_has_a_model_of_its_own(user: UserFolders) -> None:
    configure(user, ANTHROPIC)
    folder = user.workspace / ".jp" / "conversations" / "17912345678"
    folder.mkdir(parents=True)
    base = {"assistant": {"model": {"id": {"provider": "llamacpp", "name": "mine"}}}}
    for name, content in (
        ("metadata.json", {"last_activated_at": "2026-10-05 21:09:27.8"}),
        ("base_config.json", base),
        ("events.json", []),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    found = look(user)
    assert found.is_ready  # a query goes on with the last conversation
    assert last_lines(found)[1] == (
        "The last one, jp-c17912345678, would ask llamacpp/mine (set in the conversation)."
    )

    (folder / "events.json").write_text("nonsense", encoding="utf-8")
    found = look(user)
    assert not found.is_ready
    assert last_lines(found)[1].startswith("The last one, jp-c17912345678, cannot begin: ")


def test_looking_changes_nothing(user: UserFolders, tmp_path: Path) -> None:
    configure(user, ANTHROPIC)
    before = states(tmp_path)
    look(user, ANTHROPIC_API_KEY=KEY)
    assert states(tmp_path) == before


def run(user: UserFolders, *words: str, **environ: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "jp_lsp", *words],
        capture_output=True,
        text=True,
        cwd=user.workspace,
        env=user.environment(**environ),
        timeout=PATIENCE,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_the_command_never_shows_a_key(user: UserFolders) -> None:
    configure(user, ANTHROPIC)
    code, out, err = run(user, "doctor", ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY)
    assert (code, err) == (0, "")
    assert out.endswith('Ready. Ask something: jp-lsp query "..."\n')
    assert KEY not in out

    code, out, _ = run(user, "doctor")
    assert code == 1
    assert "ANTHROPIC_API_KEY is not set" in out


def init(user: UserFolders, folder: Path, model: str | None = None) -> tuple[list[str], int]:
    return init_workspace(folder, model, user.environment(ANTHROPIC_API_KEY=KEY), home=user.home)


def test_init_makes_a_workspace_and_says_who_will_answer(user: UserFolders, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    assert init(user, folder, "anthropic/claude-sonnet-4-5") == (
        [
            f"Made a workspace: {folder / '.jp'}",
            "A new conversation would ask anthropic/claude-sonnet-4-5 (set in .jp/config.toml:2).",
        ],
        0,
    )
    before = states(folder)
    lines, code = init(user, folder, "openai/gpt-5")
    assert code == 0
    assert lines[:2] == [
        f"There was a workspace already: {folder / '.jp'}",
        "Its configuration was left as it is; set assistant.model.id in it to 'openai/gpt-5' yourself.",
    ]
    assert states(folder) == before


def test_init_says_what_it_cannot_do(user: UserFolders, tmp_path: Path) -> None:
    assert init(user, tmp_path / "nowhere") == (
        [f"error: {tmp_path / 'nowhere'} is not a folder; create it first."],
        1,
    )
    code, out, err = run(user, "init", "nowhere")
    assert (code, out) == (1, "")
    assert err == f"error: {user.workspace / 'nowhere'} is not a folder; create it first.\n"


def test_names_from_a_strangers_files_do_not_control_the_terminal(user: UserFolders) -> None:
    configure(user, '"\\u001b]0;owned\\u0007\\u001b[2Jkey" = 1\n')
    text = "\n".join(report_lines(look(user)))
    assert "`key`: unknown key" in text
    assert "\x1b" not in text
    assert "\x07" not in text
