"""What the chat view can look like: one list of messages for each state that a person meets."""

from tests.support.page_talk import MENU_BUTTONS, RUN_BUTTONS, Message, Talk, context, opened

ANSWER = '''Here is what happens, in **three steps**:

1. `load()` reads the file and *parses* it.
2. The result is cached, see [cache.py](src/cache.py) or https://example.org/docs.
3. Errors become `ConfigError`.

> A note that is quoted.

## The fix

```python
def load(path: Path) -> Config:
    """Read a file."""
    # cached: reading is slow
    text = path.read_text(encoding="utf-8")
    return Config(parse(text), size=len(text) * 2, name="a line that is so long that it has to be scrolled")
```

| file | lines | changed |
| --- | ---: | :-: |
| `load.py` | 120 | yes |
| `cache.py` | 44 | no |

- one
  - nested
- two
'''

EDIT = {
    "path": "src/load.py",
    "version": "3",
    "edits": [
        {"old": "text = path.read_text()\nreturn parse(text)\n", "new": "return parse(read_once(path))\n"}
    ],
}

TITLE = "Why load reads twice"
BESIDE = context(
    {"uri": "file:///a/src/load.py", "label": "load.py", "detail": "12–40"},
    {"uri": "file:///a/README.md", "label": "README.md"},
    model="anthropic/claude-sonnet-4-5",
    persona="reviewer",
)


def rich_turn() -> Talk:
    """Give a turn that is over and has something of everything."""
    talk = Talk().ask("Why does `load` read the file twice?\nPlease fix it.").answer()
    talk.say("The user wants to know about loading.\n\nI should look at the file first.", "reasoning")
    talk.call("c1", "read_file", {"path": "src/load.py", "from": 1, "to": 80})
    talk.result("c1", "read_file", "import json\nfrom pathlib import Path")
    talk.call("c2", "run_tests", {"target": "tests/test_load.py"}, source="mcp", server="pytest")
    talk.result("c2", "run_tests", "1 failed, 3 passed", ok=False)
    talk.call("c3", "delete_cache", {}).result("c3", "delete_cache", "Tool skipped by user.", decision="skip")
    return talk.say(ANSWER).end()


def _approval() -> Talk:
    talk = Talk("q2").ask("Now apply it.", 2).answer().say("I'll edit the file and run the tests.")
    talk.call("d1", "editor_edit_file", EDIT, source="builtin").call("d2", "run_tests", {"target": "tests"})
    return talk.prompt("p1", "approval", "Run builtin tool editor_edit_file?", *RUN_BUTTONS, callId="d1")


def _running() -> Talk:
    talk = Talk("q2").ask("Now apply it.", 2).answer()
    talk.say("Hmm, the file is read in two places.\n\nFirst in load", "reasoning")
    talk.call("d1", "run_tests", {"target": "tests"})
    running = {"name": "run_tests", "elapsedMs": 4200, "message": "tests/test_load.py", "percentage": 40}
    talk.slot("tool:d1", "tool_progress", **running)
    talk.slot("tool:d2", "tool_preparing", name="editor_edit_file", elapsedMs=1500)
    return talk.slot("status", "status", phase="executing", detail="running tools", elapsedMs=4200)


def _thinking() -> Talk:
    return Talk("q2").ask("Hm?").answer().say("Perhaps it is the cache.\nOr the loader", "reasoning")


def _retry() -> Talk:
    cause = {"attempt": 1, "max": 5, "cause": "Rate limited", "delayMs": 8000}
    return Talk("q2").ask("Hi").slot("retry", "retry", **cause)


def _menu() -> Talk:
    talk = Talk("q2").ask("Tell me more.", 2).answer().say("The first paragraph is complete.")
    talk.slot("preview", "preview", md="\n\nThe second one is still unfin")
    return talk.prompt("m1", "menu", "The answer is interrupted.", *MENU_BUTTONS)


def _secret() -> Talk:
    talk = Talk("q4").ask("Deploy").answer().call("e1", "deploy", {"to": "staging"})
    detail = "The tool asks for it."
    return talk.prompt("s1", "secret", "deploy: Password of staging", callId="e1", detail=detail)


def _pick() -> Talk:
    talk = Talk("q4").ask("Deploy").answer()
    return talk.prompt("s1", "pick", "Where to?", "staging", "production (default)", "a third place")


def _failed() -> list[Message]:
    failed = {
        "type": "failed",
        "token": "q3",
        "message": "The key for anthropic is missing.",
        "hint": "Set ANTHROPIC_API_KEY where the server can see it, then restart the server.",
        "action": {"id": "log", "title": "Show Server Log"},
    }
    notice = {"type": "notice", "level": "warning", "text": "No title was made: the model is unknown."}
    return [
        Talk("q3").ask("Again").messages[0],
        failed,
        notice,
        {"type": "unfinished", "calls": ["run_tests"]},
    ]


def _gave_up() -> Talk:
    error = {
        "class": "rate_limit",
        "message": "Rate limited: slow down",
        "attempts": 6,
        "chain": ["gave up after 6 attempts", "Rate limited (openai, HTTP 429)", "slow down"],
    }
    talk = Talk("q3").ask("Go on").answer().say("Half of")
    talk.chunk(
        "durable", "notice", level="error", code="failed", text="Rate limited: slow down", md="\n\n> E"
    )
    return talk.end("failed", error=error, persisted=False)


def _server(status: str, message: str, id: str, title: str) -> Message:
    return {"type": "server", "status": status, "message": message, "action": {"id": id, "title": title}}


SCENES: dict[str, list[Message]] = {
    "empty": [opened()],
    "rich": [opened(title=TITLE), BESIDE, *rich_turn().messages],
    "approval": [opened(rich_turn().chunks, title=TITLE), BESIDE, *_approval().messages],
    "running": [opened(title=TITLE), *_running().messages],
    "thinking": [opened(title=TITLE), *_thinking().messages],
    "retry": [opened(), *_retry().messages],
    "menu": [opened(), BESIDE, *_menu().messages],
    "pick": [opened(), *_pick().messages],
    "secret": [opened(), *_secret().messages],
    "failed": [opened(), *_failed()],
    "gave up": [opened(), *_gave_up().messages],
    "missing": [
        opened(),
        _server("missing", "JP needs its language server to answer.", "install", "Install"),
    ],
    "starting": [opened(), {"type": "server", "status": "starting"}],
    "stopped": [
        opened(rich_turn().chunks),
        _server("stopped", "It crashed five times.", "start", "Start Again"),
    ],
}
