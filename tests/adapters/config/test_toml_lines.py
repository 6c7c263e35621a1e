"""Which line a key of a TOML file stands in."""

import tomllib
from pathlib import Path

import pytest

from jp_lsp.config.files import FileCache
from jp_lsp.config.toml_lines import key_lines
from tests.support.shared import shared_files

TEXT = '''\
# a comment with = and [brackets]
extends = [
    "a", # one = two
    "b",
]
"odd.name" = { inner = 1 }

[assistant]
name = """
[not.a.header]
x = 1 \\""" still inside
"""
model.id = 'a/b'

[[assistant.instructions]]
title = "First"

[[assistant.instructions]]
title = "Second"
items = ["[[x]]", 'y = 1']

[[assistant.instructions.examples]]
good = "g"

[conversation.tools.'*']
run = "ask"
'''

LINES = {
    ("extends",): 2,
    ("odd.name",): 6,
    ("assistant",): 8,
    ("assistant", "name"): 9,
    ("assistant", "model"): 13,
    ("assistant", "model", "id"): 13,
    ("assistant", "instructions"): 15,
    ("assistant", "instructions", 0, "title"): 16,
    ("assistant", "instructions", 1): 18,
    ("assistant", "instructions", 1, "items"): 20,
    ("assistant", "instructions", 1, "examples", 0, "good"): 23,
    ("conversation", "tools", "*", "run"): 26,
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix", "windows"])
def test_each_key_has_its_line(ending: str):
    found = key_lines(TEXT.replace("\n", ending))
    assert {path: found[path] for path in LINES} == LINES
    assert not any("not" in path or "x" in path for path in found)


def names_of(value: object, path: tuple[str | int, ...] = ()):
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name)
            yield from names_of(member, (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from names_of(item, (*path, index))


def test_real_files_lose_no_key():
    for path in shared_files("real-workspace/.jp/**/*.toml"):
        text = path.read_text(encoding="utf-8")
        found = key_lines(text)
        lines = text.split("\n")
        for name in names_of(tomllib.loads(text)):
            known = next((name[:end] for end in range(len(name), 0, -1) if name[:end] in found), None)
            assert known is not None, (path.name, name)
            last = next(segment for segment in reversed(known) if isinstance(segment, str))
            assert last in lines[found[known] - 1], (path.name, name)


def test_the_nearest_key_around_gives_the_line(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[user]\nname = "x"\n[template]\nvalues = { a = { b = 1 } }\n', encoding="utf-8")
    loaded = FileCache().load(path)
    assert loaded.line_of(("template", "values", "a", "b")) == 4
    assert loaded.line_of(("style",)) is None


def test_yaml_keys_have_lines_too(tmp_path: Path):
    path = tmp_path / "config.yaml"
    path.write_text("user:\n  name: x\nassistant:\n  instructions:\n    - title: y\n", encoding="utf-8")
    loaded = FileCache().load(path)
    assert loaded.line_of(("user", "name")) == 2
    assert loaded.line_of(("assistant", "instructions", 0, "title")) == 5
    assert loaded.line_of(("user", "other")) == 1
