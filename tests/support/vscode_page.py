"""The chat view's page in a headless Chromium, without an editor around it.

`build_page` bundles it as the extension is packaged, `serve_page` serves it with the harness on loopback, and
`ChatPage` plays its host: it sends messages and reads what the page has posted.
"""

import json
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.file_turn import one_at_a_time
from tests.support.npm_package import npm_package
from tests.support.vscode_extension import EXTENSION, accessibility_faults

THEMES = ("dark", "light", "high-contrast", "high-contrast-light")
PATIENCE = 30_000
"""Milliseconds to wait for anything that the page is to show."""

Message = dict[str, Any]


def build_page() -> None:
    """Bundle the page, or skip the test where that cannot be."""
    npm = npm_package(EXTENSION)
    with one_at_a_time(EXTENSION / "out" / "page.lock"):
        if not _is_current(EXTENSION / "dist" / "page.js"):
            subprocess.run([npm, "run", "--silent", "vscode:prepublish"], cwd=EXTENSION, check=True)


def _is_current(bundle: Path) -> bool:
    """Tell whether a bundle is younger than all that it is made of."""
    sources = [
        *(EXTENSION / "src").rglob("*.ts*"),
        EXTENSION / "esbuild.mjs",
        EXTENSION / "package-lock.json",
    ]
    return bundle.exists() and bundle.stat().st_mtime > max(path.stat().st_mtime for path in sources)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve_page() -> Generator[str]:
    """Serve the extension's folder, and give the address of the harness."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(EXTENSION))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/test/page/harness.html"
        finally:
            server.shutdown()
            thread.join()


class ChatPage:
    """One open page.

    Args:
        tab: a browser's page that shows nothing yet.
        address: where the harness is served.
    """

    def __init__(
        self, tab: Any, address: str, theme: str = "dark", width: int = 480, height: int = 800
    ) -> None:
        self.tab = tab
        self.problems: list[str] = []
        tab.set_default_timeout(PATIENCE)
        tab.on("pageerror", lambda error: self.problems.append(str(error)))
        tab.on("console", lambda line: self.problems.append(line.text) if line.type == "error" else None)
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(address)
        self.dress(theme)

    def dress(self, theme: str) -> None:
        """Give the page the colours of a theme."""
        looks = json.loads((EXTENSION / "test" / "page" / "themes.json").read_text("utf-8"))[theme]
        self.tab.evaluate(
            """({body, variables}) => {
              document.body.className = body;
              document.documentElement.removeAttribute("style");
              for (const [name, value] of Object.entries(variables)) {
                document.documentElement.style.setProperty(name, value);
              }
            }""",
            looks,
        )

    def send(self, *messages: Message) -> None:
        """Send messages, and wait until what they come to is drawn."""
        self.tab.evaluate("messages => messages.forEach(each => window.postMessage(each, '*'))", messages)
        self.settle()

    def settle(self) -> None:
        """Wait until the page has drawn what it knows."""
        self.tab.evaluate(
            """() => new Promise(done => {
              const isDrawn = () => document.getElementById("page").dataset.drawn === String(window.sent);
              const look = () => isDrawn() ? requestAnimationFrame(done) : requestAnimationFrame(look);
              setTimeout(() => requestAnimationFrame(look));
            })"""
        )

    def posted(self, *types: str) -> list[Message]:
        """Give what the page has told its host, of these types or of all but its drafts."""
        every: list[Message] = self.tab.evaluate("window.posted")
        return [each for each in every if (each["type"] in types if types else each["type"] != "draft")]

    def forget(self) -> None:
        """Forget what was posted."""
        self.tab.evaluate("window.posted.length = 0")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.tab.keyboard.press(key)
        self.settle()

    def focused(self) -> str:
        """Name what has the focus as a screen reader would."""
        name: str = self.tab.evaluate(
            """() => {
              const at = document.activeElement;
              return at.getAttribute("aria-label") ?? at.textContent.trim();
            }"""
        )
        return name

    def said(self) -> str:
        """Give what the live region says."""
        return str(self.tab.locator(".voice").inner_text())

    def faults(self) -> list[str]:
        """What is seriously wrong with the page, as axe finds it."""
        return accessibility_faults(self.tab)
