"""Searches one conversation's stream on disk without loading it (conversation format 7.8).

The file is read in pieces and decoded entry by entry. An open file stays what it was while somebody saves,
because a save renames another file over it.
"""

import logging
import signal
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import anyio
from anyio import BrokenWorkerProcess, to_process, to_thread

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.search import Hit, SearchQuery, find_all
from jp_lsp.conversation.stored import StreamFormatError
from jp_lsp.ports.upkeep import Found
from jp_lsp.workspace.atomic import stamp_of
from jp_lsp.workspace.elements import elements_of
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, RootName
from jp_lsp.workspace.reading import newest_stream

PATTERN_SECONDS = 10.0
"""How long a regular expression may take in one conversation."""

_log = logging.getLogger(__name__)


async def search_beside(folders: Mapping[RootName, Path], query: SearchQuery, limit: int) -> Found | None:
    """Do `search_stream` beside the event loop; a cancelled search ends at once.

    A regular expression gets a process of its own and a limit of time, as some take for ever on some texts, and
    let nobody else in our process work meanwhile.

    Raises:
        PatternError: the pattern is none.
    """
    if not query.is_regex:
        return await to_thread.run_sync(search_stream, folders, query, limit, abandon_on_cancel=True)
    with anyio.move_on_after(PATTERN_SECONDS):
        try:
            return await to_process.run_sync(_search_in_process, folders, query, limit, cancellable=True)
        except BrokenWorkerProcess:
            _log.info("the process that searches for %r ended", query.pattern)
    return Found((), f"the pattern takes longer than {PATTERN_SECONDS:.0f} seconds; try a simpler one")


def _search_in_process(folders: Mapping[RootName, Path], query: SearchQuery, limit: int) -> Found | None:
    if sys.platform != "win32":  # should our parent be killed, nobody else would end us
        signal.alarm(round(2 * PATTERN_SECONDS))
    try:
        return search_stream(folders, query, limit)
    finally:
        if sys.platform != "win32":
            signal.alarm(0)


def search_stream(folders: Mapping[RootName, Path], query: SearchQuery, limit: int) -> Found | None:
    """Look for at most `limit` hits in the copy that counts; `None` when the folders are gone or renamed.

    Raises:
        PatternError: the pattern is none.
    """
    pattern = query.compiled()
    try:
        folder = newest_stream(folders)
    except OSError as error:
        return Found((), str(error))
    if folder is None:
        present = [each for each in folders.values() if each.is_dir()]
        return Found((), f"{EVENTS} is missing in {present[0]}") if present else None
    hits: list[Hit] = []
    try:
        hits.extend(islice(find_all(_entries(folder), pattern, query.scopes), limit))
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        return Found(tuple(hits), f"{EVENTS} in {folder} is not UTF-8: {error.reason}")
    except (StreamFormatError, OSError) as error:
        return Found(tuple(hits), str(error))
    return Found(tuple(hits))


def _entries(folder: Path) -> Iterator[JsonValue]:
    """Give the entries; in the old layout the first element is the base configuration (3.10)."""
    has_base = stamp_of(folder / BASE_CONFIG) is not None
    return islice(elements_of(folder / EVENTS), 0 if has_base else 1, None)
