"""What users decided about tools is kept for each conversation, outside the workspace."""

import threading
from pathlib import Path

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.paths import Roots, open_roots
from jp_lsp.workspace.remembered import FILE_NAME, Remembered
from tests.support.workspaces import START

ONE, TWO = ConversationId("jp-c1"), ConversationId("jp-c2")
RUN = {"version": 1, "permissions": {"git": "run"}, "answers": {}}


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    (tmp_path / "project/.jp").mkdir(parents=True)
    return open_roots(tmp_path / "project", tmp_path / "data", START)


def test_conversations_are_kept_side_by_side(roots: Roots) -> None:
    Remembered(roots).write(ONE, RUN)
    Remembered(roots).write(TWO, {})
    assert Remembered(roots).read(ONE) == RUN
    assert Remembered(roots).read(TWO) == {}
    assert not list((roots.workspace.path).rglob(FILE_NAME))


@pytest.mark.parametrize("damage", [b"", b"[1]", b"{", b"\xff", b'{"jp-c1": 3}', b"[" * 100_000])
def test_what_cannot_be_understood_is_asked_again(roots: Roots, damage: bytes) -> None:
    (roots.private / FILE_NAME).write_bytes(damage)
    assert Remembered(roots).read(ONE) == {}
    Remembered(roots).write(ONE, RUN)
    assert Remembered(roots).read(ONE) == RUN


def test_programs_that_write_at_once_lose_nothing(roots: Roots) -> None:
    names = [ConversationId(f"jp-c{number}") for number in range(8)]
    threads = [threading.Thread(target=Remembered(roots).write, args=(name, RUN)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [Remembered(roots).read(name) for name in names] == [RUN] * 8
