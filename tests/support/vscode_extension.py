"""The VS Code extension as it lies in the repository: its folder, its package, and what axe says of its page."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

from tests.support.npm_package import npm_build
from tests.support.wire_process import ROOT

EXTENSION = ROOT / "editors" / "vscode"


def packaged_extension() -> Path:
    """Package the extension, and give the package."""
    npm_build(EXTENSION, "package")
    return EXTENSION / "dist" / "jp-lsp.vsix"


def accessibility_faults(page: Page | Frame) -> list[str]:
    """What axe finds wrong with the page of the chat view, and finds serious.

    The page's content policy lets nobody fetch its style sheets, so axe is not to try it.
    """
    page.evaluate((EXTENSION / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found: dict[str, Any] = page.evaluate("() => axe.run({preload: false})")
    return [
        f"{fault['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]
