"""A server that is at work in many conversations at once, each of them in another phase of its turn."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from tests.support.chat_vendor import ChatVendor, answer, broken, called, refused
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, Json
from tests.support.screen import Screen, Shown
from tests.support.user_folders import UserFolders

CAPABILITIES = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "approval"]}}}}

STREAMS = ("streaming", "interrupted_stream", "replying")
TOOLS = ("executing", "approving", "interrupted_tools", "responding")
PHASES = ("preparing", "waiting", *STREAMS, "backoff", *TOOLS)
"""Names of the queries. `approving` is executing with an open approval, `responding` is replying to tools."""

_LISTED = {"approving": "executing", "responding": "replying"}

PARTIAL = ["turn", "user: hi", "message: First.\n\n"]
CALLED = ["turn", "user: hi", "call call-0"]


def configure_tools(user: UserFolders) -> None:
    """Two tools: one takes for ever and notes its process, the other has to be allowed."""
    path = user.config / "config.toml"
    lines = [path.read_text(encoding="utf-8")]
    for name, run, command in (
        ("slow", "unattended", "echo $$ >> began; sleep 600"),
        ("asked", "ask", "touch harmed"),
    ):
        lines += [
            f"[conversation.tools.{name}]",
            'source = "local"',
            "enable = true",
            f'run = "{run}"',
            f"command = {{ program = {json.dumps(command)}, shell = true }}",
        ]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Asked:
    """One query under way."""

    request_id: int
    answered: asyncio.Future[Json]


class BusyServer:
    """Use `begin`; then `asked` has the queries by phase, `conversations` where they run."""

    def __init__(self, client: JpClient, user: UserFolders) -> None:
        self.client = client
        self.asked: dict[str, Asked] = {}
        self.conversations: dict[str, str] = {}
        self._user = user
        self._screen = Screen()

    async def begin(self, vendor: ChatVendor) -> None:
        """Ask once for each phase, and wait until all are where they should be."""
        self.client.answers["jp/prompt"] = self._screen.show
        self._plan(vendor)
        for phase in (*STREAMS, "backoff", "waiting"):
            self._ask(phase)
        for phase in STREAMS:
            await self.client.wait_for_text(phase, "First.")
        await self.client.wait_for_chunk("backoff", "retry", delayMs=60_000)
        await self.client.wait_for_chunk("waiting", "status", phase="waiting")
        for phase in ("executing", "interrupted_tools", "responding"):
            self._ask(phase)
            await self.client.wait_for_chunk(phase, "tool_progress")
        await self._until_began(3)
        self._ask("preparing", conversation=self._conversation("streaming"), queue=True)
        # Only one question is on the screen; a menu comes before what was there.
        await self._answer_menu("responding", "respond")
        await self._answer_menu("replying", "reply")
        for phase in ("interrupted_stream", "interrupted_tools"):
            await self.client.request("jp/interrupt", {"turn": phase})
        self._ask("approving")
        await self.client.wait_for_chunk("approving", "tool_call")
        await self.client.wait_for(lambda: None if len(self._screen.questions) < 4 else True)
        listed = (await self.client.request("jp/turn/list"))["active"]
        assert {turn["turn"]: turn["phase"] for turn in listed} == {
            phase: _LISTED.get(phase, phase) for phase in PHASES
        }
        self.conversations = {
            turn["turn"]: turn["conversation"] for turn in listed if turn["turn"] != "preparing"
        }

    def processes(self) -> list[int]:
        """The processes of the tools that run."""
        return [int(line) for line in self._began.read_text(encoding="utf-8").split()]

    def _plan(self, vendor: ChatVendor) -> None:
        vendor.will_answer(answer(Hold(), "never"), to="waiting")
        vendor.will_answer(broken("First.\n\n"), to="backoff")
        vendor.will_answer(refused(429, "slow down, try again in 60 seconds"), to="backoff")
        for phase in STREAMS:
            vendor.will_answer(answer("First.\n\n", Hold(), "never"), to=phase)
        for phase in TOOLS:
            name = "asked" if phase == "approving" else "slow"
            vendor.will_answer(answer(called("call-0", name, "{}"), reason="tool_calls"), to=phase)

    def _ask(self, phase: str, **params: object) -> None:
        self.asked[phase] = Asked(
            *self.client.start_query(f"hi {phase}", phase, **{"conversation": "new", **params})
        )

    async def _answer_menu(self, phase: str, action: str) -> None:
        """Open the menu, choose, and leave the text open that is asked for then."""
        await self.client.request("jp/interrupt", {"turn": phase})
        menu = await self._next(phase, "menu")
        menu.answer({"action": action})
        await self._next(phase, "text")

    async def _next(self, phase: str, kind: str) -> Shown:
        question = await self._screen.next_question()
        assert question.params["kind"] == kind, (phase, question.params)
        return question

    def _conversation(self, phase: str) -> str:
        return str(self.client.chunks(phase)[0]["conversation"])

    @property
    def _began(self) -> Path:
        return self._user.workspace / "began"

    async def _until_began(self, count: int) -> None:
        async with asyncio.timeout(30):
            while not self._began.exists() or len(self.processes()) < count:
                await asyncio.sleep(0.02)
