"""What an attachment would come to, looked at before anything is read."""

from pathlib import Path

import anyio.to_thread
import pytest

from jp_lsp.attachments.reading import FILE_LIMIT
from jp_lsp.attachments.survey import MOST_VISITED, Survey, find_paths, survey
from jp_lsp.attachments.walk import Tree
from jp_lsp.ports.attachment import AttachmentError
from jp_lsp.ports.editor import OpenDocument

pytestmark = pytest.mark.anyio

UNSAVED = OpenDocument("untitled:One", None, "text", 1, "dirty", "𝄞 text")


async def look(folder: Path, name: str) -> Survey:
    documents = [UNSAVED, OpenDocument("file:///x", str(folder / "new.md"), "text", 1, "dirty", "new")]
    return await anyio.to_thread.run_sync(survey, name, Tree(folder), documents)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, data in {
        "a.md": b"hello",
        "docs/one.md": b"1234",
        "docs/deep/two.md": b"56",
        "docs/.hidden.md": b"no",
        "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00",
        "odd.bin": b"\x00\x01\xff",
        "long.txt": "é".encode() * 8000,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.md", ("file", "file:a.md", "text", 1, 5)),
        ("picture.png", ("file", "file:picture.png", "image/png", 1, 10)),
        ("odd.bin", ("file", "file:odd.bin", None, 1, 3)),
        ("long.txt", ("file", "file:long.txt", "text", 1, 16_000)),
        ("docs", ("folder", "file:docs", None, 2, 6)),
        ("docs/*.md", ("pattern", "file:docs/*.md", None, 1, 4)),
        ("*.md", ("pattern", "file:*.md", None, 3, 11)),
        ("*.rs", ("pattern", "file:*.rs", None, 0, 0)),
        ("!docs", ("exclusion", "file:docs?exclude", None, 0, 0)),
        ("untitled:One", ("document", "untitled:One", "text", 1, 6)),
        ("new.md", ("document", "file:new.md", "text", 1, 3)),
        ("https://example.com/a", ("address", "https://example.com/a", None, 0, 0)),
        ("jp-c17912345678", ("address", "jp://jp-c17912345678", None, 0, 0)),
    ],
)
async def test_what_there_is(project: Path, name: str, expected: tuple[object, ...]) -> None:
    found = await look(project, name)
    assert (found.kind, found.name, found.content, found.files, found.size) == expected


async def test_names_of_files_are_shown_in_order(project: Path) -> None:
    assert (await look(project, "docs")).names == ("docs/deep/two.md", "docs/one.md")


@pytest.mark.parametrize("name", ["nowhere.md", "../outside", "docs/none/x.md"])
async def test_what_is_not_there_is_refused_as_in_a_query(project: Path, name: str) -> None:
    with pytest.raises(AttachmentError):
        await look(project, name)


async def test_a_file_that_is_too_large(project: Path) -> None:
    with (project / "huge.txt").open("wb") as file:
        file.truncate(FILE_LIMIT + 1)
    found = await look(project, "huge.txt")
    assert found.problem == f"it is too large ({FILE_LIMIT + 1} bytes, limit is {FILE_LIMIT} bytes)"


async def test_a_search_ends(project: Path) -> None:
    for number in range(MOST_VISITED + 5):
        (project / f"{number}.rs").touch()
    found = await look(project, "*.rs")
    assert found.is_cut
    assert found.files <= MOST_VISITED + 1


async def test_paths_are_found_shallow_first_and_below_a_folder(project: Path) -> None:
    def fits(path: str) -> bool:
        return path.endswith(".md")

    everywhere = await anyio.to_thread.run_sync(find_paths, Tree(project), "", fits, 9)
    assert list(everywhere) == ["a.md", "docs/one.md", "docs/deep/two.md"]
    below = await anyio.to_thread.run_sync(find_paths, Tree(project), "docs", fits, 1)
    assert list(below) == ["docs/one.md"]
