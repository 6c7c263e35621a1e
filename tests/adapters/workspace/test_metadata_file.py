import json

import pytest

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.metadata import Metadata, MetadataError
from tests.support.streams import file_text
from tests.support.workspaces import START

LATER = Timestamp(START.nanoseconds + 1)

FULL = {
    "title": "Fix the login bug",
    "last_activated_at": "2026-10-05 21:09:27.8",
    "pinned_at": "2026-10-06 07:00:00.0",
    "archived_at": "2026-10-06T07:00:00+02:00",
    "expires_at": "2026-10-06 07:00:00.123456789",
    "labels": {"area": "auth", "wip": ""},
}


def test_all_fields_are_read() -> None:
    metadata = Metadata.parse(file_text(FULL))
    assert (metadata.title, str(metadata.last_activated_at)) == ("Fix the login bug", "2026-10-05 21:09:27.8")
    assert str(metadata.pinned_at) == "2026-10-06 07:00:00.0"
    assert str(metadata.archived_at) == "2026-10-06 05:00:00.0"
    assert str(metadata.expires_at) == "2026-10-06 07:00:00.123456789"


@pytest.mark.requirement("F33")
def test_the_text_of_an_unchanged_file_stays() -> None:
    text = '{"local": true,\n"last_activated_at": "2026-10-05T23:09:27.8+02:00"}'
    metadata = Metadata.parse(text)
    assert metadata.text == text
    assert metadata.with_title(None).text == text
    assert metadata.last_activated_at == START


def test_a_change_keeps_what_we_do_not_know_and_the_order_of_the_format() -> None:
    read = {"local": True, "labels": {"b": ["x"], "a": ""}, "last_activated_at": str(START), "user": {"n": 1}}
    changed = Metadata.parse(file_text(read)).with_title("T").with_activation(LATER)
    assert changed.text == file_text(
        {
            "title": "T",
            "last_activated_at": "2026-10-05 21:09:27.800000001",
            "labels": {"a": "", "b": ["x"]},
            "local": True,
            "user": {"n": 1},
        }
    )


@pytest.mark.parametrize(
    ("title", "fields"),
    [("", {"title": ""}), (None, {}), ("é\ud800", {"title": "é\ufffd"})],
)
@pytest.mark.requirement("C23")
def test_an_empty_title_is_a_title(title: str | None, fields: dict[str, str]) -> None:
    metadata = Metadata.parse(file_text(FULL)).with_title(title)
    rest = {name: value for name, value in FULL.items() if name != "title"}
    assert json.loads(metadata.text) == {**fields, **rest}


@pytest.mark.requirement("C20")
def test_null_is_the_same_as_missing_where_the_format_says_so() -> None:
    nulls = dict.fromkeys(("title", "pinned_at", "archived_at", "expires_at"))
    metadata = Metadata.parse(json.dumps({**nulls, "last_activated_at": str(START)}))
    assert (metadata.title, metadata.pinned_at) == (None, None)
    assert json.loads(metadata.with_activation(LATER).text) == {"last_activated_at": str(LATER)}


def test_new_metadata_have_the_time_alone() -> None:
    assert Metadata.new(START).text == file_text({"last_activated_at": "2026-10-05 21:09:27.8"})


TIME = '"last_activated_at": "2026-10-05 21:09:27.8"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("[]", "must hold an object, not an array"),
        ("{}", "'last_activated_at' is missing"),
        ('{"last_activated_at": null}', "'last_activated_at' is missing"),
        ('{"last_activated_at": 5}', "'last_activated_at' must be a string"),
        ('{"last_activated_at": "2026-10-05T21:09:27"}', "'last_activated_at': .* is not a timestamp"),
        (f'{{{TIME}, "title": 5}}', "'title' must be a string, not a number"),
        (f'{{{TIME}, "labels": null}}', "'labels' must be an object, not null"),
        (f'{{{TIME}, "labels": {{"a": 1}}}}', "label 'a' must be a string"),
        (f'{{{TIME}, "title": "a", "title": "b"}}', "'title' is there twice"),
        (f"{{{TIME}}} x", "Extra data"),
        ("[" * 100_000, "nested too deep"),
        (f'{{{TIME}, "x": {"[" * 200}{"]" * 200}}}', "nested too deep"),
    ],
)
@pytest.mark.requirement("C16", "C19", "C20")
def test_a_wrong_file_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(MetadataError, match=f"metadata.json: .*{problem}"):
        Metadata.parse(text)


def test_a_repeated_unknown_key_is_not_our_business() -> None:
    metadata = Metadata.parse(f'{{{TIME}, "x": {{"title": 1, "title": 2}}, "x": 3}}')
    assert json.loads(metadata.with_activation(LATER).text)["x"] == 3


def test_labels_are_written_by_the_bytes_of_their_keys_and_none_are_not_written() -> None:
    read = {"last_activated_at": str(START), "labels": {"é": "", "b": "", "Z": ""}}
    written = json.loads(Metadata.parse(json.dumps(read)).with_activation(LATER).text)
    assert list(written["labels"]) == ["Z", "b", "é"]
    changed = Metadata.parse(json.dumps(read | {"labels": {}})).with_title("T")
    assert changed.text == file_text({"title": "T", "last_activated_at": str(START)})


@pytest.mark.requirement("C18")
def test_lone_surrogates_are_mended_and_so_written() -> None:
    metadata = Metadata.parse(
        f'{{{TIME}, "title": "a\\ud800", "labels": {{"\\udc00": "b"}}, "x": ["\\udfff"]}}'
    )
    assert (metadata.title, metadata.labels) == ("a\ufffd", {"\ufffd": ("b",)})
    assert json.loads(metadata.text)["x"] == ["\ufffd"]
    metadata.text.encode()
