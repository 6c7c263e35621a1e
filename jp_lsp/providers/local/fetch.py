"""Gets the wheels of a release into a folder: with pip, or from a folder that the user filled.

pip runs as a child, as the user has set it up: mirror, proxy, certificates and credentials are those of
every other installation on this computer. It refuses any file but the pinned ones.
"""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from jp_lsp.providers.local.installed import folder_size, hash_file
from jp_lsp.providers.local.job import InstallError, Job
from jp_lsp.providers.local.release import Release, Wheel

_POLL_SECONDS = 0.1
_MAX_OUTPUT_SIZE = 16_384

_NO_NETWORK_SIGNS = (
    "NewConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "Read timed out",
    "ProxyError",
    "SSLError",
    "CERTIFICATE_VERIFY_FAILED",
    "ConnectionResetError",
    "ProtocolError",
    "HTTP error",
)


def find_pip(folder: Path) -> list[str]:
    """Give the command that runs pip for this interpreter.

    Some installers of tools leave pip out. Python's own `venv` can bring one into `folder` then.

    Raises:
        InstallError: there is no pip and none could be made.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    environment = folder / "pip-environment"
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(environment)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if made.returncode != 0:
        raise InstallError(
            f"The download needs pip, and {sys.executable} has none. Install jp-lsp together with it "
            "(`uv tool install --with pip jp-lsp`, `pipx inject jp-lsp pip`, or your system's python3-venv "
            "package) and try again."
        )
    return [
        str(environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")),
        "-m",
        "pip",
    ]


def download_wheels(
    release: Release, folder: Path, job: Job, *, pip: Sequence[str] | None = None
) -> list[Path]:
    """Have pip put the wheels of a release into a new `folder`, and give their paths in order.

    pip's temporary files go below `folder` too, which tells how far the download is.

    Raises:
        InstallError: pip could not do it; says why and what to do.
    """
    scratch = folder / "scratch"
    wheels = folder / "wheels"
    scratch.mkdir(parents=True)
    wheels.mkdir()
    total = release.download_size
    done = 0

    def tell() -> None:
        # pip has each wheel twice for a moment before it lets one go: more than there is, then less.
        nonlocal done
        done = max(done, min(folder_size(scratch) + folder_size(wheels), total - 1))
        job.tell("downloading", done, total)

    requirements = folder / "requirements.txt"
    lines = [f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n" for wheel in release.wheels]
    requirements.write_text("".join(lines), encoding="utf-8")
    options = "--no-deps --only-binary=:all: --require-hashes --no-cache-dir --no-input --progress-bar=off"
    command = [
        *(find_pip(folder) if pip is None else pip),
        *("download", *options.split(), "--disable-pip-version-check"),
        *("--dest", str(wheels), "--requirement", str(requirements)),
    ]
    environment = dict(os.environ, TMPDIR=str(scratch), TEMP=str(scratch), TMP=str(scratch))
    environment["PIP_REQUIRE_VIRTUALENV"] = "0"
    with (folder / "output.txt").open("w+b") as output:
        code = _run_pip(command, scratch, environment, output, tell)
        if code != 0:
            raise InstallError(_explain_failure(_read_tail(output), code, release))
    found = [find_wheel(wheel, wheels) for wheel in release.wheels]
    job.tell("downloading", total, total)
    return found


def find_wheel(wheel: Wheel, folder: Path) -> Path:
    """Find a pinned wheel among the files of a folder, by name and hash.

    Raises:
        InstallError: it is not there, or another file has its name.
    """
    candidates = sorted(folder.glob(f"{wheel.file_prefix}*.whl"))
    for path in candidates:
        size = path.stat().st_size
        if size == wheel.size and hash_file(path) == wheel.sha256:
            return path
    if candidates:
        names = ", ".join(path.name for path in candidates)
        raise InstallError(
            f"{names} in {folder} is not the file that this version of jp-lsp was tested with "
            f"(expected {wheel.size:,} bytes and SHA-256 {wheel.sha256}). Nothing was installed."
        )
    raise InstallError(
        f"No wheel of {wheel.requirement} in {folder}. Get it on a computer of the same kind with "
        f"`python -m pip download --no-deps {wheel.requirement}`."
    )


def _run_pip(
    command: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    output: IO[bytes],
    tell: Callable[[], None],
) -> int:
    # pip runs in an empty folder of its own: `-m pip` would import a `pip.py` that lies in the user's.
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise InstallError(f"pip could not be started ({command[0]}): {error.strerror}") from error
    try:
        while True:
            tell()
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_POLL_SECONDS)
    finally:
        if process.poll() is None:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read_tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _MAX_OUTPUT_SIZE))
    return output.read(_MAX_OUTPUT_SIZE).decode(errors="replace")


def _explain_failure(output: str, code: int, release: Release) -> str:
    """Say in our words what pip's words mean, and quote its last error."""
    errors = [line.strip() for line in output.splitlines() if line.startswith("ERROR:")]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = (errors or lines or [f"exit code {code}"])[-1]
    wanted = " ".join(wheel.requirement for wheel in release.wheels)
    otherwise = (
        "Check network, proxy and index as for any pip installation; or run `python -m pip download --no-deps "
        f"{wanted}` on a computer of the same kind, copy the files here and run `jp-lsp local install "
        "--from FOLDER`"
    )
    if "DO NOT MATCH THE HASHES" in output:
        advice = (
            "your package index has another file under this name than the one that this version of jp-lsp "
            "was tested with. Ask whoever runs the index, or use another one (pip's own settings decide)"
        )
    elif "No space left on device" in output:
        advice = "the disk is full"
    elif any(sign in output for sign in _NO_NETWORK_SIGNS):
        advice = f"the package index cannot be reached. {otherwise}"
    elif "No matching distribution" in output:
        advice = (
            "the package index cannot be reached, or it has no such file for this Python and operating "
            f"system. {otherwise}"
        )
    else:
        advice = "pip could not do it"
    return f"The download of the local model failed: {advice}. pip said: {said}"
