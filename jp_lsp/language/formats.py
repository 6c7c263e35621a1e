"""Which format a configuration file has, by how its name ends, and how a text in it is read."""

from jp_lsp.collecting import without_collecting
from jp_lsp.language.document import Document
from jp_lsp.language.toml_document import read_toml

SUFFIXES = (".toml", ".json", ".json5", ".yaml", ".yml")
"""What the name of a configuration file ends with."""


def read_document(text: str, suffix: str) -> Document:
    """Read the text of a file whose name ends with one of `SUFFIXES`; never fails."""
    with without_collecting():
        return _read(text, suffix)


def _read(text: str, suffix: str) -> Document:
    """Read with what is imported when the first such file is opened: most workspaces have one format."""
    match suffix:
        case ".toml":
            return read_toml(text)
        case ".yaml" | ".yml":
            from jp_lsp.language.yaml_document import read_yaml

            return read_yaml(text)
        case _:
            from jp_lsp.language.json_document import read_json, read_json5

            return read_json(text) if suffix == ".json" else read_json5(text)
