"""Watches which processes a server starts, from within it."""

from pathlib import Path

from tests.support.user_folders import UserFolders

_WATCH = """
import os, sys
def note(event, arguments, path=os.environ["STARTED_PROCESSES"]):
    if event in {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty", "os.system"}:
        with open(path, "a") as file:
            file.write(event + " " + repr(arguments)[:300] + "\\n")
sys.addaudithook(note)
"""


def watch_processes(user: UserFolders, folder: Path) -> tuple[dict[str, str], Path]:
    """Give the environment of a server that notes each start of a process, and the file where it notes them."""
    hook = folder / "watch"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(_WATCH, encoding="utf-8")
    started = folder / "started"
    own = user.environment()["PYTHONPATH"]
    return {"PYTHONPATH": f"{hook}:{own}", "STARTED_PROCESSES": str(started)}, started
