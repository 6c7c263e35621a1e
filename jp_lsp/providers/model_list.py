"""What listing models has in common for all vendors (providers 7)."""

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import ModelDetails, ProviderError
from jp_lsp.providers.failure import VendorErrors, classify_response
from jp_lsp.providers.http import ConnectionBrokenError, ResponseRefusedError, VendorHttp
from jp_lsp.providers.untrusted import as_object

_log = logging.getLogger(__name__)

LIST_LIFETIME = 24 * 3600.0
"""Seconds for which a vendor's list of models is good enough (providers 7)."""


@contextmanager
def asking(errors: VendorErrors, http: VendorHttp) -> Generator[None, None, None]:
    """Turn what goes wrong with a question to the vendor into the port's own exception.

    Raises:
        ProviderError: from within the block.
    """
    try:
        yield
    except ResponseRefusedError as error:
        response = error.response
        failure = classify_response(
            response.status, response.headers, response.body, vendor=errors, now=http.now()
        )
        raise ProviderError(replace(failure, message=http.mask(failure.message))) from error
    except ConnectionBrokenError as error:
        raise ProviderError(error.failure) from error


async def ask_page_beside(http: VendorHttp, path: str) -> JsonValue:
    """Ask for a page that a server may have beside its API; nothing when it has none for us."""
    try:
        return await http.get(path, is_versioned=False)
    except (ResponseRefusedError, ConnectionBrokenError) as error:
        _log.debug("%s has no %s for us: %s", http.address, path, error)
        return None


def read_entries(
    entries: Iterable[JsonValue], read: Callable[[JsonObject], ModelDetails | None]
) -> list[ModelDetails]:
    """Read a list one by one: an entry that makes no sense is left out, the others stay."""
    found = (read(as_object(entry)) for entry in entries)
    return [details for details in found if details is not None]
