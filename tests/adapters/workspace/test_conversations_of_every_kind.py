"""Conversations that no program of today writes: of every age, by every writer, in every form that JSON allows.

Each is read, saved without a change, repaired in a copy, and goes on with a turn. What somebody wrote stays to the
byte, whatever we make of it: in both places of the conversation, and in front of what is new.
"""

import json
import re
from dataclasses import dataclass

import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.workspace.lock import lock_path
from tests.support.streams import (
    Raw,
    answer,
    at,
    call,
    compaction,
    delta,
    entry_lines,
    file_text,
    message,
    question,
    raw,
    reasoning,
    result,
    turn,
    user,
)
from tests.support.workspaces import ID, START, Place, make_old, states

pytestmark = pytest.mark.anyio

NAME = "17912345678-old"
METADATA = '{"title": "Old", "last_activated_at": "2026-10-05T21:09:27.8+00:00", "user": null, "local": 1.50}'
BASE = '{"assistant": {"model": {"id": "flash"}, "temperature": 1e-1}}'


@dataclass(frozen=True)
class Old:
    """A conversation as its files hold it.

    `loaded` and `repaired` count entries, events and turns; `last` is the last entry of the repaired one. A `base`
    of `None` is the layout in which the first entry is the base configuration.
    """

    events: str
    loaded: tuple[int, int, int]
    repaired: tuple[int, int, int]
    last: str | None
    base: str | None = BASE


ONE = [turn(), user("hi"), message("hello")]
STEADY = ((3, 3, 1), (3, 3, 1), "message: hello")


def entry(text: str) -> str:
    """An array of a turn, a request and one entry, which is written as it stands here."""
    return f"[\n  {_one(turn())},\n  {_one(user('hi'))},\n  {text}\n]\n"


def _one(value: Raw) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def request(fields: str) -> str:
    """The entry of a call whose arguments are written as they stand here."""
    text = '{"timestamp": "2026-10-05 21:09:27.0", "type": "tool_call_request", "id": "c", "name": "t", "arguments": {%s}}'
    return entry(text % fields)


CALLED = ((3, 3, 1), (4, 4, 1), "error c: Tool call was interrupted.")

