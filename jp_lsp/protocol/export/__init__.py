"""Writes what the protocol's table and types say into the files that clients use.

| file | for |
| --- | --- |
| `editors/PROTOCOL.md` | people |
| `editors/protocol.schema.json` | programs in any language |
| `editors/vscode/src/protocol.gen.ts` | the VS Code extension |
| `editors/nvim/lua/jp/protocol.lua` | the Neovim plugin |

The files are committed. Each says that it is generated, and the same source always gives the same bytes.
"""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from jp_lsp.protocol.export.lua import write_lua
from jp_lsp.protocol.export.page import write_page
from jp_lsp.protocol.export.schema import build_schema
from jp_lsp.protocol.export.typescript import write_typescript

_log = logging.getLogger(__name__)


def generate() -> Mapping[str, str]:
    """Give the text of each generated file by its path below the root of the repository."""
    schema = build_schema()
    return {
        "editors/PROTOCOL.md": write_page(schema),
        "editors/protocol.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        "editors/vscode/src/protocol.gen.ts": write_typescript(schema),
        "editors/nvim/lua/jp/protocol.lua": write_lua(schema),
    }


def export(root: Path, *, check: bool = False) -> list[Path]:
    """Bring the generated files below `root` up to date; with `check` only look, and change nothing.

    Returns:
        The files that were not current.

    Raises:
        OSError: a file cannot be read or written.
    """
    stale: list[Path] = []
    for name, text in generate().items():
        path = root / name
        content = text.encode("utf-8")
        if path.is_file() and path.read_bytes() == content:
            continue
        stale.append(path)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return stale


def run(root: Path, check: bool) -> int:
    """Export, and give the exit code of the command: 1 when `check` found a file that is not current."""
    stale = export(root, check=check)
    for path in stale:
        if check:
            _log.error("%s is not current; run `python -m jp_lsp export`", path)
        else:
            _log.info("wrote %s", path)
    return 1 if check and stale else 0
