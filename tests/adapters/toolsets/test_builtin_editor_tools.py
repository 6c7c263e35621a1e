"""The editor tools: read as the editor has it, list, edit with the version that was read (T21, T22)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.editor import BufferState, EditOutcome, OpenDocument, Replacement
from jp_lsp.ports.toolset import ToolRun
from jp_lsp.tools.builtin import BUILTIN_TOOLS
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome
from jp_lsp.tools.spec import BuiltinSource, ToolSpec
from jp_lsp.toolsets.builtin import BuiltinExecutor
from jp_lsp.toolsets.editor_files import MOST_BYTES, FileProblem
from jp_lsp.toolsets.editor_tools import apply_replacements, find_replacements

pytestmark = pytest.mark.anyio


class Silent:
    def progress(self, message: str | None, percentage: int | None) -> None:
        raise AssertionError("these tools are done at once")


@dataclass
class Sent:
    uri: str
    version: int | None
    text: str
    edits: tuple[Replacement, ...]
    label: str


class Editor:
    """An editor with open documents, and with a root in which files lie."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.more_folders: list[Path] = []
        self.documents: list[OpenDocument] = []
        self.sent: list[Sent] = []
        self.proposals: list[bool] = []
        self.outcome = EditOutcome("applied")
        self.is_allowed = False
        self.on_edit: Any = lambda: None

    def folders(self) -> Sequence[str]:
        return [str(self.root), *map(str, self.more_folders)]

    def open_documents(self) -> Sequence[OpenDocument]:
        return self.documents

    async def apply_edit(
        self,
        uri: str,
        version: int | None,
        text: str,
        edits: Sequence[Replacement],
        label: str,
        *,
        is_proposal: bool = True,
    ) -> EditOutcome:
        self.sent.append(Sent(uri, version, text, tuple(edits), label))
        self.proposals.append(is_proposal)
        self.on_edit()
        return self.outcome

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def open(self, name: str, text: str, state: BufferState = "clean", loaded: str | None = None) -> None:
        path = self.root / name
        self.documents.append(OpenDocument(path.as_uri(), str(path), "python", 7, state, text, loaded))

    async def call(self, tool: str, **arguments: Any) -> ToolOutcome:
        executor = BuiltinExecutor(lambda run: (), self)
        spec = ToolSpec(BUILTIN_TOOLS[tool].definition, BuiltinSource(tool))
        run = ToolRun(CallId("c"), spec, arguments, {}, ConversationId("jp-c1"), "abcde", str(self.root))
        run = replace(run, is_allowed=self.is_allowed)
        return await executor.run(run, Silent())

    async def read(self, path: str, **lines: int) -> str:
        outcome = await self.call("editor_read_file", path=path, **lines)
        return outcome.content if isinstance(outcome, Succeeded) else f"error: {outcome}"

    async def version(self, path: str) -> str:
        found = re.search(r"\(version (\S+);", await self.read(path))
        assert found is not None
        return found[1]

    async def edit(self, path: str, *edits: tuple[str, str], version: str | None = None) -> ToolOutcome:
        listed: list[JsonObject] = [{"old": old, "new": new} for old, new in edits]
        known = version if version is not None else await self.version(path)
        return await self.call("editor_edit_file", path=path, version=known, edits=listed)


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path)


def without_digest(text: str) -> str:
    return re.sub(r"(version \w+)-[0-9a-f]{12}", r"\1-...", text)


# -------------------------------------------------------------------------------------------------- reading

DISK, BUFFER, LOADED = "on disk\n", "in the buffer\n", "as loaded\n"
NEWER = (
    "as on disk, which is newer than the editor's copy: the file was changed outside of the editor, and the editor "
    "has not reloaded it"
)
CONFLICT = (
    "open in the editor, with unsaved changes. CONFLICT: the file on disk was changed as well, and this is not in "
    "the text below"
)
STATES: dict[str, tuple[str | None, BufferState | None, str, str | None, str, str]] = {
    # disk, state of the buffer, its text, what was loaded -> note, text
    "not open": (DISK, None, "", None, "version disk-...; not open in the editor", DISK),
    "the same": (DISK, "clean", DISK, DISK, "version 7-...; open in the editor, same as on disk", DISK),
    "the same but for line ends": ("a\r\n", "dirty", "a\n", None, "version 7-...; open in the editor, same as on disk", "a\n"),
    "unsaved": (LOADED, "dirty", BUFFER, LOADED, "version 7-...; open in the editor, with unsaved changes", BUFFER),
    "T21: clean, and newer on disk": (DISK, "clean", LOADED, LOADED, f"version disk-...; {NEWER}", DISK),
    "T21: dirty, and newer on disk": (DISK, "dirty", BUFFER, LOADED, f"version 7-...; {CONFLICT}", BUFFER),
    "never the same": (DISK, "dirty", BUFFER, None, f"version 7-...; {CONFLICT}", BUFFER),
    "never saved": (None, "dirty", BUFFER, None, "version 7-...; open in the editor, not on disk", BUFFER),
    "not followed": (
        DISK,
        "unknown",
        BUFFER,
        LOADED,
        "version disk-...; as on disk; it is open in the editor too, whose text cannot be followed",
        DISK,
    ),
}  # fmt: skip


