"""Keys and passwords, kept out of every text that is shown or written down (providers 2).

Vendors and servers of tools quote keys and addresses back, and what they say is cut to a size. A cut may go through the middle of a
key, and the half that is left is no longer the key. So all cuts are made by `cut`, which marks them, and a mark
is where `Secrets.hide` looks for the beginning of a key.
"""

import json
import re
from collections.abc import Iterable

_MASK = "***"
_CUT_MARK = "…"
_SHORTEST_SECRET = 6
"""Characters; less cannot be told from ordinary words."""
_SHORTEST_BEGINNING = 3
_KEY_PARAMETER = re.compile(r"([?&](?:key|api_key|token)=)[^&\s\"'<>]+", re.IGNORECASE)


def cut(text: str, size: int) -> str:
    """Give a text of at most `size` characters; one that was longer ends in an ellipsis."""
    return text if len(text) <= size else text[: size - 1] + _CUT_MARK


class Secrets:
    """Strings that no text for people may hold. Those that are too short to be told from words are left out."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = [secret for secret in secrets if len(secret) >= _SHORTEST_SECRET]
        # Within JSON a password may be written otherwise.
        known += [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in known]
        # The longest first: one may be the beginning of another, of which the rest would stay.
        self._secrets = sorted(set(known), key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Take the secrets out of a text, and what looks like a key in the query of an address."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        *before_cuts, rest = text.split(_CUT_MARK)
        text = _CUT_MARK.join([*map(self._without_beginning, before_cuts), rest])
        return _KEY_PARAMETER.sub(rf"\1{_MASK}", text)

    def _without_beginning(self, piece: str) -> str:
        """Mask the beginning of a secret at the end of a text that was cut there."""
        for secret in self._secrets:
            end = piece[1 - len(secret) :]
            # The beginning of the secret is seldom there at all, which is quickly seen.
            start = end.find(secret[:_SHORTEST_BEGINNING])
            while start >= 0:
                if secret.startswith(end[start:]):
                    return piece.removesuffix(end[start:]) + _MASK
                start = end.find(secret[:_SHORTEST_BEGINNING], start + 1)
        return piece
