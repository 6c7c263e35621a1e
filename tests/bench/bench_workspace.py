"""What a large workspace and long conversations cost. Run it: `python -m tests.bench.bench_workspace`.

A list reads names and metadata alone, and the second one only what changed: for 10,000 conversations it must take
less than 50 ms. A look of the watch opens nothing; a search reads everything, one entry at a time. The first opening
copies all conversations to the user's own folder, of which the event loop sees nothing but the beginning.

To append to a conversation of 2 MB must take at most 1.3 times what it takes to append to an empty one and to write
those bytes. Each number stands beside a baseline that is measured in the same run, as often and in turns.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from jp_lsp.conversation.event import ConversationEvent, MessageResponse
from jp_lsp.conversation.ids import ConversationId, conversation_id
from jp_lsp.conversation.search import SearchQuery
from jp_lsp.driver.searching import search
from jp_lsp.driver.shelf import Wanted, choose
from jp_lsp.ports.store import OpenConversation
from jp_lsp.server.conversation_to_wire import ListedConversations
from jp_lsp.server.json_codec import encode_json
from jp_lsp.workspace.atomic import write_file
from jp_lsp.workspace.first_run import copy_conversations
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.marking import marks_of
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import Roots, open_roots
from jp_lsp.workspace.store import DiskStore
from tests.support.streams import Raw, call, file_text, message, result, turn, user
from tests.support.workspaces import START

COUNT = 10_000
ROUNDS = 9
SIZES = {"empty": 0, "2 MB": 2_000_000, "100 MB": 100_000_000}
WANTED_RATIO = 1.3
WANTED_LIST = 0.05
USUAL_STATS = 0.03
"""Seconds that the times of so many files take on a machine that has nothing else to do."""


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def best(*works: Callable[[], object]) -> list[float]:
    """Time the quickest of a few calls of each; they take turns, so that a busy machine is busy for all of them."""
    rounds = [[seconds(work) for work in works] for _ in range(5)]
    return [min(times) for times in zip(*rounds, strict=True)]


def row(name: str, taken: float, baseline: float, of_what: str) -> None:
    """Print one line of a table."""
    print(f"{name:44} {taken * 1000:9.1f} ms {taken / baseline:8.2f} x {of_what}")  # noqa: T201  # a program


def workspace(folder: Path, count: int) -> Path:
    """Make so many conversations, in the workspace alone."""
    events = file_text([turn(), user("Where is the key?"), message("The key is in the drawer. " * 20)])
    for number in range(count):
        conversation = folder / ".jp" / "conversations" / f"{17912340000 + number}-title-{number}"
        conversation.mkdir(parents=True)
        metadata = {"title": f"title {number}", "last_activated_at": "2026-10-05 21:09:27.8"}
        for name, value in (("metadata", file_text(metadata)), ("base_config", "{}\n"), ("events", events)):
            (conversation / f"{name}.json").write_text(value, encoding="utf-8")
    os.utime(folder / ".jp" / "conversations", (1.0, 1.0))  # it was not touched just now
    return folder


async def search_all(roots: Roots, listing: Listing) -> int:
    """Search for what is in every conversation's last word."""
    shelf = DiskOperations(roots, listing, now=lambda: START)
    found = 0
    async for each in search(shelf, SearchQuery("drawer"), Wanted(), COUNT + 1):
        found += len(each.hits)
    return found


def lists(folder: Path) -> bool:
    """Print what lists cost; tells whether the warm one is quick enough."""
    print(f"{COUNT} conversations in the workspace alone")  # noqa: T201
    roots = Roots(open_roots(workspace(folder / "project", COUNT), folder / "data", START).workspace, None)
    listing, wire = Listing(roots), ListedConversations()
    paths = [str(path) for path in roots.workspace.conversations.glob("*/metadata.json")]

    def answer() -> bytes:
        """What the event loop does once the facts are there."""
        chosen = choose(listing.facts(), Wanted())
        return encode_json([wire.summary(each, is_active=False, is_busy=False) for each in chosen], repr)

    cold, cold_answer = seconds(listing.facts), seconds(answer)
    stats, warm, warm_answer, look = best(
        lambda: [os.lstat(path) for path in paths], listing.facts, answer, lambda: marks_of(roots)
    )
    row("stat of each metadata file", stats, stats, "stat")
    row("list, cold", cold, stats, "stat")
    row("list, warm", warm, stats, "stat")
    row("list as an answer, cold", cold_answer, stats, "stat")
    row("list as an answer, warm", warm_answer, stats, "stat")
    row("look of the watch", look, stats, "stat")
    row("search of everything", seconds(lambda: anyio.run(search_all, roots, listing)), stats, "stat")
    return warm < max(WANTED_LIST, WANTED_LIST / USUAL_STATS * stats)


def first_opening(folder: Path) -> None:
    """Print what the first opening costs, and a list of what is in both places then."""
    print(f"\nfirst opening of {COUNT} conversations")  # noqa: T201
    project = workspace(folder / "new", COUNT)
    copying = seconds(lambda: shutil.copytree(project / ".jp" / "conversations", folder / "copy"))
    row("copy of everything, unsynced", copying, copying, "copy")
    begin = time.perf_counter()
    roots = open_roots(project, folder / "new-data", START)
    row("opening, on the event loop", time.perf_counter() - begin, copying, "copy")
    row("copying, beside it", seconds(lambda: copy_conversations(roots, START)), copying, "copy")
    for root in roots.in_reading_order:
        os.utime(root.conversations, (1.0, 1.0))
    listing = Listing(roots)
    listing.facts()
    paths = [
        str(path) for root in roots.in_reading_order for path in root.conversations.glob("*/metadata.json")
    ]
    stats, warm = best(lambda: [os.lstat(path) for path in paths], listing.facts)
    row("list of both places, warm", warm, stats, "stat of both")


