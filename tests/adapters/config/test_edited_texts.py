"""Changing a value in a text of TOML, YAML, JSON and JSON5: what is said changes, and nothing else (1.11)."""

import difflib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.config.edit import AppendItems, Edit, EditError, RemoveValue, SetValue, data_after, edited
from jp_lsp.config.parse import parse
from tests.support.shared import shared_files, shared_path

NAMES: tuple[str, ...] = ("a", "b", "name", "x-y", "with space", "dotted.name", "ünï")
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(-3, 10**6),
    st.sampled_from([0.5, -2.0, 1e300]),
    st.sampled_from(
        [
            "",
            "x",
            "on",
            "null",
            "1",
            "a: b",
            "a # b",
            '"q"',
            "'",
            "\\",
            "tab\t",
            "two\nlines",
            "\x7f",
            "🦀",
            "\u2028",
            "[",
            "{",
            "*x",
            "&x",
            "- a",
            "// no",
            "/* no",
        ]
    ),
)
TABLES: st.SearchStrategy[Any] = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), LEAVES, max_size=3),
    lambda inner: st.dictionaries(
        st.sampled_from(NAMES),
        st.one_of(LEAVES, inner, st.lists(LEAVES, max_size=3), st.lists(inner, min_size=1, max_size=2)),
        max_size=3,
    ),
    max_leaves=8,
)
VALUES: st.SearchStrategy[Any] = st.one_of(
    LEAVES, st.lists(LEAVES, max_size=3), st.dictionaries(st.sampled_from(NAMES), LEAVES, max_size=2)
)


# ------------------------------------------------------------- writing data in many ways, with comments about


def toml_text(data: Mapping[str, Any], dice: random.Random) -> str:
    """Write a table as headers, dotted keys and inline tables, as the dice say."""
    lines: list[str] = []
    _toml(data, (), lines, dice)
    return "\n".join(lines) + dice.choice(["", "\n", "\n\n# the end\n"])


def _toml(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str], dice: random.Random) -> None:
    later: list[tuple[str, Any]] = []
    for name, value in table.items():
        is_tables = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        if value and (isinstance(value, dict) or is_tables) and dice.random() < 0.7:
            later.append((name, value))
        else:
            lines.extend(dice.choice([[], ["# about it"], ["", "# apart"]]))
            lines.append(f"{_toml_key(name)} = {_toml_value(value, dice)}{dice.choice(['', '  # why'])}")
    for name, value in later:
        here = (*path, name)
        key = ".".join(map(_toml_key, here))
        for item in value if isinstance(value, list) else [value]:
            lines.append(dice.choice(["", "# a section"]))
            lines.append(
                (f"[[{key}]]" if isinstance(value, list) else f"[{key}]") + dice.choice(["", " # it"])
            )
            _toml(item, here, lines, dice)


def _toml_key(name: str) -> str:
    return (
        name if name.isascii() and name.replace("-", "").isalnum() else json.dumps(name, ensure_ascii=False)
    )


def _toml_value(value: Any, dice: random.Random) -> str:
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{_toml_key(name)} = {_toml_value(member, dice)}" for name, member in value.items())
            + " }"
        )
    if isinstance(value, list):
        items = [_toml_value(item, dice) for item in value]
        if dice.random() < 0.5 or not items:
            return "[" + ", ".join(items) + "]"
        return "[\n" + "".join(f"    {item}, # item\n" for item in items) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def json_text(data: Any, dice: random.Random, *, is_loose: bool, indent: str = "") -> str:
    """Write JSON in one line or in many, with comments; loosely as JSON5 allows it."""
    if not isinstance(data, (dict, list)):
        return json.dumps(data, ensure_ascii=False)
    inner = indent + "  "
    pieces = [
        json_text(item, dice, is_loose=is_loose, indent=inner)
        for item in (data if isinstance(data, list) else data.values())
    ]
    if isinstance(data, dict):
        pieces = [
            f"{_json_key(name, is_loose=is_loose)}: {piece}" for name, piece in zip(data, pieces, strict=True)
        ]
    opening, closing = "[]" if isinstance(data, list) else "{}"
    if not pieces or dice.random() < 0.4:
        return (
            opening
            + dice.choice([", ", ","]).join(pieces)
            + (dice.choice(["", ","]) if is_loose and pieces else "")
            + closing
        )
    body = ""
    for index, piece in enumerate(pieces):
        comma = "," if index + 1 < len(pieces) or (is_loose and dice.random() < 0.5) else ""
        body += (
            dice.choice(["", f"{inner}// before\n"])
            + f"{inner}{piece}{comma}{dice.choice(['', ' // behind', ' /* a, b */'])}\n"
        )
    return f"{opening}\n{body}{indent}{closing}"


