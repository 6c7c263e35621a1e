"""`file` attachments: paths, folders, patterns, exclusion, kinds of content, limits, the editor's text."""

import os
from typing import Any

import pytest

from jp_lsp.attachments import file, reading
from jp_lsp.conversation.thread import BinaryAttachment
from jp_lsp.ports.attachment import AttachmentError
from tests.adapters.attachments.fetching import Folder, sources, table, texts

pytestmark = pytest.mark.anyio

TREE: dict[str, Any] = {
    "README.md": "r",
    "Docs/x.md": "x",
    "Docs/y.txt": "y",
    "Docs/deep/z.md": "z",
    "a b.md": "blank",
    "größe.md": "umlaut",
    ".hidden.md": "h",
    ".github/ci.yml": "ci",
    ".github/.secret/key.yml": "s",
    "app/[id].ts": "literal",
    "app/i.ts": "i",
}

FOUND: dict[str, tuple[list[Any], list[str]]] = {
    "one slash, two, three or none": (["file:Docs/x.md"], ["Docs/x.md"]),
    "one slash": (["file:/Docs/x.md"], ["Docs/x.md"]),
    "a host, whose letters keep their case (trap 32)": (["file://Docs/x.md"], ["Docs/x.md"]),
    "three slashes": (["file:///Docs/x.md"], ["Docs/x.md"]),
    "a table": ([table("file", "Docs/x.md")], ["Docs/x.md"]),
    "encoded": (["file:a%20b.md", "file:gr%C3%B6%C3%9Fe.md"], ["a b.md", "größe.md"]),
    "not encoded": (["file:a b.md", "file:größe.md"], ["a b.md", "größe.md"]),
    "a pattern at any depth": (["file:*.md"], ["Docs/deep/z.md", "Docs/x.md", "README.md", "a b.md", "größe.md"]),
    "a pattern below a folder": (["file:Docs/**/*.md"], ["Docs/deep/z.md", "Docs/x.md"]),
    "a folder": (["file:Docs"], ["Docs/deep/z.md", "Docs/x.md", "Docs/y.txt"]),
    "a folder with a slash": (["file:Docs/"], ["Docs/deep/z.md", "Docs/x.md", "Docs/y.txt"]),
    "hidden by name": (["file:.hidden.md"], [".hidden.md"]),
    "a hidden folder by name": (["file:.github/**/*.yml"], [".github/ci.yml"]),
    "a name like a pattern": (["file:app/[id].ts"], ["app/[id].ts"]),
    "a question mark": (["file:app/%3F.ts"], ["app/i.ts"]),
    "exclusion across entries (trap 33)": (["file:*.md", "file:Docs/deep?exclude", "file:README.md?exclude=1"],
                                           ["Docs/x.md", "a b.md", "größe.md"]),
    "exclusion before": ([table("file", "x.md", exclude="true"), "file:Docs/*.md"], []),
    "exclusion of one that is named": (["file:README.md", "file:README.md?exclude"], []),
    "by a detour": (["file:Docs/deep/../x.md", "file:Docs/x.md"], ["Docs/x.md"]),
    "exclusion of one that is named by a detour": (["file:Docs/deep/../x.md", "file:Docs/x.md?exclude"], []),
    "twice the same": (["file:Docs/x.md", "file:Docs/*", "file:Docs/x.md"], ["Docs/x.md", "Docs/y.txt"]),
    "the order of the entries": (["file:README.md", "file:Docs/y.txt", "file:Docs/x.md"],
                                 ["README.md", "Docs/y.txt", "Docs/x.md"]),
}  # fmt: skip


@pytest.mark.requirement("F26", "G32", "G33")
@pytest.mark.parametrize("case", FOUND)
async def test_what_entries_find(folder: Folder, case: str) -> None:
    entries, wanted = FOUND[case]
    folder.write(**TREE)
    fetched = await folder.fetch(*entries)
    assert sources(fetched) == wanted
    assert await folder.fetch(*entries) == fetched


async def test_what_is_missing_is_told_and_left_out(folder: Folder) -> None:
    fetched = await folder.fetch("file:none.md", "file:*.rs")
    assert fetched.items == ()
    assert fetched.warnings == (
        "Attachment 'file:none.md' was left out: there is no file 'none.md' in the workspace.",
        "Attachment 'file:*.rs' was left out: no file in the workspace fits it.",
    )


async def test_links_are_judged_by_where_they_lead(folder: Folder) -> None:
    folder.write(**{"real.md": "real", "../outside.md": "secret"})
    (folder.path / "inner.md").symlink_to("real.md")
    (folder.path / "outer.md").symlink_to("../outside.md")
    (folder.path / "loop").symlink_to("loop")
    assert texts(await folder.fetch("file:inner.md")) == {"inner.md": "real"}
    assert sources(await folder.fetch("file:*.md")) == ["real.md"]
    for outside in ("file:outer.md", "file:../outside.md", "file:../*.md"):
        with pytest.raises(
            AttachmentError, match=r"is outside of the workspace; only files in .* can be attached"
        ):
            await folder.fetch(outside)
    with pytest.raises(AttachmentError, match="no path that can be followed"):
        await folder.fetch("file:a%00b")
    with pytest.raises(AttachmentError, match="no path that can be followed"):
        await folder.fetch("file:" + "a" * 300)


