"""The transcript of a turn as it was shown while it ran, and as its stored events show it again."""

import re
from collections.abc import Sequence
from dataclasses import replace

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.render.chunk import Chunk, DurableNotice
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.replay import StoredTurn, render_turns
from jp_lsp.render.transcript import transcript
from jp_lsp.server.shown_to_chunks import ShownToChunks
from tests.support.turns import Desk


def live(desk: Desk, options: DisplayOptions) -> str:
    """What a desk's turn has shown."""
    return transcript(blank_notice(chunk) for chunk in live_chunks(desk, options))


def live_chunks(desk: Desk, options: DisplayOptions) -> list[Chunk]:
    """The chunks of a desk's turn, as the outbox makes them."""
    chunks: list[Chunk] = []
    translate = ShownToChunks(lambda: len(chunks) + 1, lambda: 0)
    translate.configure(options, Labels())
    for what in desk.shown:
        for chunk in translate.chunks(what):
            chunks.append(chunk)
            if getattr(chunk, "part", None) == "open" and chunk.type == "structured":
                translate.value_seq = len(chunks)
    return chunks


def blank_notice(chunk: Chunk) -> Chunk:
    """Notices belong to the live turn alone."""
    return replace(chunk, md="") if isinstance(chunk, DurableNotice) else chunk


def replayed(events: Sequence[ConversationEvent], options: DisplayOptions) -> str:
    """What stored events show."""
    return transcript(replayed_chunks(events, options))


def replayed_chunks(events: Sequence[ConversationEvent], options: DisplayOptions) -> list[Chunk]:
    """The chunks of stored events."""
    turn = StoredTurn(1, events, options=options, labels=Labels())
    return render_turns([turn], has_detail=False)


def without_space_in_fences(text: str) -> str:
    """White space within a structured value may differ: it is stored as a value."""
    return re.sub(
        r"(`{3,}json\n)(.*?)(\n`{3,})", lambda m: m[1] + re.sub(r"\s", "", m[2]) + m[3], text, flags=re.DOTALL
    )
