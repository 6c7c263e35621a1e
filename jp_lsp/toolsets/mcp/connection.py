"""One connection to a server, from the wish for it to its end.

The library demands that a connection is closed by the task that opened it, so each has an owner: the task
that runs `Connection.run`. Others wait for it to be ready and use it. What they ask of the server runs in a
task of the owner's too: who gives up says so and goes at once, while the server is told in its own time.

A start has one time limit, however many tries it takes: a server of the older protocol that ends when it
hears the newer one's first question is started again and spoken to in the older way.
"""

import logging
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TypeVar, assert_never, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from jp_lsp.ports.mcp import HttpServer, McpError, McpServerConfig, StdioServer
from jp_lsp.render.secrets import Secrets
from jp_lsp.toolsets.mcp.checksum import find_program
from jp_lsp.toolsets.mcp.child import Child
from jp_lsp.toolsets.mcp.elicitation import FormResult
from jp_lsp.toolsets.mcp.session import Mode, Opening, Session, SessionError, SessionModule
from jp_lsp.toolsets.mcp.tail import Tail
from jp_lsp.toolsets.mcp.uses import CURRENT, Asker, Fill, Use, fill_for_user
from jp_lsp.toolsets.orphan_guard import OrphanGuard

_log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long closing may take; then the connection is dropped as it is."""

QUOTED_LINES = 10
"""How many of its last lines are quoted when a server ends in the middle."""

_SDK = "jp_lsp.toolsets.mcp.sdk"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
"""The variables of a program that hold no place or language, but what it may not tell."""

_T = TypeVar("_T")


class SessionGoneError(McpError):
    """The server no longer knows our session and did not look at the request: it may be sent again."""


class Connection:
    """A server that is started or reached when `run` begins.

    Args:
        config: the server.
        root: the absolute path of the workspace folder; a program runs there.
        environment: what a program gets, and where a token is looked up.
        guard: ends a program that we cannot end any more.
        mode: how to begin.
    """

    def __init__(
        self,
        config: McpServerConfig,
        root: str,
        environment: Mapping[str, str],
        guard: OrphanGuard,
        mode: Mode = "auto",
    ) -> None:
        self.config = config
        self.root = root
        self.mode: Mode = mode
        self._environment = environment
        self._guard = guard
        self._secrets = Secrets(_secrets_of(config, environment))
        heading = "stderr" if isinstance(config, StdioServer) else "it answered"
        self._tail = Tail(config.name, heading, self._secrets)
        self._settled = anyio.Event()
        self._closing = anyio.Event()
        self._over = anyio.Event()
        self._is_leaving = False
        self._is_lost = False
        self._failure: str | None = None
        self._child: Child | None = None
        self._session: Session | None = None
        self._tasks: TaskGroup | None = None
        self._scope = anyio.CancelScope()
        self._uses: list[Use] = []
        self._waiting = 0

    @property
    def is_usable(self) -> bool:
        """Whether it is there, or about to be, and nobody wants it to end."""
        return not (self._is_leaving or self._is_ending)

    @property
    def _is_ending(self) -> bool:
        return self._is_lost or self._closing.is_set() or self._over.is_set()

    def close(self) -> None:
        """Have it end, with all that is asked of it; `wait_closed` tells when it has."""
        self._closing.set()
        if not self._settled.is_set():
            self._scope.cancel()

    def leave(self) -> None:
        """Have it end when nobody uses it any more; it takes no new users."""
        self._is_leaving = True
        self._close_if_left()

    async def wait_closed(self) -> None:
        """Wait until its owner is done."""
        await self._over.wait()

    async def wait_ready(self) -> None:
        """Wait until it can be used. Giving up leaves the start to whoever waits next.

        Raises:
            McpError: it did not come to that.
        """
        self._waiting += 1
        try:
            await self._settled.wait()
        except BaseException:
            self._waiting -= 1
            self._close_if_left()
            raise
        # The caller goes on to use it without a pause: it is not closed in between.
        self._waiting -= 1
        if self._session is None:
            raise await self._lost()

    async def use(self, work: Callable[[Session], Awaitable[_T]], asker: Asker | None = None) -> _T:
        """Have something done in the session.

        Cancelling returns at once; the server is told meanwhile, and a late answer is ignored.

        Args:
            work: what to do; it may be cancelled.
            asker: puts questions that the server has meanwhile; without it they are declined.

        Raises:
            SessionGoneError: the server did not look at it; another connection may be asked.
            McpError: the server refused, broke the protocol, or ended.
        """
        session, tasks = self._session, self._tasks
        if session is None or tasks is None:
            raise await self._lost()
        use = Use(asker)
        done: list[_T] = []
        failed: list[SessionError] = []
        scope = anyio.CancelScope()
        lines_before = self._tail.count

        async def do() -> None:
            CURRENT.set(use)
            try:
                with scope:
                    done.append(await work(session))
            except SessionError as error:
                failed.append(error)
            finally:
                use.over.set()

        self._uses.append(use)
        try:
            tasks.start_soon(do)
            await use.over.wait()
        finally:
            scope.cancel()
            use.over.set()
            self._uses.remove(use)
            self._close_if_left()
        if done:
            return done[0]
        if not failed or (failed[0].is_closed and self._is_ending):
            raise await self._lost() from (failed[0] if failed else None)
        text = f"{self._title} {self._secrets.hide(str(failed[0]))}"
        if failed[0].is_rejected and self._is_leaving:
            raise SessionGoneError(text) from failed[0]
        said = 0 if self._child else min(self._tail.count - lines_before, QUOTED_LINES)
        raise McpError(text + self._tail.quote(said)) from failed[0]

    async def run(self) -> None:
        """Own the connection from its start to its end; never raises but when cancelled."""
        sdk: SessionModule | None = None
        limit = self.config.startup_timeout
        deadline = anyio.current_time() + limit if limit > 0 else math.inf
        try:
            sdk = cast("SessionModule", await anyio.to_thread.run_sync(import_module, _SDK))
            try:
                await self._hold(sdk, deadline)
            except Exception:
                if self.mode == "legacy" or not self._is_lost or self._settled.is_set():
                    raise
                _log.info("%s ended at once; it is tried in the older protocol", self._title)
                self.mode, self._is_lost = "legacy", False
                self._tail.clear()
                await self._hold(sdk, deadline)
        # The library's parts and the way to the server fail each in their own words. Whatever it is, this
        # task ends with it, and whoever waits is told.
        except Exception as error:
            self._failure = self._explain(sdk, error)
            _log.info("%s", self._failure)
        finally:
            self._over.set()
            self._settled.set()

    async def _hold(self, sdk: SessionModule, deadline: float) -> None:
        """Open a session, be there for its users, and close it."""
        opening = Opening(
            config=self.config,
            mode=self.mode,
            root=self.root,
            start_child=self._start_child,
            token=self._token(),
            tail=self._tail,
            on_lost=self._on_lost,
            on_expired=self.leave,
            elicit=self._elicit,
        )
        self._scope = anyio.CancelScope(deadline=deadline)
        if self._closing.is_set():
            return
        with self._scope:
            async with sdk.open_session(opening) as session, anyio.create_task_group() as tasks:
                self._scope.deadline = math.inf
                self._session, self._tasks = session, tasks
                self._settled.set()
                try:
                    await self._closing.wait()
                finally:
                    self._session = self._tasks = None
                    self._scope.deadline = anyio.current_time() + CLOSE_SECONDS
                    tasks.cancel_scope.cancel()
        if not self._settled.is_set() and not self._closing.is_set():
            raise TimeoutError(f"it did not answer within {self.config.startup_timeout:g} s")

    def _close_if_left(self) -> None:
        if self._is_leaving and not self._uses and not self._waiting:
            self.close()

    def _token(self) -> str | None:
        """Give the bearer token.

        Raises:
            McpError: its variable is not set.
        """
        if not isinstance(self.config, HttpServer) or self.config.bearer_token_env is None:
            return None
        token = self._environment.get(self.config.bearer_token_env, "").strip()
        if not token:
            name = self.config.bearer_token_env
            raise McpError(f"{self._title} needs a token: the environment variable {name} is not set")
        return token

    async def _start_child(self) -> Child:
        config = self.config
        assert isinstance(config, StdioServer)
        missing = [name for name in config.variables if name not in self._environment]
        if missing:
            _log.warning(
                "%s wants environment variables that are not set: %s", self._title, ", ".join(missing)
            )
        search_path = self._environment.get("PATH")
        program = await anyio.to_thread.run_sync(find_program, config, search_path, self.root)
        arguments = (program, *config.arguments)
        self._child = await Child.start(arguments, self.root, self._environment, self._tail, self._guard)
        return self._child

    def _on_lost(self) -> None:
        """Nothing more can come from the server."""
        self._is_lost = True
        if self._settled.is_set():
            self._closing.set()

    async def _elicit(self, fill: Fill) -> FormResult:
        return await fill_for_user(self._uses, fill)

    @property
    def _title(self) -> str:
        return f"MCP server {self.config.name!r}"

    async def _lost(self) -> McpError:
        """Wait for the end, since only then it is known how it came, and tell of it."""
        await self._over.wait()
        if self._failure is not None:
            return McpError(self._failure)
        if self._is_lost and self._child is not None:
            return McpError(f"{self._title} {self._child.describe_end()}{self._tail.quote(QUOTED_LINES)}")
        return McpError(f"{self._title} was closed")

    def _explain(self, sdk: SessionModule | None, error: Exception) -> str:
        reason = self._secrets.hide(str(error) if sdk is None else sdk.explain(error))
        if isinstance(error, McpError):
            return reason
        if self._is_lost and self._child is not None:
            return f"{self._title} {self._child.describe_end()} before it was ready{self._tail.quote()}"
        return f"{self._title} cannot be used: {reason}{self._tail.quote()}"


def _secrets_of(config: McpServerConfig, environment: Mapping[str, str]) -> Sequence[str]:
    """Give the keys that a server is given, which it may quote back in an error."""
    match config:
        case HttpServer(bearer_token_env=str() as name):
            return [environment.get(name, "").strip()]
        case HttpServer():
            return ()
        case StdioServer(variables=names):
            return [environment.get(name, "") for name in names if _SECRET_NAME.search(name)]
        case _:
            assert_never(config)
