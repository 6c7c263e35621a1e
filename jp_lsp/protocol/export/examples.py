"""Messages as they look on the wire, for the protocol page and for the tests.

Each method has at least one example, and so has each type of chunk. The tests read every example into its
model and compare what comes out with the example, so the page shows nothing that is not true.
"""

from collections.abc import Mapping
from types import MappingProxyType

from jp_lsp.protocol.export.example import Example
from jp_lsp.protocol.export.examples_conversations import CONVERSATIONS
from jp_lsp.protocol.export.examples_settings import SETTINGS
from jp_lsp.protocol.export.examples_turns import TURNS

EXAMPLES: Mapping[str, tuple[Example, ...]] = MappingProxyType({**TURNS, **CONVERSATIONS, **SETTINGS})
"""Examples by method."""
