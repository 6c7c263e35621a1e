"""Files with the whole results of one query's tools (query pipeline 3.10, 5.8).

A command writes its own file while it runs, which may be far longer than what we keep of it; every other
long result is written here. A short one gets no file: the transcript and the conversation hold all of it.
"""

import logging
from dataclasses import replace

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.ports.results import ResultFiles
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome

_log = logging.getLogger(__name__)

SHORT_RESULT = 4096
"""Characters up to which a result gets no file."""


class QueryResults:
    """The files that the tools of a query filled.

    Args:
        files: where they are, if anywhere.
        conversation: what the query works on.
    """

    def __init__(self, files: ResultFiles | None, conversation: ConversationId) -> None:
        self._files = files
        self._conversation = conversation
        self._paths: set[str] = set()

    def new_path(self, call: CallId) -> str | None:
        """Give the path of the file that a pass of this call may fill."""
        if self._files is None:
            return None
        path = self._files.new_path(self._conversation, call)
        self._paths.add(path)
        return path

    async def settle(self, path: str | None, outcome: ToolOutcome) -> ToolOutcome:
        """See to it that a long result has its file, and that nothing else has one."""
        if self._files is None or path is None:
            return outcome
        if isinstance(outcome, Succeeded | Failed):
            if outcome.file is not None:
                return outcome
            if len(outcome.content) > SHORT_RESULT:
                return await self._written(self._files, path, outcome)
        await self.drop(path)
        return outcome

    async def drop(self, path: str | None) -> None:
        """Remove what a pass left that has no result."""
        if self._files is not None and path is not None:
            self._paths.discard(path)
            await self._files.remove([path])

    async def forget(self) -> None:
        """Remove all of them: the query leaves nothing behind."""
        if self._files is not None and self._paths:
            await self._files.remove(sorted(self._paths))

    async def _written(
        self, files: ResultFiles, path: str, outcome: Succeeded | Failed
    ) -> Succeeded | Failed:
        """A disk that refuses costs the link and not the result."""
        try:
            await files.write(path, outcome.content)
        except OSError as error:
            _log.warning("the whole result could not be written to %s: %s", path, error)
            return outcome
        return replace(outcome, file=path)
