"""Which settings may be a stranger's: those that came with a workspace (config-and-tools 10.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from jp_lsp.config.layer import WORKSPACE_KINDS, Origin


@dataclass(frozen=True, slots=True)
class Foreign:
    """Tells settings of a workspace from the user's own.

    Attributes:
        root: the workspace. A file in it is a stranger's whoever names it.
        document: the file that a query is written in, if it is in one. It lies in any folder that an editor has
            open, such as another clone: what it asks for is the user's only where it is kept among the user's own.
        own: the folders of the user's own configuration.
    """

    root: FilePath | None
    document: FilePath | None = None
    own: Sequence[FilePath] = ()

    def __contains__(self, origin: Origin) -> bool:
        if origin.kind in WORKSPACE_KINDS or _lies_in(origin.path, self.root):
            return True
        if origin.kind != "request" or self.document is None or self._is_own(self.document):
            return False
        return not self._is_own(origin.path)

    def _is_own(self, path: FilePath | None) -> bool:
        return not _lies_in(path, self.root) and any(_lies_in(path, folder) for folder in self.own)


def _lies_in(path: FilePath | None, folder: FilePath | None) -> bool:
    return path is not None and folder is not None and path.resolve().is_relative_to(folder.resolve())
