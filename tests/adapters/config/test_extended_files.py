"""What a file extends: order, patterns, cycles, and what is missing (config-and-tools 1.4)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jp_lsp.config.extends import MAX_FILES, load_tree
from jp_lsp.config.files import FileCache
from jp_lsp.config.pattern import MAX_NAMES, TooManyNames, matches


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


Write = Callable[[str, str], Path]


def order_of(path: Path) -> list[str]:
    return [
        str(file.path.resolve().relative_to(path.parent.resolve()))
        for file in load_tree(path, FileCache()).files
    ]


def findings_of(path: Path) -> list[tuple[str, str]]:
    return [(finding.severity, finding.text) for _, finding in load_tree(path, FileCache()).findings]


def test_before_then_the_file_then_after_all_in_one_row(write: Write):
    main = write(
        "main.toml",
        'extends = ["a.toml", {path = "z.toml", strategy = "after"}, {path = "b.toml", strategy = "before"}, "c"]',
    )
    write("a.toml", 'extends = ["a1.toml"]')
    for name in ("a1.toml", "b.toml", "z.toml", "c.yaml"):
        write(name, "")
    assert order_of(main) == ["a1.toml", "a.toml", "b.toml", "c.yaml", "main.toml", "z.toml"]


def test_a_pattern_goes_through_folders_in_the_order_of_their_parts(write: Write):
    main = write("main.toml", 'extends = ["parts/**/*.toml"]')
    for name in (
        "parts/a-b/x.toml",
        "parts/a/y.toml",
        "parts/a/.hidden.toml",
        "parts/z.toml",
        "parts/a/no.json",
    ):
        write(name, "")
    assert order_of(main) == [
        "parts/a/.hidden.toml", "parts/a/y.toml", "parts/a-b/x.toml", "parts/z.toml", "main.toml",
    ]  # fmt: skip


@pytest.mark.requirement("G66")
def test_trap_66_folders_among_the_matches_are_no_reason_to_lose_the_layer(write: Write):
    main = write("main.toml", 'extends = ["parts/**/*"]')
    write("parts/inner/a.toml", "")
    write("parts/README.md", "words")
    assert order_of(main) == ["parts/inner/a.toml", "main.toml"]
    assert findings_of(main) == [
        ("warning", "`README.md` matches `parts/**/*` but is no configuration file and is left out")
    ]


@pytest.mark.requirement("G40")
def test_trap_40_a_workspace_whose_name_looks_like_a_pattern(write: Write):
    main = write("we[ir]d*/main.toml", 'extends = ["a.toml", "parts/*.toml"]')
    write("we[ir]d*/a.toml", "")
    write("we[ir]d*/parts/b.toml", "")
    write("wei/a.toml", "")
    assert order_of(main) == ["a.toml", "parts/b.toml", "main.toml"]


def test_absolute_paths_are_taken_for_relative_ones(write: Write):
    main = write("main.toml", 'extends = ["/a.toml"]')
    write("a.toml", "")
    assert order_of(main) == ["a.toml", "main.toml"]


@pytest.mark.requirement("G3")
def test_trap_03_a_shared_file_is_folded_once_for_each_mention(write: Write):
    main = write("main.toml", 'extends = ["a.toml", "b.toml"]')
    write("a.toml", 'extends = ["shared.toml"]')
    write("b.toml", 'extends = ["shared.toml"]')
    write("shared.toml", "")
    assert order_of(main) == ["shared.toml", "a.toml", "shared.toml", "b.toml", "main.toml"]
    assert findings_of(main) == []


def test_a_cycle_is_an_error_that_shows_the_way(write: Write, tmp_path: Path):
    main = write("a.toml", 'extends = ["b.toml"]')
    write("b.toml", 'extends = ["sub/../a.toml"]')
    (tmp_path / "sub").mkdir()
    way = " -> ".join(str((tmp_path / name).resolve()) for name in ("a.toml", "b.toml", "a.toml"))
    assert findings_of(main) == [("error", f"configuration `extends` cycle detected: {way}")]
    assert order_of(main) == ["b.toml", "a.toml"]


def test_no_match_is_fine_and_a_missing_file_is_a_warning(write: Write):
    main = write("main.toml", 'extends = ["none/*.toml", "gone.toml"]')
    assert findings_of(main) == [("warning", "`gone.toml` does not exist and is left out")]


def test_the_schemas_default_is_never_effective(write: Write):
    main = write("main.toml", "")
    write("config.d/a.toml", "")
    assert order_of(main) == ["main.toml"]


def test_files_cannot_extend_one_another_without_end(write: Write):
    main = write("f0.toml", 'extends = ["f1.toml"]')
    for index in range(1, 300):
        write(f"f{index}.toml", f'extends = ["f{index + 1}.toml"]')
    write("f300.toml", "")
    assert findings_of(main) == [("error", "more than 255 files extend one another")]


def test_files_cannot_multiply_without_end(write: Write):
    main = write("f0.toml", 'extends = ["f1.toml", "f1.toml"]')
    for index in range(1, 40):
        write(f"f{index}.toml", f'extends = ["f{index + 1}.toml", "f{index + 1}.toml"]')
    write("f40.toml", "")
    tree = load_tree(main, FileCache())
    assert len(tree.files) < MAX_FILES + 50
    assert [finding.text for _, finding in tree.findings] == [f"more than {MAX_FILES} files are extended"]


def test_a_pattern_does_not_follow_links_in_circles(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.toml").write_text("", encoding="utf-8")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert matches(tmp_path, "**/*.toml") == [tmp_path / "a" / "x.toml"]


def test_a_pattern_looks_at_a_limited_number_of_names(tmp_path: Path):
    for index in range(5):
        (tmp_path / f"{index}.toml").write_text("", encoding="utf-8")
    assert len(matches(tmp_path, "*.toml", limit=5)) == 5
    with pytest.raises(TooManyNames):
        matches(tmp_path, "*.toml", limit=4)


def test_a_pattern_that_leads_through_too_much_is_an_error(write: Write):
    pattern = "*/../" * 6 + "*.toml"
    main = write("main.toml", f'extends = ["{pattern}"]')
    for index in range(10):
        write(f"{index}/x.toml", "")
    assert findings_of(main) == [("error", f"`{pattern}` leads through more than {MAX_NAMES} files")]
