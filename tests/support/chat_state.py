"""What a client shows of its chunks: the reference of the reducers in TypeScript and Lua.

`ChatState` folds the chunks of one query, or of a conversation that is shown again, into a state that is plain
JSON (`as_json`). The reducers of the editor clients fold the transcripts of `tests/golden/wire` to the same
JSON, so that three languages agree on what a turn looks like. The rules:

- A chunk whose `seq` is not above the last one is ignored. A gap sets `missed`, and the fold goes on.
- A durable chunk appends to the last turn's items. Text and code of one region that follow each other are one
  item, a structured value from its opening to its closing is one, anything else is an item of its own.
- An ephemeral chunk is kept by its slot until another replaces it, `clear` removes it, or the turn ends.
- `retract` takes back the durable chunks from `fromSeq` on; an item that is left without any is gone.
- A chunk of an unknown type follows the rule of its class; an unknown control chunk is ignored.
"""

from dataclasses import dataclass, field
from typing import Any

Chunk = dict[str, Any]
ENVELOPE = frozenset({"v", "seq", "turn", "conversation", "cycle", "class", "slot", "md"})


@dataclass
class Item:
    """Something to show; `pieces` are the numbers and texts of the chunks that it is made of."""

    type: str
    facts: Chunk
    pieces: list[tuple[int, str]]

    def as_json(self) -> Chunk:
        return {"type": self.type, **self.facts, "md": "".join(text for _, text in self.pieces)}


@dataclass
class Turn:
    """A turn's facts, as far as they are known, and its items."""

    facts: Chunk = field(default_factory=dict[str, Any])
    items: list[Item] = field(default_factory=list[Item])

    def as_json(self) -> Chunk:
        return {**self.facts, "items": [item.as_json() for item in self.items]}


class ChatState:
    """The fold."""

    def __init__(self) -> None:
        self.conversation: str | None = None
        self.last_seq = 0
        self.missed = False
        self.turns: list[Turn] = []
        self.slots: dict[str, Chunk] = {}
        self.prompts: list[Chunk] = []

    def take(self, chunk: Chunk) -> None:
        """Fold one chunk."""
        seq = chunk["seq"]
        if seq <= self.last_seq:
            return
        self.missed = self.missed or seq != self.last_seq + 1
        self.last_seq = seq
        self.conversation = chunk.get("conversation", self.conversation)
        match chunk["class"]:
            case "durable":
                self._append(chunk)
            case "ephemeral" if chunk.get("clear"):
                self.slots.pop(chunk["slot"], None)
            case "ephemeral":
                self.slots[chunk["slot"]] = _facts(chunk)
            case _:
                self._control(chunk)

    def as_json(self) -> Chunk:
        """Give the state as the golden files have it."""
        return {
            "conversation": self.conversation,
            "lastSeq": self.last_seq,
            "missed": self.missed,
            "turns": [turn.as_json() for turn in self.turns],
            "slots": self.slots,
            "prompts": self.prompts,
            "transcript": "".join(item.as_json()["md"] for turn in self.turns for item in turn.items),
        }

    def _append(self, chunk: Chunk) -> None:
        if not self.turns:
            self.turns.append(Turn())
        items = self.turns[-1].items
        piece = chunk["seq"], chunk["md"]
        match chunk["type"]:
            case "text" | "code":
                item = Item("text", {"region": chunk["region"]}, [piece])
                joins = bool(items) and (items[-1].type, items[-1].facts) == (item.type, item.facts)
            case "structured":
                item = Item("structured", {}, [piece])
                joins = chunk["part"] != "open" and bool(items) and items[-1].type == "structured"
            case other:
                facts = {key: value for key, value in _facts(chunk).items() if key != "type"}
                item, joins = Item(other, facts, [piece]), False
        if joins:
            items[-1].pieces.append(piece)
        else:
            items.append(item)

    def _control(self, chunk: Chunk) -> None:
        match chunk["type"]:
            case "turn_begin":
                self.turns.append(Turn({key: v for key, v in _facts(chunk).items() if key != "type"}))
            case "turn_end":
                if self.turns:
                    self.turns[-1].facts |= {k: v for k, v in _facts(chunk).items() if k != "type"}
                self.slots = {}
            case "retract":
                self._retract(chunk["fromSeq"])
            case "prompt_open":
                self.prompts.append({key: v for key, v in _facts(chunk).items() if key != "type"})
            case "prompt_closed":
                self.prompts = [p for p in self.prompts if p["decisionId"] != chunk["decisionId"]]
            case _:
                return

    def _retract(self, first: int) -> None:
        for turn in self.turns:
            for item in turn.items:
                item.pieces = [piece for piece in item.pieces if piece[0] < first]
            turn.items = [item for item in turn.items if item.pieces]


def _facts(chunk: Chunk) -> Chunk:
    return {
        key: value for key, value in chunk.items() if key not in ENVELOPE or (key == "md" and "slot" in chunk)
    }