def long_entries(size: int) -> list[Raw]:
    """Turns with tool traffic, of about so many bytes."""
    content = "d29yZHMg" * 1000
    entries: list[Raw] = []
    for number in range(size // 9_500):
        entries += [turn(number), user(f"question {number}", number), call(f"c{number}", number, path="YQ==")]
        entries += [result(f"c{number}", content, number), message("The answer. " * 50, number)]
    return entries


def identified(name: str) -> ConversationId:
    """The id of the conversation of a size."""
    return conversation_id(17912340000 + list(SIZES).index(name))


async def opened(roots: Roots, name: str) -> OpenConversation:
    """Open the conversation of a size."""
    conversation = await DiskStore(roots, now=lambda: START).open(identified(name))
    assert conversation is not None
    return conversation


async def append(conversation: OpenConversation) -> float:
    """Time what one more entry costs, from the moment of the save to the moment it is durable."""
    conversation.stream.append(ConversationEvent(START, MessageResponse("One more. ")))
    begin = time.perf_counter()
    await conversation.save()
    return time.perf_counter() - begin


async def conversations(folder: Path) -> bool:
    """Print what opening and appending cost; tells whether the one of 2 MB is quick enough."""
    print("\nconversations in both places")  # noqa: T201
    (folder / "talk" / ".jp").mkdir(parents=True)
    roots = open_roots(folder / "talk", folder / "talk-data", START)
    sizes: dict[str, int] = {}
    for name, size in SIZES.items():
        text = file_text(long_entries(size))
        sizes[name] = len(text)
        for root in roots.in_reading_order:
            conversation = root.conversations / identified(name).removeprefix("jp-c")
            conversation.mkdir(parents=True)
            metadata = file_text({"last_activated_at": "2026-10-05 21:09:27.8"})
            for file, content in (("metadata", metadata), ("base_config", "{}\n"), ("events", text)):
                (conversation / f"{file}.json").write_text(content, encoding="utf-8")
    is_quick = True
    for name in SIZES:
        path = roots.workspace.conversations / identified(name).removeprefix("jp-c") / "events.json"
        (reading,) = best(lambda path=path: json.loads(path.read_bytes()))  # type: ignore[misc]
        begin = time.perf_counter()
        held = await opened(roots, name)
        row(f"open, {name}", time.perf_counter() - begin, reading, "reading it as JSON")
        await append(held)
        await held.release()
    empty = await opened(roots, "empty")
    await append(empty)
    for name in list(SIZES)[1:]:
        held = await opened(roots, name)
        await append(held)
        block = b"x" * sizes[name]
        times: dict[str, list[float]] = {"empty": [], "write": [], "append": []}
        for round_number in range(ROUNDS if sizes[name] < 10_000_000 else 3):
            mark = str(round_number).encode()
            times["empty"].append(await append(empty))
            times["write"].append(
                seconds(
                    lambda block=block, mark=mark: [write_file(folder / each, block + mark) for each in "ab"]
                )  # type: ignore[misc]
            )
            times["append"].append(await append(held))
        middle = {each: statistics.median(taken) for each, taken in times.items()}
        floor = middle["empty"] + middle["write"]
        row("append, empty", middle["empty"], floor, "append to the empty one and writing")
        row(
            f"writing of {name} into two files", middle["write"], floor, "append to the empty one and writing"
        )
        row(f"append, {name}", middle["append"], floor, "append to the empty one and writing")
        is_quick &= name != "2 MB" or middle["append"] <= WANTED_RATIO * floor
        await held.release()
    await empty.release()
    grown = memory_of_opening(folder, "100 MB") - memory_of_opening(folder, "empty")
    print(f"{'memory to open, 100 MB':44} {grown / 1e6:9.1f} MB {grown / sizes['100 MB']:8.2f} x its size")  # noqa: T201
    return is_quick


def memory_of_opening(folder: Path, name: str) -> int:
    """The most memory, in bytes, of a process that opens a conversation.

    A shell stands between, as the memory of a process counts for the one that it becomes.
    """
    shell = ["sh", "-c", '"$0" "$@"; exit $?']
    command = [*shell, sys.executable, "-m", "tests.bench.bench_workspace", str(folder), name]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def open_only(folder: Path, name: str) -> None:
    """Open a conversation and print what memory that took."""
    held = await opened(open_roots(folder / "talk", folder / "talk-data", START), name)
    await held.release()
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)  # noqa: T201


def main() -> int:
    """Print the tables; tells whether the warm list and the append are quick enough."""
    if len(sys.argv) == 3:
        anyio.run(open_only, Path(sys.argv[1]), sys.argv[2])
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_list_quick = lists(folder)
        first_opening(folder)
        is_append_quick = anyio.run(conversations, folder)
    return 0 if is_list_quick and is_append_quick else 1


if __name__ == "__main__":
    sys.exit(main())
