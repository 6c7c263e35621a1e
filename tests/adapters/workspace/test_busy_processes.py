"""Three processes do all kinds of things to one conversation at the same time: nothing that was stored is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.conversation_model import New, Operation, Process, Restore, Unarchive
from tests.support.workspace_processes import Outcome, check_files, look
from tests.support.workspaces import Place

NAMES = ("ada", "bob", "cyd")
TURNS = 8


@pytest.mark.requirement("T24", "R289")
def test_all_that_was_stored_is_there_once_and_in_order(tmp_path: Path) -> None:
    place = Place(tmp_path)
    made = Outcome()
    made.perform(New(is_local=False), Process(place))
    one = made.made
    assert one is not None
    command = [sys.executable, "-m", "tests.support.busy_process", str(tmp_path), one]
    running = [
        subprocess.Popen([*command, name, str(TURNS)], stdout=subprocess.PIPE, text=True) for name in NAMES
    ]
    stored = [process.communicate()[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0] * len(NAMES)
    shelf = look(place)[one].shelf
    if shelf != "live":
        back: Operation = Unarchive(one) if shelf == "archived" else Restore(one)
        Outcome().perform(back, Process(place))
    check_files(tmp_path)
    asked = [str(entry["content"]) for entry in look(place)[one].raw if entry["type"] == "chat_request"]
    assert sorted(asked) == sorted(text for texts in stored for text in texts)
    for name, texts in zip(NAMES, stored, strict=True):
        assert [text for text in asked if text.startswith(name)] == texts
        assert len(texts) == TURNS
