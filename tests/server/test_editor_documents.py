"""The documents that a client has open, and edits that it is asked to make (T21, T22)."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from anyio import wait_all_tasks_blocked
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.ports.editor import EditOutcome, OpenDocument, Replacement
from jp_lsp.server.editor_documents import ClientDocuments, position_finder
from tests.support.wire_memory import MemoryClient

pytestmark = pytest.mark.anyio

FULL_SUPPORT = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
    }
}


class World:
    """An editor in memory, with a workspace on disk."""

    def __init__(self, folder: Path, change_seconds: float = 5.0) -> None:
        self.root = folder
        self.client = MemoryClient()
        self.documents = ClientDocuments(self.client.server, change_seconds=change_seconds)

    def initialize(self, capabilities: Any = FULL_SUPPORT, **params: Any) -> Any:
        answer = self.client.initialize(rootUri=self.root.as_uri(), capabilities=capabilities, **params)
        self.client.notify("initialized", {})
        self.client.take()
        return answer

    def uri(self, name: str = "a.py") -> str:
        return (self.root / name).as_uri()

    def write(self, text: str | bytes, name: str = "a.py") -> None:
        path = self.root / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.ticks = getattr(self, "ticks", 0) + 1
        os.utime(path, ns=(self.ticks * 10**9, self.ticks * 10**9))  # a clock may be too coarse to tell

    def open(self, text: str, name: str = "a.py", version: int = 1) -> None:
        document = {"uri": self.uri(name), "languageId": "python", "version": version, "text": text}
        self.client.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, *changes: Any, version: int = 2, name: str = "a.py") -> None:
        listed = [change if isinstance(change, dict) else {"text": change} for change in changes]
        document = {"uri": self.uri(name), "version": version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": listed})

    def save(self, name: str = "a.py") -> None:
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.uri(name)}})

    def close(self, name: str = "a.py") -> None:
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    @property
    def document(self) -> OpenDocument:
        (found,) = self.documents.open_documents()
        return found

    async def edit(
        self, answer: Any, *, version: int | None = 1, text: str = "one\ntwo\n", uri: str | None = None
    ) -> tuple[EditOutcome, list[Any]]:
        """Ask for an edit, and answer the request, if there is one, with a result or an error."""
        task = asyncio.ensure_future(
            self.documents.apply_edit(uri or self.uri(), version, text, [Replacement(4, 7, "2")], "Edit a.py")
        )
        await wait_all_tasks_blocked()
        sent = self.client.take()
        for request in sent:
            self.client.send({"jsonrpc": "2.0", "id": request["id"], **answer})
        return await task, sent


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def inserted(line: int, character: int, text: str) -> Any:
    place = {"line": line, "character": character}
    return {"range": {"start": place, "end": place}, "text": text}


# ----------------------------------------------------------------------------------------------- following


async def test_the_client_is_told_that_documents_are_followed(world: World) -> None:
    sync = world.initialize()["result"]["capabilities"]["textDocumentSync"]
    assert sync["openClose"] is True
    assert sync["save"]
    assert sync["change"] in {1, 2}


@pytest.mark.requirement("T21")
async def test_a_document_is_clean_until_it_is_changed_and_again_when_it_is_saved(world: World) -> None:
    world.initialize()
    world.write("one\n")
    world.open("one\n")
    assert world.document == OpenDocument(
        world.uri(), str(world.root / "a.py"), "python", 1, "clean", "one\n", "one\n"
    )
    world.change(inserted(0, 3, "!"))
    assert (world.document.state, world.document.text, world.document.version) == ("dirty", "one!\n", 2)
    assert world.document.loaded == "one\n"
    world.write("one!\n")
    world.save()
    assert (world.document.state, world.document.loaded) == ("clean", "one!\n")
    world.change("one\n", version=3)
    assert world.document.state == "dirty"
    world.change("one!\n", version=4)
    assert world.document.state == "clean"
    world.close()
    assert world.documents.open_documents() == []


@pytest.mark.requirement("T21")
async def test_a_clean_buffer_stays_clean_when_only_the_disk_changes(world: World) -> None:
    world.initialize()
    world.write("one\n")
    world.open("one\n")
    world.write("two\n")
    assert (world.document.state, world.document.text) == ("clean", "one\n")


@pytest.mark.requirement("T21")
async def test_an_editor_that_reloads_a_file_has_a_clean_buffer_again(world: World) -> None:
    world.initialize()
    world.write("one\n")
    world.open("one\n")
    world.write("two\n")
    world.change("two\n")
    assert (world.document.state, world.document.loaded) == ("clean", "two\n")
    world.write("three\n")
    assert world.document.state == "clean"


async def test_a_buffer_that_is_opened_with_unsaved_changes_is_dirty(world: World) -> None:
    world.initialize()
    world.write("one\n")
    world.open("other\n")
    assert (world.document.state, world.document.loaded) == ("dirty", None)
    world.write(b"\xff", "b.py")
    world.open("ÿ", "b.py")
    world.open("new", "c.py")
    assert [document.state for document in world.documents.open_documents()] == ["dirty", "dirty", "dirty"]


async def test_line_ends_and_byte_order_marks_make_no_difference(world: World) -> None:
    world.initialize()
    world.write("\ufeffone\r\ntwo\r\n")
    world.open("one\ntwo\n")
    assert world.document.state == "clean"


async def test_documents_that_are_no_files_are_listed_too(world: World) -> None:
    world.initialize()
    document = {"uri": "untitled:Untitled-1", "languageId": "", "version": 1, "text": "x"}
    world.client.notify("textDocument/didOpen", {"textDocument": document})
    assert world.document == OpenDocument("untitled:Untitled-1", None, "", 1, "dirty", "x")


async def test_folders_pipes_and_large_files_are_not_read(world: World) -> None:
    world.initialize()
    (world.root / "a.py").mkdir()
    os.mkfifo(world.root / "b.py")
    world.write("x" * 5_000_000, "c.py")
    for name in ("a.py", "b.py", "c.py"):
        world.open("x", name)
    assert [document.state for document in world.documents.open_documents()] == ["dirty", "dirty", "dirty"]


@pytest.mark.requirement("T22")
@pytest.mark.parametrize("odd", ["\f", "\v", "\u2028", "\x85"])
async def test_a_text_that_the_library_may_get_wrong_is_not_relied_on(world: World, odd: str) -> None:
    world.initialize()
    world.write(f"one{odd}\ntwo\n")
    world.open(f"one{odd}\ntwo\n")
    assert world.document.state == "clean"
    world.change(inserted(1, 0, "!"))
    assert world.document.state == "unknown"
    outcome, sent = await world.edit({}, version=2, text=world.document.text)
    assert (outcome.result, sent) == ("stale", [])
    world.change(f"one{odd}\n!two\n", version=3)
    assert world.document.state == "dirty"
    world.change(inserted(1, 0, "?"), version=4)
    world.write(f"one{odd}\n?!two\n")
    world.save()  # what was really saved is not what our copy came to
    assert world.document.state in {"unknown", "clean"}
    world.change(f"one{odd}\n?!two\n", version=5)
    assert world.document.state == "clean"


async def test_a_save_of_another_text_than_ours_means_that_we_lost_the_thread(world: World) -> None:
    world.initialize()
    world.write("one\n")
    world.open("one\n")
    world.change(inserted(0, 0, "x"))
    world.write("something else\n")
    world.save()
    assert world.document.state == "unknown"


async def test_a_save_that_cannot_be_checked_is_believed(world: World) -> None:
    world.initialize()
    world.write(b"\xe4")
    world.open("ä")
    world.change("äa")
    world.write(b"\xe4a")
    world.save()
    assert (world.document.state, world.document.loaded) == ("clean", "äa")


async def test_notifications_about_unknown_documents_change_nothing(world: World) -> None:
    world.initialize()
    world.save()
    world.close()
    assert world.documents.open_documents() == []


async def test_workspace_folders_are_those_of_the_client(world: World, tmp_path: Path) -> None:
    world.initialize(
        workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "p"}, {"uri": "zip:/x", "name": "z"}]
    )
    assert world.documents.folders() == [str(tmp_path)]
    other = World(tmp_path)
    other.initialize()
    assert list(other.documents.folders()) == [str(tmp_path)]
    nowhere = World(tmp_path)
    nowhere.client.initialize(rootUri=None)
    assert list(nowhere.documents.folders()) == []


# ------------------------------------------------------------------------------------------------ editing

CHANGE = {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "newText": "2"}
ANNOTATION = {"label": "Edit a.py", "needsConfirmation": True, "description": "Proposed by the assistant"}


def opened(world: World, capabilities: Any = FULL_SUPPORT) -> World:
    world.initialize(capabilities)
    world.write("one\ntwo\n")
    world.open("one\ntwo\n")
    return world


@pytest.mark.requirement("T22")
async def test_an_edit_carries_the_version_and_asks_for_confirmation(world: World) -> None:
    opened(world)
    task = asyncio.ensure_future(
        world.documents.apply_edit(world.uri(), 1, "one\ntwo\n", [Replacement(4, 7, "2")], "Edit a.py")
    )
    await wait_all_tasks_blocked()
    request = world.client.take_one()
    assert request["method"] == "workspace/applyEdit"
    assert request["params"] == {
        "label": "Edit a.py",
        "edit": {
            "documentChanges": [
                {
                    "textDocument": {"uri": world.uri(), "version": 1},
                    "edits": [{**CHANGE, "annotationId": "jp-edit"}],
                }
            ],
            "changeAnnotations": {"jp-edit": ANNOTATION},
        },
    }
    world.client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": True}})
    await wait_all_tasks_blocked()
    assert not task.done()  # the change itself has not been seen
    world.change("one\n2\n")
    assert await task == EditOutcome("applied")


FALLBACKS: dict[str, tuple[Any, Any]] = {
    "no annotations": (
        {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        lambda uri: {"documentChanges": [{"textDocument": {"uri": uri, "version": 1}, "edits": [CHANGE]}]},
    ),
    "no versions": (
        {"applyEdit": True, "workspaceEdit": {"changeAnnotationSupport": {}}},
        lambda uri: {"changes": {uri: [CHANGE]}},
    ),
    "nothing is said": ({"applyEdit": True}, lambda uri: {"changes": {uri: [CHANGE]}}),
}


@pytest.mark.requirement("R340")
@pytest.mark.parametrize("case", FALLBACKS)
async def test_clients_that_know_less_are_sent_less(tmp_path: Path, case: str) -> None:
    support, wanted = FALLBACKS[case]
    world = opened(World(tmp_path, change_seconds=0), {"workspace": support})
    outcome, (request,) = await world.edit({"result": {"applied": True}})
    assert request["params"]["edit"] == wanted(world.uri())
    assert outcome.result == "applied"


async def test_a_change_that_is_not_seen_is_doubtful(tmp_path: Path) -> None:
    world = opened(World(tmp_path, change_seconds=0))
    outcome, _ = await world.edit({"result": {"applied": True}})
    assert outcome == EditOutcome("applied", "The editor said so, but the change has not been seen yet.")


async def test_a_file_that_is_not_open_is_edited_without_a_version(world: World) -> None:
    world.initialize()
    world.write("one\ntwo\n")
    outcome, (request,) = await world.edit({"result": {"applied": True}}, version=None)
    assert outcome == EditOutcome("applied")
    (change,) = request["params"]["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": world.uri(), "version": None}


ANSWERS: dict[str, tuple[Any, EditOutcome]] = {
    "not applied": ({"result": {"applied": False}}, EditOutcome("refused")),
    "with a reason": (
        {"result": {"applied": False, "failureReason": "a.py has changed in the meantime"}},
        EditOutcome("refused", "a.py has changed in the meantime"),
    ),
    "null": ({"result": None}, EditOutcome("refused")),
    "nonsense": ({"result": {"applied": "yes", "failureReason": 3}}, EditOutcome("refused")),
    "an error": (
        {"error": {"code": -32601, "message": "no such method"}},
        EditOutcome("refused", "no such method"),
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_only_applied_means_applied(world: World, case: str) -> None:
    answer, wanted = ANSWERS[case]
    assert (await opened(world).edit(answer))[0] == wanted


@pytest.mark.parametrize("capabilities", [{}, {"workspace": {"applyEdit": False}}, {"workspace": {}}])
async def test_an_editor_that_cannot_edit_is_not_asked(world: World, capabilities: Any) -> None:
    outcome, sent = await opened(world, capabilities).edit({})
    assert (outcome, sent) == (EditOutcome("refused", "this editor cannot be asked to change documents"), [])


@pytest.mark.requirement("T22")
@pytest.mark.parametrize("case", ["version", "text", "closed", "opened"])
async def test_an_edit_for_another_text_is_not_sent(world: World, case: str) -> None:
    opened(world)
    reasons = {
        "version": "its version is 2 now, and the edit was made for 1",
        "text": "its text in the editor is not the one that was read",
        "closed": "it was closed in the editor meanwhile",
        "opened": "it was opened in the editor meanwhile",
    }
    if case == "version":
        world.change("one\ntwo\n")
    if case == "closed":
        world.close()
    outcome, sent = await world.edit(
        {}, version=None if case == "opened" else 1, text="two\n" if case == "text" else "one\ntwo\n"
    )
    assert (outcome, sent) == (EditOutcome("stale", reasons[case]), [])


async def test_a_cancelled_edit_is_taken_back_and_its_late_answer_ignored(world: World) -> None:
    opened(world)
    task = asyncio.ensure_future(
        world.documents.apply_edit(world.uri(), 1, "one\ntwo\n", [Replacement(4, 7, "2")], "Edit a.py")
    )
    await wait_all_tasks_blocked()
    request = world.client.take_one()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.client.take_one() == {
        "jsonrpc": "2.0",
        "method": "$/cancelRequest",
        "params": {"id": request["id"]},
    }
    world.client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": True}})


# --------------------------------------------------------------------------------------------- positions

SMILE = "a😀ä\r\nb\rc\n\nd"


@pytest.mark.parametrize(
    ("encoding", "units"), [("utf-16", (1, 3, 4)), ("utf-8", (1, 5, 7)), ("utf-32", (1, 2, 3))]
)
def test_positions_are_in_the_clients_units(encoding: str, units: tuple[int, int, int]):
    find = position_finder(SMILE, encoding)
    assert [find(offset)["character"] for offset in (1, 2, 3)] == list(units)
    lines = [find(SMILE.index(letter))["line"] for letter in "abcd"]
    assert lines == [0, 1, 2, 4]
    assert find(len(SMILE)) == {"line": 4, "character": 1}


@given(st.text("a\n\r😀\f", max_size=20), st.data())
def test_a_position_leads_back_to_its_offset(text: str, data: st.DataObject):
    offset = data.draw(st.integers(0, len(text)))
    found: Any = position_finder(text, "utf-32")(offset)
    starts, index = [0], 0
    while index < len(text):
        width = 2 if text.startswith("\r\n", index) else 1
        if text[index] in "\r\n":
            starts.append(index + width)
        index += width
    if offset in starts or text[offset - 1 : offset + 1] != "\r\n":
        assert starts[found["line"]] + found["character"] == offset
