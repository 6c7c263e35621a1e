"""`jp-lsp conversations`, `models` and `config` as processes, with a server of their own behind them."""

import json
import subprocess
import sys

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e


def jp_lsp(user: UserFolders, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jp_lsp", *arguments],
        cwd=user.workspace,
        env=user.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.requirement("R281")
def test_what_was_asked_is_listed(own_user: UserFolders, vendor: ChatVendor) -> None:
    assert jp_lsp(own_user, "conversations").stdout == "There are no such conversations.\n"
    vendor.will_answer(answer("Hello."))
    assert jp_lsp(own_user, "query", "--new", "hi").returncode == 0
    shown = jp_lsp(own_user, "conversations")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("jp-c")
    assert shown.stdout.endswith("  (untitled)\n")
    (listed,) = json.loads(jp_lsp(own_user, "conversations", "--json").stdout)["conversations"]
    assert listed["conversation"] == shown.stdout.split()[0]


def test_models_and_settings(own_user: UserFolders, vendor: ChatVendor) -> None:
    assert jp_lsp(own_user, "models").stdout == "llamacpp/tiny    in use\n"
    explained = jp_lsp(own_user, "config", "explain", "assistant.model.id").stdout
    assert explained.startswith('assistant.model.id = {"provider": "llamacpp", "name": "tiny"}\n')
    assert f"  wins  {own_user.config / 'config.toml'}:4  " in explained


def test_a_setting_is_set(own_user: UserFolders, vendor: ChatVendor) -> None:
    path = own_user.workspace / ".jp" / "config.toml"
    path.write_text("# Ours.\n[assistant]\nname = 'x'  # who\n", encoding="utf-8")
    done = jp_lsp(own_user, "config", "set", "assistant.name=Ada", "--unset", "user.name")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        'Changed .jp/config.toml\nassistant.name = "Ada"  .jp/config.toml:3\n'
        "user.name = null  the program's defaults\n"
    )
    assert path.read_text(encoding="utf-8") == '# Ours.\n[assistant]\nname = "Ada"  # who\n'
    wrong = jp_lsp(own_user, "config", "set", "assistant.nme=Ada", "--in", "user_global")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == "error: `assistant.nme`: unknown key; did you mean `assistant.name`?\n"


@pytest.mark.requirement("R343")
def test_what_is_wrong_goes_to_standard_error(own_user: UserFolders, vendor: ChatVendor) -> None:
    result = jp_lsp(own_user, "config", "explain", "assistant.nme")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "error: `assistant.nme`: unknown key; did you mean `assistant.name`?\n"


def test_a_reader_that_has_seen_enough_ends_it_quietly(own_user: UserFolders) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "jp_lsp", "doctor"],
        cwd=own_user.workspace,
        env=own_user.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process:
        assert process.stderr.read() == ""
        assert process.wait(30) == 141
