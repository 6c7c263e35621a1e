"""The two spellings of an entry, read into one form (config-and-tools 6.1).

A URL is decoded where it was encoded. What stands in a table is meant literally (trap 34).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError


@dataclass(frozen=True, slots=True)
class Address:
    """What an entry says: a decoded `path` with its leading slashes, and parameters in their order.

    `raw_path` is the path as it was written, `is_url` tells which spelling it was.
    """

    path: str
    raw_path: str
    parameters: tuple[tuple[str, str], ...]
    is_url: bool

    def values(self, *names: str) -> Sequence[str]:
        """Give the values of all parameters with one of these names."""
        return [value for name, value in self.parameters if name in names]

    def value(self, name: str) -> str | None:
        """Give the last value of a parameter."""
        return next(reversed(self.values(name)), None)


def address_of(entry: AttachmentEntry) -> Address:
    """Read an entry."""
    if entry.params is not None:
        return Address(entry.path, entry.path, tuple(_pairs(entry.params)), is_url=False)
    path, _, query = entry.path.partition("?")
    parameters = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return Address(unquote(path, errors="surrogateescape"), path, tuple(parameters), is_url=True)


def require_known(entry: AttachmentEntry, address: Address, known: Iterable[str], hint: str = "") -> None:
    """Refuse parameters that the handler does not have.

    Raises:
        AttachmentError: there is one.
    """
    unknown = sorted({name for name, _ in address.parameters} - set(known))
    if unknown:
        listed = ", ".join(f"`{name}`" for name in sorted(known))
        text = (
            f"Attachment {entry.text!r} has the unknown parameter `{unknown[0]}`; known are {listed}.{hint}"
        )
        raise AttachmentError(text, entry.text)


def _pairs(params: Mapping[str, tuple[str, ...]]) -> Iterable[tuple[str, str]]:
    return ((name, value) for name, values in params.items() for value in values)
