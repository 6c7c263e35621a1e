"""A window of VS Code, driven as a person would drive it: by what is on the screen, and by keys.

The chat view is a page of its own inside two frames; `chat` finds things in it.
"""

import os
import re
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, Page, ViewportSize, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.support.chromium import CHROMIUM_FLAGS
from tests.support.vscode_extension import accessibility_faults
from tests.support.vscode_host import PATIENCE, VsCodeHost

_ROW_PATIENCE = 1500.0
"""Milliseconds to look for a command, before the palette is opened anew: an open one does not learn of new ones."""

_TRIES = 60
_SIZE: ViewportSize = {"width": 1280, "height": 800}


class VsCodeWindow:
    """A window; `shots` is the folder for pictures of it."""

    def __init__(self, page: Page, shots: Path) -> None:
        self.page = page
        self._shots = shots

    @property
    def chat(self) -> FrameLocator:
        """The page of the chat view."""
        return self.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")

    @property
    def preview(self) -> FrameLocator:
        """The page of a Markdown preview; the chat view must not be visible."""
        return self.chat

    @property
    def question(self) -> Locator:
        """The input of the chat view."""
        return self.chat.get_by_role("textbox", name="Your question")

    @property
    def prompt(self) -> Locator:
        """The question that waits for an answer."""
        return self.chat.locator(".prompt")

    @property
    def status(self) -> Locator:
        """The status item."""
        return self.page.locator('.statusbar-item[id$="jp.status"]')

    @property
    def editor(self) -> Locator:
        """The text of the editor that is active, as far as it is visible."""
        return self.page.locator(".editor-group-container.active .monaco-editor .view-lines").last

    @property
    def entry(self) -> Locator:
        """The input of the open list or input box."""
        return self.page.locator(".quick-input-widget input[type=text]")

    def tab(self, title: str | re.Pattern[str]) -> Locator:
        """The tab of the active editor, if it has this title."""
        return self.page.locator(".tab.active", has_text=title)

    def text(self, text: str) -> Locator:
        """A text in the chat view; the title, and what is only said to screen readers, do not count."""
        return self.chat.locator("#page > :not(header)").get_by_text(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def command(self, title: str) -> None:
        """Run a command from the palette."""
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(
            has=self.page.locator(".label-name", has_text=re.compile(f"^{re.escape(title)}$"))
        )
        for _ in range(_TRIES):
            self.press("F1")
            try:
                self.entry.fill(f">{title}", timeout=_ROW_PATIENCE)
                row.first.click(timeout=_ROW_PATIENCE)
            except PlaywrightTimeout:
                self.press("Escape")  # it may also have been closed by something that took the focus
                continue
            return
        raise AssertionError(f"the palette has no command {title!r}")

    def row(self, label: str) -> Locator:
        """A row of the open list."""
        return self.page.locator(".quick-input-list .monaco-list-row", has_text=label).first

    def choose(self, label: str) -> None:
        """Choose from an open list."""
        self.row(label).click()

    def enter(self, text: str) -> None:
        """Fill the open input box."""
        self.entry.wait_for()
        self.entry.fill(text)
        self.press("Enter")

    def open_file(self, name: str) -> None:
        """Open a file by its row in the explorer."""
        self.command("File: Focus on Files Explorer")
        self.page.locator(".explorer-folders-view .monaco-list-row", has_text=name).first.dblclick()
        self.tab(name).wait_for()

    def quick_open(self, path: str) -> None:
        """Open a file of the workspace by its path, also one that the explorer does not show yet."""
        self.press("Control+p")
        self.entry.fill(path)
        name = path.rpartition("/")[2]
        self.page.locator(".quick-input-list .monaco-list-row", has_text=name).first.wait_for()
        self.press("Enter")
        self.tab(name).wait_for()

    def go_to(self, line: int, column: int) -> None:
        """Put the cursor of the active editor somewhere; both count from 1."""
        self.command("Go to Line/Column...")
        self.enter(f":{line}:{column}")

    def paste(self, text: str) -> None:
        """Put a text into the active editor at once, without what an editor adds while somebody types."""
        self.editor.click()
        self.page.keyboard.insert_text(text)

    def until_suggested(self, label: str) -> Locator:
        """Wait until completion offers something, asking again for it while the list is not there."""
        row = self.page.locator(".suggest-widget.visible .monaco-list-row", has_text=label).first
        for _ in range(_TRIES):
            try:
                row.wait_for(timeout=_ROW_PATIENCE)
            except PlaywrightTimeout:
                self.press("Control+Space")
                continue
            return row
        raise AssertionError(f"completion does not offer {label!r}")

    def choose_suggestion(self, label: str) -> None:
        self.until_suggested(label).click()

    def show_chat(self) -> None:
        self.command("JP: Open Chat")
        expect(self.question).to_be_focused()

    def ask(self, text: str) -> None:
        """Ask in the chat view."""
        self.question.fill(text)
        self.question.press("Enter")

    def start_conversation(self) -> None:
        """Begin a new conversation in the chat view."""
        self.command("JP: New Conversation")
        expect(self.chat.locator(".turn")).to_have_count(0)
        expect(self.question).to_be_focused()

    def answer(self, button: str) -> None:
        """Press a button of the question that waits."""
        self.prompt.get_by_role("button", name=button, exact=True).click()

    def toast(self, text: str) -> Locator:
        return self.page.locator(".notification-toast", has_text=text)

    def show_tree(self) -> None:
        """Show the tree of conversations."""
        self.command("JP: Focus on Conversations View")
        self.press("Home")  # the newest rows are at the top, and rows out of sight are not there

    def tree_row(self, text: str) -> Locator:
        """A row of the tree of conversations."""
        return self.page.locator(".part.sidebar .monaco-list-row", has_text=text)

    def tree_menu(self, row: str, entry: str) -> None:
        """Choose from the context menu of a row of the tree of conversations."""
        self.tree_row(row).click(button="right")
        self.page.locator(".monaco-menu").get_by_role("menuitem", name=entry).hover()
        self.press("Enter")  # a click too soon after the one that opened the menu is not taken

    def activation_milliseconds(self, extension: str) -> int:
        """How long the activation of an extension took, as the editor itself has measured it."""
        self.page.set_viewport_size({"width": 1280, "height": 4000})  # only rows in sight are there
        self.command("Developer: Show Running Extensions")
        row = self.page.locator(".runtime-extensions-editor .extension").filter(
            has=self.page.locator(".name", has_text=re.compile(f"^{re.escape(extension)}$"))
        )
        text = row.locator(".activation-time").inner_text()
        self.page.set_viewport_size(_SIZE)
        found = re.search(r"(\d+)ms", text)
        assert found is not None, text
        return int(found.group(1))

    def use_theme(self, name: str) -> None:
        """Change the colour theme."""
        self.command("Preferences: Color Theme")
        self.entry.fill(name)
        self.choose(name)
        expect(self.page.locator(".quick-input-widget")).to_be_hidden()

    def accessibility_faults(self) -> list[str]:
        """What is seriously wrong with the page of the chat view."""
        frame = self.page.locator("iframe.webview.ready").element_handle().content_frame()
        assert frame is not None
        inner = next(
            each for each in frame.child_frames if each.name == "active-frame" or "fake.html" in each.url
        )
        return accessibility_faults(inner)

    def picture(self, name: str) -> None:
        """Keep a picture of the window."""
        self._shots.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self._shots / f"{name}.png")


@contextmanager
def vscode_window(host: VsCodeHost, url: str, shots: Path) -> Generator[VsCodeWindow]:
    """Open a window in a Chromium without a screen; waits until the workbench is there."""
    expect.set_options(timeout=PATIENCE * 500)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=host.chromium, headless=True, args=list(CHROMIUM_FLAGS)
        )
        page = browser.new_page(viewport=_SIZE)
        page.set_default_timeout(PATIENCE * 500)
        page.set_default_navigation_timeout(PATIENCE * 1000)
        page.goto(url)
        page.wait_for_selector(".explorer-folders-view .monaco-list-row", timeout=PATIENCE * 1000)
        try:
            yield VsCodeWindow(page, shots)
        finally:
            browser.close()


def kill_server(environment: Mapping[str, str]) -> None:
    """End the server that runs with an environment of ours, as a crash would."""
    mark = f"JP_USER_DATA_DIR={environment['JP_USER_DATA_DIR']}".encode()
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and _is_server(process, mark):
            os.kill(int(process.name), signal.SIGKILL)


def _is_server(process: Path, mark: bytes) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
        return b"jp_lsp" in words and mark in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False  # it has ended meanwhile
