"""Running tools for one query: a task for each pass, ended when the core says so."""

import logging
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.driver.result_files import QueryResults
from jp_lsp.ports.toolset import FormatFailed, ToolRun, Toolset
from jp_lsp.tools.actions import FormatArguments, RunPass
from jp_lsp.turn.inputs import (
    ArgumentsFormatted,
    Input,
    ToolCrashed,
    ToolEnded,
    ToolFinished,
    ToolProgressed,
)

_log = logging.getLogger(__name__)


class ToolRuns:
    """The passes that are under way.

    Args:
        toolset: runs tools.
        conversation: what a tool is told it works for.
        workspace_id: likewise.
        root: the workspace's folder, where tools run.
        results: files for what is too long to be read here.
        post: takes what becomes of a pass.
        tasks: where passes run.
    """

    def __init__(
        self,
        toolset: Toolset,
        conversation: ConversationId,
        workspace_id: str,
        root: str,
        results: QueryResults,
        post: Callable[[Input], None],
        tasks: TaskGroup,
    ) -> None:
        self._toolset = toolset
        self._conversation = conversation
        self._workspace_id = workspace_id
        self._root = root
        self._results = results
        self._post = post
        self._tasks = tasks
        self._scopes: dict[CallId, anyio.CancelScope] = {}

    def start(self, action: RunPass) -> None:
        """Begin a pass."""
        scope = self._scopes[action.call] = anyio.CancelScope()
        self._tasks.start_soon(self._run, action, scope)

    def cancel(self, call: CallId) -> None:
        """End what runs for a call; `ToolEnded` is posted when it has ended."""
        scope = self._scopes.get(call)
        if scope is None:
            self._post(ToolEnded(call))
        else:
            scope.cancel()

    def format(self, action: FormatArguments) -> None:
        """Let the formatter of a call write its arguments."""
        self._tasks.start_soon(self._format, action)

    async def _run(self, action: RunPass, scope: anyio.CancelScope) -> None:
        call = action.call
        file: str | None = None
        ended: ToolFinished | ToolCrashed | None = None
        with scope:
            try:
                file = self._results.new_path(call)
                run = ToolRun(
                    call,
                    action.spec,
                    action.arguments,
                    action.answers,
                    self._conversation,
                    self._workspace_id,
                    self._root,
                    file,
                    action.is_allowed,
                )
                outcome = await self._toolset.run(run, _Observer(call, self._post))
                outcome = await self._results.settle(file, outcome)
                ended = ToolFinished(call, action.pass_number, outcome)
            except Exception as error:
                _log.exception("a tool broke in our hands")
                ended = ToolCrashed(call, action.pass_number, f"{type(error).__name__}: {error}")
        if self._scopes.get(call) is scope:
            del self._scopes[call]
        was_cancelled = scope.cancel_called or ended is None
        if not isinstance(ended, ToolFinished):
            await self._results.drop(file)
        self._post(ToolEnded(call) if was_cancelled or ended is None else ended)

    async def _format(self, action: FormatArguments) -> None:
        run = ToolRun(
            action.call, action.spec, action.arguments, {}, self._conversation, self._workspace_id, self._root
        )
        try:
            text = await self._toolset.format_arguments(run)
        except FormatFailed as error:
            self._post(ArgumentsFormatted(action.call, "", str(error)))
        except Exception as error:
            _log.exception("a formatter broke in our hands")
            self._post(ArgumentsFormatted(action.call, "", f"{type(error).__name__}: {error}"))
        else:
            self._post(ArgumentsFormatted(action.call, text))


class _Observer:
    """Passes on how far a tool is."""

    def __init__(self, call: CallId, post: Callable[[Input], None]) -> None:
        self._call = call
        self._post = post

    def progress(self, message: str | None, percentage: int | None) -> None:
        """The tool told how far it is."""
        self._post(ToolProgressed(self._call, message, percentage))
