"""`jp-lsp`: reads the command line and hands over. Each command imports what it needs, when it is chosen."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from jp_lsp import __version__
from jp_lsp.terminal.arguments import parse, query_options

_FAILED = 1
_INTERRUPTED = 130
_OUTPUT_CLOSED = 141


def main() -> int:
    """Do what the command line says, and give the exit code."""
    try:
        arguments = parse(sys.argv[1:], __version__)
        return _COMMANDS[arguments.command](arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _serve(arguments: argparse.Namespace) -> int:
    from jp_lsp.server.startup import quick_start

    with quick_start():
        from jp_lsp.app import serve
        from jp_lsp.serve_options import ServeOptions
        from jp_lsp.server.stdio import StandardStreamsMissing
    options = ServeOptions(
        tcp=arguments.tcp,
        allow_remote=arguments.allow_remote,
        log_level=arguments.log_level,
        log_file=arguments.log_file,
    )
    if options.tcp is None and sys.stdin is not None and sys.stdin.isatty():
        _say(
            'jp-lsp is a language server: it waits for an editor here. To ask something: jp-lsp query "..."; '
            "for more: jp-lsp --help. Ctrl+C ends it."
        )
    try:
        serve(options)
    except (StandardStreamsMissing, ValueError) as error:
        _say(f"error: {error}")
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _say(f"error: the server cannot be started: {error.strerror}{where}")
    return _FAILED


def _query(arguments: argparse.Namespace) -> int:
    from jp_lsp.terminal.query_command import Surroundings, run, server_command

    options = query_options(arguments)
    command = server_command(is_verbose=options.is_verbose)
    return run(options, Surroundings(__version__, Path.cwd(), os.environ, command))


def _look_up(arguments: argparse.Namespace) -> int:
    from jp_lsp.terminal.lookup import Surroundings, run
    from jp_lsp.terminal.lookup_arguments import lookup_of
    from jp_lsp.terminal.query_command import server_command

    around = Surroundings(__version__, Path.cwd(), os.environ, server_command(is_verbose=False))
    lines, exit_code = run(lookup_of(arguments), around, as_json=arguments.json)
    return _print_lines(lines, exit_code, sys.stderr if exit_code else sys.stdout)


def _init(arguments: argparse.Namespace) -> int:
    from jp_lsp.doctor import init_workspace

    folder = arguments.folder.absolute()
    lines, exit_code = init_workspace(folder, arguments.model, os.environ, home=Path.home())
    return _print_lines(lines, exit_code, sys.stderr if exit_code else sys.stdout)


def _doctor(arguments: argparse.Namespace) -> int:
    from jp_lsp.doctor import diagnose, report_lines

    diagnosis = diagnose(arguments.folder.absolute(), os.environ, home=Path.home())
    return _print_lines(report_lines(diagnosis), 0 if diagnosis.is_ready else _FAILED, sys.stdout)


def _local(arguments: argparse.Namespace) -> int:
    from jp_lsp.terminal.local_command import run
    from jp_lsp.workspace.locate import user_data_folder

    return run(arguments, user_data_folder(os.environ, platform=sys.platform, home=Path.home()))


def _replay(arguments: argparse.Namespace) -> int:
    from jp_lsp.replay import replay_file

    lines, exit_code = replay_file(arguments.file)
    return _print_lines(lines, exit_code, sys.stdout)


def _export(arguments: argparse.Namespace) -> int:
    import logging

    from jp_lsp.protocol.export import run

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return run(arguments.root, arguments.check)


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "serve": _serve,
    "query": _query,
    "conversations": _look_up,
    "models": _look_up,
    "config": _look_up,
    "init": _init,
    "doctor": _doctor,
    "local": _local,
    "replay": _replay,
    "export": _export,
}


def _print_lines(lines: list[str], exit_code: int, to: TextIO) -> int:
    try:
        for line in lines:
            print(line, file=to)
        to.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        # What Python still holds would be written once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), to.fileno())
        return _OUTPUT_CLOSED
    return exit_code


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
