"""Files below a folder are looked for once, however many patterns want to know, and no longer than somebody does."""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from jp_lsp.attachments.file import FileHandler
from jp_lsp.attachments.survey import survey
from jp_lsp.attachments.walk import Tree
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry

pytestmark = pytest.mark.anyio

FOLDERS = 5


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for number in range(FOLDERS - 1):
        (tmp_path / f"f{number}").mkdir()
        for name in ("a.md", "b.py", ".hidden"):
            (tmp_path / f"f{number}" / name).write_text(name, encoding="utf-8")
    return tmp_path


_watching: list[Callable[[str], None]] = []


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "os.scandir":
        for watch in _watching:
            watch(str(arguments[0]))


sys.addaudithook(_audit)  # it cannot be taken away again, and does nothing while nobody watches


@contextmanager
def folders_read() -> Generator[list[str]]:
    """Note each folder whose entries are read."""
    read: list[str] = []
    _watching.append(read.append)
    try:
        yield read
    finally:
        _watching.remove(read.append)


@pytest.mark.requirement("F26")
async def test_a_hundred_patterns_of_a_document_read_each_folder_once(project: Path) -> None:
    tree = Tree(project)
    with folders_read() as read:
        for number in range(100):
            found = await to_thread.run_sync(survey, f"**/*.m{number}d", tree, ())
            assert found.files == 0
        found = await to_thread.run_sync(survey, "**/*.md", tree, ())
    assert found.files == FOLDERS - 1
    assert len(read) == FOLDERS


@pytest.mark.requirement("F26")
async def test_all_patterns_of_a_query_read_each_folder_once(project: Path) -> None:
    paths = ["**/a.md", "**/b.*", *(f"**/x{number}*" for number in range(50))]
    with folders_read() as read:
        fetched = await FileHandler(str(project), None).fetch(
            [AttachmentEntry(f"file:{path}", "file", path) for path in paths]
        )
    assert [len(each.items) for each in fetched[:3]] == [FOLDERS - 1, FOLDERS - 1, 0]
    assert all(isinstance(item, TextAttachment) for item in fetched[0].items)
    assert len(read) == FOLDERS


async def test_who_looks_a_little_leaves_the_rest_to_the_next(project: Path) -> None:
    tree = Tree(project)

    def read(*counts: int) -> list[Sequence[str]]:
        return [list(islice(tree.below(""), count)) for count in counts]

    one, more, everything, again = await to_thread.run_sync(read, 1, 3, 100, 100)
    assert (everything[:1], everything[:3]) == (one, more)
    assert everything == again
    assert len(everything) == 2 * (FOLDERS - 1)


async def test_what_is_too_much_to_keep_is_read_again(project: Path) -> None:
    tree = Tree(project, most_kept=3)

    def read() -> list[str]:
        return list(tree.below(""))

    first, again = await to_thread.run_sync(read), await to_thread.run_sync(read)
    assert sorted(first) == sorted(again)
    assert len(set(first)) == len(first) == 2 * (FOLDERS - 1)


@pytest.mark.requirement("T23")
async def test_a_search_that_nobody_waits_for_any_more_ends(project: Path) -> None:
    tree = Tree(project)
    seen: list[str] = []

    def search() -> None:
        while True:  # as many patterns as it takes
            seen.extend(tree.below(""))
            anyio.from_thread.run_sync(scope.cancel)

    with anyio.CancelScope() as scope:
        await to_thread.run_sync(search)
    assert scope.cancelled_caught
    assert len(seen) == 2 * (FOLDERS - 1), "the first search is whole, and the second one never begins"


def test_links_and_hidden_files_are_left_out(project: Path) -> None:
    os.symlink(project / "f0", project / "link")
    found = anyio.run(to_thread.run_sync, lambda: list(Tree(project).below("")))
    assert not [path for path in found if "link" in path or "hidden" in path]
