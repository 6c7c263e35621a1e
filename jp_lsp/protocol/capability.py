"""What client and server tell each other of themselves, under `capabilities.experimental.jp`."""

from typing import Annotated

from pydantic import Field

from jp_lsp.protocol.base import Array, WireModel


class PromptCapability(WireModel):
    """Which prompts a client shows."""

    kinds: Array[str] = ()
    """The kinds of `jp/prompt` that it knows; kinds that we do not know are ignored."""


class ClientCapabilities(WireModel):
    """What a client can do. A client that says nothing still gets the whole job by standard messages."""

    prompt: PromptCapability | None = None
    """It answers `jp/prompt`. Questions of other kinds are put by standard messages."""
    interrupt_menu: bool = False
    """It has a menu of its own and sends `jp/interrupt` with an action, and with the text where one belongs.

    A text that is asked for by a `prompt_open` chunk, of a kind that `prompt` does not list, it collects by itself
    and answers with `jp/answer`; secrets excepted.
    """
    chunks: bool = False
    """It wants the chunks of a query without `partialResultToken` as `jp/chunk`."""
    open_document: bool = False
    """It may be asked to open a file or a conversation by `window/showDocument`."""
    max_actions: Annotated[int, Field(ge=1)] | None = None
    """How many buttons it can show at once in a `window/showMessageRequest`."""


class ServerCapabilities(WireModel):
    """What the server can do."""

    version: int
    """The version of this protocol."""
    methods: Array[str]
    """The methods that it answers and sends."""
