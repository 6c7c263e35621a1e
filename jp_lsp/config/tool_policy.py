"""How calls of a tool are treated: its own entry, then `'*'`, then the server's settings (2.4, 4.7, pipeline 3.6)."""

from collections.abc import Mapping
from typing import cast

from jp_lsp.config.keys_assistant import OVERRIDES
from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.server_settings import ServerSettings, ToolLimits
from jp_lsp.config.tool_commands import formatter_of, read_command
from jp_lsp.config.tool_style import effective_style
from jp_lsp.config.value import ABSENT, Partial, Value, entries_of, value_at
from jp_lsp.config.write import write_table
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.spec import (
    DEFAULT_CANCELLATION,
    AssistantTarget,
    DetachedPolicy,
    QuestionPolicy,
    ResultMode,
    RunMode,
    ToolPolicy,
)

_NO_LIMITS = ToolLimits()
_DEFAULTS = ToolPolicy()
_DEFAULT_DETACHED: DetachedPolicy = "deny"


def tool_policy(
    tree: Partial, name: str, server: ServerSettings, *, run_mode: RunMode | None = None
) -> ToolPolicy:
    """Build the policy of a tool.

    Args:
        tree: the complete configuration.
        name: the tool; it need have no entry.
        server: the settings of the server.
        run_mode: holds in place of the shared one when the entry sets none.

    Raises:
        NoCommand: its formatter is no command that could be run.
    """
    tools = entries_of(value_at(tree, ("conversation", "tools")))
    own = entries_of(tools.get(name, ABSENT))
    shared = entries_of(tools.get(TOOL_DEFAULTS_ENTRY, ABSENT))

    def chosen(key: str, default: Value) -> Value:
        return own.get(key, shared.get(key, default))

    mode = cast("RunMode", own.get("run", run_mode or shared.get("run", "ask")))
    formatter = formatter_of(effective_style(tree, name).get("parameters", ABSENT))
    derived = "unattended" if mode == "unattended" else "ask"
    limits = (server.tools.get(name, _NO_LIMITS), server.tools.get(TOOL_DEFAULTS_ENTRY, _NO_LIMITS))
    return ToolPolicy(
        run_mode=mode,
        result_mode=cast("ResultMode", chosen("result", _DEFAULTS.result_mode)),
        formatter=None if formatter is None else read_command(formatter),
        formats_unasked=chosen("format", derived) == "unattended",
        cancellation=cast("str", chosen("cancellation_response", DEFAULT_CANCELLATION)),
        timeout=float(_first(*(each.timeout_secs for each in limits), default=0)),
        size_threshold=_first(*(each.size_threshold for each in limits), default=_DEFAULTS.size_threshold),
        questions={
            question: question_policy(entries_of(policy))
            for question, policy in entries_of(own.get("questions", ABSENT)).items()
        },
        detached_run=_detached("run", *limits),
        detached_deliver=_detached("deliver", *limits),
        detached_tool=_detached("tool", *limits),
        runs_alone=next((each.exclusive_run for each in limits if each.exclusive_run is not None), False),
    )


def question_policy(question: Partial) -> QuestionPolicy:
    """Build who answers a question of a tool, or what."""
    target = question.get("target", "user")
    return QuestionPolicy(
        target="user" if target == "user" else AssistantTarget(_overrides(target)),
        has_answer="answer" in question,
        answer=cast("JsonValue", question.get("answer")),
    )


def _overrides(target: Value) -> Mapping[str, JsonValue]:
    return write_table(OVERRIDES, target) if isinstance(target, Mapping) else {}


def _detached(kind: str, own: ToolLimits, shared: ToolLimits) -> DetachedPolicy:
    """Look a policy up: by kind, then the one for all kinds; of the tool, then of `'*'` (pipeline 3.6)."""
    for policy in (own.detached, shared.detached):
        found = policy.get(kind) if isinstance(policy, Mapping) else policy
        if isinstance(found, str):
            return cast("DetachedPolicy", found)
    return _DEFAULT_DETACHED


def _first(*values: int | None, default: int) -> int:
    return next((value for value in values if value is not None), default)
