"""Web pages: `http` and `https` (config-and-tools 6.4).

A page that cannot be had does not end the query: the user is told, and the model is told in the page's place,
so that neither takes an error page for the content (trap 63). HTML becomes markdown; pictures and other
binary content are left out.
"""

import importlib
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import anyio
import anyio.to_thread

from jp_lsp import __version__
from jp_lsp.attachments.html_markdown import to_markdown
from jp_lsp.attachments.http_body import read_up_to
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, Fetched

if TYPE_CHECKING:
    import httpx

PAGE_SECONDS = 30.0
"""How long a page may take, all in all."""

PAGE_LIMIT = 4 * 1024 * 1024
"""Bytes that a page may have, decompressed."""

_AGENT = f"Mozilla/5.0 (compatible; jp-lsp/{__version__})"
_BINARY = ("image/", "audio/", "video/", "application/octet-stream", "application/pdf", "application/zip")
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ERROR_STATUS = 400


class _NoPage(Exception):
    """There is no page to attach; the text says why, as the end of a sentence."""


class WebHandler:
    """Fetches pages.

    Args:
        seconds: how long one may take.
    """

    def __init__(self, *, seconds: float = PAGE_SECONDS) -> None:
        self._seconds = seconds

    async def fetch(self, entry: AttachmentEntry) -> Fetched:
        """Fetch the page of an entry; never fails."""
        url = _url(entry)
        try:
            with anyio.fail_after(self._seconds):
                return Fetched((TextAttachment(url, await _load(url)),))
        except TimeoutError:
            problem = f"it did not come within {self._seconds:g} s"
        except _NoPage as error:
            problem = str(error)
        note = TextAttachment(url, f"(This page could not be attached: {problem}.)")
        return Fetched((note,), (f"Attachment {entry.text!r} was left out: {problem}.",))


def _url(entry: AttachmentEntry) -> str:
    """Give the address; a table may have its parameters apart."""
    rest = entry.path if entry.path.startswith("//") else f"//{entry.path.lstrip('/')}"
    url = f"{entry.type.strip()}:{rest}"
    if not entry.params:
        return url
    pairs = [(name, value) for name, values in entry.params.items() for value in values]
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs)}"


async def _load(url: str) -> str:
    """Get a page as text.

    Raises:
        _NoPage: there is none, or it is no text.
    """
    # A tenth of a second that only those who attach pages pay.
    await anyio.to_thread.run_sync(importlib.import_module, "httpx")
    import httpx

    try:
        async with (
            httpx.AsyncClient(follow_redirects=True, max_redirects=5, timeout=None) as client,
            client.stream(
                "GET", url, headers={"user-agent": _AGENT, "accept": "text/html, text/*, */*"}
            ) as got,
        ):
            media_type = got.headers.get("content-type", "").partition(";")[0].strip().lower()
            if got.status_code >= _ERROR_STATUS:
                raise _NoPage(f"the server answered with HTTP status {got.status_code}")
            if media_type.startswith(_BINARY):
                raise _NoPage(f"it is {media_type}, and only text can be attached from the web")
            text = _decode(await _read(got), got.charset_encoding)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _NoPage(str(error) or type(error).__name__) from error
    if media_type in _HTML:
        return await anyio.to_thread.run_sync(to_markdown, text)
    return text


async def _read(response: "httpx.Response") -> bytes:
    data = await read_up_to(response, PAGE_LIMIT)
    if data is None:
        raise _NoPage(f"it has more than {PAGE_LIMIT // 1024 // 1024} MiB")
    return data


def _decode(data: bytes, encoding: str | None) -> str:
    try:
        return data.decode(encoding or "utf-8", "replace")
    except LookupError:  # a name that is no encoding
        return data.decode("utf-8", "replace")