@pytest.mark.requirement("T21")
@pytest.mark.parametrize("case", STATES)
async def test_the_newer_of_buffer_and_disk_is_read_and_which_it_is_is_said(
    editor: Editor, case: str
) -> None:
    disk, state, text, loaded, note, wanted = STATES[case]
    if disk is not None:
        editor.write("src/a.py", disk)
    if state is not None:
        editor.open("src/a.py", text, state, loaded)
    assert without_digest(await editor.read("src/a.py")) == f"src/a.py ({note})\n\n{wanted}"


async def test_a_file_may_be_named_in_any_way_that_leads_to_it(editor: Editor) -> None:
    path = editor.write("src/ä b.py", "x")
    (editor.root / "link").symlink_to("src")
    editor.open("link/ä b.py", "buffer", "dirty", "x")
    for name in ("src/ä b.py", "./src/../src/ä b.py", str(path), path.as_uri(), "link/ä b.py"):
        assert (await editor.read(name)).endswith("\n\nbuffer")


async def test_other_workspace_folders_can_be_read(editor: Editor, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("b", encoding="utf-8")
    assert "outside of the workspace folders" in await editor.read(str(other / "b.txt"))
    editor.more_folders.append(other)
    assert (await editor.read(str(other / "b.txt"))).startswith(str(other / "b.txt"))


@pytest.mark.requirement("R264")
async def test_nothing_outside_of_the_workspace_folders_is_read_or_edited(
    editor: Editor, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key", encoding="utf-8")
    (editor.root / "link").symlink_to(secret)
    (editor.root / "up").symlink_to(tmp_path)
    editor.documents.append(OpenDocument(secret.as_uri(), str(secret), "text", 1, "dirty", "key"))
    for name in ("../secret.txt", str(secret), secret.as_uri(), "link", "up/secret.txt"):
        for outcome in (
            await editor.call("editor_read_file", path=name),
            await editor.edit(name, ("key", "x"), version="1"),
        ):
            assert isinstance(outcome, Failed)
            assert outcome.content.endswith(
                "is outside of the workspace folders; only files in them can be used."
            )
    assert editor.sent == []


UNREADABLE: dict[str, tuple[str | bytes | None, str]] = {
    "missing": (None, "There is no file f."),
    "binary": (b"a\0b", "f is a binary file."),
    "another encoding": (b"\xff\xfe", "f is no text in UTF-8."),
    "too large": (
        b"x" * (MOST_BYTES + 1),
        f"f has {MOST_BYTES + 1} bytes, which is too large to read at once.",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
async def test_what_cannot_be_read_says_why(editor: Editor, case: str) -> None:
    content, text = UNREADABLE[case]
    if content is not None:
        editor.write("f", content)
    assert await editor.call("editor_read_file", path="f") == Failed(text)


async def test_folders_loops_and_names_that_are_none_are_refused(editor: Editor) -> None:
    (editor.root / "dir").mkdir()
    (editor.root / "loop").symlink_to("loop")
    assert await editor.call("editor_read_file", path="dir") == Failed("dir is a folder.")
    for name in ("loop", "", " ", "a\0b"):
        assert isinstance(await editor.call("editor_read_file", path=name), Failed)
    assert await editor.call("editor_read_file") == Failed("The `path` is missing.")


async def test_a_buffer_that_cannot_be_compared_with_its_file_is_read(editor: Editor) -> None:
    editor.write("f", b"\xe4")
    editor.open("f", "ä", "dirty")
    assert "open in the editor, not to be compared with what is on disk" in await editor.read("f")


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            {"start_line": 2},
            ", lines 2 to 3 of 3 (",
        ),
        ({"end_line": 1}, ", lines 1 to 1 of 3 ("),
        ({"start_line": 2, "end_line": 2}, ", lines 2 to 2 of 3 ("),
        ({"start_line": 1, "end_line": 99}, ", lines 1 to 3 of 3 ("),
    ],
)
async def test_some_lines_can_be_read(editor: Editor, lines: dict[str, int], wanted: str) -> None:
    editor.write("f", "1\n2\f2\n3")
    text = await editor.read("f", **lines)
    assert wanted in text
    parts = ["1\n", "2\f2\n", "3"]
    first, last = lines.get("start_line", 1), min(lines.get("end_line", 3), 3)
    assert text.split("\n\n", 1)[1] == "".join(parts[first - 1 : last])


@pytest.mark.parametrize("lines", [{"start_line": 4}, {"start_line": 3, "end_line": 2}, {"start_line": 0}])
async def test_lines_that_are_not_there_are_an_error(editor: Editor, lines: Any) -> None:
    editor.write("f", "1\n2\n3\n")
    assert (await editor.read("f", **lines)).startswith("error: Failed(")


# -------------------------------------------------------------------------------------------------- listing


async def test_open_documents_of_the_workspace_are_listed(editor: Editor, tmp_path: Path) -> None:
    assert await editor.call("editor_list_documents") == Succeeded(
        "No document of the workspace is open in the editor."
    )
    editor.open("a.py", "x")
    editor.open("src/b.py", "x", "dirty")
    editor.open("c", "x", "unknown")
    editor.documents[-1] = replace(editor.documents[-1], language="")
    editor.documents.append(OpenDocument("untitled:1", None, "text", 1, "dirty", ""))
    editor.documents.append(OpenDocument("file:///etc/passwd", "/etc/passwd", "text", 1, "clean", ""))
    root = editor.root.as_uri()
    assert await editor.call("editor_list_documents") == Succeeded(
        f"a.py (python, version 7, saved): {root}/a.py\n"
        f"src/b.py (python, version 7, unsaved changes): {root}/src/b.py\n"
        f"c (plain text, version 7, state unknown): {root}/c"
    )


# -------------------------------------------------------------------------------------------------- editing


@pytest.mark.requirement("T22")
async def test_an_edit_of_an_open_document_goes_out_with_its_version(editor: Editor) -> None:
    path = editor.write("a.py", "one\ntwo\n")
    editor.open("a.py", "one\ntwo\nthree\n", "dirty", "one\ntwo\n")
    outcome = await editor.edit("a.py", ("three", "3"), ("one", "1"))
    assert outcome == Succeeded(
        "2 edits made to a.py in the editor, which has not saved the file. Read it again before you edit it further."
    )
    assert editor.sent == [
        Sent(
            path.as_uri(),
            7,
            "one\ntwo\nthree\n",
            (Replacement(0, 3, "1"), Replacement(8, 13, "3")),
            "Edit a.py",
        )
    ]
    assert path.read_text("utf-8") == "one\ntwo\n"


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_whoever_let_it_run_is_not_asked_again(editor: Editor, is_allowed: bool) -> None:
    editor.write("a.py", "one")
    editor.is_allowed = is_allowed
    assert isinstance(await editor.edit("a.py", ("one", "1")), Succeeded)
    assert editor.proposals == [not is_allowed]


async def test_an_edit_of_a_file_that_is_not_open_has_no_version(editor: Editor) -> None:
    path = editor.write("a.py", "one")
    assert isinstance(await editor.edit("a.py", ("one", "1")), Succeeded)
    assert (editor.sent[0].uri, editor.sent[0].version, editor.sent[0].text) == (path.as_uri(), None, "one")


@pytest.mark.requirement("T22")
@pytest.mark.parametrize("change", ["buffer", "version", "reopened", "disk", "closed", "opened"])
async def test_an_edit_for_an_older_text_is_refused_and_not_sent(editor: Editor, change: str) -> None:
    editor.write("a.py", "one\n")
    if change not in {"disk", "opened"}:
        editor.open("a.py", "one\ntwo\n", "dirty", "one\n")
    version = await editor.version("a.py")
    match change:
        case "buffer":
            editor.documents = [replace(editor.documents[0], text="one\nTWO\n", version=8)]
        case "version":
            editor.documents = [replace(editor.documents[0], version=8)]
        case "reopened":
            editor.documents = [replace(editor.documents[0], text="one\nother\n")]
        case "closed":
            editor.documents = []
        case "opened":
            editor.open("a.py", "one\n")
        case _:
            editor.write("a.py", "one\nmore\n")
    outcome = await editor.edit("a.py", ("one", "1"), version=version)
    assert isinstance(outcome, Failed)
    assert outcome.content.startswith("a.py has changed since it was read (its version is ")
    assert outcome.content.endswith("Nothing was changed. Read it again.")
    assert editor.sent == []


@pytest.mark.requirement("T21", "T22")
@pytest.mark.parametrize("state", ["clean", "unknown"])
async def test_a_buffer_that_is_behind_the_disk_is_not_edited(editor: Editor, state: BufferState) -> None:
    editor.write("a.py", "newer\n")
    editor.open("a.py", "older\n", state, "older\n")
    outcome = await editor.edit("a.py", ("newer", "x"))
    assert outcome == Failed(
        "a.py is open in the editor with another text than on disk. Ask the user to reload it there first; an edit "
        "would be made to the old text. Nothing was changed."
    )
    assert editor.sent == []


@pytest.mark.requirement("T22")
async def test_an_editor_that_finds_the_document_changed_refuses(editor: Editor) -> None:
    editor.write("a.py", "one")
    editor.outcome = EditOutcome("stale", "its version is 9 now")
    assert await editor.edit("a.py", ("one", "1")) == Failed(
        "a.py has changed since it was read (its version is 9 now). Nothing was changed. Read it again."
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [("", "The edit of a.py was refused. "), ("not today", "The edit of a.py was refused: not today. ")],
)
async def test_a_refusal_is_passed_on(editor: Editor, reason: str, said: str) -> None:
    editor.write("a.py", "one")
    editor.outcome = EditOutcome("refused", reason)
    assert await editor.edit("a.py", ("one", "1")) == Failed(f"{said}Nothing was changed.")


async def test_doubts_about_an_edit_are_told(editor: Editor) -> None:
    path = editor.write("a.py", "one")
    editor.outcome = EditOutcome("applied", "It was not seen.")
    editor.on_edit = lambda: path.write_text("1", encoding="utf-8")  # an editor that saves by itself
    assert (await editor.edit("a.py", ("one", "1"))).content == (  # type: ignore[union-attr]
        "1 edit made to a.py in the editor, which has not saved the file. It was not seen. "
        "Read it again before you edit it further."
    )
    editor.on_edit = lambda: path.write_text("other", encoding="utf-8")
    text = (await editor.edit("a.py", ("1", "one"))).content  # type: ignore[union-attr]
    assert "The file was changed on disk meanwhile, so the edit may stand in a wrong place." in text


WRONG: dict[str, tuple[list[tuple[str, str]], str]] = {
    "nothing": ([], "The `edits` must not be empty."),
    "no old text": ([("", "x")], "edits[0]: `old` is empty; give the text that is to be replaced."),
    "not there": ([("one", "1"), ("x" * 100, "")], "edits[1]: the file does not hold '" + "x" * 80 + "...'. Nothing was changed."),
    "there twice": (
        [("o", "0")],
        "edits[0]: 'o' is in the file more than once; give more of the text around it. Nothing was changed.",
    ),
    "overlapping itself": ([("aa", "b")], "edits[0]: 'aa' is in the file more than once; give more of the text around it. Nothing was changed."),
    "overlapping": ([("one\nt", ""), ("two", "")], "Two of the edits overlap; make one of them. Nothing was changed."),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
async def test_edits_that_do_not_fit_change_nothing(editor: Editor, case: str) -> None:
    edits, text = WRONG[case]
    editor.write("a.py", "one\ntwo\naaa\n")
    assert await editor.edit("a.py", *edits) == Failed(text)
    assert editor.sent == []


@pytest.mark.parametrize("edits", [None, "x", ["x"], [{"old": "one"}], [{"old": 1, "new": ""}]])
async def test_edits_of_another_form_are_refused(editor: Editor, edits: Any) -> None:
    editor.write("a.py", "one")
    version = await editor.version("a.py")
    assert isinstance(
        await editor.call("editor_edit_file", path="a.py", version=version, edits=edits), Failed
    )


def test_line_ends_of_the_file_are_kept():
    text = "one\r\ntwo\r\n"
    found = find_replacements(text, [("one\ntwo", "1\n2\n3")])
    assert apply_replacements(text, found) == "1\r\n2\r\n3\r\n"
    assert find_replacements("a\n", [("a\n", "b\r\n")]) == (Replacement(0, 2, "b\r\n"),)


pieces = st.lists(st.text("ab\n", min_size=1, max_size=4), min_size=1, max_size=6)


@given(pieces, st.data())
def test_replacements_do_what_their_edits_say(parts: list[str], data: st.DataObject):
    marked = [f"<{index}>{part}</{index}>" for index, part in enumerate(parts)]
    chosen = data.draw(st.lists(st.sampled_from(range(len(parts))), min_size=1, unique=True))
    edits = [(marked[index], f"new{index}") for index in chosen]
    text = "".join(marked)
    wanted = "".join(f"new{index}" if index in chosen else part for index, part in enumerate(marked))
    assert apply_replacements(text, find_replacements(text, edits)) == wanted


@given(st.text("ab", max_size=8), st.text("ab", min_size=1, max_size=3))
def test_a_text_is_replaced_only_where_there_is_no_doubt(text: str, old: str):
    places = [index for index in range(len(text)) if text.startswith(old, index)]
    if len(places) == 1:
        (found,) = find_replacements(text, [(old, "x")])
        assert (found.start, found.end) == (places[0], places[0] + len(old))
    else:
        with pytest.raises(FileProblem):
            find_replacements(text, [(old, "x")])
