"""What is said of a setting, and what it points at; `|` is the cursor."""

from datetime import date

import pytest

from jp_lsp.config.explanation import Contribution, Explanation
from jp_lsp.config.fold import OUR_ORDER
from jp_lsp.config.layer import Origin
from jp_lsp.language.definition import ExtendedFiles, Setting, Target, target_at
from jp_lsp.language.hover import describe, subject_at
from jp_lsp.ports.provider import Budgetted, Leveled, ModelDetails, ModelId, Unsupported
from tests.language.documents import at_cursor

USER = Origin("user_global", "/home/me/config.toml", None, 2)
WORKSPACE = Origin("workspace", ".jp/config.toml", None, 7)


@pytest.mark.parametrize(
    ("marked", "path", "piece"),
    [
        ("assistant.na|me = 'x'", ("assistant", "name"), "name"),
        ("assis|tant.name = 'x'", ("assistant",), "assistant"),
        ("[assistant]\nname = 'x|'", ("assistant", "name"), "'x'"),
        (
            "[assistant.model]\nparameters = { top|_k = 3 }",
            (*("assistant", "model"), "parameters", "top_k"),
            "top_k",
        ),
        (
            "[[assistant.instructions]]\n[[assistant.instructions]]\nti|tle = 'x'",
            ("assistant", "instructions", 1, "title"),
            "title",
        ),
        ("extends = ['a', 'b|']", ("extends", 1), "'b'"),
        ("[nowhere]\nna|me = 1", None, ""),
        ("[assistant]\n|", None, ""),
        ("# assistant.na|me", None, ""),
        ("inherit = true  # wh|y", None, ""),
    ],
)
def test_what_a_hover_is_about(marked: str, path: tuple[str | int, ...] | None, piece: str) -> None:
    document, offset = at_cursor(marked)
    text, subject = document.text, subject_at(document, offset)
    if subject is None:
        assert path is None
    else:
        assert (subject.path, text[subject.span.start : subject.span.end]) == (path, piece)


def described(explanation: Explanation | None) -> str:
    subject = subject_at(*at_cursor("[assistant.request]\nmax_re|tries = 7"))
    assert subject is not None
    return describe(subject, explanation)


WHAT = """\
**`assistant.request.max_retries`**

How often a failed request is tried again; 0 for never.

- takes a whole number from 0 to 4294967295
- default: `5`"""


def test_a_setting_that_nobody_can_explain() -> None:
    assert described(None) == WHAT


@pytest.mark.requirement("G5")
@pytest.mark.parametrize(
    ("marked", "manner"),
    [
        ("[editor]\nen|vs = []", "adds to the list of the layers below; `--cfg KEY=...` replaces it, "),
        (
            "[assistant]\ninstruc|tions = []",
            "adds to the list of the layers below, unless its `strategy` says otherwise; `--cfg KEY=...` replaces it, ",
        ),
    ],
)
def test_a_list_says_how_files_and_expressions_differ(marked: str, manner: str) -> None:
    subject = subject_at(*at_cursor(marked))
    assert subject is not None
    assert f"\n- {manner}`--cfg KEY+=...` adds\n" in describe(subject, None)


def test_a_setting_with_its_origin() -> None:
    said = (Contribution(USER, "shadowed", 3), Contribution(WORKSPACE, "wins", 7))
    explanation = Explanation("assistant.request.max_retries", 7, WORKSPACE, said, OUR_ORDER)
    assert described(explanation) == (
        f"{WHAT}\n- now: `7`, from `.jp/config.toml:7`\n- `/home/me/config.toml:2` has no effect: `3`"
    )


def test_nothing_in_a_value_becomes_markdown() -> None:
    said = (Contribution(WORKSPACE, "wins", "a ` b\n# c"),)
    explanation = Explanation("assistant.name", "a ` b\n# c", WORKSPACE, said, OUR_ORDER)
    assert described(explanation).splitlines()[-1] == '- now: ``"a ` b\\n# c"``, from `.jp/config.toml:7`'


@pytest.mark.parametrize(
    ("marked", "target"),
    [
        ("extends = ['par|ts/*.toml']", ExtendedFiles("parts/*.toml")),
        ("extends = [{ path = 'a|', strategy = 'after' }]", ExtendedFiles("a")),
        ("extends = [{ path = 'a', strategy = 'af|ter' }]", None),
        ("assistant.model.id = 'fa|st'", Setting("providers.llm.aliases.fast")),
        ("assistant.model.id = 'anthropic/x|'", None),
        ("assistant.na|me = 'x'", Setting("assistant.name")),
        ("assis|tant.name = 'x'", None),
        ("x|yz = 1", None),
        ("|", None),
    ],
)
def test_what_a_place_points_at(marked: str, target: Target | None) -> None:
    assert target_at(*at_cursor(marked)) == target


MODEL = ModelId("anthropic", "tiny")


@pytest.mark.parametrize(
    ("details", "facts"),
    [
        (ModelDetails(MODEL), []),
        (
            ModelDetails(
                MODEL,
                "Tiny",
                200_000,
                8_000,
                Budgetted(can_disable=True, min_tokens=1),
                date(2025, 3, 1),
                structured_output=True,
            ),
            [
                "- Tiny",
                "- reads 200,000 tokens",
                "- writes 8,000 tokens at most",
                "- reasons if asked to",
                "- is held to a schema by its vendor",
                "- knows the world until 2025-03-01",
            ],
        ),
        (
            ModelDetails(MODEL, reasoning=Unsupported(), structured_output=False, deprecated=True),
            [
                "- does not reason",
                "- is only asked to keep to a schema",
                "- its vendor is going to switch it off",
            ],
        ),
        (ModelDetails(MODEL, answers_in_text=False), ["- gives no text"]),
        (
            ModelDetails(MODEL, reasoning=Leveled(can_disable=False, levels=frozenset({"low"}))),
            ["- always reasons"],
        ),
        (ModelDetails(ModelId("anthropic", "other"), "Other", 1), []),
    ],
)
def test_what_is_known_of_the_model_that_is_named(details: ModelDetails, facts: list[str]) -> None:
    subject = subject_at(*at_cursor("assistant.model.id = 'anthropic/ti|ny'"))
    assert subject is not None
    explanation = Explanation(
        "assistant.model.id", {"provider": "anthropic", "name": "tiny"}, USER, (), OUR_ORDER
    )
    before, after = describe(subject, explanation), describe(subject, explanation, [details])
    assert after.removeprefix(before).splitlines()[1:] == facts


def test_a_setting_that_names_no_model_is_told_nothing_of_models() -> None:
    subject = subject_at(*at_cursor("assistant.na|me = 'tiny'"))
    assert subject is not None
    explanation = Explanation(
        "assistant.name", {"provider": "anthropic", "name": "tiny"}, USER, (), OUR_ORDER
    )
    known = [ModelDetails(MODEL, "Tiny")]
    assert describe(subject, explanation, known) == describe(subject, explanation)
