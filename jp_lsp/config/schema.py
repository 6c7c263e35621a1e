"""The complete key tree of `.jp` files, as one table (config-and-tools 2).

Reading, merging, assigning, the environment, defaults, writing and explaining all follow it. Keys and
values are the command-line tool's, which refuses what it does not know; settings of our own live in
`server_settings`. The order of keys is the order of a conversation's files.
"""

from collections.abc import Iterator
from types import MappingProxyType

from jp_lsp.config.keys_assistant import ASSISTANT
from jp_lsp.config.keys_conversation import CONVERSATION
from jp_lsp.config.keys_providers import PLUGINS, PROVIDERS
from jp_lsp.config.keys_style import EDITOR, INTERRUPT, STYLE
from jp_lsp.config.kind import FreeJson, Key, ListOf, MapOf, Table, Variant, map_of
from jp_lsp.config.scalars import boolean, choice, text
from jp_lsp.config.shapes import NO_ITEMS, section, table
from jp_lsp.config.value import ABSENT, MergedList, Path

_EXTENDED = Variant(
    text("a path, or a table with `path`"),
    table(
        {
            "path": Key(text(), "The file, relative to this one.", required=True),
            "strategy": Key(
                choice("before", "after"), "Whether it is merged before this file.", default="before"
            ),
        }
    ),
)

SCHEMA = Table(
    MappingProxyType(
        {
            "inherit": Key(boolean(), "False keeps more specific files from being merged."),
            "config_load_paths": Key(
                ListOf(text(), "append"), "Where named files are looked for.", default=NO_ITEMS
            ),
            # Files are extended while they are loaded; the default is only ever seen in what is stored (trap 4).
            "extends": Key(
                ListOf(_EXTENDED, "first"),
                "Other files to include.",
                default=MergedList(("config.d/**/*",)),
                assignable=False,
            ),
            "assistant": section(ASSISTANT, "What answers, and what it is told."),
            "conversation": section(CONVERSATION, "What conversations are made of."),
            "style": section(STYLE, "How things are shown."),
            "interrupt": section(INTERRUPT, "What interrupts do."),
            "editor": section(EDITOR, "Which editor is used."),
            "template": section(
                table({"values": Key(map_of(FreeJson()), "Variables of query templates.", default={})}),
                "Query templates.",
            ),
            "providers": section(PROVIDERS, "Where models and tools are reached."),
            "plugins": section(PLUGINS, "Commands that others provide."),
            "user": section(table({"name": Key(text(), "Your name in transcripts.")}), "You."),
        }
    )
)


def leaf_keys(kind: Table = SCHEMA, path: Path = ()) -> Iterator[tuple[Path, Key]]:
    """Give every key that holds a value, with its path; maps, lists and optional tables count as values."""
    for name, key in kind.keys.items():
        here = (*path, name)
        if isinstance(key.kind, Table) and key.default is not ABSENT:
            yield from leaf_keys(key.kind, here)
            continue
        yield here, key
        if isinstance(key.kind, MapOf):
            for entry, special in key.kind.special.items():
                if isinstance(special, Table):
                    yield from leaf_keys(special, (*here, entry))
