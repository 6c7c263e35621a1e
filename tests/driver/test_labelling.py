"""Labels that a conversation is given as it is made: texts, commands, and who may run them (config-and-tools 7.7)."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.metadata_edit import ChangeLabels, MetadataEdit
from jp_lsp.driver.labelling import LABEL_SECONDS, Labelling, applicable, label_unasked
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.driver.trust import apply_trust
from jp_lsp.ports.process import Exited, Output, ProcessEnd, SpawnError, TimedOut
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import LabelRule, QuerySettings
from jp_lsp.ports.store import OpenConversation
from jp_lsp.ports.trust import TrustItem, TrustPolicy
from jp_lsp.tools.spec import Command
from jp_lsp.turn.inputs import Dismissed
from tests.support.frontend import RecordingFrontend
from tests.support.processes import ScriptedProcesses

pytestmark = pytest.mark.anyio

BRANCH = Command("git", ("branch", "--show-current"))
TEXT = LabelRule("team", "core")
FREE = LabelRule("branch", BRANCH, run="unattended")
ASKED = LabelRule("branch", BRANCH)


@dataclass
class Labelled:
    """A conversation, as far as labels are concerned."""

    edits: list[MetadataEdit] = field(default_factory=list)

    def edit(self, edit: MetadataEdit) -> None:
        self.edits.append(edit)


class Desk:
    """Labels a conversation with programs that end as told."""

    def __init__(self, *ends: ProcessEnd | SpawnError, can_ask: bool = True) -> None:
        self.processes = ScriptedProcesses(*ends)
        self.frontend = RecordingFrontend()
        self.conversation = Labelled()
        self.labelling = Labelling(self.processes, "/project", self.frontend if can_ask else None)

    async def label(self, *rules: LabelRule) -> None:
        await self.labelling.label(cast("OpenConversation", self.conversation), rules)

    @property
    def labels(self) -> dict[str, str]:
        return dict(
            next((edit.added for edit in self.conversation.edits if isinstance(edit, ChangeLabels)), {})
        )


def printed(text: str, code: int = 0) -> Exited:
    data = text.encode()
    return Exited(code, Output(data, len(data)), Output())


async def test_texts_and_what_commands_print() -> None:
    desk = Desk(printed("  main\n\n"), printed("x" * 4000))
    shell = LabelRule("day", Command("date | tr a b", ("+%a %d",), shell=True), run="unattended")
    await desk.label(TEXT, FREE, shell)
    assert desk.labels == {"team": "core", "branch": "main", "day": "x" * 500}
    assert desk.labelling.warnings == []
    assert desk.frontend.asked == []
    programs = desk.processes.programs
    assert [each.arguments for each in programs] == [
        ("git", "branch", "--show-current"),
        ("sh", "-c", "date | tr a b '+%a %d'"),
    ]
    assert {(each.folder, each.timeout) for each in programs} == {("/project", LABEL_SECONDS)}


async def test_without_labels_nothing_is_edited() -> None:
    desk = Desk()
    await desk.label(LabelRule("branch", BRANCH, run="deny"))
    assert (desk.conversation.edits, desk.labelling.warnings) == ([], [])


@pytest.mark.parametrize(
    ("end", "what"),
    [
        (SpawnError("no such file"), "could not be started: no such file"),
        (TimedOut(Output(), Output()), "did not end within 5 s"),
        (printed("main", code=128), "ended with code 128"),
    ],
)
async def test_a_command_that_fails_costs_its_label_alone(end: ProcessEnd | SpawnError, what: str) -> None:
    desk = Desk(end)
    await desk.label(FREE, TEXT)
    assert desk.labels == {"team": "core"}
    assert desk.labelling.warnings == [
        f"Label branch is left out: its command `git branch --show-current` {what}."
    ]


@pytest.mark.parametrize("answer", ["run", "deny", None])
async def test_whether_a_command_may_run_is_asked(answer: str | None) -> None:
    desk = Desk(printed("main"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.label, ASKED)
        await wait_all_tasks_blocked()
        decision, give = desk.frontend.asked[-1]
        assert decision.kind == "approval"
        assert decision.message == "Run the command of label branch? git branch --show-current"
        assert [choice.title for choice in decision.choices] == ["Don't run", "Run"]
        if answer is None:
            give(Dismissed(decision.id))
        else:
            desk.frontend.choose(answer)
    assert desk.labels == ({"branch": "main"} if answer == "run" else {})
    assert len(desk.processes.programs) == (answer == "run")


async def test_a_command_that_must_be_asked_about_is_refused_where_nobody_can_be() -> None:
    desk = Desk(can_ask=False)
    with pytest.raises(Refusal) as refusal:
        await desk.label(TEXT, ASKED)
    assert refusal.value.error.message == (
        "The command of label `branch` must be asked about, and nobody can be: `git branch --show-current`. "
        "Set `conversation.labels.branch.run` to `unattended`, or to `deny`."
    )
    assert desk.conversation.edits == []


def test_rules_are_for_new_conversations_or_for_copies() -> None:
    fork = LabelRule("fork", "", on_new=False, on_fork=True)
    both = LabelRule("both", "", on_fork=True)
    assert applicable((TEXT, fork, both), is_fork=False) == [TEXT, both]
    assert applicable((TEXT, fork, both), is_fork=True) == [fork, both]


@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_command_of_an_untrusted_workspace_makes_no_label(is_trusted: bool) -> None:
    item: Any = TrustItem("label", "branch", "git branch --show-current")
    settings = QuerySettings(ModelId("test", "big"), {}, labels=(TEXT, FREE), untrusted=(item,))
    labels = apply_trust(settings, is_trusted=is_trusted).labels
    assert labels == ((TEXT, FREE) if is_trusted else (TEXT,))


def test_a_label_of_the_users_asks_as_long_as_the_workspace_is_not_trusted() -> None:
    item: Any = TrustItem("label_approval", "branch", "runs without asking")
    settings = QuerySettings(ModelId("test", "big"), {}, labels=(TEXT, FREE), untrusted=(item,))
    left = apply_trust(settings, is_trusted=False)
    assert left.labels == (TEXT, ASKED)
    assert left.warnings == (
        "The workspace is not trusted to run its programs. For this query: it is asked before label command `branch` "
        "may run.",
    )


async def test_the_question_shows_a_command_on_one_line_as_it_is() -> None:
    desk = Desk(printed("main"))
    asked: list[str] = []
    command = Command("rm -rf .\n\n\x1b[2K\u202eharmless", shell=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.label, LabelRule("br\nanch", command))
        await wait_all_tasks_blocked()
        asked += [decision.message for decision, _ in desk.frontend.asked]
        desk.frontend.choose("deny")
    assert asked == ["Run the command of label br anch? sh -c: rm -rf .  [2K harmless"]


class Trusting:
    """Has been told once that everything is trusted."""

    def is_trusted(self, trust_hash: str) -> bool:
        return True


@pytest.mark.parametrize(("policy", "is_run"), [("ask", True), ("always", True), ("never", False)])
async def test_who_trusts_no_workspace_now_does_not_because_of_what_was_said_before(
    policy: TrustPolicy, is_run: bool
) -> None:
    item: Any = TrustItem("label", "branch", "git branch --show-current")
    settings = QuerySettings(
        ModelId("test", "big"), {}, labels=(FREE,), untrusted=(item,), trust_hash="x", trust_policy=policy
    )
    processes = ScriptedProcesses(printed("main"))
    around = cast("Surroundings", SimpleNamespace(processes=processes, root="/project", trust=Trusting()))
    await label_unasked(cast("OpenConversation", Labelled()), settings, around, is_fork=False)
    assert len(processes.programs) == is_run
