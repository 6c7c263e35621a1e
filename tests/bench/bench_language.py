"""How quickly a large configuration file is helped with, in each format, and a query document.

    python -m tests.bench.bench_language [--kilobytes 105] [--rounds 20]

A file with hundreds of tools is typed in over the wire, at its end and at its beginning. Each letter is a new version
of the text, followed at once by a completion, as an editor asks; the time is from that request to its answer. The same
is done in a file of a few lines: what is more is due to the size. Medians and the slowest are shown, and the work of
the server for each; what the parser of the standard library takes for such a text is timed in turns with it, so that
a busy machine is busy for both.

A query document is typed in beside one small file and in a copy of the real workspace, with its personas, tools and
conversations, where that is found.
"""

import argparse
import asyncio
import copy
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import yaml

from jp_lsp.config.parse import parse
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.shared import shared_files
from tests.support.user_folders import UserFolders

WANTED = 0.030
"""Seconds that a completion may take."""

YARDSTICK = "the parser of a TOML text of this size"


def tools(count: int) -> dict[str, Any]:
    """Give a configuration with tools."""
    tool = {
        "source": "local",
        "run": "ask",
        "summary": "Does one thing to a file, and says what came of it.",
        "command": ["bash", "-c", "cat"],
        "parameters": {
            "path": {
                "type": "string",
                "required": True,
                "summary": "The path of the file, in the workspace.",
            },
            "count": {"type": "integer", "summary": "How often."},
        },
    }
    named = {f"tool_{number}": copy.deepcopy(tool) for number in range(count)}
    return {"conversation": {"tools": named}}


def toml(values: dict[str, Any]) -> str:
    """Write tools as people do: a table for each."""
    lines = ['[assistant]\nname = "x"\n']
    for name, tool in values["conversation"]["tools"].items():
        header = f"conversation.tools.{name}"
        parameters = tool["parameters"]
        lines.append(f"[{header}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in tool.items() if key != "parameters"]
        for key, parameter in parameters.items():
            lines.append(f"[{header}.parameters.{key}]")
            lines += [f"{inner} = {json.dumps(value)}" for inner, value in parameter.items()]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[Callable[[dict[str, Any]], str], str, str, str]] = {
    "toml": (toml, "# first\n", "[conversation.tools.last]\nru", "n"),
    "yaml": (lambda values: yaml.safe_dump(values, sort_keys=False), "# first\n", "style:\n  reas", "o"),
    "json5": (lambda values: json.dumps(values, indent=2)[:-2], "// first\n", ",\n  style: { reas", "o"),
}
"""How a configuration is written, its first line, what is written behind it, and the letter that comes next."""


def sized(write: Callable[[dict[str, Any]], str], size: int) -> str:
    """Write as many tools as make a text of a size."""
    each = (len(write(tools(40))) - len(write(tools(20)))) / 20
    return write(tools(max(int(size / each), 1)))


class Typist:
    """Types in one open file."""

    def __init__(self, client: JpClient, path: Path, text: str) -> None:
        self.client, self.uri, self.text, self.version = client, path.as_uri(), text, 1
        language = path.suffix[1:]
        client.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": self.uri, "languageId": language, "version": 1, "text": text}},
        )

    def position(self, offset: int) -> dict[str, int]:
        return {
            "line": self.text.count("\n", 0, offset),
            "character": offset - self.text.rfind("\n", 0, offset) - 1,
        }

    def type(self, offset: int, letter: str) -> None:
        """Insert a letter, as the one thing that changed."""
        place = self.position(offset)
        self.version += 1
        self.text = self.text[:offset] + letter + self.text[offset:]
        self.client.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": {"start": place, "end": place}, "text": letter}],
            },
        )

    async def ask(self, method: str, offset: int | None = None) -> Any:
        params: dict[str, Any] = {"textDocument": {"uri": self.uri}}
        if offset is not None:
            params["position"] = self.position(offset)
        return await self.client.request(f"textDocument/{method}", params)

    async def checked(self) -> None:
        """Wait for the diagnostics of this version."""

        def look() -> bool | None:
            found = self.client.received("textDocument/publishDiagnostics")
            return any(each["uri"] == self.uri and each["version"] == self.version for each in found) or None

        await self.client.wait_for(look)


