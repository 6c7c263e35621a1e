"""A complete configuration as a conversation stores it, and back (config-and-tools 1.8)."""

from collections.abc import Iterator, Mapping, Sequence

from jp_lsp.config.complete import complete_table, final_table
from jp_lsp.config.delta import changed_paths
from jp_lsp.config.endpoints import holds_secret
from jp_lsp.config.layer import PRIVATE_KINDS, Source
from jp_lsp.config.problem import Report
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.trace import settings_of
from jp_lsp.config.value import ABSENT, Partial, Path, entries_of, value_at, with_value
from jp_lsp.config.write import write_table
from jp_lsp.conversation.json_value import JsonObject

_LLM: Path = ("providers", "llm")


def to_stored(tree: Partial) -> JsonObject:
    """Write a complete configuration; addresses with a password in them stay out of it."""
    for path in _secret_addresses(tree):
        tree = with_value(tree, path, ABSENT)
    return write_table(SCHEMA, final_table(SCHEMA, tree))


def _secret_addresses(tree: Partial) -> Iterator[Path]:
    for name, vendor in entries_of(value_at(tree, _LLM)).items():
        address = entries_of(vendor).get("base_url", ABSENT)
        if isinstance(address, str) and holds_secret(address):
            yield (*_LLM, name, "base_url")


def from_stored(stored: JsonObject) -> Partial:
    """Read a configuration that `to_stored` wrote."""
    return complete_table(SCHEMA, read_table(SCHEMA, stored, Report()))


def without_private(wanted: Partial, present: Partial, sources: Sequence[Source]) -> Partial:
    """Keep what is the user's own out of a conversation that exists (1.2).

    A change that only the environment or the user's own files ask for needs no place in the conversation,
    because they are asked again at the next query. An entry that is new to the conversation is stored
    whole or not at all, since half of a tool is none.

    Args:
        wanted: the complete configuration with those changes.
        present: the complete configuration that the conversation has.
        sources: all sources, in the order that decides what is written.
    """
    for path in changed_paths(SCHEMA, present, wanted):
        kinds = [origin.kind for _, origin in settings_of(sources, path)]
        if not kinds:
            continue
        value = value_at(wanted, path)
        decisive = kinds if isinstance(value, Mapping) else kinds[:1]
        if all(kind in PRIVATE_KINDS for kind in decisive):
            wanted = with_value(wanted, path, value_at(present, path))
    return wanted