def _json_key(name: str, *, is_loose: bool) -> str:
    return name if is_loose and name.isidentifier() else json.dumps(name, ensure_ascii=False)


def yaml_text(data: Any, dice: random.Random, indent: str = "") -> str:
    """Write YAML in blocks and brackets, with comments."""
    lines = list(_yaml(data, dice, indent))
    return "".join(f"{line}\n" for line in lines)


def _yaml(data: Mapping[str, Any], dice: random.Random, indent: str) -> Iterator[str]:
    for name, value in data.items():
        if dice.random() < 0.2:
            yield f"{indent}# about it"
        key = f"{indent}{json.dumps(name, ensure_ascii=False) if not name.isalpha() or not name.isascii() else name}:"
        if isinstance(value, dict) and value and dice.random() < 0.7:
            yield f"{key}{dice.choice(['', '  # a table'])}"
            yield from _yaml(value, dice, indent + dice.choice(["  ", "    "]))
        elif isinstance(value, list) and value and dice.random() < 0.7:
            yield key
            dash = indent + dice.choice(["", "  "])
            for item in value:
                if isinstance(item, dict) and item:
                    first, *rest = _yaml(item, random.Random(1), dash + "  ")
                    yield (
                        f"{dash}- {first.strip()}"
                        if not first.strip().startswith("#")
                        else f"{dash}-\n{first}"
                    )
                    yield from rest
                else:
                    yield f"{dash}- {_yaml_value(item)}{dice.choice(['', ' # item'])}"
        else:
            yield f"{key} {_yaml_value(value)}{dice.choice(['', '  # why'])}"
        if dice.random() < 0.15:
            yield ""


def _yaml_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f").replace("\u2028", "\\u2028")


def written(data: Mapping[str, Any], extension: str, seed: int) -> str:
    dice = random.Random(seed)
    match extension:
        case "toml":
            return toml_text(data, dice)
        case "yaml":
            return yaml_text(data, dice)
        case _:
            return (
                dice.choice(["", "// the top\n"])
                + json_text(data, dice, is_loose=extension == "json5")
                + "\n"
            )


# --------------------------------------------------------------------------------------------- the property


def paths_in(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for segment, member in members:
        yield (*path, segment)
        yield from paths_in(member, (*path, segment))


def table_paths(data: Any) -> list[tuple[Any, ...]]:
    return [(), *(path for path in paths_in(data) if isinstance(value_of(data, path), dict))]


def value_of(data: Any, path: Sequence[Any]) -> Any:
    for segment in path:
        data = data[segment]
    return data


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, Any], Edit]:
    data = draw(TABLES)
    present = list(paths_in(data))
    lists = [path for path in present if isinstance(value_of(data, path), list)]
    kinds = ["add"] + (["set", "remove"] if present else []) + (["append"] if lists else [])
    match draw(st.sampled_from(kinds)):
        case "add":
            table = draw(st.sampled_from(table_paths(data)))
            names = draw(st.lists(st.sampled_from(["new", "n.w", "newer"]), min_size=1, max_size=3))
            return data, SetValue((*table, *names), draw(VALUES))
        case "set":
            return data, SetValue(draw(st.sampled_from(present)), draw(VALUES))
        case "remove":
            return data, RemoveValue(draw(st.sampled_from(present)))
        case _:
            path = draw(st.sampled_from(lists))
            sample = value_of(data, path)
            item = {"t": draw(LEAVES)} if sample and isinstance(sample[0], dict) else draw(LEAVES)
            return data, AppendItems(path, (item,))