CASES: dict[str, Old] = {
    # the layout without a file of its own for the base configuration
    "base in the first entry": Old(file_text([delta(assistant={"name": "A"}), *ONE]), *STEADY, base=None),
    "base in a flat first entry": Old(
        file_text([{"type": "config_delta", "timestamp": str(at(0)), "assistant": {"name": "A"}}, *ONE]),
        *STEADY,
        base=None,
    ),
    "base in a first entry without a time": Old(
        file_text([{"type": "config_delta", "delta": {}}, *ONE]), *STEADY, base=None
    ),
    "nothing but the base": Old(file_text([delta()]), (0, 0, 0), (0, 0, 0), None, base=None),
    # the form of the text
    "nothing": Old("[]\n", (0, 0, 0), (0, 0, 0), None),
    "nothing, with blanks": Old(" [\t\r\n ] ", (0, 0, 0), (0, 0, 0), None),
    "no line end at the end": Old(file_text(ONE).removesuffix("\n"), *STEADY),
    "many line ends at the end": Old(file_text(ONE) + "\n \r\n", *STEADY),
    "line ends of Windows": Old(file_text(ONE).replace("\n", "\r\n"), *STEADY),
    "tabs": Old(json.dumps(ONE, indent="\t"), *STEADY),
    "one line": Old(json.dumps(ONE, separators=(",", ":")), *STEADY),
    "blanks around commas": Old(json.dumps(ONE, separators=(" , ", " : ")), *STEADY),
    "a line for each entry": Old("[\n" + ",\n".join(map(json.dumps, ONE)) + "\n]\n", *STEADY),
    "escapes that nobody needs": Old(
        entry(r'{"type":"chat_response","timestamp":"2026-10-05 21:09:27.0","message":"\u0068ell\u006f"}'),
        *STEADY,
    ),
    "escapes of control characters and slashes": Old(
        entry(
            '{"timestamp":"2026-10-05 21:09:27.0","type":"chat_response","message":"a\\/b\\u001F\\u007f\x7f\\b"}'
        ),
        (3, 3, 1),
        (3, 3, 1),
        "message: a/b\x1f\x7f\x7f\b",
    ),
    "separators of lines within a text": Old(
        file_text([turn(), user("hi"), message("a\u2028b\u2029c\x85d\U0001f600")]),
        (3, 3, 1),
        (3, 3, 1),
        "message: a\u2028b\u2029c\x85d\U0001f600",
    ),
    "keys in another order": Old(
        entry(
            '{"message":"hello","type":"chat_response","metadata":{"b":"YQ==","a":1},"timestamp":"2026-10-05 21:09:27.0"}'
        ),
        *STEADY,
    ),
    "a key that is there twice": Old(
        entry(
            '{"type":"x","type":"chat_response","message":"a","timestamp":"2026-10-05 21:09:27.0","message":"hello"}'
        ),
        *STEADY,
    ),
    # numbers
    "floats and exponents": Old(
        request('"n": [1.0, 1e3, 1E+3, 1.50e-07, -0, -0.0, 1e22, 123456789.123456789123]'), *CALLED
    ),
    "integers of any size": Old(
        request(f'"n": [18446744073709551616, -9223372036854775809, {"9" * 400}]'), *CALLED
    ),
    # times
    "times of every form": Old(
        file_text(
            [
                {"timestamp": "2026-10-05T23:09:27.123456789+02:00", "type": "turn_start"},
                {**user("hi"), "timestamp": "2026-10-05 21:09:27"},
                {**message("hello"), "timestamp": "1969-12-31 23:59:59.000000001"},
            ]
        ),
        *STEADY,
    ),
    # kinds and fields
    "kinds that we do not know": Old(
        file_text(
            [raw("mood", v="c3Jj"), turn(), {"type": "later"}, user("hi"), message("hello"), raw("end", x={})]
        ),
        (6, 3, 1),
        (6, 3, 1),
        "Unknown",
    ),
    "fields that we do not know": Old(
        file_text(
            [{**turn(), "depth": 1.0}, user("hi", x={"deep": ["c3Jj", None]}), message("hello", y="YQ==")]
        ),
        *STEADY,
    ),
    "changes of settings, old and new": Old(
        file_text(
            [
                turn(),
                user("hi"),
                {"type": "config_delta", "timestamp": str(at(9)), "assistant": {"name": "flat"}},
                {"type": "config_delta", "timestamp": "some day", "delta": {"user": {}}},
                {"type": "config_delta", "timestamp": str(at(0)), "op": "reset"},
                {"type": "config_delta", "timestamp": str(at(0)), "delta": {}, "unsets": ["a.b", 1]},
                message("hello"),
            ]
        ),
        (7, 3, 1),
        (7, 3, 1),
        "message: hello",
    ),
    "compactions and overlays": Old(
        file_text(
            [
                *ONE,
                compaction(0, 9, summary={"summary": "S", "source": "authored"}, later={"a": 1}),
                compaction(0, 0, reasoning={"policy": "strip", "over": "4KB"}),
                raw("event_overlay", patches=[]),
            ]
        ),
        (6, 3, 1),
        (6, 3, 1),
        "EventOverlay",
    ),
    "ids, some of them twice": Old(
        file_text(
            [
                {"event_id": "A-1", **turn()},
                {"event_id": "x" * 40, **user("hi")},
                {"event_id": "b", **message("hello")},
            ]
        ),
        *STEADY,
    ),
    "inquiries of every outcome": Old(
        file_text(
            [
                turn(),
                user("hi"),
                question("a"),
                answer("a"),
                question("b"),
                raw("inquiry_response", id="b", outcome="cancelled", reason="later", answer=None),
                question("c"),
                raw("inquiry_response", id="c", outcome="redacted"),
                message("hello"),
            ]
        ),
        (9, 9, 1),
        (9, 9, 1),
        "message: hello",
    ),
    "content that only looks like base64": Old(
        file_text([turn(), user("hi"), call("c", a="file", b="YWI_"), result("c", "not base64")]),
        (4, 4, 1),
        (4, 4, 1),
        "result c: not base64",
    ),
    # what repair is for
    "no turn start": Old(file_text([user("hi"), message("hello")]), (2, 2, 1), (3, 3, 1), "message: hello"),
    "two turn starts in the middle": Old(
        file_text([*ONE, turn(), turn(), user("again"), message("hello")]),
        (7, 7, 3),
        (7, 7, 3),
        "message: hello",
    ),
    "a question without an answer": Old(
        file_text([turn(), user("hi"), question("q"), message("hello")]),
        (4, 4, 1),
        (3, 3, 1),
        "message: hello",
    ),
    "a call without a result": Old(file_text([turn(), user("hi"), call("c")]), *CALLED),
    "one id for two calls": Old(
        file_text([turn(), user("hi"), call("c"), result("c", "MQ=="), call("c"), result("c", "Mg==")]),
        (6, 6, 1),
        (6, 6, 1),
        "result c: 2",
    ),
    "redacted thoughts": Old(
        file_text(
            [
                turn(),
                user("hi"),
                reasoning("", metadata={"anthropic_redacted_thinking": "c2ln"}),
                message("hello"),
            ]
        ),
        (4, 4, 1),
        (4, 4, 1),
        "message: hello",
    ),
}


