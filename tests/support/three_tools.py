"""Three tools for a pretended user: one that must be allowed, one that asks for a text, one that takes long.

Whoever uses them plans calls with `call_of` and looks for what a tool was heard to say in `heard_from`.
"""

import json
import sys
from typing import Any

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.http_server import Reply
from tests.support.user_folders import UserFolders

_ASKING = """\
import json, sys
answers = json.loads(sys.argv[1])
question = {"id": "colour", "text": "Which colour?", "answer_type": "text"}
print("painted " + answers["colour"] if "colour" in answers
      else json.dumps({"type": "needs_input", "question": question}))
"""

_SLOW = """\
import pathlib, time
here = pathlib.Path.cwd()
with (here / "began").open("a") as began:
    began.write("began\\n")
while not (here / "may-end").exists():
    time.sleep(0.02)
print("slept")
"""


def give_tools(user: UserFolders) -> None:
    """Configure `greet`, `paint` and `sleep` for the user."""
    for name, source in {"paint.py": _ASKING, "sleep.py": _SLOW}.items():
        (user.workspace / name).write_text(source, encoding="utf-8")
    python = json.dumps(sys.executable)
    path = user.config / "config.toml"
    lines = [
        path.read_text(encoding="utf-8"),
        *_tool("greet", "ask", 'program = "echo", args = ["hello", "{{tool.arguments.who}}"]'),
        "[conversation.tools.greet.parameters.who]",
        'type = "string"',
        *_tool("paint", "unattended", f'program = {python}, args = ["paint.py", "{{{{tool.answers}}}}"]'),
        *_tool("sleep", "unattended", f'program = {python}, args = ["sleep.py"]'),
    ]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def call_of(name: str, **arguments: str) -> Reply:
    """An answer of the model that is a call with the id `call-0`."""
    return answer(called("call-0", name, json.dumps(arguments)), reason="tool_calls")


def heard_from(vendor: ChatVendor) -> str:
    """What the model was told of its only call, in the last query."""
    (told,) = (each["content"] for each in _last_messages(vendor) if each["role"] == "tool")
    return str(told)


def times_begun(user: UserFolders) -> int:
    """How often `sleep` began since it was last forgotten."""
    began = user.workspace / "began"
    return len(began.read_text(encoding="utf-8").splitlines()) if began.exists() else 0


def let_end(user: UserFolders) -> None:
    """Let `sleep` end, now and whenever it runs again."""
    (user.workspace / "may-end").touch()


def forget_runs(user: UserFolders) -> None:
    """Make `sleep` as if it had never run."""
    for name in ("began", "may-end"):
        (user.workspace / name).unlink(missing_ok=True)


def _tool(name: str, run: str, command: str) -> list[str]:
    return [
        f"[conversation.tools.{name}]",
        'source = "local"',
        "enable = true",
        f'run = "{run}"',
        f"command = {{ {command} }}",
        f'summary = "Can {name}"',
    ]


def _last_messages(vendor: ChatVendor) -> list[Any]:
    messages: list[Any] = vendor.queries[-1]["messages"]
    return messages
