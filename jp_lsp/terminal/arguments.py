"""The command line of `jp-lsp`: which commands there are, and what each takes.

A server must start quickly, so only the arguments of the command at hand are described, and nothing is
imported for the others.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from jp_lsp.terminal.lookup_arguments import (
    add_config_arguments,
    add_conversation_arguments,
    add_model_arguments,
)
from jp_lsp.terminal.query_options import QueryOptions

COMMANDS: Mapping[str, str] = {
    "serve": "run the language server; this is what happens without a command",
    "query": "ask something, here in the terminal",
    "conversations": "list the conversations of this workspace",
    "models": "list the models that can be asked",
    "config": "say what a setting is, and where its value comes from",
    "init": "make this folder a workspace",
    "doctor": "say what is set up, which model would answer, and what is missing",
    "local": "install or remove the small built-in model",
    "replay": "handle a recorded turn once more (for developers)",
    "export": "write the protocol's generated files (for developers)",
}

LOG_LEVELS = ("error", "warning", "info", "debug")

_DESCRIPTION = "An LLM pair programmer that lives in your editor as a language server."


def parse(arguments: Sequence[str], version: str) -> argparse.Namespace:
    """Read the command line. `command` of the answer is one of `COMMANDS`.

    Raises:
        SystemExit: 0 after `--help` or `--version`, 2 when something is wrong; it was said then.
    """
    given = list(arguments)
    if not given or (given[0].startswith("-") and given[0] not in {"-h", "--help", "--version"}):
        given.insert(0, "serve")
    parser = argparse.ArgumentParser(prog="jp-lsp", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"jp-lsp {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        one = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if given[0] == name:
            _DESCRIBE[name](one)
    if not given[0].startswith("-") and given[0] not in COMMANDS:
        near = get_close_matches(given[0], COMMANDS, n=1)
        meant = f"did you mean `jp-lsp {near[0]}`?" if near else 'to ask something use `jp-lsp query "..."`'
        parser.error(f"there is no command {given[0]!r}; {meant}")
    return parser.parse_args(given)


def query_options(arguments: argparse.Namespace) -> QueryOptions:
    """Give the options of `query`."""
    return QueryOptions(
        text=" ".join(arguments.text) or None,
        conversation="new" if arguments.new else arguments.conversation,
        config=tuple(arguments.config),
        attachments=tuple(arguments.attach),
        tools=tuple(switch for switches in arguments.tools for switch in switches),
        schema=arguments.schema,
        is_template=arguments.template,
        persist=arguments.persist,
        is_explained=arguments.explain,
        is_json=arguments.json,
        shows_reasoning=arguments.show_reasoning,
        is_verbose=arguments.verbose,
        may_ask=arguments.input,
    )


def read_attachment(text: str) -> str:
    """Take a path that exists for one from here; the server counts from the workspace folder."""
    excluded = "!" if text.startswith("!") else ""
    path = Path(text.removeprefix("!"))
    return f"{excluded}{path.absolute().as_uri()}" if path.exists() else text


def read_tools(text: str) -> list[tuple[bool, str | None]]:
    """Read names of tools to switch on, with commas between them; `*` is all of them.

    Raises:
        argparse.ArgumentTypeError: a name is missing.
    """
    names = text.split(",")
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} lacks the name of a tool; `*` is all tools")
    return [(True, None if name == "*" else name) for name in names]


def read_tools_off(text: str) -> list[tuple[bool, str | None]]:
    """Read names of tools to switch off, as `read_tools` does.

    Raises:
        argparse.ArgumentTypeError: a name is missing.
    """
    return [(False, name) for _, name in read_tools(text)]


def read_schema(text: str) -> str:
    """Read a schema, or the file that it is in; the server makes of it what it says.

    Raises:
        argparse.ArgumentTypeError: the file cannot be read, or holds no schema.
    """
    from jp_lsp.tools.schema_notation import SchemaTextError, read_schema_text  # here: few queries need it

    where = ""
    if text.startswith("@"):
        where = f"{text[1:]}, "
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise argparse.ArgumentTypeError(f"{text[1:]} cannot be read: {error}") from None
    try:
        read_schema_text(text)
    except SchemaTextError as problem:
        raise argparse.ArgumentTypeError(f"{where}{problem}") from None
    return text


def read_address(text: str) -> tuple[str, int]:
    """Read `HOST:PORT`; without a host it is this machine's own.

    Raises:
        argparse.ArgumentTypeError: it is no address.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:4711")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def _describe_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="serve one client over standard input and output (default)"
    )
    parser.add_argument(
        "--tcp",
        type=read_address,
        metavar="HOST:PORT",
        help="listen here instead; port 0 takes any that is free",
    )
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="let --tcp be an address that other machines reach; there is no password",
    )
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warning", help="how much is logged (default: warning)"
    )
    parser.add_argument(
        "--log-file", type=Path, metavar="FILE", help="append the log to a file, beside standard error"
    )
    # Some editors' libraries add this by themselves; the process id also comes with `initialize`.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)


