"""A configuration file that others change while a change is worked out."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.file_edits import Express
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.ports.editor import EditOutcome, OpenDocument, Replacement
from jp_lsp.ports.refusal import Refusal
from jp_lsp.server.configuration_changes import ConfigurationChanges
from jp_lsp.workspace.replacing import FileHasChanged, replace_file

pytestmark = pytest.mark.anyio


class Workplace:
    """The settings of a folder; `meanwhile` is done before each write."""

    def __init__(self, root: Path) -> None:
        self.settings = WorkspaceSettings(root, root, {}, root / "user", None, ServerSettings(), lambda: None)
        self.meanwhile: Callable[[], object] = lambda: None

    def configuration(self) -> WorkspaceSettings:
        return self.settings

    async def replace_file(self, path: Path, expected: bytes | None, data: bytes) -> bool:
        self.meanwhile()
        try:
            await asyncio.to_thread(replace_file, path, expected, data)
        except FileHasChanged:
            return False
        return True


class Documents:
    """Documents whose editor gives the outcomes that a test says, one after the other."""

    def __init__(self, documents: list[OpenDocument], outcomes: list[EditOutcome]) -> None:
        self.documents = documents
        self.outcomes = outcomes
        self.edits: list[Sequence[Replacement]] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def folders(self) -> Sequence[str]:
        return ()

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
        assert (label, is_proposal) == ("Change .jp/config.toml", False)
        self.edits.append(edits)
        self.meanwhile()
        return self.outcomes.pop(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / ".jp" / "config.toml"
    path.parent.mkdir()
    path.write_text("# ours\n", encoding="utf-8")
    return path


def changes(workplace: Any, documents: Documents | None = None) -> ConfigurationChanges:
    return ConfigurationChanges(documents or Documents([], []), workplace, can_edit=documents is not None)


async def test_what_somebody_wrote_meanwhile_stays(tmp_path: Path, path: Path) -> None:
    workplace = Workplace(tmp_path)
    others = ["# ours\n[user]\nname = 'theirs'\n", "# theirs\n"]

    def write() -> None:
        if others:
            path.write_text(others.pop(0), encoding="utf-8")

    workplace.meanwhile = write
    changed = await changes(workplace).make("workspace", [Express("assistant.name=Bo")], None)
    assert path.read_text(encoding="utf-8") == '# theirs\n\n[assistant]\nname = "Bo"\n'
    assert changed.written == "file"
    assert [each.state for each in changed.outcome.keys] == ["wins"]


async def test_somebody_who_never_stops_is_named(tmp_path: Path, path: Path) -> None:
    workplace = Workplace(tmp_path)
    count = iter(range(1000))
    workplace.meanwhile = lambda: path.write_text(f"# {next(count)}\n", encoding="utf-8")
    with pytest.raises(Refusal) as caught:
        await changes(workplace).make("workspace", [Express("assistant.name=Bo")], None)
    assert caught.value.error.code == "persist_failed"
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert "Bo" not in path.read_text(encoding="utf-8")


async def test_a_document_that_is_typed_into_meanwhile_is_read_again(tmp_path: Path, path: Path) -> None:
    document = OpenDocument(path.as_uri(), str(path), "toml", 1, "dirty", "# mine\n")
    newer = OpenDocument(path.as_uri(), str(path), "toml", 2, "dirty", "# mine too\n")
    documents = Documents([document], [EditOutcome("stale", "version"), EditOutcome("applied")])
    documents.meanwhile = lambda: documents.documents.__setitem__(0, newer)
    changed = await changes(Workplace(tmp_path), documents).make(
        "workspace", [Express("assistant.name=Bo")], None
    )
    assert changed.written == "document"
    assert changed.change.after == '# mine too\n\n[assistant]\nname = "Bo"\n'
    assert documents.edits[-1] == [Replacement(11, 11, '\n[assistant]\nname = "Bo"\n')]
    assert path.read_text(encoding="utf-8") == "# ours\n"
    assert [(each.state, each.explanation.value) for each in changed.outcome.keys] == [("wins", "Bo")]


async def test_line_ends_of_two_characters_are_not_parted(tmp_path: Path, path: Path) -> None:
    held = "user.name = 'x'\r\n"
    document = OpenDocument(path.as_uri(), str(path), "toml", 1, "dirty", held)
    documents = Documents([document], [EditOutcome("applied")])
    await changes(Workplace(tmp_path), documents).make("workspace", [Express("assistant.name=Bo")], None)
    ((edit,),) = documents.edits
    assert not held[: edit.start].endswith("\r")
    assert (
        held[: edit.start] + edit.text + held[edit.end :] == "user.name = 'x'\r\nassistant.name = \"Bo\"\r\n"
    )
