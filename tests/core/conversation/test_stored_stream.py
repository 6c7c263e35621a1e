"""Loading `events.json` and `base_config.json`, and writing them back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.directive import Unknown
from jp_lsp.conversation.event import ChatRequest, ConversationEvent
from jp_lsp.conversation.events_text import EventsText, is_joined
from jp_lsp.conversation.ids import counting_event_ids
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stored import StreamFormatError, load
from jp_lsp.conversation.stream import ConversationStream
from tests.support.streams import (
    Raw,
    at,
    call,
    delta,
    file_text,
    lines,
    message,
    stored_entries,
    stream_of,
    turn,
    user,
)
from tests.support.work import count_calls


def load_text(events: str, base: str | None = "{}\n", *, newer_format: bool = False) -> ConversationStream:
    return load(events, base, created_at=at(0), mint=counting_event_ids(), newer_format=newer_format)


def hello(second: int = 9) -> ConversationEvent:
    return ConversationEvent(at(second), ChatRequest("hello"))


FOREIGN: list[JsonValue] = [
    {"timestamp": str(at(0)), "type": "mood", "value": {"s": "c3Jj", "n": [1.5e300, None]}},
    {"type": "later"},
    {"no": "type"},
    {"type": 7},
    {"type": {"nested": []}},
    "a string",
    None,
    [1, {}],
]


@pytest.mark.requirement("R35", "R219", "R280", "C30")
def test_unknown_entries_survive_in_their_places() -> None:
    entries = [turn(), *FOREIGN, user("hi")]
    stream = stream_of(*entries)  # type: ignore[arg-type]  # foreign entries may be of any shape
    assert [type(entry.content) for entry in stream.entries[1:-1]] == [Unknown] * len(FOREIGN)
    assert lines(stream.events()) == ["turn", "user: hi"]
    stream.append(hello())
    assert stored_entries(stream) == [*entries, user("hello", 9)]


@pytest.mark.requirement("C13", "C17")
def test_unknown_fields_odd_numbers_and_times_of_an_unchanged_entry_survive() -> None:
    text = (
        '[{"type":"chat_request", "timestamp":"2026-10-05T23:09:27+02:00","x":1.50e+07,\n'
        ' "content":"caf\\u00e9","big":123456789012345678901234567890,"x2":-0}, '
        f"{json.dumps(turn(1))}]"
    )
    stream = load_text(text)
    assert stream.events_text() == text
    stream.append(hello())
    written = stream.events_text()
    assert '"x":1.50e+07' in written
    assert '"2026-10-05T23:09:27+02:00"' in written
    assert "caf\\u00e9" in written
    assert "123456789012345678901234567890" in written
    assert '"x2":-0' in written
    assert len(json.loads(written)) == 3


@pytest.mark.requirement("F33")
@pytest.mark.parametrize(
    "text",
    [
        "[]\n",
        "[]",
        " [ ] ",
        file_text([turn(), user("é")]),
        json.dumps([turn(), user("é")]),
        "[\n\n{}\n,\n3]\n\n",
    ],
)
def test_a_stream_that_did_not_change_is_written_as_it_was_read(text: str) -> None:
    stream = load_text(text, '{"a": 1.0e5}')
    assert (stream.events_text(), stream.base_config_text()) == (text, '{"a": 1.0e5}')


@pytest.mark.requirement("C16")
def test_a_duplicate_key_has_its_last_value() -> None:
    text = f'[{{"type":"chat_request","timestamp":"{at(0)}","content":"first","content":"last"}}]'
    assert lines(load_text(text).events()) == ["user: last"]


@pytest.mark.requirement("C18")
def test_lone_surrogates_never_reach_the_file_again() -> None:
    entry = '{"type":"chat_request","timestamp":"%s","content":"a\\ud800b \\ud83d\\ude00"}' % at(0)  # noqa: UP031  # braces
    stream = load_text(f"[{entry}]")
    assert lines(stream.events()) == ["user: a\ufffdb \U0001f600"]
    stream.append(hello())
    assert "ud800" not in stream.events_text()
    stream.events_text().encode()


@pytest.mark.requirement("C18")
def test_lone_surrogates_of_the_base_reach_no_file_either() -> None:
    stream = load_text("[]", '{"assistant": {"name": "a\\ud800"}}')
    assert stream.base_config == {"assistant": {"name": "a\ufffd"}}
    for each in (stream, stream.copy()):
        assert each.base_config_text() == file_text({"assistant": {"name": "a\ufffd"}})


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ("", "not a JSON array"),
        ("{}", "not a JSON array"),
        ("\ufeff[]", "starts with a byte order mark"),
        ("[1", "expected ',' or ']' at character 2"),
        ("[1 2]", "expected ',' or ']' at character 3"),
        ("[1,]", "Expecting value"),
        ("[] []", "more after the array"),
        ("[NaN]", "NaN is not JSON"),
        ("[" * 100_000, "recursion"),
        (
            file_text(
                [turn(), {"type": "tool_call_response", "timestamp": str(at(0)), "id": "c", "content": "x"}]
            ),
            r"entry 1 \(tool_call_response\): 'is_error' is missing",
        ),
        (
            file_text([{"type": "compaction", "timestamp": str(at(0))}]),
            r"entry 0 \(compaction\): 'from_turn'",
        ),
        (file_text([{**turn(), "event_id": 7}]), "'event_id' must be a string, not a number"),
    ],
)
@pytest.mark.requirement("C19", "C22", "C32")
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(events: str, problem: str) -> None:
    with pytest.raises(StreamFormatError, match=problem):
        load_text(events)


@pytest.mark.parametrize(
    ("base", "problem"),
    [
        ("[]", "must hold an object, not an array"),
        ("{", "base_config.json: "),
        ("\ufeff{}", "byte order mark"),
    ],
)
def test_a_broken_base_config_is_refused(base: str, problem: str) -> None:
    with pytest.raises(StreamFormatError, match=problem):
        load_text("[]", base)


class TestLegacyLayout:
    """No `base_config.json`: the first element holds it."""

    @pytest.mark.requirement("R41", "R280", "C42")
    @pytest.mark.parametrize(
        "first",
        [
            delta(0, inherit=False, assistant={"name": "A"}),
            {"type": "config_delta", "timestamp": str(at(0)), "inherit": False, "assistant": {"name": "A"}},
        ],
    )
    def test_the_first_delta_becomes_the_base(self, first: Raw) -> None:
        rest = [user("hi"), delta(3, user={"name": "B"})]
        stream = load_text(file_text([first, *rest]), None)
        assert stream.base_config_text() == file_text({"inherit": False, "assistant": {"name": "A"}})
        assert stream.events_text() == file_text(rest)
        assert [entry.id for entry in stream.entries] == ["0000000", "0000001"]

    @pytest.mark.requirement("R289")
    def test_a_crash_between_the_two_files_is_mended(self) -> None:
        """The base is there, and still what it was made of; read as a change it would double what lists hold."""
        base: Raw = {"assistant": {"instructions": [{"title": "Be brief"}]}}
        leading = {**delta(0), "delta": base}
        stream = load_text(file_text([leading, turn(), user("hi"), leading]), file_text(base))
        assert (stream.base_config, stored_entries(stream)) == (base, [turn(), user("hi"), leading])
        for other in ({**leading, "delta": {**base, "user": {"name": "A"}}}, {**leading, "unsets": ["user"]}):
            text = file_text([other, turn()])
            assert load_text(text, file_text(base)).events_text() == text
        nothing = file_text([delta(0), turn()])
        assert load_text(nothing, "{}\n").events_text() == nothing

    @pytest.mark.parametrize("entries", [[], [user("hi")], [turn(), delta(0)]])
    def test_without_a_leading_delta_there_is_no_configuration(self, entries: list[Raw]) -> None:
        with pytest.raises(StreamFormatError, match="does not begin with a config_delta"):
            load_text(file_text(entries), None)


class TestIds:
    """Every entry has an id in memory; the file has them only if it had some, or is to have them."""

    @pytest.mark.requirement("R38", "R40")
    def test_a_file_without_ids_stays_without(self) -> None:
        stream = stream_of(turn(), user("a"))
        stream.append(hello())
        assert [entry.id for entry in stream.entries] == ["0000000", "0000001", "0000002"]
        assert "event_id" not in stream.events_text()

    @pytest.mark.requirement("R34", "C45")
    def test_a_file_with_one_id_gets_all(self) -> None:
        stream = stream_of(turn(), {"event_id": "A-1", **user("a")}, {"event_id": "", **message("b")})
        stream.append(hello())
        written = stored_entries(stream)
        assert [next(iter(entry)) for entry in written] == ["event_id"] * 4
        assert [entry["event_id"] for entry in written] == ["0000000", "A-1", "0000001", "0000002"]
        assert written[1] == {"event_id": "A-1", **user("a")}

    @pytest.mark.requirement("R39", "R42", "C44")
    def test_of_equal_ids_the_first_stays_and_the_others_are_renewed(self) -> None:
        one: Raw = {"event_id": "0000000"}
        stream = stream_of(
            {**one, **turn()}, {**one, **user("a")}, {"event_id": "x", **user("b")}, {**one, **user("c")}
        )
        assert [entry.id for entry in stream.entries] == ["0000000", "0000001", "x", "0000002"]
        assert stream.ambiguous_ids == {"0000000"}
        assert [entry["event_id"] for entry in stored_entries(stream)] == [
            "0000000",
            "0000001",
            "x",
            "0000002",
        ]
        assert lines(stream.events()) == ["turn", "user: a", "user: b", "user: c"]

    def test_an_id_of_the_file_is_never_drawn(self) -> None:
        stream = stream_of(turn(), user("a"), {"event_id": "0000001", **user("b")})
        assert [entry.id for entry in stream.entries] == ["0000000", "0000002", "0000001"]

    def test_a_new_entry_gets_none_of_the_file_s_ids(self) -> None:
        stream = stream_of({"event_id": "0000000", **turn()})
        stream.append(hello())
        assert [entry.id for entry in stream.entries] == ["0000000", "0000001"]

    def test_the_switch_writes_ids_from_the_next_change_on(self) -> None:
        text = file_text([turn(), "odd", {"type": "mood"}])
        stream = load_text(text, newer_format=True)
        assert stream.events_text() == text
        stream.append(hello())
        assert [e if isinstance(e, str) else e.get("event_id") for e in stored_entries(stream)] == [
            "0000000",
            "odd",
            "0000002",
            "0000003",
        ]


ENTRY = st.one_of(
    st.builds(user, st.text(), st.integers(0, 9)),
    st.builds(message, st.text(), st.integers(0, 9)),
    st.builds(turn),
    st.dictionaries(st.text(), st.integers() | st.text()),
    st.integers(),
)


@given(st.lists(ENTRY, max_size=8), st.booleans())
@pytest.mark.requirement("R219")
def test_whatever_is_loaded_is_written_back(entries: list[JsonValue], is_compact: bool) -> None:
    text = json.dumps(entries) if is_compact else file_text(entries)
    stream = load_text(text)
    assert stream.events_text() == text
    stream.append(hello())
    stream.truncate(len(entries))
    assert json.loads(stream.events_text()) == json.loads(text)


@pytest.mark.requirement("F34", "C64")
def test_loading_costs_twice_as_much_for_twice_as_many_entries() -> None:
    def cost(count: int) -> int:
        text = file_text([delta(n, n=n) if n % 50 == 0 else message(f"m{n}", n) for n in range(count)])
        return count_calls(lambda: load_text(text))

    cost(100)
    assert cost(4000) < 2.5 * cost(2000)


class TestAnotherForm:
    """A file that is not in JP's form keeps its own in front of what is new, as long as nothing old changes."""

    TEXT = json.dumps([turn(), user("hi"), message("hello")], separators=(",", ":"))

    def grown(self) -> ConversationStream:
        stream = load_text(self.TEXT)
        stream.append(hello())
        return stream

    def test_new_entries_go_behind_the_old_text(self) -> None:
        expected = (
            self.TEXT[:-1] + ",\n  " + file_text(user("hello", 9)).replace("\n", "\n  ").rstrip() + "\n]\n"
        )
        assert self.grown().events_text() == expected

    def test_what_is_taken_back_leaves_the_text_that_was_read(self) -> None:
        stream = self.grown()
        stream.truncate(3)
        assert stream.events_text() == self.TEXT

    def test_a_new_entry_may_change(self) -> None:
        stream = self.grown()
        stream.amend(3, {"decision": "run"})
        assert stream.events_text().startswith(self.TEXT[:-1] + ",\n  {\n")
        assert stored_entries(stream)[3]["metadata"] == {"decision": "cnVu"}

    @pytest.mark.parametrize("position", [0, 2])
    def test_a_change_of_an_old_one_brings_the_form_of_jp(self, position: int) -> None:
        stream = self.grown()
        stream.amend(position, {"decision": "run"})
        assert stream.events_text().startswith("[\n  {")
        assert len(stored_entries(stream)) == 4

    @pytest.mark.requirement("R16", "C25", "C30")
    def test_a_change_of_an_old_one_keeps_what_it_has_beside(self) -> None:
        """Fields that nobody here knows, numbers as they were written, and what was stored without base64."""
        old: Raw = {
            **call("c", path="c3JjL21haW4", lines=40),
            "trace": {"span": 7},
            "metadata": {"span": "YQ"},
        }
        stream = stream_of(turn(), user("hi"), old)
        stream.amend(2, {"decision": "run"})
        assert stored_entries(stream)[2] == {**old, "metadata": {"span": "YQ", "decision": "cnVu"}}
        assert stream.events()[2].metadata == {"span": "YQ", "decision": "run"}
        del old["metadata"]
        stream = stream_of(turn(), user("hi"), old, newer_format=True)
        stream.amend(2, {"decision": "run"})
        kept = stored_entries(stream)[2]
        assert list(kept) == ["event_id", *old, "metadata"]
        assert kept["metadata"] == {"decision": "cnVu"}

    def test_so_does_a_rollback_into_it(self) -> None:
        stream = self.grown()
        stream.truncate(2)
        assert stored_entries(stream) == [turn(), user("hi")]

    def test_what_was_made_now_is_what_was_made_now(self) -> None:
        stream = self.grown()
        now = stream.events_now()
        stream.append(hello(11))
        stream.truncate(1)
        assert now.text() == self.grown().events_text()


@given(st.lists(ENTRY, max_size=5), st.text(" \n,[]", max_size=3))
def test_the_form_of_jp_is_recognised(entries: list[JsonValue], more: str) -> None:
    """Exactly where the entries alone would make the same text."""
    stream = load_text(file_text(entries))
    joined = EventsText(None, stream.entries).text()
    assert is_joined(joined, stream.entries)
    assert is_joined(joined + more, stream.entries) is (more == "")
    assert is_joined(joined.replace("\n  ", "\n\t", 1), stream.entries) is ("\n  " not in joined)


@pytest.mark.parametrize(
    ("text", "newer_format"), [("\\ud800", False), ("x", True)], ids=["a surrogate to mend", "an id to give"]
)
@pytest.mark.requirement("C18")
def test_an_entry_that_is_too_deep_to_be_written_again_is_refused(text: str, newer_format: bool) -> None:
    entry = '{"type": "later", "a": ' + "[" * 200 + f'"{text}"' + "]" * 200 + "}"
    with pytest.raises(StreamFormatError, match="nested too deep to be written"):
        load(f"[{entry}]", "{}", created_at=at(0), mint=counting_event_ids(), newer_format=newer_format)
