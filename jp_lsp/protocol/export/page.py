"""Writes the protocol page: hand-written prose around what the table and the types say.

The prose is in two Markdown files beside this module: `page.md` is the frame, `notes.md` has what is to be
said about single methods, under their names.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jp_lsp.protocol.export.example import Example
from jp_lsp.protocol.export.examples import EXAMPLES

_ARROWS = {"client": "client → server", "server": "server → client"}


def write_page(schema: Mapping[str, Any]) -> str:
    """Give `PROTOCOL.md`."""
    definitions: Mapping[str, Mapping[str, Any]] = schema["$defs"]
    methods: Mapping[str, Mapping[str, Any]] = schema["methods"]
    chunks = [_name(branch) for branch in definitions["Chunk"]["oneOf"]]
    capabilities = [_name(side) for side in schema["capabilities"].values()]
    described_above = {*chunks, *capabilities}
    for method in methods.values():
        described_above |= {_name(_answer(method[part])) for part in ("params", "result") if part in method}
    inserts = {
        "version": str(schema["version"]),
        "capabilities": _sections(_type_section(name, definitions[name]) for name in capabilities),
        "chunks": _chunk_sections(chunks, definitions),
        "commands": _table(
            ("command", "method"),
            (
                (f"`{method['command']}`", f"`{name}`")
                for name, method in methods.items()
                if "command" in method
            ),
        ),
        "methods": _sections(_method_section(name, method, definitions) for name, method in methods.items()),
        "errors": _table(
            ("`code`", "number", "meaning"),
            (
                (f"`{code}`", str(error["code"]), error["description"])
                for code, error in schema["errors"].items()
            ),
        ),
        "types": _sections(
            _type_section(name, definition)
            for name, definition in definitions.items()
            if name not in described_above
        ),
    }
    page = _read("page.md")
    for name, text in inserts.items():
        page = page.replace(f"<!-- {name} -->", text)
    return page


def _method_section(
    name: str, method: Mapping[str, Any], definitions: Mapping[str, Mapping[str, Any]]
) -> str:
    arrow = _ARROWS[method["sender"]]
    parts = [f"### `{name}`", f"*{arrow}, {' or '.join(method['forms'])}, since {method['since']}*"]
    parts.append(method["description"])
    if (note := _notes().get(name)) is not None:
        parts.append(note)
    for part in ("params", "result"):
        if part in method:
            answer = _answer(method[part])
            parts.append(_type_section(_name(answer), definitions[_name(answer)], level=4))
            if answer is not method[part]:
                parts.append("Or `null`.")
    parts += [_example(example) for example in EXAMPLES[name]]
    return _sections(parts)


def _chunk_sections(names: Sequence[str], definitions: Mapping[str, Mapping[str, Any]]) -> str:
    """Describe once what all chunks share, and then each type."""
    first = definitions[names[0]]
    shared = [
        field
        for field in first["properties"]
        if field not in {"type", "class"} and all(field in definitions[name]["properties"] for name in names)
    ]
    parts = ["Every chunk has, beside `type` and `class`:", _fields(first, shared)]
    for name in names:
        definition = definitions[name]
        properties = definition["properties"]
        chunk_class = " or ".join(properties["class"].get("enum", [properties["class"].get("const")]))
        parts += [
            f"### `{name}`",
            f"*type `{properties['type']['const']}`, {chunk_class}*",
            definition["description"],
        ]
        if own := [field for field in properties if field not in {*shared, "type", "class"}]:
            parts.append(_fields(definition, own))
    return _sections(parts)


def _type_section(name: str, definition: Mapping[str, Any], level: int = 3) -> str:
    parts = [f"{'#' * level} `{name}`", definition.get("description", "")]
    if definition.get("type") != "object":
        parts.append(f"{_type(definition)}.")
    elif properties := definition.get("properties"):
        parts.append(_fields(definition, list(properties)))
    return _sections(parts)


def _sections(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, parts))


def _fields(definition: Mapping[str, Any], names: Iterable[str]) -> str:
    required = set(definition.get("required", ()))
    properties = definition["properties"]
    return _table(
        ("field", "type", "meaning"),
        (
            (
                f"`{name}{'' if name in required else '?'}`",
                _type(properties[name]),
                _meaning(properties[name]),
            )
            for name in names
        ),
    )


def _meaning(field: Mapping[str, Any]) -> str:
    parts = [" ".join(field.get("description", "").split())]
    if "minimum" in field:
        parts.append(f"At least {field['minimum']}.")
    if "default" in field:
        parts.append(f"Default: `{json.dumps(field['default'])}`.")
    return " ".join(filter(None, parts))


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _example(example: Example) -> str:
    parts = [f"{example.title}:", _json(example.params)]
    if example.has_result:
        parts += ["is answered with", _json(example.result)]
    return _sections(parts)


def _json(value: object) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def _notes() -> Mapping[str, str]:
    """Give the notes on methods by name."""
    parts = (part.split("\n", 1) for part in _read("notes.md").removeprefix("## ").split("\n## "))
    return {name.strip(): note.strip() for name, note in parts}


def _read(name: str) -> str:
    return files("jp_lsp.protocol.export").joinpath(name).read_text(encoding="utf-8")


def _type(described: Mapping[str, Any]) -> str:
    """Write a type in a few words."""
    match described:
        case {"$ref": _}:
            return f"[`{_name(described)}`](#{_name(described).lower()})"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"oneOf": branches} | {"anyOf": branches}:
            return " or ".join(_type(branch) for branch in branches)
        case {"type": "array", "items": items}:
            return f"array of {_type(items)}"
        case {"type": str(name)}:
            return name
        case _:
            return "any JSON"


def _answer(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the type out of a result that may be null."""
    answer: Mapping[str, Any] = result["oneOf"][0] if "oneOf" in result else result
    return answer


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
