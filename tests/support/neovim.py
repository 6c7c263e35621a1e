"""A real Neovim without a screen, its stock language client, and fingers for its keyboard.

Nothing of Neovim is replaced: its own handlers show the questions (a numbered list, printed to standard error
where there is no screen), open the documents and take the progress; the test types what a person would type.
"""

import asyncio
import itertools
import json
import re
import shutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.jp_client import Json, check_chunks, transcript_of
from tests.support.jp_server import serve_command
from tests.support.user_folders import UserFolders

PATIENCE = 30.0

_REMOTE = Path(__file__).with_name("neovim_remote.lua")
_MENU = re.compile(r"([^\n]*)\n((?:\d+: [^\n]*\n)+)Type number and <Enter>")
_ITEM = re.compile(r"(\d+): ([^\n]*)\n")
_ALARMS = ("Traceback", "Error in", "never retrieved", "never awaited", "CRITICAL", "Error executing")

_START = """
local command, workspace = ...
vim.lsp.log.set_level('info') -- or there is no log where all is well
jp = { chunks = {}, results = {} }
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
  local params = event.data.params
  jp.chunks[params.token] = jp.chunks[params.token] or {}
  table.insert(jp.chunks[params.token], params.value)
end })
jp.client = vim.lsp.get_client_by_id(
  vim.lsp.start({ name = 'jp', cmd = command, root_dir = workspace }, { attach = false })
)
"""

_REQUEST = """
local method, params, token = ...
jp.client:request(method, params, function(problem, result)
  jp.results[token] = { problem = problem, result = result }
end)
"""


@dataclass(frozen=True, slots=True)
class Menu:
    """A numbered list that waits for a number; `end` is where it stands in all that was printed."""

    message: str
    titles: tuple[str, ...]
    end: int


