"""What users decided about tools, by conversation: `remembered.json` in their own data (query pipeline 3.5).

It never stands in the workspace, or a cloned repository could bring its own permissions.
"""

import json
import logging
import time
from dataclasses import dataclass
from typing import cast

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import read_file, write_file
from jp_lsp.workspace.lock import acquire
from jp_lsp.workspace.paths import Roots

FILE_NAME = "remembered.json"
_ATTEMPTS = 100
_PAUSE = 0.02
_LARGEST = 16 * 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The file of a workspace. Conversations that are not asked for stay as they are."""

    roots: Roots

    def read(self, conversation: ConversationId) -> JsonObject:
        """Give what is kept for a conversation; nothing if the file cannot be understood, so that it is asked again."""
        kept = self._read().get(conversation)
        return kept if isinstance(kept, dict) else {}

    def write(self, conversation: ConversationId, decisions: JsonObject) -> None:
        """Keep something for a conversation; other programs that write at the same time lose nothing.

        Raises:
            OSError: it could not be written.
        """
        lock_path = self.roots.private / "locks" / f"{FILE_NAME}.lock"
        for _ in range(_ATTEMPTS):
            lock = acquire(lock_path, Timestamp(time.time_ns()))
            if lock is None:
                time.sleep(_PAUSE)
                continue
            try:
                every = {**self._read(), conversation: decisions}
                text = json.dumps(every, indent=2, ensure_ascii=False) + "\n"
                write_file(self.roots.private / FILE_NAME, text.encode("utf-8", "replace"))
            finally:
                lock.release()
            return
        raise TimeoutError(f"another program holds {lock_path}")

    def _read(self) -> dict[str, JsonValue]:
        path = self.roots.private / FILE_NAME
        try:
            value = json.loads(read_file(path)[0]) if path.stat().st_size <= _LARGEST else None
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("%s is not used: %s", path, error)
            return {}
        return cast("dict[str, JsonValue]", value) if isinstance(value, dict) else {}