def write(place: Place, old: Old, **files: str | bytes) -> None:
    """Put the conversation into both places, as if it had been there for long."""
    roots = place.open()
    for root in roots.in_reading_order:
        folder = root.conversations / NAME
        folder.mkdir(parents=True)
        contents = {"metadata.json": METADATA, "events.json": old.events, **files}
        if old.base is not None:
            contents["base_config.json"] = old.base
        for name, content in contents.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        make_old(folder, 1000)


def counts(stream: ConversationStream) -> tuple[int, int, int]:
    return len(stream), len(stream.events()), stream.turn_count


per_case = pytest.mark.parametrize("name", CASES)


@per_case
@pytest.mark.requirement("R219", "C36", "C37", "C38", "C41", "C42")
async def test_it_is_read_and_repaired_as_the_format_says(place: Place, name: str) -> None:
    old = CASES[name]
    write(place, old)
    before = states(place.folder.parent)
    stream = (await place.store().copy(ID)).stream
    assert counts(stream) == old.loaded
    sanitize(stream)
    assert counts(stream) == old.repaired
    lines = entry_lines(stream.entries)
    assert (lines[-1] if lines else None) == old.last
    assert sanitize(stream) is False
    assert states(place.folder.parent) == before


@per_case
@pytest.mark.requirement("F33", "C13", "C17", "C54")
async def test_saved_without_a_change_no_byte_is_another(place: Place, name: str) -> None:
    """But for the layout without a base configuration, which gets its third file and loses that entry."""
    old = CASES[name]
    write(place, old)
    before = states(place.folder.parent)
    opened = await place.store().open(ID)
    assert opened is not None
    await opened.save()
    await opened.release()
    after = states(place.folder.parent)
    if old.base is not None:
        assert after == before
        return
    first, *rest = json.loads(old.events)
    for root in place.open().in_reading_order:
        folder = root.conversations / NAME
        assert (folder / "events.json").read_text("utf-8") == file_text(rest)
        base = {key: value for key, value in first.items() if key not in {"type", "timestamp"}}
        assert json.loads((folder / "base_config.json").read_text("utf-8")) == base.get("delta", base)
        assert (folder / "metadata.json").read_text("utf-8") == METADATA


@per_case
@pytest.mark.requirement("R219", "R281", "C30")
async def test_a_new_turn_leaves_all_before_it_as_it_was(place: Place, name: str) -> None:
    old = CASES[name]
    write(place, old)
    opened = await place.store().open(ID)
    assert opened is not None
    for kind in (TurnStart(), ChatRequest("more"), MessageResponse("there")):
        opened.stream.append(ConversationEvent(START, kind))
    await opened.save()
    await opened.release()
    kept = file_text(json.loads(old.events)[1:]) if old.base is None else old.events
    head = re.sub(r"\s*\]\s*\Z", "", kept) if json.loads(kept) else ""
    for root in place.open().in_reading_order:
        text = (root.conversations / NAME / "events.json").read_bytes().decode()
        assert text.startswith(head)
        added = json.loads(text)[-3:]
        assert [each["type"] for each in added] == ["turn_start", "chat_request", "chat_response"]
        assert json.loads(text)[:-3] == json.loads(kept)
        if old.base is not None:
            assert (root.conversations / NAME / "base_config.json").read_text("utf-8") == old.base
    again = (await place.store().copy(ID)).stream
    assert len(again) == old.loaded[0] + 3


