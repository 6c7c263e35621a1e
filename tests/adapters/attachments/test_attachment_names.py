"""What a query names, as entries of the configuration."""

import pytest

from jp_lsp.attachments.naming import Namer
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentError
from tests.adapters.attachments.fetching import Folder, sources
from tests.support.closed_folder import closed

pytestmark = pytest.mark.anyio

LONG = "a" * 300
"""More than a name on a disk may have."""

ENTRIES: dict[str, str] = {
    "a.md": "file:a.md",
    "./docs/../a.md": "file:a.md",
    "docs": "file:docs",
    "file:a.md": "file:a.md",
    "file:///a.md": "file:a.md",
    "{root}/docs/x y.md": "file:docs/x y.md",
    "file://{root}/docs/x%20y.md": "file:docs/x y.md",
    "file://{root}/docs/*.md": "file:docs/*.md",
    "docs/**/*.md": "file:docs/**/*.md",
    "50%?#.md": "file:50%25%3F%23.md",
    "notes:today.md": "file:notes:today.md",
    "!docs/x y.md": "file:docs/x y.md?exclude",
    "!not there": "file:not there?exclude",
    "!{root}/docs": "file:docs?exclude",
    "!file://{root}/docs": "file:docs?exclude",
    "file:docs/*?exclude": "file:docs/*?exclude",
    "cmd:git diff": "cmd:git diff",
    "https://example.com/a": "https://example.com/a",
    f"https://example.com/a?{LONG}": f"https://example.com/a?{LONG}",
    f"cmd:echo {LONG}": f"cmd:echo {LONG}",
    "mcp+notes+memo://one": "mcp+notes+memo://one",
    "other:thing": "other:thing",
    "jp-c17912345678": "jp://jp-c17912345678",
    "jp-c17912345678-abc?ua:-3": "jp://jp-c17912345678?select=ua:-3",
    "jp-c17912345678?raw": "jp://jp-c17912345678?raw",
    "jp-c17912345678?select=u": "jp://jp-c17912345678?select=u",
}


@pytest.mark.parametrize("name", ENTRIES)
async def test_names_become_entries_that_mean_the_same_on_every_machine(folder: Folder, name: str) -> None:
    folder.write(**{"a.md": "a", "docs/x y.md": "x", "50%?#.md": "p", "notes:today.md": "n"})
    named = await folder.name(name.format(root=folder.path))
    assert (named.entries, named.passing) == ((ENTRIES[name],), ())


async def test_an_entry_finds_what_was_named(folder: Folder) -> None:
    names = ["50%?#.md", "größe und mehr.md", "app/[id].ts", "a+b&c=d.md", "!x.md"]
    folder.write(**dict.fromkeys(names, "text"))
    assert sources(await folder.fetch(*(await folder.name(*names)).entries)) == names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("none.md", "there is no such file or folder in the workspace"),
        ("", "is no path that can be followed"),
        ("!", "there is no such file or folder in the workspace"),
        ("../other.md", "is outside of the workspace"),
        ("file:///etc", "is outside of the workspace"),
        ("file://{root}/none.md", "there is no such file or folder in the workspace"),
        ("jp-cx", "is no conversation id"),
        ("a\0b", "is no path that can be followed"),
        (LONG, "is no path that can be followed"),
    ],
)
async def test_what_is_not_there_is_refused(folder: Folder, name: str, text: str) -> None:
    folder.write(**{"../other.md": "secret"})
    with pytest.raises(AttachmentError, match=text):
        await folder.name(name.format(root=folder.path))


async def test_what_is_in_a_closed_folder_is_refused(folder: Folder) -> None:
    folder.write(**{"shut/a.md": "text"})
    with closed(folder.path / "shut"), pytest.raises(AttachmentError, match="can be followed"):
        Namer(str(folder.path), None).read_now(["shut/a.md"], ())


async def test_a_document_without_a_file_is_for_this_query_alone(folder: Folder) -> None:
    folder.open("untitled:One", "typed")
    folder.open("new.md", "not saved yet")
    named = await folder.name("untitled:One", (folder.path / "new.md").as_uri(), "new.md")
    assert named.entries == ("file:new.md",)
    assert named.passing == (TextAttachment("untitled:One", "typed"),)


async def test_an_open_document_outside_of_the_workspace_is_what_the_editor_shows(folder: Folder) -> None:
    folder.write(**{"../other.md": "disk"})
    folder.open("../other.md", "buffer", state="clean")
    (item,) = (await folder.name(folder.desk.documents[0].uri)).passing
    assert isinstance(item, TextAttachment)
    assert item.text == "buffer"
