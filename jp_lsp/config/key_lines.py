"""Which line of a YAML, JSON or JSON5 file a key stands in; for TOML see `toml_lines`.

The text is known to be valid.
"""

import bisect
import json
import re
from collections.abc import Iterator, Mapping

import yaml

from jp_lsp.config import yaml_core
from jp_lsp.config.edit import EditError
from jp_lsp.config.edit_flow import Node
from jp_lsp.config.flow_scan import json_grammar, scan_value
from jp_lsp.config.value import Path

_LINE_END = re.compile("\n")


def key_lines(text: str, suffix: str) -> Mapping[Path, int]:
    """Give the line, from 1, of each key and of each item of a list; of one that comes twice, the first.

    Args:
        text: what is in the file.
        suffix: how its name ends, with the dot.
    """
    is_yaml = suffix in {".yaml", ".yml"}
    return _lines(text, _yaml_keys(text) if is_yaml else _json_keys(text))


def _lines(text: str, keys: Iterator[tuple[Path, int]]) -> Mapping[Path, int]:
    starts = [found.end() for found in _LINE_END.finditer(text)]
    lines: dict[Path, int] = {}
    for path, offset in keys:
        lines.setdefault(path, bisect.bisect_right(starts, offset) + 1)
    return lines


def _yaml_keys(text: str) -> Iterator[tuple[Path, int]]:
    try:
        root = yaml_core.compose(text)
    except yaml_core.YamlError:
        return
    if root is not None:
        yield from _below_node(root, (), set())


def _below_node(node: yaml.Node, path: Path, seen: set[int]) -> Iterator[tuple[Path, int]]:
    """Give what is in a node; once, however often an alias brings it."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                here = (*path, str(key.value))
                yield here, key.start_mark.index
                yield from _below_node(value, here, seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark.index
            yield from _below_node(item, (*path, index), seen)


def _json_keys(text: str) -> Iterator[tuple[Path, int]]:
    try:
        root = scan_value(text, 0, json_grammar(_names))
    except EditError:
        return  # only blanks and comments, or stranger than the scanner knows
    yield from _below(root, ())


def _below(node: Node, path: Path) -> Iterator[tuple[Path, int]]:
    for member in node.members:
        here = (*path, *member.names)
        yield here, member.start
        yield from _below(member.node, here)
    for index, item in enumerate(node.items):
        yield (*path, index), item.start
        yield from _below(item, (*path, index))


def _names(key: str) -> tuple[str, ...]:
    if key[:1] not in {'"', "'"}:
        return (key,)
    if "\\" not in key:
        return (key[1:-1],)
    try:
        return (str(json.loads(key)),)
    except ValueError:
        import pyjson5  # knows both kinds of quotes
    try:
        return (str(pyjson5.decode(key)),)
    except pyjson5.Json5Exception as error:
        raise EditError("the file has a key that nobody can read") from error
