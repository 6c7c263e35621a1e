"""Whole answers in every way of showing thoughts, compared with files (`--update-golden` rewrites them).

A `.script` says what happened; beside it stands what was shown: every chunk in the default mode, then the
transcript in each mode.
"""

import json
from pathlib import Path

import pytest

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render.chunk import DURABLE, Chunk, Code, Text
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay, ReasoningMode
from tests.support.view import Watcher

FOLDER = Path(__file__).parents[2] / "golden" / "render"
MODES: tuple[ReasoningMode, ...] = ("full", "truncate", "hidden", "progress", "static", "timer", "summary")
SCRIPTS = sorted(FOLDER.glob("*.script"))
PART_SIZE = 7


def cut(text: str) -> list[str]:
    return [text[start : start + PART_SIZE] for start in range(0, len(text), PART_SIZE)]


def play(script: str, options: DisplayOptions) -> Watcher:
    """Show what a script says; its text arrives in small parts."""
    watcher = Watcher(options, Labels(model="test/big"))
    calls = results = 0
    for section in script.split("\n@"):
        head, _, body = section.removeprefix("@").partition("\n")
        word, _, rest = head.partition(" ")
        body = body.removesuffix("\n")
        match word:
            case "request":
                watcher.begin(body)
            case "message":
                watcher.message(*cut(body))
            case "reasoning":
                watcher.reasoning(*cut(body))
            case "structured":
                watcher.value(*cut(body))
                watcher.see(watcher.view.structured_flushed())
            case "call":
                calls += 1
                name, _, arguments = rest.partition(" ")
                watcher.see(watcher.view.tool_call(str(calls), name, json.loads(arguments)))
            case "result" | "error":
                results += 1
                call_id = rest or str(calls)
                watcher.see(watcher.view.tool_result(call_id, body, is_error=word == "error"))
            case _:
                raise AssertionError(word)
    watcher.end()
    return watcher


def line(chunk: Chunk) -> str:
    """Write a chunk on one line."""
    fields: dict[str, JsonValue] = {}
    match chunk:
        case Text():
            fields = {
                "region": chunk.region,
                "block": chunk.block,
                "part": chunk.part,
                "indent": chunk.indent,
            }
        case Code():
            fields = {
                "region": chunk.region,
                "part": chunk.part,
                "language": chunk.language,
                "indent": chunk.indent,
            }
        case _:
            pass
    text = "".join(f" {name}={value}" for name, value in fields.items() if value)
    return f"{chunk.type}{text} {json.dumps(chunk.md, ensure_ascii=False) if isinstance(chunk, DURABLE) else ''}".rstrip()


def shown(script: str) -> str:
    whole = play(script, DisplayOptions())
    parts = ["==== chunks ====", *map(line, whole.chunks)]
    for mode in MODES:
        watcher = play(script, DisplayOptions(reasoning=ReasoningDisplay(mode, 29)))
        parts += [f"==== {mode} ====", watcher.text]
    return "\n".join(parts) + "\n"


@pytest.mark.requirement("R196", "R197", "R198", "R199", "R200", "R201", "R321", "F25")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_answers(path: Path, update_golden: bool) -> None:
    golden = path.with_suffix(".shown")
    seen = shown(path.read_text(encoding="utf-8"))
    if update_golden:
        golden.write_text(seen, encoding="utf-8")
    assert seen == golden.read_text(encoding="utf-8")


def test_there_are_answers() -> None:
    assert len(SCRIPTS) >= 4