@pytest.mark.requirement("C18")
async def test_half_a_character_goes_with_the_next_change_and_no_other_byte(place: Place) -> None:
    """The reference cannot read such a file at all, so it is mended where it is written anyway."""
    half = entry(
        '{"timestamp":"2026-10-05 21:09:27.0","type":"chat_response","message":"a\\uD800b", "x": 1.50}'
    )
    write(place, Old(half, *STEADY))
    opened = await place.store().open(ID)
    assert opened is not None
    opened.stream.append(ConversationEvent(START, TurnStart()))
    await opened.save()
    await opened.release()
    for root in place.open().in_reading_order:
        text = (root.conversations / NAME / "events.json").read_bytes().decode()
        assert text.startswith(half[: half.index('{"timestamp":')])
        assert json.loads(text)[2] == {
            "timestamp": "2026-10-05 21:09:27.0",
            "type": "chat_response",
            "message": "a\ufffdb",
            "x": 1.5,
        }


@pytest.mark.requirement("C46")
async def test_ids_that_an_older_program_dropped_are_missed_by_nobody(place: Place) -> None:
    """What we keep beside a stream names conversations and calls, never the ids of entries."""
    with_ids = [{"event_id": "one", **turn()}, {"event_id": "two", **user("hi")}]
    write(place, Old(file_text(with_ids), *STEADY))
    store = place.store()
    opened = await store.open(ID)
    assert opened is not None
    await opened.keep_remembered({"tools": {"look": "run"}})
    await opened.keep_draft("half a text")
    await opened.release()
    for root in place.open().in_reading_order:
        path = root.conversations / NAME / "events.json"
        path.write_text(file_text([turn(), user("hi")]), encoding="utf-8")
    opened = await store.open(ID)
    assert opened is not None
    assert await opened.remembered() == {"tools": {"look": "run"}}
    assert await opened.draft() == "half a text"
    opened.stream.append(ConversationEvent(at(9), MessageResponse("hello")))
    await opened.save()
    await opened.release()
    path = place.silo / "conversations" / NAME / "events.json"
    assert path.read_text("utf-8") == file_text([turn(), user("hi"), message("hello", 9)])


BROKEN: dict[str, tuple[dict[str, str | bytes], str]] = {
    "a mark of byte order": ({"events.json": "\ufeff[]"}, "starts with a byte order mark"),
    "another encoding": ({"events.json": '["é"]'.encode("latin-1")}, "is not UTF-8"),
    "UTF-16": ({"events.json": "[]".encode("utf-16")}, "is not UTF-8"),
    "more behind the array": ({"events.json": "[]]"}, "more after the array"),
    "half a file": ({"events.json": file_text(ONE)[:-9]}, "events.json: "),
    "a number that is none": ({"events.json": request('"n": NaN')}, "NaN is not JSON"),
    "a number out of range": ({"events.json": request('"n": 1e999')}, "out of range"),
    "arguments that are null": (
        {"events.json": file_text([{**raw("tool_call_request", id="c", name="t"), "arguments": None}])},
        "'arguments' must be an object",
    ),
    "a result that may be an error": (
        {"events.json": file_text([raw("tool_call_response", id="c", content="x")])},
        "'is_error' is missing",
    ),
    "metadata with a title twice": (
        {"metadata.json": '{"title": "a", "title": "b", "last_activated_at": "2026-10-05 21:09:27.8"}'},
        "'title' is there twice",
    ),
    "a base that is a list": ({"base_config.json": "[]"}, "must hold an object"),
    "a conflict of git": ({"events.json": "<<<<<<< HEAD\n[]\n=======\n[]\n>>>>>>> x\n"}, "not a JSON array"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.requirement("T20", "C19", "C20", "C22", "C32")
async def test_what_cannot_be_read_is_named_and_left_as_it_is(place: Place, name: str) -> None:
    files, problem = BROKEN[name]
    old = Old(file_text(ONE), *STEADY, base=None if "base_config.json" in files else BASE)
    write(place, old, **files)
    store = place.store()
    before = states(place.folder.parent)
    for attempt in (store.open, store.copy):
        with pytest.raises(Refusal, match=re.escape(problem)) as refusal:
            await attempt(ID)
        assert refusal.value.error.code == "conversation_unreadable"
    assert {
        name: state for name, state in states(place.folder.parent).items() if "locks" not in name
    } == before
    assert not lock_path(place.open(), ID).exists()


def test_every_case_is_json_for_others() -> None:
    """The cases are what they say: other readers of JSON agree on their entries."""
    for name, old in CASES.items():
        count = len(json.loads(old.events))
        assert count == old.loaded[0] + (old.base is None), name
