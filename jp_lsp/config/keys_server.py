"""Keys of the server's own settings, as a schema like that of `.jp` files (query pipeline 0.4)."""

from collections.abc import Mapping
from pathlib import Path as FilePath
from types import MappingProxyType

from jp_lsp.config.keys_providers import DEFAULT_STARTUP_TIMEOUT
from jp_lsp.config.kind import Key, Kind, Leaf, Misfit, Table, Variant, map_of
from jp_lsp.config.scalars import boolean, choice, real, text, whole
from jp_lsp.config.value import Value
from jp_lsp.conversation.json_value import JsonValue


def _table(keys: Mapping[str, Key]) -> Table:
    """Make a table in which an editor may keep settings of its own."""
    return Table(MappingProxyType(dict(keys)), unknown="ignore")


def _section(keys: Mapping[str, Key]) -> Key:
    return Key(_table(keys), "", default={})


def _positive(leaf: Leaf) -> Leaf:
    def read(raw: JsonValue) -> Value:
        value = leaf.read(raw)
        if isinstance(value, (int, float)) and value < 0:
            raise Misfit("a number that is not negative", raw)
        return value

    return Leaf("a number that is not negative", read, leaf.from_text)


def _optional_text(doc: str) -> Key:
    return Key(text(), doc)


def _seconds(default: float, doc: str) -> Key:
    return Key(_positive(real()), doc, default=default)


def _read_path(raw: JsonValue) -> Value:
    if not isinstance(raw, str):
        raise Misfit("a path", raw)
    try:
        return str(FilePath(raw).expanduser()) if raw else raw
    except RuntimeError as error:
        raise Misfit("a path whose home folder exists", raw) from error


_PATH = Leaf("a path", _read_path, _read_path)
_DETACHED_POLICY = choice("deny", "auto", "defaults", "defer")
_DETACHED: Kind = Variant(
    _DETACHED_POLICY,
    _table(
        {
            "run": Key(_DETACHED_POLICY, "What happens to a call that needs approval."),
            "deliver": Key(_DETACHED_POLICY, "What happens to a result that needs approval."),
            "tool": Key(_DETACHED_POLICY, "What happens to a question of the tool."),
        }
    ),
)

SERVER_SCHEMA = _table(
    {
        "interrupt": _section(
            {
                "turn": _section(
                    {
                        "action": Key(
                            choice("stop", "prompt", "continue", "reply"),
                            "What an interrupt between two responses does.",
                            default="stop",
                        )
                    }
                ),
                "on_dismiss": Key(
                    choice("escalate", "continue"),
                    "What closing an interrupt menu means.",
                    default="escalate",
                ),
                "menu_timeout_secs": Key(
                    whole(), "Seconds after which an open menu counts as closed; 0 for never.", default=0
                ),
                "progress_cancel": Key(
                    choice("cancel", "press"), "What cancelling the progress notice means.", default="cancel"
                ),
                "cancel_action": Key(
                    choice("stop", "abort"), "What cancelling the request does.", default="stop"
                ),
            }
        ),
        "prompt": _section(
            {
                "text_transport": Key(
                    choice("auto", "prompt", "client", "document", "off"),
                    "How free text is asked for.",
                    default="auto",
                ),
                "save_commits": Key(boolean(), "Saving a document sends it.", default=False),
                "max_actions": Key(
                    whole(), "The most buttons that a message may have; 0 for no limit.", default=0
                ),
            }
        ),
        "render": _section(
            {
                "granularity": Key(
                    choice("block", "raw"), "Whether answers come in blocks or as they are.", default="block"
                ),
                "control_sequences": Key(
                    choice("strip", "keep_sgr"),
                    "What happens to terminal control sequences.",
                    default="strip",
                ),
                "reasoning_separator": Key(
                    choice("rule", "blank", "none"),
                    "What stands between thinking and answer.",
                    default="rule",
                ),
                "coalesce_ms": Key(
                    whole(60_000), "Milliseconds for which text is gathered before it is sent.", default=16
                ),
            }
        ),
        "shutdown": _section(
            {
                "turn_secs": _seconds(3.0, "Seconds that each turn has to be saved."),
                "limit_secs": _seconds(8.0, "Seconds that all turns together have."),
                "background_secs": _seconds(2.0, "Seconds that work beside the turns has to end."),
            }
        ),
        "limits": _section(
            {
                "record_events": Key(boolean(), "Record everything that happens to a turn.", default=False),
                "tool_calls": Key(
                    whole(), "The most tool calls of one response; 0 for no limit.", default=128
                ),
                "cycles": Key(whole(), "The most requests of one turn; 0 for no limit.", default=0),
            }
        ),
        "trust": Key(
            choice("ask", "never", "always"),
            "Whether the workspace may run programs and choose servers.",
            default="ask",
        ),
        "layer_order": Key(
            choice("environment_wins", "conversation_wins"),
            "Which of the two has the last word on a setting; for the `jp` command it is the conversation.",
            default="environment_wins",
        ),
        "storage": _section(
            {"newer_format": Key(boolean(), "Write the newer form of conversation files.", default=False)}
        ),
        "local": _section(
            {
                "model_path": Key(_PATH, "A GGUF file to use in place of the built-in model."),
                "threads": Key(whole(1024, minimum=1), "Processor threads of the local model.", default=1),
            }
        ),
        "lmstudio": _section({"base_url": _optional_text("Where LM Studio answers.")}),
        "compatible": _section(
            {
                "base_url": _optional_text(
                    "Where another server with the chat-completions protocol answers. For one without a version "
                    "in its path, the whole address: `https://host/chat/completions`."
                )
            }
        ),
        "mcp": _section(
            {
                "http": Key(
                    map_of(
                        _table(
                            {
                                "url": Key(text(), "Where the server answers."),
                                "bearer_token_env": _optional_text(
                                    "The environment variable that holds its token."
                                ),
                                "optional": Key(
                                    boolean(),
                                    "Go on without the server when it does not start.",
                                    default=False,
                                ),
                                "startup_timeout_secs": Key(
                                    whole(),
                                    "Seconds that the server has to answer.",
                                    default=DEFAULT_STARTUP_TIMEOUT,
                                ),
                            }
                        )
                    ),
                    "Servers of tools that are reached over HTTP.",
                    default={},
                )
            }
        ),
        "conversation": _section(
            {
                "tools": Key(
                    map_of(
                        _table(
                            {
                                "detached": Key(
                                    _DETACHED, "What happens to questions that nobody can answer."
                                ),
                                "timeout_secs": Key(whole(), "Seconds that a call may take; 0 for no limit."),
                                "size_threshold": Key(whole(), "Bytes of a result that are kept."),
                                "exclusive_run": Key(
                                    boolean(), "Whether a call waits until no other tool runs."
                                ),
                            }
                        )
                    ),
                    "Limits of tools.",
                    default={},
                )
            }
        ),
    }
)
"""The settings as a schema of their own; documented and completed like any other."""