class Neovim:
    """Use `neovim`. `printed` is everything that Neovim had to say so far."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        home: Path,
    ) -> None:
        self.process = process
        self.printed = ""
        self._home = home
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._looked_at = 0
        self._listening = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._listen())]

    # The keyboard and the eyes.

    async def type(self, keys: str) -> None:
        """Type keys, written as in a mapping (`<CR>`)."""
        await self._send(keys=keys)

    async def menu(self) -> Menu:
        """Wait for a list that was not looked at yet."""
        await self.until(lambda: self._next_menu() is not None, "no further question was shown")
        menu = self._next_menu()
        assert menu is not None
        self._looked_at = menu.end
        return menu

    async def choose(self, menu: Menu, title: str) -> None:
        """Type the number of an item."""
        assert title in menu.titles, f"there is no {title!r} among {menu.titles}"
        await self.type(f"{menu.titles.index(title) + 1}<CR>")

    async def press(self, title: str) -> Menu:
        """Wait for a list and choose from it."""
        menu = await self.menu()
        await self.choose(menu, title)
        return menu

    def _next_menu(self) -> Menu | None:
        found = _MENU.search(self.printed.replace("\r", ""), self._looked_at)
        if found is None:
            return None
        titles = tuple(title for _, title in _ITEM.findall(found[2]))
        return Menu(found[1].removesuffix(": "), titles, found.end())

    # The stock client.

    async def lua(self, code: str, *args: object) -> Any:
        """Run Lua in the editor and give what it returns."""
        answer = await self._send(code=code, args=list(args))
        assert answer["ok"], f"{answer.get('value')}\n{self.printed}"
        return answer.get("value")

    async def request(self, method: str, params: Json, token: str) -> None:
        """Send a request of ours through the client; `token` finds its result."""
        await self.lua(_REQUEST, method, params, token)

    async def ask(self, text: str, token: str) -> None:
        """Ask in a new conversation."""
        params = {"text": text, "conversation": "new", "partialResultToken": token}
        await self.request("jp/query", params, token)

    async def result(self, token: str) -> Any:
        """Wait for the result of a request."""
        answer = await self.until_lua("return jp.results[...]", token)
        assert "problem" not in answer, answer
        return answer["result"]

    async def chunks(self, token: str) -> list[Json]:
        """What came of an answer so far."""
        chunks: list[Json] = await self.lua("return jp.chunks[...] or {}", token) or []
        check_chunks(chunks)
        return chunks

    async def wait_for_text(self, token: str, text: str) -> None:
        """Wait until an answer holds a text."""
        async with asyncio.timeout(PATIENCE):
            while text not in transcript_of(await self.chunks(token)):
                await asyncio.sleep(0.05)

    # Waiting.

    async def until(self, is_so: Callable[[], bool], problem: str) -> None:
        """Wait for something that the test can see."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not is_so():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{problem}; Neovim printed:\n{self.printed}") from None

    async def until_lua(self, code: str, *args: object) -> Any:
        """Wait until Lua returns something that is true."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not (value := await self.lua(code, *args)):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"never true: {code}; Neovim printed:\n{self.printed}") from None
        return value

    # Beginning and end.

    async def begin(self, user: UserFolders) -> None:
        """Start the language client as a user's own configuration would; too old a Neovim skips the test."""
        if await self.lua("return vim.fn.has('nvim-0.11')") == 0:
            await self.quit()
            pytest.skip("nvim is older than 0.11")
        await self.lua(_START, serve_command(), str(user.workspace))
        await self.until_lua("return jp.client.initialized")

    async def quit(self) -> int:
        """Leave as a person does, and give the exit code."""
        await self.type("<Esc><Esc>:qa!<CR>")
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def close(self) -> None:
        """Leave nothing behind, whatever the test did."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        self._writer.close()
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)

    def check(self) -> None:
        """Neither Neovim nor the server, whose log Neovim keeps, had anything to complain of."""
        logs = [path.read_text(encoding="utf-8") for path in self._home.rglob("lsp.log")]
        assert logs, "Neovim keeps a log of each server's standard error"
        for text in (self.printed, *logs):
            assert not any(alarm in text for alarm in _ALARMS), text

    async def _send(self, **fields: object) -> Json:
        number = next(self._numbers)
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._writer.write(json.dumps({"id": number, **fields}).encode() + b"\n")
        try:
            async with asyncio.timeout(PATIENCE):
                return await future
        except TimeoutError:
            raise AssertionError(f"Neovim does not react; it printed:\n{self.printed}") from None

    async def _read(self) -> None:
        async for line in self._reader:
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).set_result(answer)

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self.printed += data.decode(errors="replace")


def neovim_program() -> str:
    """Find Neovim, or skip the test."""
    beside = Path(sys.executable).with_name("nvim")
    program = str(beside) if beside.exists() else shutil.which("nvim")
    if program is None:
        pytest.skip("there is no nvim, neither beside this Python nor on the path")
    return program


@asynccontextmanager
async def neovim(user: UserFolders, socket: Path) -> AsyncGenerator[Neovim]:
    """A Neovim for the length of a block, with a client that has greeted the server."""
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()
    limit = 16 * 1024 * 1024
    listener = await asyncio.start_unix_server(
        lambda reader, writer: connected.set_result((reader, writer)), socket, limit=limit
    )
    process = await asyncio.create_subprocess_exec(
        *(neovim_program(), "--headless", "--clean", "-n", "-S", str(_REMOTE)),
        cwd=user.workspace,
        env=user.environment(NEOVIM_REMOTE=str(socket)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await connected
    except TimeoutError:
        process.kill()
        _, printed = await process.communicate()
        raise AssertionError(f"Neovim did not start:\n{printed.decode(errors='replace')}") from None
    finally:
        listener.close()
    editor = Neovim(process, reader, writer, user.home)
    try:
        await editor.begin(user)
        yield editor
        if process.returncode is None:
            assert await editor.quit() == 0
    finally:
        await editor.close()
    editor.check()
