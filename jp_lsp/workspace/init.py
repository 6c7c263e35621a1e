"""Makes a folder a workspace: `.jp` with an id and a small configuration to begin with.

Nothing that exists is overwritten; a second run changes nothing.
"""

import json
from pathlib import Path

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from jp_lsp.workspace.atomic import make_folder, write_file
from jp_lsp.workspace.locate import STORAGE_FOLDER, ensure_workspace_id
from jp_lsp.workspace.paths import WorkspaceError

CONFIG_NAME = "config.toml"
_CONFIG_NAMES = tuple(f"config.{ending}" for ending in ("toml", "json", "json5", "yaml", "yml"))


def initialise(folder: Path, now: Timestamp, *, model: str | None = None) -> Path:
    """Make `folder` a workspace and give its `.jp`; `model` is a model id such as `provider/name`.

    Raises:
        WorkspaceError: the folder is missing or cannot be written, or a file is in the place of `.jp`.
    """
    storage = folder / STORAGE_FOLDER
    if not folder.is_dir():
        raise WorkspaceError(f"{folder} is not a folder; create it first.")
    if storage.exists() and not storage.is_dir():
        raise WorkspaceError(
            f"{storage} is a file; a workspace needs a folder of that name. Move the file away."
        )
    try:
        make_folder(storage)
        ensure_workspace_id(storage, now)
        if not any((storage / name).exists() for name in _CONFIG_NAMES):
            write_file(storage / CONFIG_NAME, _config(model).encode())
    except OSError as error:
        raise WorkspaceError(f"{storage} cannot be written: {error.strerror or error}.") from error
    return storage


def initialise_unasked(folder: Path, home: Path, now: Timestamp) -> None:
    """Make the folder that somebody asks in a workspace, unless it is one that holds much else.

    Raises:
        Refusal: it is the user's home or the top of a disk, or it cannot be a workspace.
    """
    if folder in {home, Path(folder.anchor)}:
        text = (
            f"There is no JP workspace at {folder}, and this is no place to make one unasked. "
            "Open a project, or run `jp-lsp init` here."
        )
        raise Refusal("no_workspace", text, origin=str(folder))
    try:
        initialise(folder, now)
    except WorkspaceError as error:
        raise Refusal("no_workspace", str(error), origin=str(folder)) from error


def _config(model: str | None) -> str:
    """Give the first configuration: every tool asks before it runs, which the format requires to be said."""
    chosen = "" if model is None else f"[assistant.model]\nid = {json.dumps(model, ensure_ascii=False)}\n\n"
    return f"{chosen}[conversation.tools.'*']\nrun = \"ask\"\n"
