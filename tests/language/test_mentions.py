"""What counts as a mention in the text of a query, and what does not."""

import pytest

from jp_lsp.language.mentions import MOST_MENTIONS, begun_mention, find_mentions, written
from tests.language.cursor import cursor


def names(text: str) -> list[str]:
    """The names; those that need not be there have a question mark."""
    found = find_mentions(text, 0)
    for each in found:
        assert text[each.span.start : each.span.end] in {f"@{each.name}", f'@"{each.name}"'}
    return [each.name if each.is_certain else f"{each.name}?" for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@src/main.py", ["src/main.py"]),
        ("𝄞 look at @a.py, (@b.py) and @c.py.", ["a.py", "b.py", "c.py"]),
        ("Is it @src/a.py? Or @docs/?", ["src/a.py", "docs/"]),
        ('@"my notes.md" and @"two"', ["my notes.md", "two"]),
        ("@docs/**/*.md @[ab].md @x(1).md", ["docs/**/*.md", "[ab].md", "x(1).md"]),
        ("@https://example.com/a_(b)?q=1, yes", ["https://example.com/a_(b)?q=1"]),
        ("@jp-c17912345678?a:-1 @jp://jp-c1", ["jp-c17912345678?a:-1", "jp://jp-c1"]),
        ("@!secret @cmd:git", ["!secret", "cmd:git"]),
        ("thanks @ada and @Makefile", ["ada?", "Makefile?"]),
        ("mail ada@example.com, \\@src/a.py, @@x/y", []),
        ("`@decorator` and ``a ` @b/c`` but @d/e", ["d/e"]),
        ("a ` alone @a/b", ["a/b"]),
        ("```py\n@app/x\n```\n@a/b\n~~~\n@c/d\n```\n@e/f\n~~~~\n@g/h", ["a/b", "g/h"]),
        ("    ```\n@a/b\n", ["a/b"]),  # four blanks are no fence
        ("```\n@a/b", []),
        ("```@a/b``` and @c/d\n@e/f", ["c/d", "e/f"]),
        ("@", []),
        ('@""', []),
        ("@...", []),
        ("@" + "." * 300_000, []),  # would take minutes if each were looked at anew
    ],
)
def test_mentions(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_there_is_a_limit() -> None:
    assert len(find_mentions("@a/b " * (MOST_MENTIONS + 50), 0)) == MOST_MENTIONS


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("see @|", ("", "")),
        ("see @sr|", ("sr", "sr")),
        ("see @sr|c/a.py now", ("sr", "src/a.py")),
        ('see @"my no|', ("my no", '"my no')),
        ('see @"my no|tes" x', ("my no", '"my notes"')),
        ("see @src |", None),
        ("see |@src", None),
        ("ada@ex|", None),
        ("`@x|`", None),
        ("@a\nb|", None),
    ],
)
def test_the_mention_at_a_cursor(marked: str, expected: tuple[str, str] | None) -> None:
    text, offset = cursor(marked)
    begun = begun_mention(text, 0, offset)
    found = None if begun is None else (begun.name, text[begun.span.start : begun.span.end])
    assert found == expected


@pytest.mark.parametrize("name", ["src/a.py", "my notes.md", "a.", "x(1)", "a`b", "docs/*.md", "!docs"])
def test_a_written_mention_is_read_as_the_same_name(name: str) -> None:
    (found,) = find_mentions(f"@{written(name)}", 0)
    assert found.name == name
