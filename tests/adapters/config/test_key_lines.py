"""Which line a key of a YAML, JSON or JSON5 file stands in."""

from pathlib import Path

import pytest

from jp_lsp.config.files import FileCache
from jp_lsp.config.key_lines import key_lines
from jp_lsp.config.value import Path as KeyPath

YAML = """\
# a comment
extends: [a,
  b]
assistant: &one
  name: |
    name: not this
  "instructions":
  - title: First

  - title: Second
other: *one
"""
JSON = """\
// a comment with { and :
{
  extends: ["a",
    'b'],
  'assistant': {
    name: "not: {this", /* name: 3 */
    "instructions": [{ "title": "First" },
      { "t\\u0069tle": "Second" }],
  },
}
"""


@pytest.mark.parametrize(
    ("text", "suffix", "expected"),
    [
        (
            YAML,
            ".yaml",
            {
                ("extends",): 2,
                ("extends", 0): 2,
                ("extends", 1): 3,
                ("assistant",): 4,
                ("assistant", "name"): 5,
                ("assistant", "instructions"): 7,
                ("assistant", "instructions", 0): 8,
                ("assistant", "instructions", 0, "title"): 8,
                ("assistant", "instructions", 1): 10,
                ("assistant", "instructions", 1, "title"): 10,
                ("other",): 11,
            },
        ),
        (
            JSON,
            ".json5",
            {
                ("extends",): 3,
                ("extends", 0): 3,
                ("extends", 1): 4,
                ("assistant",): 5,
                ("assistant", "name"): 6,
                ("assistant", "instructions"): 7,
                ("assistant", "instructions", 0): 7,
                ("assistant", "instructions", 0, "title"): 7,
                ("assistant", "instructions", 1): 8,
                ("assistant", "instructions", 1, "title"): 8,
            },
        ),
        ('{"\\ud83d": 1}', ".json", {("\ud83d",): 1}),
        ("", ".json", {}),
        ("# nothing\n", ".yml", {}),
    ],
)
def test_lines(text: str, suffix: str, expected: dict[KeyPath, int]) -> None:
    assert key_lines(text, suffix) == expected


@pytest.mark.parametrize(("suffix", "text"), [(".yaml", YAML), (".json5", JSON)])
def test_what_has_no_line_has_that_of_what_is_around_it(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"config{suffix}"
    path.write_text(text, encoding="utf-8")
    file = FileCache().load(path)
    assert file.line_of(("assistant", "instructions", 1, "nothing")) == file.line_of(
        ("assistant", "instructions", 1)
    )
    assert file.line_of(("nowhere",)) is None
