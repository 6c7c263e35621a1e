"""What a host tells the chat view's page: chunks of a query, counted from one, and the messages they come in."""

import json
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]

CONVERSATION = "jp-c17912345678"


@dataclass
class Talk:
    """The messages of one query; each method adds a chunk, or a message of its own."""

    token: str = "q1"
    messages: list[Message] = field(default_factory=list[Message])
    seq: int = 0

    def ask(self, text: str, index: int = 1) -> "Talk":
        self.messages.append({"type": "query", "token": self.token, "text": text})
        self.chunk("control", "turn_begin", turnIndex=index)
        self.chunk("durable", "role", role="user", label="You", md="## You")
        return self.say(text)

    def answer(self, model: str = "anthropic/claude-sonnet-4-5") -> "Talk":
        return self.chunk("durable", "role", role="assistant", label="Assistant", model=model, md="\n\n## A")

    def say(self, md: str, region: str = "message") -> "Talk":
        shape = {"block": "paragraph", "part": "whole", "indent": 0}
        return self.chunk("durable", "text", md=f"\n\n{md}", region=region, **shape)

    def call(self, id: str, name: str, arguments: Any, **facts: Any) -> "Talk":
        text = json.dumps(arguments)
        known = {"source": "local", "arguments": text, "md": f"\n\nCalling tool {name}", **facts}
        return self.chunk("durable", "tool_call", callId=id, name=name, **known)

    def result(self, id: str, name: str, text: str, *, ok: bool = True, **facts: Any) -> "Talk":
        shown = f"\n\nTool result of {name}:\n\n```\n{text}\n```"
        sizes = {"lines": text.count("\n") + 1, "bytes": len(text), "truncated": False}
        return self.chunk("durable", "tool_result", callId=id, name=name, ok=ok, md=shown, **sizes, **facts)

    def slot(self, slot: str, type: str, **facts: Any) -> "Talk":
        return self.chunk("ephemeral", type, slot=slot, **facts)

    def prompt(self, id: str, kind: str, message: str, *actions: str, **facts: Any) -> "Talk":
        """Ask a question; the id of a button is the first word of its title."""
        buttons = [{"id": title.lower().split(" ")[0], "title": title} for title in actions]
        call = {"callId": facts["callId"]} if "callId" in facts else {}
        self.chunk("control", "prompt_open", decisionId=id, promptKind=kind, actions=buttons, **call)
        prompt = {"decisionId": id, "kind": kind, "message": message, "actions": buttons, **facts}
        self.messages.append({"type": "prompt", "prompt": prompt})
        return self

    def close(self, id: str) -> "Talk":
        return self.chunk("control", "prompt_closed", decisionId=id, how="answered")

    def end(self, outcome: str = "completed", **result: Any) -> "Talk":
        usage = {"inputTokens": 12_840, "cachedTokens": 9_216, "outputTokens": 512}
        self.chunk("control", "turn_end", outcome=outcome, persisted=True, usage=usage)
        answer = {"outcome": outcome, "turns": [], "text": "", "notices": [], "persisted": True}
        answer |= {"conversation": CONVERSATION, "lastSeq": self.seq, **result}
        self.messages.append({"type": "result", "token": self.token, "result": answer})
        return self

    def chunk(self, klass: str, type: str, **facts: Any) -> "Talk":
        self.seq += 1
        envelope = {"v": 1, "seq": self.seq, "turn": self.token, "conversation": CONVERSATION, "cycle": 1}
        chunk = {**envelope, "class": klass, "type": type, **facts}
        last = self.messages[-1] if self.messages else {}
        if last.get("type") == "chunks":
            last["chunks"].append(chunk)
        else:
            self.messages.append({"type": "chunks", "token": self.token, "chunks": [chunk]})
        return self

    def take(self) -> list[Message]:
        """Give the messages since the last time."""
        taken, self.messages = self.messages, []
        return taken

    @property
    def chunks(self) -> list[Message]:
        """All chunks, as a conversation that is shown again has them."""
        return [chunk for message in self.messages for chunk in message.get("chunks", [])]


def opened(chunks: list[Message] | None = None, *, title: str = "", draft: str = "") -> Message:
    """Give the message that shows a conversation from its beginning."""
    conversation = CONVERSATION if chunks else None
    return {
        "type": "open",
        "conversation": conversation,
        "title": title,
        "chunks": chunks or [],
        "draft": draft,
    }


def context(*chips: Message, model: str | None = None, persona: str | None = None) -> Message:
    """Give the message with what stands beside the input."""
    return {"type": "context", "chips": list(chips), "model": model, "persona": persona}


RUN_BUTTONS = (
    "Skip",
    "Run",
    "Edit arguments...",
    "Reason for skipping...",
    "Remember to run...",
    "Always ask...",
    "Show raw arguments",
)
MENU_BUTTONS = ("Continue", "Reply", "Stop", "Abort (discard)")
