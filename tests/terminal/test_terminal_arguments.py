"""The command line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.server.logs import LEVELS
from jp_lsp.terminal.arguments import COMMANDS, LOG_LEVELS, parse, query_options
from jp_lsp.terminal.query_options import QueryOptions
from tests.support.terminal_process import PATIENCE, environment


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {"command": "serve", "tcp": None, "log_level": "warning", "log_file": None}),
        (("--stdio",), {"command": "serve", "stdio": True}),
        (("serve", "--clientProcessId=7"), {"command": "serve", "clientProcessId": 7}),
        (("--tcp", "127.0.0.1:4711"), {"command": "serve", "tcp": ("127.0.0.1", 4711)}),
        (("serve", "--tcp", ":0"), {"tcp": ("127.0.0.1", 0), "allow_remote": False}),
        (("serve", "--tcp", "[::1]:1", "--allow-remote"), {"tcp": ("::1", 1), "allow_remote": True}),
        (("--log-level", "debug", "--log-file", "a.log"), {"log_level": "debug", "log_file": Path("a.log")}),
        (("init",), {"command": "init", "folder": Path(), "model": None}),
        (("init", "there", "--model", "a/b"), {"folder": Path("there"), "model": "a/b"}),
        (("doctor", "there"), {"command": "doctor", "folder": Path("there")}),
        (("local", "status"), {"command": "local", "verb": "status"}),
        (("replay", "a.jsonl"), {"command": "replay", "file": Path("a.jsonl")}),
        (("export", "--check"), {"command": "export", "check": True, "root": Path()}),
    ],
)
def test_commands(words: tuple[str, ...], expected: dict[str, Any]) -> None:
    found = vars(parse(words, "1"))
    assert {name: found[name] for name in expected} == expected


def test_paths_to_attach_count_from_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.md").touch()
    options = query_options(parse(["query", "-a", "a b.md", "-a", "!a b.md", "-a", "other.md"], "1"))
    uri = f"{tmp_path.as_uri()}/a%20b.md"
    assert options.params("")["attachments"] == [uri, f"!{uri}", "other.md"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), QueryOptions()),
        (("why", "not"), QueryOptions(text="why not")),
        (("--new", "a"), QueryOptions(text="a", conversation="new")),
        (("--schema", '{"type": "array"}', "a"), QueryOptions(text="a", schema='{"type": "array"}')),
        (("--schema", "a, ?b int", "a"), QueryOptions(text="a", schema="a, ?b int")),
        (("--template", "{{ a }}"), QueryOptions(text="{{ a }}", is_template=True)),
        (("--conversation", "last", "a"), QueryOptions(text="a", conversation="last")),
        (
            ("-T", "-t", "grep,find", "--no-tool", "find", "--tool", "*", "a"),
            QueryOptions(
                text="a",
                tools=((False, None), (True, "grep"), (True, "find"), (False, "find"), (True, None)),
            ),
        ),
        (
            ("-a", "none/*.py", "--attach", "cmd:git diff", "a"),
            QueryOptions(text="a", attachments=("none/*.py", "cmd:git diff")),
        ),
        (("--json", "--no-input", "-v", "a"), QueryOptions(text="a", is_json=True, may_ask=False, is_verbose=True)),
        (("--explain", "a"), QueryOptions(text="a", is_explained=True)),
        (("--no-show-reasoning", "a"), QueryOptions(text="a", shows_reasoning=False)),
        (("--show-reasoning", "--no-persist", "a"), QueryOptions(text="a", shows_reasoning=True, persist=False)),
        (
            ("--cfg", "a=1", "--model", "x/y", "a", "--cfg", "b"),
            QueryOptions(text="a", config=("a=1", "assistant.model.id=x/y", "b")),
        ),
    ],
)  # fmt: skip
def test_a_query(words: tuple[str, ...], options: QueryOptions) -> None:
    assert query_options(parse(["query", *words], "1")) == options


@pytest.mark.parametrize(
    ("shows_reasoning", "is_terminal", "where"),
    [
        (None, True, "in_place"),
        (None, False, "hidden"),
        (True, True, "in_place"),
        (True, False, "aside"),
        (False, True, "hidden"),
        (False, False, "hidden"),
    ],
)
def test_where_reasoning_goes(shows_reasoning: bool | None, is_terminal: bool, where: str) -> None:
    assert QueryOptions(shows_reasoning=shows_reasoning).thoughts(is_terminal=is_terminal) == where


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("qery", "why"), "there is no command 'qery'; did you mean `jp-lsp query`?"),
        (("why is this",), 'there is no command \'why is this\'; to ask something use `jp-lsp query "..."`'),
        (("--tcp", "4711"), "argument --tcp: '4711' is not HOST:PORT, such as 127.0.0.1:4711"),
        (("--tcp", "a:99999"), "argument --tcp: 'a:99999' is not HOST:PORT, such as 127.0.0.1:4711"),
        (("--log-level", "loud"), "argument --log-level: invalid choice: 'loud'"),
        (("query", "--new", "--conversation", "last", "a"), "argument --conversation: not allowed with argument --new"),
        (("query", "-t", "a,,b"), "argument -t/--tool: 'a,,b' lacks the name of a tool; `*` is all tools"),
        (("query", "--frob"), "unrecognized arguments: --frob"),
        (("query", "--schema", "[]"), "argument --schema: line 1, column 1: expected the name of a field"),
        (("query", "--schema", "{"), "argument --schema: line 1, column 2: this is no JSON: "),
        (("query", "--schema", "@no/file"), "argument --schema: no/file cannot be read: "),
        (("local",), "the following arguments are required"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_ends_with_2(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(words, "1")
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [(["--version"], "jp-lsp 1.2\n"), (["--help"], "usage: jp-lsp")])
def test_help_and_version(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(words, "1.2")
    assert raised.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(said)
    assert said.startswith("jp-lsp") or all(name in out for name in COMMANDS)


def test_the_levels_are_the_servers() -> None:
    assert set(LOG_LEVELS) == LEVELS.keys()


def test_reading_the_arguments_imports_nothing_heavy() -> None:
    """A server must start quickly, whatever else this program can do."""
    code = (
        "import sys; from jp_lsp.__main__ import main; sys.argv = ['jp-lsp', '--version']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'asyncio', 'anyio', 'httpx', 'pygls', 'lsprotocol', 'logging'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment(), timeout=PATIENCE, check=True
    )
    assert ended.stdout.splitlines()[-1] == b"[]"