KINDS: dict[str, tuple[bytes, str | None]] = {
    "png": (b"\x89PNG\r\n\x1a\n\x00", "image/png"),
    "jpeg": (b"\xff\xd8\xff\xe0", "image/jpeg"),
    "webp": (b"RIFF\x00\x01\x00\x00WEBPVP8 ", "image/webp"),
    "pdf": (b"%PDF-1.7\nall of it text", "application/pdf"),
    "zip": (b"PK\x03\x04\xff\x00", "application/zip"),
    "text like a picture": (b"GIF89a is a format", None),
    "text like music": (b"ID3 tags", None),
    "text with a mark": (b"\xef\xbb\xbftext", None),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_the_first_bytes_decide_what_a_file_is(folder: Folder, kind: str) -> None:
    data, media_type = KINDS[kind]
    folder.write(thing=data)
    (item,) = (await folder.fetch("file:thing")).items
    if media_type is None:
        assert texts(await folder.fetch("file:thing")) == {"thing": data.decode("utf-8-sig")}
    else:
        assert item == BinaryAttachment("thing", data, media_type)


async def test_what_is_neither_text_nor_known_is_left_out(folder: Folder) -> None:
    folder.write(**{"odd.bin": b"\xff\xfe\x01", "nul.txt": b"a\0b", "fine.txt": "fine"})
    fetched = await folder.fetch("file:odd.bin", "file:*")
    assert texts(fetched) == {"fine.txt": "fine"}
    assert fetched.warnings == (
        "Attachment 'file:odd.bin' was left out: 'odd.bin' is neither text in UTF-8 nor a known kind of file.",
        "Attachment 'file:*': left out nul.txt, which cannot be read, are too large, or are neither text in UTF-8 "
        "nor a known kind of file.",
    )


@pytest.mark.requirement("G64")
async def test_a_large_file_is_refused_where_it_is_named_and_left_out_where_it_is_found(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap 64: a large text that a pattern finds is not attached whole."""
    monkeypatch.setattr(reading, "FILE_LIMIT", 10)
    folder.write(**{"large.txt": "x" * 11, "small.txt": "x" * 10})
    with pytest.raises(
        AttachmentError, match=r"File 'large.txt' is too large \(11 bytes, limit is 10 bytes\)\."
    ):
        await folder.fetch("file:large.txt")
    fetched = await folder.fetch("file:*.txt")
    assert sources(fetched) == ["small.txt"]
    assert "left out large.txt" in fetched.warnings[0]


@pytest.mark.parametrize(("limit", "value"), [("MOST_FILES", 2), ("MOST_BYTES", 25)])
async def test_folders_bring_no_more_than_a_query_takes(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(file, limit, value)
    folder.write(**{f"{name}.txt": name * 10 for name in "abcd"})
    fetched = await folder.fetch("file:*.txt", "file:d.txt")
    assert sources(fetched) == ["a.txt", "b.txt", "d.txt"]
    assert "the rest was left out. Narrow it down, or exclude something." in fetched.warnings[0]


async def test_no_pipe_is_waited_for(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe")
    assert sources(await folder.fetch("file:*")) == []
    with pytest.raises(AttachmentError, match="'pipe' is no ordinary file"):
        await folder.fetch("file:pipe")


async def test_an_unknown_parameter_is_no_pattern(folder: Folder) -> None:
    with pytest.raises(AttachmentError, match=r"unknown parameter `\.ts`.*write `%3F` for a `\?` in a path"):
        await folder.fetch("file:app/?.ts")


BUFFERS: dict[str, tuple[str, str | None, str | None, str, bool]] = {
    # state, text when last the same, on disk, what is attached, whether the user is warned
    "unsaved": ("dirty", "disk", "disk", "buffer", False),
    "clean and the same": ("clean", "buffer", "buffer", "buffer", False),
    "clean and behind": ("clean", "buffer", "newer", "newer", False),
    "not followed": ("unknown", None, "disk", "disk", False),
    "unsaved, and changed on disk": ("dirty", "older", "newer", "buffer", True),
    "not on disk yet": ("dirty", None, None, "buffer", False),
    "gone from disk": ("clean", "buffer", None, "buffer", False),
}


@pytest.mark.requirement("T21")
@pytest.mark.parametrize("case", BUFFERS)
@pytest.mark.parametrize("entry", ["file:docs/x.md", "file:docs/*"])
async def test_which_text_of_an_open_file_counts(folder: Folder, case: str, entry: str) -> None:
    state, loaded, on_disk, attached, is_warned = BUFFERS[case]
    folder.write(**({} if on_disk is None else {"docs/x.md": on_disk}))
    folder.open("docs/x.md", "buffer", state=state, loaded=loaded)
    fetched = await folder.fetch(entry)
    if on_disk is None and entry.endswith("*"):
        assert fetched.items == ()  # a pattern finds what is on disk
    else:
        assert texts(fetched) == {"docs/x.md": attached}
        assert bool(fetched.warnings) is is_warned
