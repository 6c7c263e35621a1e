"""Looking for a text in stored entries: what is seen, how case matters, how a hit is addressed."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.search import SCOPES, Hit, PatternError, Scope, SearchQuery, find_all
from jp_lsp.conversation.splitter import ElementSplitter
from jp_lsp.conversation.stored import StreamFormatError
from tests.support.streams import (
    Raw,
    answer,
    call,
    delta,
    message,
    question,
    raw,
    reasoning,
    result,
    turn,
    user,
)

ENTRIES: tuple[Raw, ...] = (
    turn(),
    user("Where is the Key?"),
    reasoning("the key may be in a file"),
    call("c1", path="a2V5LnR4dA==", depth=40),  # key.txt
    question("c1.sure"),
    answer("c1.sure"),
    result("c1", "b25lCmEga2V5IGhlcmUsIGEga2V5IHRoZXJlCnR3bw=="),  # one / a key here, a key there / two
    delta(assistant={"name": "key"}),
    turn(),
    user("again"),
    message("The KEY\nis gone"),
    raw("chat_response", data={"found": False, "key": [1, "x"]}),
    {"type": "new_kind", "timestamp": "2026-10-05 21:09:27.8", "text": "key"},
)


def search(query: SearchQuery, entries: Iterable[JsonValue] = ENTRIES) -> list[Hit]:
    return list(find_all(entries, query.compiled(), query.scopes))


def places(hits: Iterable[Hit]) -> list[tuple[Scope, int | None, int | None, int]]:
    return [(hit.scope, hit.turn, hit.position, hit.count) for hit in hits]


@pytest.mark.requirement("R281", "C29")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            SearchQuery("key"),
            [
                ("user", 0, 1, 1),
                ("reasoning", 0, 2, 1),
                ("tool_call", 0, 3, 1),
                ("tool_result", 0, 6, 2),
                ("assistant", 1, 10, 1),
                ("structured", 1, 11, 1),
            ],
        ),
        (SearchQuery("Key"), [("user", 0, 1, 1)]),
        (SearchQuery("KEY", is_case_sensitive=False, scopes=frozenset({"user"})), [("user", 0, 1, 1)]),
        (SearchQuery("key", is_case_sensitive=True, scopes=frozenset({"user", "assistant"})), []),
        (SearchQuery("^is", is_regex=True), [("assistant", 1, 10, 1)]),
        (SearchQuery(r"\SEY", is_regex=True), [("assistant", 1, 10, 1)]),
        (SearchQuery(r"\Sey\b", is_regex=True, scopes=frozenset({"assistant"})), [("assistant", 1, 10, 1)]),
        (SearchQuery("k.y"), []),
        (SearchQuery("Sure?"), [("inquiry", 0, 4, 1)]),
        (SearchQuery("40", scopes=frozenset({"tool_call"})), [("tool_call", 0, 3, 1)]),
        (SearchQuery("a2V5"), []),
        (SearchQuery("name"), []),
    ],
)
def test_what_is_found_where(query: SearchQuery, expected: list[tuple[Scope, int, int, int]]) -> None:
    """Trap 29: what is stored as base64 is searched as what it says, and its base64 is not."""
    assert places(search(query)) == expected


def test_the_excerpt_is_the_line_of_the_first_match() -> None:
    (hit,) = search(SearchQuery("key", scopes=frozenset({"tool_result"})))
    assert (hit.excerpt.before, hit.excerpt.match, hit.excerpt.after) == ("a ", "key", " here, a key there")
    (hit,) = search(SearchQuery("x+", is_regex=True), [user("a" * 500 + "x" * 500 + "b" * 500)])
    assert hit.excerpt.before == "…" + "a" * 59
    assert hit.excerpt.match == "x" * 159 + "…"
    assert hit.excerpt.after == "b" * 119 + "…"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (SearchQuery(""), "there is nothing to search for"),
        (
            SearchQuery("(", is_regex=True),
            "'(' is not a regular expression: missing ), unterminated subpattern",
        ),
        (SearchQuery("a{99999999999}", is_regex=True), "the repetition number is too large"),
    ],
)
def test_a_pattern_that_is_none(query: SearchQuery, problem: str) -> None:
    with pytest.raises(PatternError) as caught:
        query.compiled()
    assert problem in str(caught.value)


def test_an_entry_of_the_wrong_shape_ends_the_search_with_its_number() -> None:
    hits = find_all(
        [user("key"), raw("tool_call_response", id="x", content="")],
        SearchQuery("key").compiled(),
        frozenset(SCOPES),
    )
    assert next(hits).position == 0
    with pytest.raises(StreamFormatError, match=r"entry 1: .*is_error"):
        next(hits)


def split(text: str, size: int) -> list[JsonValue]:
    splitter = ElementSplitter()
    found = [
        element
        for start in range(0, len(text), size)
        for element in splitter.feed(text[start : start + size])
    ]
    return [*found, *splitter.finish()]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("R309")
@given(elements=st.lists(JSON, max_size=6), size=st.integers(1, 40), indent=st.sampled_from([None, 2]))
def test_an_array_in_pieces_gives_its_elements(
    elements: list[JsonValue], size: int, indent: int | None
) -> None:
    assert split(json.dumps(elements, indent=indent) + "\n", size) == elements


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[", "[1", "[1,", "[1,]", "[1 2]", "[1]]", "[1] x", '["a', "[,1]", "\ufeff[]", "[" * 5000],
)
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.requirement("C19")
def test_what_is_no_array_is_refused(text: str, size: int) -> None:
    """Trap 19: bytes before or after the array are not looked over."""
    with pytest.raises(StreamFormatError):
        split(text, size)
