"""Small things: widths, keys of buttons, presses, times."""

import pytest

from jp_lsp.protocol.prompt import PromptAction
from jp_lsp.terminal.choices import assign_keys, find_choice, lay_out
from jp_lsp.terminal.presses import Presses
from jp_lsp.terminal.width import advance, fit, row_count, text_width
from jp_lsp.terminal.words import duration, plain, plain_line, whole_seconds


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("Ａ", 2), ("ｱ", 1), ("", 0), ("a\u200bb", 2), ("😀", 2)],
)
def test_width(text: str, columns: int) -> None:
    assert text_width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
    ],
)
def test_fitting(text: str, columns: int, shown: str) -> None:
    assert fit(text, columns) == shown
    assert text_width(fit(text, columns)) <= columns


@pytest.mark.parametrize(
    ("column", "text", "after"),
    [
        (0, "abc", 3),
        (3, "", 3),
        (3, "x\ny", 1),
        (3, "x\n", 0),
        (0, "x" * 10, 10),
        (0, "x" * 11, 1),
        (10, "x", 1),
        (5, "x" * 25, 10),
        (9, "日", 2),
        (8, "日", 10),
        (0, "\ta", 9),
        (9, "\t", 9),
        (10, "\té", None),
        (None, "abc", None),
        (None, "abc\n12", 2),
        (0, "👨\u200d👩", None),
        (0, "🇩🇪", None),
        (0, "❤\ufe0f\nok", 2),
    ],
)
def test_the_cursor_is_followed(column: int | None, text: str, after: int | None) -> None:
    assert advance(column, text, 10) == after


@pytest.mark.parametrize(("text", "rows"), [("", 1), ("x" * 10, 1), ("x" * 11, 2), ("日" * 6, 2)])
def test_rows(text: str, rows: int) -> None:
    assert row_count(text, 10) == rows


def actions(*pairs: tuple[str, str]) -> list[PromptAction]:
    return [PromptAction(id=action, title=title) for action, title in pairs]


@pytest.mark.parametrize(
    ("pairs", "keys"),
    [
        (
            (("continue", "Continue"), ("reply", "Reply"), ("stop", "Stop"), ("abort", "Abort (discard)")),
            "crsa",
        ),
        (
            (("continue", "Continue"), ("respond", "Stop & respond"), ("restart", "Restart"), ("stop", "Stop")),
            "crts",
        ),
        (
            (
                ("skip", "Skip"),
                ("run", "Run"),
                ("run_remember", "Run, remember"),
                ("skip_remember", "Skip, remember"),
                ("skip_with_reason", "Skip with a reason"),
                ("edit", "Edit"),
                ("change_run_mode", "Change run mode"),
                ("change_result_mode", "Change result mode"),
                ("print_args", "Print arguments"),
            ),
            "nyYNremxp",
        ),
        ((("yes", "Yes"), ("no", "No (default)")), "yn"),
        ((("1", "aa"), ("2", "aa "), ("3", "äö")), "a23"),
        ((("x", "日本"), ("y", "")), "12"),
    ],
)  # fmt: skip
def test_keys_of_buttons(pairs: tuple[tuple[str, str], ...], keys: str) -> None:
    choices = assign_keys(actions(*pairs))
    assert [choice.key for choice in choices] == list(keys)
    for choice in choices:
        assert choice.key is not None
        assert find_choice(choices, choice.key) is choice
        assert find_choice(choices, str(choice.number)) is choice


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("c", "continue"),
        ("C", "continue"),
        (" stop ", "stop"),
        ("abo", "abort"),
        ("3", "stop"),
        ("x", None),
        ("", None),
        ("5", None),
        ("restart", None),
    ],
)
def test_what_is_typed_finds_its_button(answer: str, chosen: str | None) -> None:
    choices = assign_keys(
        actions(("continue", "Continue"), ("reply", "Reply"), ("stop", "Stop"), ("abort", "Abort"))
    )
    found = find_choice(choices, answer)
    assert (None if found is None else found.action.id) == chosen


def test_many_buttons_are_numbered() -> None:
    choices = assign_keys(actions(*((f"o{number}", f"Option {number}") for number in range(1, 13))))
    assert {choice.key for choice in choices} == {None}
    assert lay_out(choices, 80)[11] == "[12] Option 12"
    found = find_choice(choices, "12")
    assert found is not None
    assert found.action.id == "o12"
    assert find_choice(choices, "Option 1") is None  # 1, 10, 11 and 12


def test_the_layout_follows_the_width() -> None:
    choices = assign_keys(actions(("continue", "Continue"), ("stop", "Stop\x1b[1m it")))
    assert lay_out(choices, 40) == ["[c] Continue   [s] Stop[1m it"]
    assert lay_out(choices, 20) == ["[c] Continue", "[s] Stop[1m it"]


@pytest.mark.requirement("R130", "R131")
@pytest.mark.parametrize(
    ("events", "last"),
    [
        (["press"], "send"),
        (["press", "press"], "send"),
        (["press", "press", "press"], "leave"),
        (["press", "menu", "press", "escalated", "press"], "leave"),
        (["press", "menu", "press", "menu", "press", "menu", "press"], "send"),
        (["press", "press", "menu", "press"], "send"),
        (["press", "killed", "press"], "leave"),
        (["press", "latched", "press", "latched", "press"], "send"),
        (["end", "press"], "leave"),
    ],
)
def test_presses(events: list[str], last: str) -> None:
    presses, what = Presses(), ""
    for event in events:
        if event == "press":
            what = presses.press()
        elif event == "end":
            presses.end()
        else:
            presses.answered(event)
    assert what == last


def test_words_for_people() -> None:
    assert [duration(seconds) for seconds in (-1, 0.44, 9.9, 9.96, 119, 120, 125.4)] == [
        "0.0 s", "0.4 s", "9.9 s", "10 s", "119 s", "2 min 0 s", "2 min 5 s",
    ]  # fmt: skip
    assert [whole_seconds(seconds) for seconds in (-1, 0.9, 61, 125)] == ["0 s", "0 s", "61 s", "2 min 05 s"]


@pytest.mark.requirement("R342")
def test_nothing_can_command_the_terminal() -> None:
    assert plain("a\x1b[1mb\x9b2Jc\x07\x00\x7f\r\nd\te") == "a[1mb2Jc\nd\te"
    assert plain_line("  a\n\x1b]0;x\x07 b\t") == "a ]0;x b"
