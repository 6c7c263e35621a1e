"""Reading from GitHub: its answers, bounded, and its refusals in words that say what to do.

The token goes to the one address that the user's environment names, and nowhere else: pages that an answer
says follow are asked for there or not at all.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import anyio
import anyio.to_thread

from jp_lsp import __version__
from jp_lsp.attachments.http_body import read_up_to
from jp_lsp.conversation.json_value import JsonObject, JsonValue

if TYPE_CHECKING:
    import httpx

API_URL = "https://api.github.com"
ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes that one answer may have."""

ANSWER_SECONDS = 30.0
MOST_PAGES = 10

_TOKENS = ("JP_GITHUB_TOKEN", "GITHUB_TOKEN")
_AGENT = f"jp-lsp/{__version__}"
_OK = 200
_REASONS: Mapping[int, str] = {
    401: "GitHub does not accept the token; check JP_GITHUB_TOKEN or GITHUB_TOKEN",
    403: "GitHub refuses it; set JP_GITHUB_TOKEN or GITHUB_TOKEN to a token that may read it, or wait if you asked often",
    404: "GitHub has no such pull request, or the token in JP_GITHUB_TOKEN or GITHUB_TOKEN may not read it",
    406: "GitHub makes no diff of a pull request this large; attach the output of `cmd:git diff` instead",
    429: "GitHub was asked too often; wait, or set JP_GITHUB_TOKEN or GITHUB_TOKEN",
}


class GitHubError(Exception):
    """There is no answer; the text says why, as the end of a sentence."""


class GitHub:
    """Asks GitHub.

    Args:
        environ: has the token, and in `GITHUB_API_URL` the address where it is not the usual one.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._url = (environ.get("GITHUB_API_URL") or API_URL).rstrip("/")
        self._token = next((token for name in _TOKENS if (token := environ.get(name))), None)

    async def text(self, path: str, accept: str) -> str:
        """Get a text.

        Raises:
            GitHubError: it cannot be had.
        """
        data, _ = await self._get(f"{self._url}{path}", accept)
        return data.decode("utf-8", "replace")

    async def items(self, path: str) -> Sequence[JsonObject]:
        """Get a list with the pages that follow.

        Raises:
            GitHubError: it cannot be had.
        """
        found: list[JsonObject] = []
        url: str | None = f"{self._url}{path}?per_page=100"
        for _ in range(MOST_PAGES):
            if url is None or not url.startswith(f"{self._url}/"):
                break
            data, url = await self._get(url, "application/vnd.github+json")
            found += _objects(data)
        return found

    async def _get(self, url: str, accept: str) -> tuple[bytes, str | None]:
        """Give an answer, and the address of the page that follows it."""
        await anyio.to_thread.run_sync(importlib.import_module, "httpx")
        import httpx

        headers = {"user-agent": _AGENT, "accept": accept}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                async with (
                    httpx.AsyncClient(timeout=None) as client,
                    client.stream("GET", url, headers=headers) as got,
                ):
                    if got.status_code != _OK:
                        raise GitHubError(
                            _REASONS.get(got.status_code, f"GitHub answered with {got.status_code}")
                        )
                    return await _read(got), got.links.get("next", {}).get("url")
        except TimeoutError:
            raise GitHubError(f"GitHub did not answer within {ANSWER_SECONDS:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise GitHubError(f"GitHub cannot be reached: {str(error) or type(error).__name__}") from error


async def _read(response: "httpx.Response") -> bytes:
    data = await read_up_to(response, ANSWER_LIMIT)
    if data is None:
        raise GitHubError(f"GitHub's answer has more than {ANSWER_LIMIT // 1024 // 1024} MiB")
    return data


def _objects(data: bytes) -> Sequence[JsonObject]:
    try:
        value = cast("JsonValue", json.loads(data))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise GitHubError("GitHub's answer is not the list that was asked for")
    return [item for item in value if isinstance(item, Mapping)]
