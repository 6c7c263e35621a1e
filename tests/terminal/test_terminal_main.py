"""`jp-lsp` itself: each command is reached, and what cannot be done is one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.terminal_process import PATIENCE, PtyClient, environment
from tests.support.user_folders import UserFolders

JP = [sys.executable, "-P", "-m", "jp_lsp"]


@pytest.fixture
def user(tmp_path: Path) -> UserFolders:
    return UserFolders(tmp_path)


def run(user: UserFolders, *words: str) -> tuple[int, str, str]:
    ended = subprocess.run(
        [*JP, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=user.workspace,
        env=environment(**user.environment()),
        timeout=PATIENCE,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.requirement("R303")
def test_an_address_that_others_reach_is_refused(user: UserFolders) -> None:
    code, out, err = run(user, "serve", "--tcp", "0.0.0.0:0")
    assert (code, out) == (1, "")
    assert err.startswith("error: '0.0.0.0' can be reached from other machines")
    assert err.count("\n") == 1


def test_a_log_file_that_cannot_be_written_is_named(user: UserFolders) -> None:
    place = user.workspace / ".jp"
    code, out, err = run(user, "--log-file", str(place))
    assert (code, out) == (1, "")
    assert err == f"error: the server cannot be started: Is a directory ({place})\n"


def test_a_person_who_starts_the_server_is_told_what_it_is(user: UserFolders) -> None:
    with PtyClient(JP, user.workspace, env=user.environment(), columns=200) as client:
        client.wait_for('To ask something: jp-lsp query "..."')
        client.type("\x03")
        assert client.wait() == 130


def test_the_local_model_has_its_command(user: UserFolders) -> None:
    code, out, _ = run(user, "local", "status")
    assert (code, out) == (1, "not installed; `jp-lsp local install` installs it (about 127 MB)\n")


def test_generated_files_have_theirs(user: UserFolders) -> None:
    code, _, err = run(user, "export", "--check", "--root", str(user.home))
    assert code == 1
    assert f"{user.home / 'editors' / 'PROTOCOL.md'} is not current; run `python -m jp_lsp export`\n" in err

    assert run(user, "export", "--root", str(user.home))[0] == 0
    assert run(user, "export", "--check", "--root", str(user.home)) == (0, "", "")


def test_a_query_of_nothing_is_no_failure(user: UserFolders) -> None:
    code, out, err = run(user, "query")
    assert (code, out) == (0, "")
    assert err == 'There was nothing to ask. Give a text, as in `jp-lsp query "..."`.\n'


@pytest.mark.requirement("R343", "R344")
def test_without_a_model_it_is_said_how_to_get_one(user: UserFolders) -> None:
    code, out, err = run(user, "query", "Why?")
    assert (code, out) == (1, "")
    assert err.startswith("error: no model is set: run `jp-lsp local install`")
    assert err.endswith("Your text did not become part of the conversation. Here it is:\nWhy?\n")