def pieces_lost(before: str, after: str) -> int:
    """Count the lines of the old text that are not in the new one any more, comments and blank ones too."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(
        end - start for kind, start, end, _, _ in matcher.get_opcodes() if kind in {"delete", "replace"}
    )


def without_empty(data: Any) -> Any:
    if isinstance(data, dict):
        members = {name: without_empty(member) for name, member in data.items()}
        return {name: member for name, member in members.items() if member != {}}
    return [without_empty(item) for item in data] if isinstance(data, list) else data


def is_beyond(extension: str, edit: Edit) -> bool:
    """Tell whether a change may be refused: what is no table in the place of one of the `[[tables]]` of TOML."""
    if extension != "toml" or not isinstance(edit, SetValue):
        return False
    return isinstance(edit.path[-1], int) and not isinstance(edit.value, dict)


@pytest.mark.parametrize("extension", ["toml", "yaml", "json", "json5"])
@given(changes(), st.integers(0, 10**6), st.booleans())
def test_the_file_says_what_it_said_with_the_change(
    extension: str, change: tuple[dict[str, Any], Edit], seed: int, is_windows: bool
) -> None:
    data, edit = change
    text = written(data, extension, seed)
    if is_windows:
        text = text.replace("\n", "\r\n")
    assert parse(text.encode(), extension) == data
    if is_beyond(extension, edit):
        with suppress(EditError):
            edited(text, extension, [edit])
        return
    after = edited(text, extension, [edit])
    wanted = without_empty(data_after(data, edit))
    assert without_empty(parse(after.encode(), extension)) == wanted
    assert "\r\n" not in text or "\n" not in after.replace("\r\n", "")
    if isinstance(edit, AppendItems):
        assert pieces_lost(text, after) <= 1
    if isinstance(edit, SetValue) and not isinstance(edit.path[-1], int) and edit.path[-1] not in NAMES:
        assert pieces_lost(text, after) <= 2


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#")]


def test_keys_of_a_real_workspace_are_set_and_taken_away_without_a_trace_elsewhere() -> None:
    """Only the lines of the value differ, and setting a key to what it is changes nothing that is read."""
    files = shared_files("real-workspace/.jp/**/*.toml")
    if not files:
        shared_path("real-workspace")
    count = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        data: Any = parse(text.encode(), "toml")
        named = [path for path in paths_in(data) if isinstance(path[-1], str)]
        leaves = [path for path in named if not isinstance(value_of(data, path), dict | list)]
        for path in leaves[:: max(1, len(leaves) // 6)]:
            value = value_of(data, path)
            if len(str(value)) > 80 or "\n" in str(value):
                continue  # may be written in many lines
            changed = edited(text, "toml", [SetValue(path, "else")])
            assert pieces_lost(text, changed) <= 1
            gone = edited(text, "toml", [RemoveValue(path)])
            assert pieces_lost(text, gone) <= 1
            assert comments(changed) == comments(text) == comments(gone)
            same = edited(changed, "toml", [SetValue(path, value)])
            assert parse(same.encode(), "toml") == data
            added = edited(text, "toml", [SetValue((*path[:-1], "added", "x.y"), 1)])
            assert pieces_lost(text, added) <= 1
            count += 1
    assert count > 300


NO_HALVES = "half of a character (a lone surrogate) cannot be written in this format, but in JSON"
BEYOND: dict[str, tuple[str, str, Edit, str]] = {
    "an alias": (
        "yaml",
        "a: &x {b: 1}\nc: *x\n",
        SetValue(("c", "b"), 2),
        "this value is an alias of another one (`*name`): edit the file by hand",
    ),
    "an anchor that is used": (
        "yaml",
        "a: &x 1\nb: *x\n",
        SetValue(("a",), 2),
        "this file is written in a way that only you can change it: edit it by hand",
    ),
    "what comes from a merge": (
        "yaml",
        "a: &x {b: 1}\nc:\n  <<: *x\n",
        RemoveValue(("c", "b")),
        "there is no such place in the file",
    ),
    "null in TOML": (
        "toml",
        "a = 1\n",
        SetValue(("b",), None),
        "TOML has no null; take the key away instead",
    ),
    "a value among tables": (
        "toml",
        "[[a]]\nb = 1\n",
        AppendItems(("a",), (2,)),
        "the list is written as `[[tables]]`, and holds nothing but tables",
    ),
    "a value in the place of a table": (
        "toml",
        "[[a]]\nb = 1\n",
        SetValue(("a", 0), "x"),
        "the list is written as `[[tables]]`, and holds nothing but tables",
    ),
    "half of a character in TOML": ("toml", "a = 1\n", SetValue(("a",), ["\ud800"]), NO_HALVES),
    "half of a character in YAML": ("yaml", "a: 1\n", SetValue(("b\udc00",), 1), NO_HALVES),
    "half of a character in JSON5": ("json5", "{a: []}", AppendItems(("a",), ("\ud800",)), NO_HALVES),
    "half of a character that JSON5 has already": (
        "json5",
        "{a: 1,\n b: 'x\\ud800y'}",
        SetValue(("a",), 2),
        r"not valid JSON5: `\ud800` is half of a character, which JSON5 cannot hold (line 2)",
    ),
    "the other half": (
        "json5",
        "{a: 1,\n b: '\\udc00'}",
        SetValue(("a",), 2),
        r"not valid JSON5: `\udc00` is half of a character, which JSON5 cannot hold (line 2)",
    ),
    "a comment that does not end": (
        "json5",
        "/* only",
        SetValue(("a",), 2),
        "not valid JSON5: Unclosed `comment` (line 1)",
    ),
    "a text that is broken": (
        "json",
        '{"a": 1',
        SetValue(("a",), 2),
        "not valid JSON: Expecting ',' delimiter (line 1)",
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_what_cannot_be_done_without_touching_more_is_not_done(case: str) -> None:
    extension, text, edit, message = BEYOND[case]
    with pytest.raises(EditError) as caught:
        edited(text, extension, [edit])
    assert str(caught.value) == message


EXACT: dict[str, tuple[str, str, Edit, str]] = {
    "a key over a merge": (
        "yaml",
        "a: &x {b: 1}\nc:\n  <<: *x\nd: 1\n",
        SetValue(("c", "b"), 2),
        "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\nd: 1\n",
    ),
    "a text in lines": (
        "yaml",
        "a: |\n  one\n  two\n# b\nb: 1\n",
        SetValue(("a",), "x"),
        "a: x\n# b\nb: 1\n",
    ),
    "a value that YAML would misread": ("yaml", "a: 1\n", SetValue(("a",), "on"), 'a: "on"\n'),
    "a key of a flow without a value": (
        "yaml",
        "a: {b: , c: 1}\n",
        SetValue(("a", "b"), [1]),
        "a: {b: [1] , c: 1}\n",
    ),
    "a key of a flow alone": ("yaml", "a: {b}\n", SetValue(("a", "b"), [1]), "a: {b: [1]}\n"),
    "a table in dotted keys, in one piece": (
        "toml",
        "x = 1\na.b = 1 # one\na.c = 2\ny = 2\n",
        SetValue(("a",), {"d": 3}),
        "x = 1\ny = 2\na = { d = 3 }\n",
    ),
    "the last table in dotted keys, in one piece": (
        "toml",
        "x = 1\na.b = 1\n",
        SetValue(("a",), {"d": 3}),
        "x = 1\na = { d = 3 }\n",
    ),
    "the last key of a JSON table": (
        "json",
        '{\n  "a": 1, // one\n  "b": 2 // two\n}\n',
        RemoveValue(("b",)),
        '{\n  "a": 1 // one\n}\n',
    ),
    "a key behind a trailing comma": (
        "json5",
        "{\n  a: 1,\n  // end\n}\n",
        SetValue(("b",), "x"),
        '{\n  a: 1,\n  // end\n  b: "x",\n}\n',
    ),
    "a key in a table that is begun later": (
        "toml",
        "[a.b]\nx = 1\n\n# c\n[c]\n",
        SetValue(("a", "y"), 2),
        "[a.b]\nx = 1\n\n[a]\ny = 2\n\n# c\n[c]\n",
    ),
    "a key before the first table, under its comment": (
        "toml",
        "# About the file.\n\n# a\n[a]\nx = 1\n",
        SetValue(("top",), True),
        "# About the file.\n\ntop = true\n\n# a\n[a]\nx = 1\n",
    ),
    "a date": ("toml", "a = 2026-01-02 10:00:00  # when\n", SetValue(("a",), 1), "a = 1  # when\n"),
    "a table with a header": (
        "toml",
        "[t.x]  # it\n# first\na = 1\n\n[t.y]\nb = 1\n\n[t.x.sub]\nc = 1\n",
        SetValue(("t", "x"), {"d": 5}),
        "[t.x]  # it\n# first\nd = 5\n\n[t.y]\nb = 1\n\n",
    ),
    "a table with a header behind those in it": (
        "toml",
        "[t.x.sub]\nc = 1\n\n[t.x]\n\n[z]\n",
        SetValue(("t", "x"), {"d": 5}),
        "\n[t.x]\nd = 5\n\n[z]\n",
    ),
    "a text in place of a table with a header": (
        "toml",
        "[t.x]\na = 1\n\n[t.x.command]\nprogram = 'c'\n\n[z]\n",
        SetValue(("t", "x", "command"), "c"),
        '[t.x]\na = 1\ncommand = "c"\n\n\n[z]\n',
    ),
    "a table of an array": (
        "toml",
        "# top\n[[a]]  # it\n# first\nx = 1\ny.z = 2\n\n[a.sub]\nq = 1\n\n# second\n[[a]]\nx = 2\n",
        SetValue(("a", 0), {"x": 5, "n": {"m": "b"}}),
        '# top\n[[a]]  # it\n# first\nx = 5\nn = { m = "b" }\n\n# second\n[[a]]\nx = 2\n',
    ),
    "a table of an array in an array": (
        "toml",
        "[[o.a]]\nx = 1\n[[o.a.i]]\ny = 1\n[[o.a.i]]\ny = 2",
        SetValue(("o", "a", 0, "i", 1), {"y": 5}),
        "[[o.a]]\nx = 1\n[[o.a.i]]\ny = 1\n[[o.a.i]]\ny = 5\n",
    ),
    "a table of an array that is empty": ("toml", "[[a]]", SetValue(("a", 0), {"x": 1}), "[[a]]\nx = 1\n"),
    "a table of an array, made empty": ("toml", "[[a]]\nx = 1\n", SetValue(("a", 0), {}), "[[a]]\n"),
    "a file of comments": (
        "json5",
        "// a: 1\n/* b */\n",
        SetValue(("c",), 1),
        '// a: 1\n/* b */\n{\n  "c": 1\n}\n',
    ),
    "beside half of a character": (
        "json",
        r'{"a": "x\ud800", "\udc00": 1, "b": 1}',
        SetValue(("b",), 2),
        r'{"a": "x\ud800", "\udc00": 1, "b": 2}',
    ),
    "half of a character": ("json", '{"b": 1}', SetValue(("b",), "\ud800𝄞"), r'{"b": "\ud800𝄞"}'),
    "a file without a last line end": ("toml", "a = 1", SetValue(("b",), 2), "a = 1\nb = 2\n"),
}


@pytest.mark.parametrize("case", EXACT)
def test_the_text_afterwards(case: str) -> None:
    extension, text, edit, wanted = EXACT[case]
    assert edited(text, extension, [edit]) == wanted