class Clock:
    """Times what is asked of one server: what passes, and what of it the server works."""

    def __init__(self, pid: int, yardstick: Callable[[], object]) -> None:
        self._stat = Path(f"/proc/{pid}/stat")
        self._yardstick = yardstick
        self.passed: dict[str, list[float]] = {}
        self.worked: dict[str, float] = {}

    async def time(self, what: str, answer: Awaitable[object]) -> None:
        """Wait for an answer."""
        begin, work = time.perf_counter(), self._work()
        await answer
        self.passed.setdefault(what, []).append(time.perf_counter() - begin)
        self.worked[what] = self.worked.get(what, 0.0) + self._work() - work

    def measure_yardstick(self) -> None:
        """Time a known piece of work in this process."""
        begin = time.perf_counter()
        self._yardstick()
        self.passed.setdefault(YARDSTICK, []).append(time.perf_counter() - begin)

    def work_each(self, what: str) -> float:
        """Give the seconds of work for one answer, 0 where the system does not tell; it counts in steps of 10 ms."""
        return self.worked.get(what, 0.0) / len(self.passed[what])

    def _work(self) -> float:
        if not self._stat.exists():
            return 0.0
        fields = self._stat.read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(name: str, text: str, rounds: int, yardstick: Callable[[], object]) -> Clock:
    """Type and ask in a file, with a server of its own."""
    _, first, ending, letter = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        user = UserFolders(Path(folder))
        path = user.workspace / ".jp" / f"config.{name}"
        path.write_text("", encoding="utf-8")
        async with initialized_server(user) as server:
            clock = Clock(server.process.pid, yardstick)
            typist = Typist(server.client, path, first + text + ending)
            await typist.checked()
            for _ in range(rounds):
                typist.type(len(typist.text), letter)
                await clock.time("completion at the end", typist.ask("completion", len(typist.text)))
                typist.type(len(first) - 1, "x")
                second_line = typist.text.index("\n") + 1
                await clock.time("completion at the start", typist.ask("completion", second_line))
                clock.measure_yardstick()
            typist.type(len(first) - 1, "x")
            await clock.time("diagnostics, with the pause", typist.checked())
            for _ in range(5):
                await clock.time("hover", typist.ask("hover", typist.text.index("summary")))
                await clock.time("symbols", typist.ask("documentSymbol"))
                await clock.time("folds", typist.ask("foldingRange"))
    return clock


QUERY = "---\nmodel: \npersona: \ntools: []\nconversation: \n---\n\nWhat is in @"
PLACES: dict[str, tuple[str, str]] = {
    "completion of a model": ("model: ", "a"),
    "completion of a persona": ("persona: ", "d"),
    "completion of tools": ("tools: [", "f"),
    "completion of a conversation": ("conversation: ", "c"),
    "completion of an attachment": ("in @", "R"),
}
"""Where in a query document something is typed, by what stands before it, and the letter."""


async def measure_query(workspace: Path | None, rounds: int) -> Clock:
    """Type and ask in a query document, with a server of its own, in a copy of a workspace or a small one."""
    with tempfile.TemporaryDirectory() as folder:
        user = UserFolders(Path(folder))
        if workspace is None:
            (user.workspace / ".jp" / "config.toml").write_text(toml(tools(1)), encoding="utf-8")
        else:
            shutil.copytree(workspace, user.workspace, dirs_exist_ok=True)
        async with initialized_server(user) as server:
            clock = Clock(server.process.pid, lambda: None)
            typist = Typist(server.client, user.workspace / "ask.jp.md", QUERY)
            await typist.checked()
            for _ in range(rounds):
                for what, (before, letter) in PLACES.items():
                    offset = typist.text.index(before) + len(before)
                    typist.type(offset, letter)
                    await clock.time(what, typist.ask("completion", offset + 1))
                    await clock.time("diagnostics, with the pause", typist.checked())
            for _ in range(5):
                await clock.time("hover on a name", typist.ask("hover", typist.text.index("persona:")))
    return clock


async def run_queries(rounds: int) -> bool:
    """Print the table of query documents; tells whether completion is quick enough."""
    found = [path.parent for path in shared_files("real-workspace/.jp")]
    few = await measure_query(None, rounds)
    many = await measure_query(found[0], rounds) if found else few
    print(f"\nquery documents, in {'the real' if found else 'a small'} workspace")  # noqa: T201
    print(f"{'ms':28} {'small':>8} {'large':>8} {'slowest':>8} {'work':>8} {'x small':>8}")  # noqa: T201
    is_quick = True
    for what, passed in many.passed.items():
        small, large = statistics.median(few.passed[what]), statistics.median(passed)
        is_quick = is_quick and ("completion" not in what or large < WANTED)
        print(  # noqa: T201
            f"{what:28} {small * 1000:8.1f} {large * 1000:8.1f} {max(passed) * 1000:8.1f}"
            f" {many.work_each(what) * 1000:8.1f} {large / small:8.1f}"
        )
    return is_quick


async def run(size: int, rounds: int) -> bool:
    """Print the tables; tells whether completion is quick enough everywhere."""
    is_quick = True
    known = sized(toml, size).encode()
    for name, (write, _, _, _) in FORMATS.items():
        text = sized(write, size)
        small = await measure(name, write(tools(1)), rounds, lambda: None)
        large = await measure(name, text, rounds, lambda: parse(known, "toml"))
        rule = statistics.median(large.passed[YARDSTICK])
        lines = [
            f"\n{name}: {len(text):,} characters; {YARDSTICK} takes {rule * 1000:.1f} ms meanwhile",
            f"{'ms':28} {'small':>8} {'large':>8} {'slowest':>8} {'work':>8} {'x small':>8} {'x parser':>8}",
        ]
        for what in (what for what in large.passed if what != YARDSTICK):
            few, many = statistics.median(small.passed[what]), statistics.median(large.passed[what])
            is_quick = is_quick and ("completion" not in what or many < WANTED)
            lines.append(
                f"{what:28} {few * 1000:8.1f} {many * 1000:8.1f} {max(large.passed[what]) * 1000:8.1f}"
                f" {large.work_each(what) * 1000:8.1f} {many / few:8.1f} {many / rule:8.2f}"
            )
        print("\n".join(lines))  # noqa: T201  # a program of its own
    return await run_queries(rounds) and is_quick


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kilobytes", type=int, default=105)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    return 0 if asyncio.run(run(arguments.kilobytes * 1000, arguments.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
