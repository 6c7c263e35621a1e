"""YAML with the core schema of version 1.2, in which `on`, `off`, `yes` and `no` are text (trap 39).

PyYAML follows version 1.1; this loader keeps its parser, with anchors and merge keys, and brings its own
rules for what a plain word means. The parser is the one in C, which is ten times as fast.
"""

import re
from collections.abc import Iterator
from typing import cast

import yaml

_MERGE_TAG = "tag:yaml.org,2002:merge"
_NULL_TAG = "tag:yaml.org,2002:null"
_BOOL_TAG = "tag:yaml.org,2002:bool"
_INT_TAG = "tag:yaml.org,2002:int"
_FLOAT_TAG = "tag:yaml.org,2002:float"
_MAX_MERGED = 10_000


class YamlError(Exception):
    """The text is not YAML, or not of the core schema; `line` counts from 1, `offset` in code points from 0."""

    def __init__(self, message: str, line: int | None, offset: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.offset = offset


class _CoreLoader(yaml.CSafeLoader):
    """A safe loader with the rules below and no others."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put what merge keys bring behind the members of the mapping itself, which have more weight.

        Not PyYAML's own: that tells keys apart by the identity of their text, and so may let a mapping win over
        another one that it was merged into; and a few merge keys can ask for more members than fit into memory.
        """
        members = [member for member in node.value if member[0].tag != _MERGE_TAG]
        known = {_identity(key) for key, _ in members}
        count = 0
        for target in _merge_targets(node):
            self.flatten_mapping(target)
            count += len(target.value)
            if count > _MAX_MERGED:
                problem = f"merge keys bring more than {_MAX_MERGED} members"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            members += (member for member in target.value if _identity(member[0]) not in known)
            known |= {_identity(key) for key, _ in target.value}
        node.value = members


class _StrictLoader(_CoreLoader):
    """Lets no key be there twice; a text that is being written may have that for a while."""

    def get_single_node(self) -> yaml.Node | None:
        """Read the nodes, and look at all mappings before merge keys are followed."""
        root = super().get_single_node()
        if root is not None:
            _refuse_doubles(root)
        return root


def _merge_targets(node: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    for key, value in node.value:
        if key.tag != _MERGE_TAG:
            continue
        for target in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            if not isinstance(target, yaml.MappingNode):
                problem = "only mappings can be merged"
                raise yaml.constructor.ConstructorError(None, None, problem, target.start_mark)
            yield target


def _identity(key: yaml.Node) -> tuple[str, object]:
    """Tell what makes two keys the same; one that is no scalar is like no other."""
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else (key.tag, id(key))


def _integer(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    try:
        return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    except ValueError as error:
        raise yaml.constructor.ConstructorError(
            None, None, f"{text[:40]!r} is no number", node.start_mark
        ) from error


def _float(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node).replace(".inf", "inf").replace(".nan", "nan").lower())


_RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (_NULL_TAG, r"(?:~|null|Null|NULL|)\Z", ("~", "n", "N", "")),
    (_BOOL_TAG, r"(?:true|True|TRUE|false|False|FALSE)\Z", tuple("tTfF")),
    (_INT_TAG, r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", tuple("-+0123456789")),
    (
        _FLOAT_TAG,
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan)\Z",
        tuple("-+.0123456789"),
    ),
    (_MERGE_TAG, r"<<\Z", ("<",)),
)
"""Tag, the words that have it, and the characters that such a word can begin with; the first that fits."""

for _tag, _words, _first in _RULES:
    for _character in _first:
        _CoreLoader.yaml_implicit_resolvers.setdefault(_character, []).append((_tag, re.compile(_words)))
_CoreLoader.add_constructor(_INT_TAG, _integer)
_CoreLoader.add_constructor(_FLOAT_TAG, _float)


def load(text: str) -> object:
    """Read one document.

    Raises:
        YamlError: the text is not YAML, or a mapping has a key twice, of which one would be lost.
    """
    try:
        return cast("object", yaml.load(text, Loader=_StrictLoader))
    except yaml.YAMLError as error:
        raise _translated(error) from error
    except (ValueError, TypeError) as error:
        # A merge key with a value that is no mapping, or a key that cannot be one.
        raise YamlError(str(error), None) from error


def compose(text: str) -> yaml.Node | None:
    """Read one document as nodes that know their places; tags are those of the core schema.

    Raises:
        YamlError: the text is not YAML, or nested too deep.
    """
    try:
        return yaml.compose(text, Loader=_CoreLoader)
    except yaml.YAMLError as error:
        raise _translated(error) from error
    except RecursionError as error:
        raise YamlError("nested too deep", None) from error
    except ValueError as error:
        raise YamlError(
            str(error), None
        ) from error  # half a character, which the parser in C cannot be given


def _refuse_doubles(root: yaml.Node) -> None:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            known: set[tuple[str, object]] = set()
            for key, value in node.value:
                if _identity(key) in known and key.tag != _MERGE_TAG:
                    problem = f"the key `{key.value}` is there twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                known.add(_identity(key))
                waiting += (key, value)


def _translated(error: yaml.YAMLError) -> YamlError:
    if isinstance(error, yaml.reader.ReaderError):
        return YamlError("a character that YAML does not allow", None, int(error.position))
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    if "nesting depth" in problem:
        problem = "nested too deep"
    return YamlError(problem, *((None, None) if mark is None else (int(mark.line) + 1, int(mark.index))))
