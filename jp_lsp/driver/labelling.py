"""Labels of a conversation that is made: texts, and what commands print (config-and-tools 7.7).

Commands run side by side and have a few seconds together, because the query waits for them. One that fails
costs its label and nothing else. Those of a workspace that is not trusted were taken out before.
"""

import logging
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from jp_lsp.conversation.metadata_edit import ChangeLabels
from jp_lsp.driver.asking import ask_user
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.driver.trust import labels_without_trust, on_one_line
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.process import Exited, ProcessRunner, Program, SpawnError
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import LabelRule, QuerySettings
from jp_lsp.ports.store import OpenConversation
from jp_lsp.tools.command_line import command_line
from jp_lsp.tools.decision import Choice, Decision, DecisionId
from jp_lsp.tools.spec import Command
from jp_lsp.turn.inputs import Answered

_log = logging.getLogger(__name__)

LABEL_SECONDS = 5.0
"""How long the command of a label may take: a query waits for it."""

_LONGEST_VALUE = 500
_DONT_RUN = Choice("deny", "Don't run")
_RUN = Choice("run", "Run")


@dataclass(slots=True)
class Labelling:
    """Gives labels.

    Attributes:
        processes: runs commands.
        root: the absolute path of the workspace folder.
        frontend: asks whether one may run; `None` where nobody can be asked.
        warnings: sentences about labels that could not be given.
    """

    processes: ProcessRunner
    root: str
    frontend: Frontend | None
    warnings: list[str] = field(default_factory=lambda: [])

    async def label(self, conversation: OpenConversation, rules: Sequence[LabelRule]) -> None:
        """Give a conversation the labels of these rules; its next save stores them.

        Raises:
            Refusal: a command must be asked about, and nobody can be.
        """
        values = {rule.name: rule.value for rule in rules if isinstance(rule.value, str)}
        allowed = [
            (rule.name, rule.value)
            for rule in rules
            if isinstance(rule.value, Command) and await self._may_run(rule, rule.value)
        ]
        async with anyio.create_task_group() as tasks:
            for name, command in allowed:
                tasks.start_soon(self._run, name, command, values)
        added = {rule.name: values[rule.name] for rule in rules if rule.name in values}
        if added:
            conversation.edit(ChangeLabels(added))

    async def _may_run(self, rule: LabelRule, command: Command) -> bool:
        if rule.run != "ask":
            return rule.run == "unattended"
        line = command_line(command)
        if self.frontend is None:
            text = (
                f"The command of label `{rule.name}` must be asked about, and nobody can be: `{line}`. Set "
                f"`conversation.labels.{rule.name}.run` to `unattended`, or to `deny`."
            )
            raise Refusal("config_invalid", text, origin=f"conversation.labels.{rule.name}.run")
        name = DecisionId(f"label-{secrets.token_hex(4)}")
        message = f"Run the command of label {on_one_line(rule.name)}? {on_one_line(line)}"
        answer = await ask_user(self.frontend, Decision(name, "approval", message, (_DONT_RUN, _RUN)))
        return isinstance(answer, Answered) and answer.choice == _RUN.id

    async def _run(self, name: str, command: Command, values: dict[str, str]) -> None:
        program = Program(
            _arguments(command), self.root, f"label {name}", timeout=LABEL_SECONDS, stdout_limit=4096
        )
        try:
            end = await self.processes.run(program)
        except SpawnError as error:
            self._warn(name, command, f"could not be started: {error}")
            return
        if not isinstance(end, Exited):
            self._warn(name, command, f"did not end within {LABEL_SECONDS:g} s")
        elif end.code != 0:
            self._warn(name, command, f"ended with code {end.code}")
        else:
            values[name] = " ".join(end.stdout.text().split())[:_LONGEST_VALUE]

    def _warn(self, name: str, command: Command, what: str) -> None:
        line = command_line(command)
        self.warnings.append(f"Label {name} is left out: its command `{line}` {what}.")


async def label_unasked(
    conversation: OpenConversation, settings: QuerySettings, around: Surroundings, *, is_fork: bool
) -> None:
    """Give a conversation that is made without a query the labels that nobody must be asked about."""
    if around.processes is None:
        return
    is_trusted = settings.trust_policy == "always" or (
        settings.trust_policy == "ask" and around.trust.is_trusted(settings.trust_hash)
    )
    labels = settings.labels if is_trusted else labels_without_trust(settings)
    rules = [
        rule
        for rule in applicable(labels, is_fork=is_fork)
        if isinstance(rule.value, str) or rule.run == "unattended"
    ]
    labelling = Labelling(around.processes, around.root, None)
    await labelling.label(conversation, rules)
    for warning in labelling.warnings:
        _log.warning("%s", warning)


def applicable(rules: Sequence[LabelRule], *, is_fork: bool) -> Sequence[LabelRule]:
    """Give the rules for a new conversation, or for a copy of another one."""
    return [rule for rule in rules if (rule.on_fork if is_fork else rule.on_new)]


def _arguments(command: Command) -> tuple[str, ...]:
    if not command.shell:
        return (command.program, *command.arguments)
    return ("sh", "-c", " ".join([command.program, *map(shlex.quote, command.arguments)]))
