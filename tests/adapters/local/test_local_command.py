"""`jp-lsp local`: what it prints and returns."""

import argparse
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jp_lsp.providers.local.job import Progress
from jp_lsp.terminal.local_command import ProgressBar, add_arguments, install_model, run
from tests.adapters.local.wheels import fake_pip, write_release


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def test_the_arguments() -> None:
    assert vars(parse("install")) == {"verb": "install", "source": None}
    assert vars(parse("install", "--from", "wheels")) == {"verb": "install", "source": Path("wheels")}
    assert vars(parse("remove")) == {"verb": "remove"}
    assert vars(parse("status")) == {"verb": "status"}


@pytest.mark.parametrize("words", [(), ("bogus",), ("remove", "--from", "x")])
def test_wrong_arguments_are_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(*words)
    assert raised.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_status_and_remove_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(parse("status"), tmp_path) == 1
    assert capsys.readouterr().out == "not installed; `jp-lsp local install` installs it (about 127 MB)\n"

    assert run(parse("remove"), tmp_path) == 0
    assert capsys.readouterr().err == "The local model is not installed. Nothing to do.\n"


def test_an_installation_that_does_not_run_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tiny release is not the one of this version, so trying it out finds none."""
    release = write_release(tmp_path / "wheels")
    pip = fake_pip(tmp_path / "pip.json", tmp_path / "wheels")

    assert install_model(tmp_path / "data", release, pip=pip) == 1

    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Downloading ")
    assert lines[-2] == f"Installed in {tmp_path / 'data/local/1.0-2.0'}. Trying it out ..."
    assert lines[-1].startswith(
        "It is installed but does not run on this computer: The local model is not installed."
    )

    assert install_model(tmp_path / "data", release, pip=pip) == 0
    assert capsys.readouterr().err == (
        f"The local model is installed already, in {tmp_path / 'data/local/1.0-2.0'}. Nothing to do.\n"
    )


def test_a_failure_is_one_message_and_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = tmp_path / "nowhere"

    assert run(parse("install", "--from", str(nowhere)), tmp_path) == 1

    assert capsys.readouterr().err == (
        f"No wheel of xllamacpp==2026.10.11549 in {nowhere}. Get it on a computer of the same kind with "
        "`python -m pip download --no-deps xllamacpp==2026.10.11549`.\n"
    )


def test_a_key_press_stops_it_and_leaves_nothing(tmp_path: Path) -> None:
    hanging = fake_pip(tmp_path / "pip.json", tmp_path, partial=1000)
    code = (
        "import argparse, pathlib, sys; from jp_lsp.terminal.local_command import run\n"
        "arguments = argparse.Namespace(verb='install', source=None)\n"
        f"sys.exit(run(arguments, pathlib.Path({str(tmp_path)!r}), pip={hanging!r}))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    ) as command:
        assert command.stderr is not None
        assert command.stderr.readline() == b"Downloading   0 % of 127 MB\n"  # so pip is being started
        command.send_signal(signal.SIGINT)
        said = command.stderr.read()

    assert (command.returncode, said) == (130, b"\nCancelled.\n")
    assert [path.name for path in (tmp_path / "local").iterdir()] == ["install.lock"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


STEPS = [
    Progress("downloading", 0, 100_000_000),
    Progress("downloading", 1_000, 100_000_000),
    Progress("downloading", 50_000_000, 100_000_000),
    Progress("downloading", 100_000_000, 100_000_000),
    Progress("checking", 0, 0),
]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (
            io.StringIO(),
            "Downloading   0 % of 100 MB\nDownloading  50 % of 100 MB\nDownloading 100 % of 100 MB\n"
            "Checking 100 % of 0 MB\n",
        ),
        (
            Terminal(),
            "\r\x1b[KDownloading [..............................] 0 of 100 MB"
            "\r\x1b[KDownloading [###############...............] 50 of 100 MB"
            "\r\x1b[KDownloading [##############################] 100 of 100 MB"
            "\r\x1b[KChecking    [##############################] 0 of 0 MB\n",
        ),
    ],
    ids=["pipe", "terminal"],
)
def test_progress_is_drawn_only_when_it_looks_different(output: io.StringIO, text: str) -> None:
    bar = ProgressBar(output)
    for step in STEPS:
        bar.show(step)
    bar.close()

    assert output.getvalue() == text


def test_a_bar_that_showed_nothing_leaves_nothing() -> None:
    output = Terminal()
    ProgressBar(output).close()
    assert output.getvalue() == ""
