"""How long a workspace of 10,000 conversations takes to be looked over. Run it: `python -m tests.bench.bench_workspace`.

A list reads names and metadata alone, and the second one only what changed, which must take less than 50 ms for
each 10,000 conversations beyond what the system takes to tell the times of so many files. A look of the watch
opens nothing. A search reads everything, one entry at a time.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from jp_lsp.conversation.search import SearchQuery
from jp_lsp.driver.searching import search
from jp_lsp.driver.shelf import Wanted
from jp_lsp.workspace.folders import Root
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.marking import marks_of
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import Roots
from tests.support.streams import file_text, message, turn, user
from tests.support.workspaces import START

COUNT = 10_000


def make(folder: Path) -> Roots:
    """Make the conversations, in the workspace alone."""
    events = file_text([turn(), user("Where is the key?"), message("The key is in the drawer. " * 20)])
    for number in range(COUNT):
        conversation = folder / "conversations" / f"{17912340000 + number}-title-{number}"
        conversation.mkdir(parents=True)
        metadata = {"title": f"title {number}", "last_activated_at": "2026-10-05 21:09:27.8"}
        (conversation / "metadata.json").write_text(file_text(metadata), encoding="utf-8")
        (conversation / "base_config.json").write_text("{}\n", encoding="utf-8")
        (conversation / "events.json").write_text(events, encoding="utf-8")
    os.utime(folder / "conversations", (1.0, 1.0))  # it was not touched just now
    return Roots(Root("workspace", folder), None)


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


async def search_all(roots: Roots, listing: Listing) -> int:
    """Search for what is in every conversation's last word."""
    shelf = DiskOperations(roots, listing, now=lambda: START)
    found = 0
    async for each in search(shelf, SearchQuery("drawer"), Wanted(), COUNT + 1):
        found += len(each.hits)
    return found


def main() -> int:
    """Print the table; tells whether the warm list is quick enough."""
    with tempfile.TemporaryDirectory() as folder:
        roots = make(Path(folder))
        listing = Listing(roots)
        paths = [str(path) for path in (Path(folder) / "conversations").glob("*/metadata.json")]
        stats = min(seconds(lambda: [os.lstat(path) for path in paths]) for _ in range(5))
        cold = seconds(listing.summaries)
        warm = min(seconds(listing.summaries) for _ in range(5))
        look = min(seconds(lambda: marks_of(roots)) for _ in range(3))
        searched = seconds(lambda: anyio.run(search_all, roots, listing))
    rows = (
        ("stat of each metadata file", stats),
        ("list, cold", cold),
        ("list, warm", warm),
        ("look of the watch", look),
        ("search of everything", searched),
    )
    print(f"{COUNT} conversations")  # noqa: T201  # a program of its own
    for name, taken in rows:
        print(f"{name:28} {taken * 1000:8.0f} ms  {taken / stats:6.1f} x stat")  # noqa: T201
    return 0 if warm < 0.05 + stats else 1


if __name__ == "__main__":
    sys.exit(main())
