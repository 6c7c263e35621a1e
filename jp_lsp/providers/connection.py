"""Where a vendor is and how it knows us: what every adapter is made from."""

import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.request_trace import RequestTrace


@dataclass(frozen=True, slots=True)
class Connection:
    """A checked address, the key if there is one, and the vendor's settings.

    `now` gives Unix seconds. `trace` writes down what is sent, if the user wants to see it.
    """

    base_url: str
    api_key: str | None = None
    settings: ProviderSettings = field(default_factory=ProviderSettings)
    now: Callable[[], float] = time.time
    trace: RequestTrace | None = None

    def http(
        self, provider: str, *, key_header: str | None = None, headers: Mapping[str, str] | None = None
    ) -> VendorHttp:
        """Build the connections; the key goes into `key_header`, or without one as a bearer token."""
        all_headers = dict(headers or {})
        if self.api_key and key_header:
            all_headers[key_header] = self.api_key
        elif self.api_key:
            all_headers["authorization"] = f"Bearer {self.api_key}"
        secrets = [self.api_key or ""]
        if password := (address := urlsplit(self.base_url)).password:
            user_and_password = f"{unquote(address.username or '')}:{unquote(password)}"
            # As it is written, as it is meant, and as it is sent.
            secrets += [password, unquote(password), b64encode(user_and_password.encode()).decode()]
        return VendorHttp(
            provider,
            self.base_url,
            headers=all_headers,
            secrets=tuple(secrets),
            now=self.now,
            trace=self.trace,
        )
