"""Keys of `style`, `interrupt` and `editor`: how things are shown (config-and-tools 2.7).

Many of them concern a terminal only. They are read, kept and written back, and otherwise unused here.
"""

from jp_lsp.config.duration import duration
from jp_lsp.config.keys_assistant import MODEL
from jp_lsp.config.kind import Key, ListOf, Table
from jp_lsp.config.scalars import boolean, choice, color, text, whole
from jp_lsp.config.shapes import COMMAND, COMPOSE, LINK, REASONING_DISPLAY, option, section, table
from jp_lsp.config.value import MergedList


def _indicator(delay: int, doc: str, timeout: int | None = None) -> Key:
    keys = {
        "show": Key(boolean(), "Show it at all.", default=True),
        "delay_secs": Key(whole(), "Seconds before it is shown.", default=delay),
        "interval_ms": Key(whole(), "Milliseconds between its updates.", default=100),
    }
    if timeout is not None:
        keys["timeout_secs"] = Key(whole(), "Seconds to wait before giving up.", default=timeout)
    return section(table(keys), doc)


STYLE = table(
    {
        "code": section(
            table(
                {
                    "color": Key(boolean(), "Colour code.", default=True),
                    "line_numbers": Key(boolean(), "Number the lines of code.", default=False),
                    "file_link": Key(LINK, "How a link to the code's file is shown.", default="osc8"),
                    "copy_link": Key(LINK, "How a link that copies the code is shown.", default="off"),
                }
            ),
            "Blocks of code.",
        ),
        "inline_code": section(
            table({"background": Key(color(), "The background of code within a line.")}),
            "Code within a line.",
        ),
        "markdown": section(
            table(
                {
                    "wrap_width": Key(whole(), "Columns after which lines are broken.", default=80),
                    "table_max_column_width": Key(whole(), "The widest column of a table.", default=40),
                    "table_continuation_edge": Key(boolean(), "Mark broken cells of a table.", default=True),
                    "theme": Key(text(), "The colour theme.", default="gruvbox-dark"),
                    "hr_style": Key(choice("line", "markdown"), "How a rule is drawn.", default="line"),
                }
            ),
            "Markdown in a terminal.",
        ),
        "mcp_startup": _indicator(4, "The notice while servers start."),
        "reasoning": section(
            table(
                {
                    "display": Key(REASONING_DISPLAY, "How the model's thinking is shown.", default="full"),
                    "summary_model": option(MODEL, "The model that sums up the thinking."),
                    "background": Key(color(), "The background of thinking.", default=236),
                    "extend_across_tool_calls": Key(
                        boolean(), "Shade tool calls within thinking too.", default=True
                    ),
                }
            ),
            "The model's thinking.",
        ),
        "streaming": section(
            table({"progress": _indicator(3, "The notice while the model is awaited.")}),
            "Answers as they arrive.",
        ),
        "lock_wait": _indicator(1, "Waiting for another program that has the conversation.", timeout=10),
        "tool_call": section(
            table(
                {
                    "show": Key(boolean(), "Show tool calls.", default=True),
                    "progress": _indicator(3, "The notice while a tool runs."),
                    "preparing": _indicator(3, "The notice while arguments arrive."),
                }
            ),
            "Tool calls.",
        ),
        "typewriter": section(
            table(
                {
                    "text_delay": Key(duration(), "The pause after a character of text.", default="3ms"),
                    "code_delay": Key(duration(), "The pause after a character of code.", default="500us"),
                    "max_latency": Key(duration(), "How far the output may fall behind.", default="0s"),
                }
            ),
            "Output letter by letter.",
        ),
    }
)


def _interrupt(*actions: str) -> Table:
    return table(
        {
            "action": Key(choice(*actions), "What an interrupt does; `prompt` asks.", default="prompt"),
            "compose_in_editor": Key(COMPOSE, "Write replies in an editor.", default=False),
        }
    )


INTERRUPT = table(
    {
        "escalation_cooldown_secs": Key(
            whole(), "Seconds within which a second interrupt ends the turn.", default=2
        ),
        "streaming": section(
            _interrupt("prompt", "continue", "stop", "abort", "reply"), "While an answer arrives."
        ),
        "tool_call": section(
            _interrupt("prompt", "continue", "restart", "respond", "stop"), "While tools run."
        ),
    }
)

EDITOR = table(
    {
        "cmd": Key(COMMAND, "The editor to start."),
        "envs": Key(
            ListOf(text(), "append"),
            "Environment variables that name an editor.",
            default=MergedList(("JP_EDITOR", "VISUAL", "EDITOR")),
        ),
        "inline": section(
            table({"edit_mode": Key(choice("emacs", "vi"), "The keys of the prompt.")}), "The prompt."
        ),
    }
)
