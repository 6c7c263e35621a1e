"""The yardstick: the methods that the benchmark uses, as a plain pygls 2.1 server has them."""

from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")
counted: list[object] = []


@server.feature("jp/chunks")
async def send_chunks(params: Any) -> object:
    text = "x" * params.size
    for index in range(params.count):
        value = {"seq": index, "type": "text", "md": text}
        server.protocol.notify(types.PROGRESS, types.ProgressParams(params.token, value))
    return {"sent": params.count}


@server.feature("jp/one")
def send_one(params: Any) -> None:
    server.protocol.notify(types.PROGRESS, types.ProgressParams(params.token, {"at": 0}))


@server.feature("jp/count")
def count(params: Any) -> None:
    counted.append(params)


@server.feature("jp/counted")
def tell_count(_params: Any) -> int:
    return len(counted)


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(server.workspace.get_text_document(params.text_document.uri).source)


if __name__ == "__main__":
    server.start_io()
