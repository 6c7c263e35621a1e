"""Patterns for files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.attachments.globs import Glob, is_glob
from jp_lsp.attachments.name_pattern import NamePattern
from tests.support.work import count_calls

FITS: list[tuple[str, str, bool]] = [
    ("*.md", "a.md", True),
    ("*.md", "docs/deep/a.md", True),
    ("docs/*.md", "docs/a.md", True),
    ("docs/*.md", "docs/deep/a.md", False),
    ("docs/*.md", "more/docs/a.md", False),
    ("docs/**/*.md", "docs/a.md", True),
    ("docs/**/*.md", "docs/x/y/a.md", True),
    ("docs/**", "docs/x/y", True),
    ("docs/**", "docs", False),
    ("**/b", "b", True),
    ("**/b", "a/b", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/b/c/b", True),
    ("a/**/b", "a/x/c", False),
    ("a?c", "abc", True),
    ("a?c", "ac", False),
    ("a?c", "a/c", False),
    ("[a-c]x", "bx", True),
    ("[a-c]x", "dx", False),
    ("[!a-c]x", "dx", True),
    ("[^a-c]x", "bx", False),
    ("[]]x", "]x", True),
    ("[-a]", "-", True),
    ("[ab", "[ab", True),
    ("[!]", "[!]", True),
    ("\\*", "*", True),
    ("\\*", "a", False),
    ("a*b*c", "a-b-b-c", True),
    ("a*b*c", "a-c-b", False),
    ("*", "a/b", True),
    ("größe*", "größer", True),
]


@pytest.mark.parametrize(("pattern", "path", "is_fitting"), FITS)
def test_a_pattern_fits_whole_paths(pattern: str, path: str, is_fitting: bool) -> None:
    assert Glob(pattern).matches(path) is is_fitting


@pytest.mark.parametrize(
    ("pattern", "path", "is_covered"),
    [
        ("target", "target/debug/a", True),
        ("target", "x/target/a", True),
        ("target", "targets/a", False),
        ("x/target", "x/target/a", True),
        ("x/target", "y/x/target/a", False),
        ("*.tmp", "a.tmp/b", True),
    ],
)
def test_what_is_excluded_takes_all_below_with_it(pattern: str, path: str, is_covered: bool) -> None:
    assert Glob(pattern).covers(path) is is_covered


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("a/b/*.c", "a/b"),
        ("*.c", ""),
        ("a/*/c", "a"),
        ("**/c", ""),
        (".github/**/*.yml", ".github"),
        ("a/b", "a"),
    ],
)
def test_the_folder_to_look_in(pattern: str, folder: str) -> None:
    assert Glob(pattern).folder == folder


def test_what_is_a_pattern() -> None:
    assert [is_glob(text) for text in ("a", "a*", "a?", "[a]", "a]")] == [False, True, True, True, False]


def test_a_malicious_pattern_is_little_work() -> None:
    """A regular expression would never come back from these."""
    for pattern, path in (("*a" * 60 + "b", "a" * 250), ("**/a/" * 40 + "b", "/".join(["a"] * 400))):
        glob = Glob(pattern)
        assert count_calls(lambda: glob.matches(path)) < 20 * len(pattern) * len(path)  # noqa: B023


def fits_slowly(pattern: str, name: str) -> bool:
    """Try everything."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(fits_slowly(pattern[1:], name[start:]) for start in range(len(name) + 1))
    return name != "" and pattern[0] in {"?", name[0]} and fits_slowly(pattern[1:], name[1:])


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_a_name_fits_where_trying_everything_finds_a_way(pattern: str, name: str) -> None:
    assert NamePattern(pattern).fits(name) is fits_slowly(pattern, name)


def test_a_pattern_for_a_whole_tree_is_little_work_for_each_file() -> None:
    """A hundred of them may stand in one document, and each looks at thousands of files."""
    paths = [f"src/package_{number % 70}/file_{number}.py" for number in range(1000)]
    for pattern in ("**/*.md", "**/test_*", "src/**/*_1?.py"):
        glob = Glob(pattern)
        assert count_calls(lambda: [glob.matches(path) for path in paths]) < 30 * len(paths)  # noqa: B023
