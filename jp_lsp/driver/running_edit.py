"""Changes the metadata of a conversation that a query has open: the query's own store writes them."""

import anyio

from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.driver.runner import QueryRunner
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError


async def edit_running(runner: QueryRunner, edit: MetadataEdit) -> bool:
    """Change the metadata of the conversation that a query has open.

    Returns:
        Whether that was possible; not while the query begins or ends.

    Raises:
        Refusal: it could not be stored.
    """
    done = anyio.Event()
    problems: list[StoreError] = []

    async def work(conversation: OpenConversation) -> None:
        conversation.edit(edit)
        try:
            await conversation.save()
        except StoreError as error:
            problems.append(error)
        done.set()

    if not runner.use(work):
        return False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_wait_and_cancel, runner.finished, tasks.cancel_scope)
        await done.wait()
        tasks.cancel_scope.cancel()
    for problem in problems:
        raise Refusal("persist_failed", f"The change could not be stored: {problem}") from problem
    return done.is_set()


async def _wait_and_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
