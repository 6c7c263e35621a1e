"""Folders of a workspace that a link puts outside of it.

People keep conversations in another place and a link in the workspace. But a clone may bring such a link as well,
and it may lead to the conversations of another project, which would then be renamed, archived and removed with
those of this one. So a link that leads out of the workspace is one more thing that its files want and that the
user must trust; to where it leads is part of what is trusted.
"""

from pathlib import Path

from jp_lsp.ports.trust import TrustItem

_FOLDERS = (".jp", ".jp/conversations", ".jp/conversations/.archive", ".jp/conversations/.trash")


def outside_folders(root: Path) -> tuple[TrustItem, ...]:
    """Give the folders of conversations that lie outside of a workspace, without those within another one of them."""
    inside = root.resolve()
    found: list[TrustItem] = []
    for name in _FOLDERS:
        folder = root / name
        try:
            if not folder.is_symlink() or not folder.exists():
                continue
            place = folder.resolve()
        except (OSError, RuntimeError):  # a circle of links; nothing can be done in there
            continue
        known = [inside, *(Path(each.text) for each in found)]
        if not any(place.is_relative_to(each) for each in known):
            found.append(TrustItem("link", name, str(place)))
    return tuple(found)