def _describe_query(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Standard input, when piped, is added to the text. Ctrl+C opens a menu; once more ends the turn and "
        "keeps what came; a third time leaves at once. Exit codes: 0 answered, stopped or discarded; 1 failed; "
        "2 wrong arguments; 75 a tool waits for an answer; 130 interrupted; 141 the output was closed."
    )
    parser.add_argument("text", nargs="*", metavar="TEXT", help="what to ask")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--new", action="store_true", help="ask in a new conversation")
    where.add_argument(
        "--conversation", metavar="ID", help="ask in this conversation; `last` is the one used last"
    )
    parser.add_argument(
        "--model",
        dest="config",
        action="append",
        default=[],
        type=lambda model: f"assistant.model.id={model}",
        metavar="MODEL",
        help="ask this model, such as anthropic/claude-sonnet-4-5 or an alias",
    )
    parser.add_argument(
        "--cfg",
        dest="config",
        action="append",
        default=[],
        metavar="EXPR",
        help="set a setting for this query, such as assistant.name=Ada, or load a file of settings",
    )
    parser.add_argument(
        "-a",
        "--attach",
        action="append",
        default=[],
        type=read_attachment,
        metavar="WHAT",
        help="show this to the model, now and later in this conversation: a file, a folder, a pattern such as "
        "'src/**/*.py', a URL, `cmd:git diff`, or the id of a conversation; `!PATH` leaves something out",
    )
    parser.add_argument(
        "-t",
        "--tool",
        dest="tools",
        action="append",
        default=[],
        type=read_tools,
        metavar="NAME",
        help="offer this tool to the model, now and later in this conversation; several with commas between "
        "them, '*' for all",
    )
    parser.add_argument(
        "-T",
        "--no-tools",
        dest="tools",
        action="append_const",
        const=[(False, None)],
        help="offer no tools, but for those named after it: `-T -t grep` offers grep alone",
    )
    parser.add_argument(
        "--no-tool",
        dest="tools",
        action="append",
        default=[],
        type=read_tools_off,
        metavar="NAME",
        help="do not offer this tool",
    )
    parser.add_argument(
        "--schema",
        type=read_schema,
        metavar="SCHEMA",
        help='answer with a JSON value of these fields, such as \'title, ?tags [str], size "s"|"m": shirt size\', '
        "or that fits this JSON schema, which begins with {; @FILE reads either from a file",
    )
    parser.add_argument(
        "--template",
        action="store_true",
        help="fill in {{ NAME }} in the question, as in Jinja2, with the settings template.values.NAME",
    )
    parser.add_argument(
        "--no-persist", dest="persist", action="store_false", help="keep neither the query nor its answer"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what would be sent, and where the settings come from; no model is asked",
    )
    parser.add_argument("--json", action="store_true", help="print the raw chunks, one JSON object a line")
    parser.add_argument(
        "--show-reasoning",
        action=argparse.BooleanOptionalAction,
        help="show what the model thinks (default: on a terminal only)",
    )
    parser.add_argument(
        "--no-input", dest="input", action="store_false", help="never ask anything; the settings decide"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show the server's log on standard error"
    )


def _describe_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="default: this one"
    )
    parser.add_argument("--model", metavar="MODEL", help="the model to use in it, such as openai/gpt-5")


def _describe_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="default: this one"
    )


def _describe_local(parser: argparse.ArgumentParser) -> None:
    from jp_lsp.terminal.local_command import add_arguments  # here: it imports what runs the model

    add_arguments(parser)


def _describe_replay(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Turns are recorded while the server setting `jp.limits.record_events` is true."
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording")


def _describe_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="change nothing; end with 1 if something is stale"
    )
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="FOLDER", help="the repository (default: this folder)"
    )


_DESCRIBE: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "serve": _describe_serve,
    "query": _describe_query,
    "conversations": add_conversation_arguments,
    "models": add_model_arguments,
    "config": add_config_arguments,
    "init": _describe_init,
    "doctor": _describe_doctor,
    "local": _describe_local,
    "replay": _describe_replay,
    "export": _describe_export,
}
