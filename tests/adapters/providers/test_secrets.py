"""Keys and passwords reach no text, not even as the half that a cut leaves of them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jp_lsp.ports.provider import ProviderError
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors, classify_in_band, classify_response
from jp_lsp.providers.google.decode import GenerateDecoder
from jp_lsp.render.secrets import Secrets, cut
from jp_lsp.turn.failure import StreamFailure
from tests.adapters.providers.making import Observer, sse
from tests.adapters.providers.test_faults import MAKERS
from tests.support.http_server import HttpServer, Reply

VENDOR = VendorErrors("vendor")

KEYS: Mapping[str, str] = {
    "anthropic": "sk-ant-" + "api03-Zx9_" * 9,
    "cerebras": "csk-" + "4k9m2x7w" * 6,
    "compatible": "eyJhbGciOiJI." + "eyJzdWIiOiIx" * 30 + ".Qm9-_w",
    "deepseek": "sk-" + "0a1b2c3d" * 4,
    "google": "AIza" + "SyD-9_Qw4" * 4,
    "llamacpp": "no-form-at-all",
    "openai": "sk-proj-" + "T3BlbkFJ_-" * 15,
    "openrouter": "sk-or-v1-" + "5f6e7d8c" * 8,
    "xai": "xai-" + "Ab3Cd4Ef" * 10,
}
"""A key of each vendor's form; those that are not here are free to take any."""

PASSWORDS = {"plain": "hunter-2-hunter", "escaped": "p%40ss%22w%C3%B6rd%5C!"}


def classified(body: bytes) -> StreamFailure:
    return classify_response(400, {}, body, vendor=VENDOR, now=0.0)


def filled(size: int, text: str) -> str:
    """Give words of that size with the text behind them, and more words after it."""
    return ("so " * size)[:size] + text + " and so on" * 300


def of_json(member: Callable[[str], Any]) -> Callable[[str], StreamFailure]:
    return lambda text: classified(json.dumps(member(text)).encode())


def unreadable_call(text: str) -> StreamFailure:
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": text}
    (*_, failure) = GenerateDecoder(structured=False, first_index=0, now=lambda: 0.0).feed(
        sse({"candidates": [candidate]})
    )
    assert isinstance(failure, StreamFailure)
    return failure


SAYINGS: Mapping[str, tuple[int, Callable[[str], StreamFailure]]] = {
    "a message": (2000, of_json(lambda text: {"error": {"message": text}})),
    "a text": (2000, of_json(lambda text: {"error": text})),
    "in a stream": (2000, lambda text: classify_in_band(text, vendor=VENDOR)),
    "no message": (500, lambda text: classify_in_band([text], vendor=VENDOR)),
    "plain": (500, lambda text: classified(text.encode())),
    "a title": (500, lambda text: classified(f"<title>{text}</title>".encode())),
    "a page": (500, lambda text: classified(f"<p>{text}</p>".encode())),
    "details": (
        500,
        of_json(lambda text: {"error": {"message": "no", "metadata": {"reasons": [text]}}}),
    ),
    "what a gateway passes on": (
        2000,
        of_json(lambda text: {"error": {"message": "no", "metadata": {"raw": {"message": text}}}}),
    ),
    "a call of Google's": (500, unreadable_call),
}
"""Where a vendor's words are cut, and after how many characters."""


@pytest.mark.requirement("R256")
@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("vendor", KEYS)
def test_a_cut_through_a_key_leaves_no_half(vendor: str, saying: str) -> None:
    key = KEYS[vendor]
    secrets, (size, say) = Secrets([key]), SAYINGS[saying]
    # Some say a few words in front, so the cut is not always at the same place of the key.
    for left in {*range(4, 12), len(key) // 2, len(key) - 1, len(key)}:
        failure = say(filled(size - left, key))
        assert len(failure.message) < size + 100
        shown = secrets.hide(failure.message)
        assert key[:4] not in shown, (left, shown[-200:])
        assert "so so " in shown or "gateway" in saying


@pytest.mark.requirement("R256")
def test_a_page_that_is_read_only_in_part_is_cut_as_well() -> None:
    key = KEYS["openai"]
    for left in (4, 20, len(key)):
        # Much of what is read is nothing that would be shown.
        style = "<style>" + "x" * (4000 - left - len("<style></style>bad key ")) + "</style>"
        said = classified(f"{style}bad key {key}".encode()).message
        assert Secrets([key]).hide(said).startswith("bad key ***")


@pytest.mark.parametrize(
    ("secrets", "text", "shown"),
    [
        (["abcdefgh"], "x abcdefgh y abcdefg", "x *** y abcdefg"),
        (["abcdefgh"], "x abcdefg…", "x ***…"),
        (["abcdefgh"], "x abc…", "x ***…"),
        (["abcdefgh"], "x ab…", "x ab…"),
        (["abcdefgh"], "abc… y abcd… z", "***… y ***… z"),
        (["abcabcdx"], "abcabc…", "***…"),
        (["abcabcdx"], "xabcabcabc…", "xabc***…"),
        (["abcdefgh"], "bcdefgh…", "bcdefgh…"),
        (["abcdef", "abcdefgh"], "abcdefgh abcdef", "*** ***"),
        (['p"ss\\word'], 'p"ss\\word {"k":"p\\"ss\\\\word"}', '*** {"k":"***"}'),
        (["short", ""], "short words … sho…", "short words … sho…"),
        ([], "https://h/?key=AIza1234…", "https://h/?key=***"),
    ],
)
def test_what_is_hidden(secrets: list[str], text: str, shown: str) -> None:
    assert Secrets(secrets).hide(text) == shown


@pytest.mark.parametrize(("text", "size", "short"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("", 3, "")])
def test_how_texts_are_cut(text: str, size: int, short: str) -> None:
    assert cut(text, size) == short


@pytest.mark.anyio
@pytest.mark.requirement("R256")
@pytest.mark.parametrize("name", MAKERS)
async def test_no_half_reaches_whoever_asks(name: str) -> None:
    key = KEYS.get(name, KEYS["openai"])
    said = filled(1990, key)
    refusal = Reply.json({"error": {"message": said}}, 400)
    in_band = {"error": {"message": said}, "type": "error"}
    stream = Reply.sse(json.dumps(in_band).encode() if name == "ollama" else sse(in_band))
    with HttpServer([refusal, stream, refusal, refusal, refusal]) as server:
        make, asked = MAKERS[name]
        made = make(Connection(server.url, key))
        for _ in range(2):
            (*_, failure) = [event async for event in made.stream(asked, Observer())]
            assert isinstance(failure, StreamFailure)
            check_end(failure.message, key)
        with pytest.raises(ProviderError) as listing:
            await made.models()
        check_end(str(listing.value.failure.message), key)
        await made.aclose()


def check_end(message: str, key: str) -> None:
    assert key[:4] not in message
    assert "***…" in message


@pytest.mark.parametrize("name", PASSWORDS)
def test_a_password_in_an_address_is_known_in_all_its_forms(name: str) -> None:
    password = PASSWORDS[name]
    meant = {"plain": "hunter-2-hunter", "escaped": 'p@ss"wörd\\!'}[name]
    sent = {"plain": "bWU6aHVudGVyLTItaHVudGVy", "escaped": "bWU6cEBzcyJ3w7ZyZFwh"}[name]
    mask = Connection(f"https://me:{password}@host/x").http("vendor").mask
    for form in (password, meant, json.dumps(meant, ensure_ascii=False)[1:-1], sent):
        assert mask(f"say {form}.") == "say ***."
        assert mask(cut(filled(1994, form), 2000)).endswith("***…")
