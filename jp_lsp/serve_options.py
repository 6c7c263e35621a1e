"""What the command line may say about the server."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """`tcp` is host and port to listen on, instead of standard input and output.

    `allow_remote` lets `tcp` be an address that other machines reach. `log_level` is one of the names in
    `server.logs.LEVELS`; `log_file` gets the log beside standard error.
    """

    tcp: tuple[str, int] | None = None
    allow_remote: bool = False
    log_level: str = "warning"
    log_file: Path | None = None
