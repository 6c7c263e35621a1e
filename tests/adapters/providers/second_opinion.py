"""What a response says, read by us and by a vendor's own library, in one form in which the two can be compared."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.connection import Connection
from jp_lsp.turn.arguments import parse_structured
from tests.adapters.providers.making import Observer
from tests.adapters.providers.recorded_events import built
from tests.adapters.providers.replay import Json

KEY = "a-key-for-nobody"


@dataclass(slots=True)
class Said:
    """What a response says, whoever has read it."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    finish: str = ""


def read_by_us(make: Callable[[Connection], Any], url: str, asked: CycleRequest) -> Said:
    """Read a response with the adapter that `make` builds."""

    async def read() -> list[Any]:
        made = make(Connection(url, KEY))
        with anyio.fail_after(20):
            events = [event async for event in made.stream(asked, Observer())]
        await made.aclose()
        return built(events)

    *entries, last = anyio.run(read)
    said = Said(finish=last["reason"])
    for entry in entries:
        said.text += entry.get("message", "")
        said.reasoning += entry.get("reasoning", "")
        if "data" in entry:
            said.text += json.dumps(entry["data"], sort_keys=True)
        if "arguments" in entry:
            said.calls.append((entry["name"], entry["arguments"]))
    return said


def as_we_keep(theirs: Said, asked: CycleRequest) -> Said:
    """Give a library's reading as we keep text: a value by what it says, an answer of blanks as none."""
    if asked.thread.schema is not None:
        theirs.text = json.dumps(parse_structured(theirs.text), sort_keys=True)
    elif not theirs.text.strip():
        theirs.text = ""
    return theirs
