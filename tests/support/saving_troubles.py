"""Troubles with a disk, for a server that runs as a process of its own: saves that fail, that hang, that kill.

The server's Python reads a start-up file that watches each rename by which a save becomes durable. What it does
there stands in a folder that the test writes, so one server can have many troubles, one after the other.
"""

import asyncio
import os
from pathlib import Path

from tests.support.jp_client import PATIENCE
from tests.support.user_folders import UserFolders

_WATCH = '''
import errno, os, signal, sys, time

FOLDER, CONVERSATIONS = os.environ["SAVING_TROUBLES"], os.environ["JP_USER_DATA_DIR"]

def here(name):
    return os.path.join(FOLDER, name)

def count_down(name):
    """Count a save; tell whether it is the one that was meant, or comes behind it and the trouble lasts."""
    try:
        with open(here(name)) as file:
            number, lasts = file.read().split()
    except (FileNotFoundError, ValueError):
        return False
    left = int(number) - 1
    with open(here(name), "w") as file:
        file.write(f"{left} {lasts}")
    return left == 0 or (left < 0 and lasts == "lasts")

def watch(event, arguments):
    if event != "os.rename":
        return
    target = os.fsdecode(arguments[1])
    is_save = os.path.basename(target) == "events.json" and target.startswith(CONVERSATIONS)
    if not is_save or f"{os.sep}conversations{os.sep}" not in target:
        return
    while os.path.exists(here("hold")):
        open(here("held"), "w").close()
        time.sleep(0.01)
    if count_down("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if count_down("fail"):
        raise OSError(errno.ENOSPC, "No space left on device", target)

sys.addaudithook(watch)
'''


class SavingTroubles:
    """What happens to the saves of one server.

    Args:
        folder: an empty folder, for the start-up file and what it is told.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "sitecustomize.py").write_text(_WATCH, encoding="utf-8")

    def environment(self, user: UserFolders) -> dict[str, str]:
        """What a server needs in its environment to have them."""
        own = user.environment()["PYTHONPATH"]
        return {"PYTHONPATH": f"{self._folder}{os.pathsep}{own}", "SAVING_TROUBLES": str(self._folder)}

    def fail(self, number: int, *, lasts: bool = False) -> None:
        """Let the save with this number, from 1 and from now on, find the disk full; if it lasts, all later ones."""
        (self._folder / "fail").write_text(f"{number} {'lasts' if lasts else 'once'}", encoding="utf-8")

    def kill(self, number: int) -> None:
        """Let the server die in the middle of the save with this number."""
        (self._folder / "kill").write_text(f"{number} once", encoding="utf-8")

    def hold(self) -> None:
        """Let saves hang."""
        self.hold_file.touch()

    @property
    def hold_file(self) -> Path:
        """While it is there, saves hang; a tool can make it as well."""
        return self._folder / "hold"

    async def until_held(self) -> None:
        """Wait until a save hangs."""
        async with asyncio.timeout(PATIENCE):
            while not (self._folder / "held").exists():
                await asyncio.sleep(0.01)

    def end(self) -> None:
        """From now on the disk is well."""
        for name in ("fail", "kill", "hold", "held"):
            (self._folder / name).unlink(missing_ok=True)
