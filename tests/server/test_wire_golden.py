"""The golden transcripts that the clients in Python, TypeScript and Lua are held against.

`pytest --update-golden tests/server/test_wire_golden.py` writes them anew; read what changed before you commit
it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.protocol.chunk import ChunkNotification
from tests.support.chat_state import ChatState, Chunk
from tests.support.wire_transcripts import TRANSCRIPTS, wire_chunks

FOLDER = Path(__file__).parents[1] / "golden" / "wire"
BY_HAND = ("foreign",)
"""Transcripts that no server of today sends: unknown chunks, a gap, a repeated chunk."""


def folded(chunks: Sequence[Chunk]) -> Chunk:
    state = ChatState()
    for chunk in chunks:
        state.take(chunk)
    return state.as_json()


def as_text(chunks: Sequence[Chunk], state: Chunk) -> str:
    """One chunk a line, so that a change is easy to read."""
    lines = ",\n    ".join(json.dumps(chunk, ensure_ascii=False) for chunk in chunks)
    return (
        f'{{\n  "chunks": [\n    {lines}\n  ],\n'
        f'  "state": {json.dumps(state, ensure_ascii=False, indent=2)}\n}}\n'
    )


def read(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


@pytest.mark.requirement("R10", "R189", "R193")
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_the_server_sends_the_golden_chunks(name: str, update_golden: bool) -> None:
    play, options = TRANSCRIPTS[name]
    chunks = [dict(chunk) for chunk in wire_chunks(play(), options)]
    if update_golden:
        (FOLDER / f"{name}.json").write_text(as_text(chunks, folded(chunks)), "utf-8")
    assert read(name)["chunks"] == chunks


@pytest.mark.parametrize("name", [*TRANSCRIPTS, *BY_HAND])
def test_they_fold_to_the_golden_state(name: str) -> None:
    golden = read(name)
    assert folded(golden["chunks"]) == golden["state"]


def test_there_is_no_other_golden_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*TRANSCRIPTS, *BY_HAND}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_each_chunk_is_what_the_protocol_promises(name: str) -> None:
    for chunk in read(name)["chunks"]:
        ChunkNotification.model_validate(chunk)


def test_a_transcript_folds_the_same_when_chunks_come_twice() -> None:
    golden = read("two_tools")
    doubled = [chunk for chunk in golden["chunks"] for _ in range(2)]
    assert folded(doubled) == golden["state"]
