"""Eight conversations that another program wrote, of all ages, read and written back."""

import hashlib
import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.conversation.directory_name import directory_name, parse_directory_name
from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.projection import is_provider_visible
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import build_thread
from jp_lsp.workspace.open_conversation import DiskConversation
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.store import DiskStore
from jp_lsp.workspace.validate import validate
from tests.support.shared import shared_path
from tests.support.streams import at, file_text
from tests.support.workspaces import START, opened, states

pytestmark = [pytest.mark.anyio, pytest.mark.shared]

NAMES = [
    "17648402467-flexible-llm-provider-architecture-design",
    "17659773217-google-api-streaming-event-conversion-issue",
    "17662304290-optimizing-jp-cli-conversation-listing-performance",
    "17671120783-investigating-segfault-in-iter-mut-change-tracking",
    "17738348630-workspace-sanitization-strategy",
    "17738399468-rfd-review-and-phase-1-planning",
    "17758406187-missing-date-in-version-string",
    "17800836875-jp-init-xdg-directory-issue-on-linux",
]


def opened_copy(folder: Path) -> Roots:
    """A copy of the workspace that can be written, with the times of its files, opened for the first time."""
    copy = folder / "project"
    shutil.copytree(shared_path("real-workspace"), copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    return opened(copy, folder / "data")


@pytest.fixture(scope="module")
def shared_roots(tmp_path_factory: pytest.TempPathFactory) -> Roots:
    """For tests that only read."""
    return opened_copy(tmp_path_factory.mktemp("real"))


@pytest.fixture
def reader(shared_roots: Roots) -> DiskStore:
    return DiskStore(shared_roots, now=lambda: START)


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    return opened_copy(tmp_path)


@pytest.fixture
def store(roots: Roots) -> DiskStore:
    return DiskStore(roots, now=lambda: START)


def facts_of(name: str) -> dict[str, Any]:
    facts = json.loads(shared_path("real-workspace", "conversation-facts.json").read_text(encoding="utf-8"))
    (found,) = [each for each in facts["conversations"] if each["dirname"] == name]
    return found  # type: ignore[no-any-return]


def id_of(name: str) -> ConversationId:
    conversation = parse_directory_name(name)
    assert conversation is not None
    return conversation


def counts(stream: ConversationStream) -> list[int]:
    return [len(stream), len(stream.events()), stream.turn_count]


def visible_hash(stream: ConversationStream) -> tuple[int, str]:
    """Count and hash what a provider may see, in the form that the facts were computed from."""
    visible: list[dict[str, Any]] = []
    for entry in stream.entries:
        if not isinstance(entry.content, ConversationEvent) or not is_provider_visible(entry.content):
            continue
        stored = json.loads(entry.text)
        match entry.content.kind:
            case ToolCallRequest(_, _, arguments):
                stored["arguments"] = arguments
            case ToolCallResponse(_, content, _):
                stored["content"] = content
            case _:
                pass
        if entry.content.metadata:
            stored["metadata"] = entry.content.metadata
        visible.append(stored)
    text = json.dumps(visible, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return len(visible), hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.requirement("R219", "R38", "C25", "C34", "C35", "C36", "C37", "C38")
async def test_the_facts_hold(reader: DiskStore, name: str) -> None:
    facts = facts_of(name)
    copy = await reader.copy(id_of(name))
    stream = copy.stream
    assert counts(stream) == [facts["loaded_entries"], facts["loaded_events"], facts["loaded_turns"]]
    assert len({entry.id for entry in stream.entries}) == len(stream)
    assert sanitize(stream) is facts["sanitize_changes"]
    assert counts(stream) == [facts["sanitized_entries"], facts["sanitized_events"], facts["sanitized_turns"]]
    assert visible_hash(stream) == (facts["provider_visible"], facts["provider_visible_sha256"])
    assert sanitize(stream) is False
    assert len(build_thread(stream).events) == facts["provider_visible"]


@pytest.mark.parametrize("name", NAMES)
async def test_the_folder_name_follows_from_the_title(reader: DiskStore, name: str) -> None:
    title = facts_of(name)["title"]
    assert (await reader.copy(id_of(name))).title == title  # type: ignore[attr-defined]
    assert directory_name(id_of(name), title) == name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.requirement("F33", "R219", "R41", "C25", "C42", "C54")
async def test_saving_without_a_change_upgrades_the_old_layout_and_touches_nothing_else(
    store: DiskStore, roots: Roots, name: str
) -> None:
    facts = facts_of(name)
    if facts["archived"]:
        assert await store.find(id_of(name)) is False
        return
    before = {root: states(root.conversations) for root in roots.in_reading_order}
    conversation = await store.open(id_of(name))
    assert conversation is not None
    await conversation.save()
    await conversation.release()
    for root in roots.in_reading_order:
        after = states(root.conversations)
        if not facts["legacy_base_config"]:
            assert after == before[root]
            continue
        events, base = f"{name}/events.json", f"{name}/base_config.json"
        first, *rest = json.loads(before[root][events][2])
        flat = {key: value for key, value in first.items() if key not in {"type", "timestamp"}}
        assert after[base][2] == file_text(flat if facts["legacy_flat_delta"] else first["delta"]).encode()
        assert after[events][2] == file_text(rest).encode()
        untouched = {path: state for path, state in before[root].items() if path != events}
        assert {path: after[path] for path in untouched} == untouched
        assert after.keys() == {*before[root], base}


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("17659773217")])
async def test_a_conversation_goes_on_and_old_entries_keep_their_text(
    store: DiskStore, roots: Roots, name: str
) -> None:
    conversation = await store.open(id_of(name))
    assert isinstance(conversation, DiskConversation)
    old = [entry.text for entry in conversation.stream.entries]
    conversation.stream.append_config_delta({"assistant": {"name": "B"}}, at(0))
    conversation.set_title("Another title")
    await conversation.save()
    await conversation.release()
    again = (await store.copy(id_of(name))).stream
    assert [entry.text for entry in again.entries][:-1] == old
    for root in roots.in_reading_order:
        folder = root.folder_of(id_of(name))
        assert folder is not None
        assert folder.name == f"{name.partition('-')[0]}-another-title"


async def test_listing_and_validation_find_all_of_it_in_order(reader: DiskStore, shared_roots: Roots) -> None:
    live, archived = await reader.summaries(), await reader.summaries(is_archived=True)
    assert [each.id for each in live] == [id_of(name) for name in NAMES if not facts_of(name)["archived"]]
    assert [each.id for each in archived] == [id_of(name) for name in NAMES if facts_of(name)["archived"]]
    assert [each.problem for each in (*live, *archived)] == [None] * len(NAMES)
    assert {each.presence for each in live} == {"projected"}
    assert validate(shared_roots, START) == []
