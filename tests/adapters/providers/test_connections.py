"""How connections are made and kept: one for all cycles of a turn, proxies and certificates of the user's."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from jp_lsp.ports.provider import ProviderError
from jp_lsp.providers.connection import Connection
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Finished, StreamEvent
from tests.adapters.providers.making import Observer
from tests.adapters.providers.test_faults import KEY, MAKERS, SAYS_HI
from tests.support.http2_server import Http2Server
from tests.support.http_server import Hold, HttpServer, Reply
from tests.support.tls import Certificate, make_certificate

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def provider(name: str, url: str) -> AsyncGenerator[Any, None]:
    made = MAKERS[name][0](Connection(url, KEY))
    try:
        yield made
    finally:
        await made.aclose()


async def ask(made: Any, name: str) -> list[StreamEvent]:
    with anyio.fail_after(20):
        return [event async for event in made.stream(MAKERS[name][1], Observer())]


def greeting(name: str) -> Reply:
    begun, end = SAYS_HI[name]
    return Reply.sse(begun, end)


@pytest.mark.parametrize("name", MAKERS)
async def test_the_cycles_of_a_turn_share_a_connection(name: str) -> None:
    with HttpServer(lambda _: greeting(name)) as server:
        async with provider(name, server.url) as made:
            for _ in range(3):
                assert isinstance((await ask(made, name))[-1], Finished)
    assert (len(server.requests), server.connection_count) == (3, 1)


async def test_a_refusal_does_not_cost_the_connection() -> None:
    replies = [Reply.json({"error": "busy"}, 503), greeting("ollama")]
    with HttpServer(replies) as server:
        async with provider("ollama", server.url) as made:
            assert isinstance((await ask(made, "ollama"))[-1], StreamFailure)
            assert isinstance((await ask(made, "ollama"))[-1], Finished)
    assert server.connection_count == 1


@pytest.mark.parametrize("rest", [[Hold()], [b"x" * 200_000, Hold()]], ids=["silence", "more and more"])
async def test_a_server_that_does_not_end_its_answer_is_not_waited_for(rest: list[Any]) -> None:
    begun, end = SAYS_HI["google"]
    replies = [Reply.sse(begun, end, *rest), greeting("google")]
    with HttpServer(replies) as server:
        async with provider("google", server.url) as made:
            assert isinstance((await ask(made, "google"))[-1], Finished)
            assert isinstance((await ask(made, "google"))[-1], Finished)
    assert server.connection_count == 2


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    begun, end = SAYS_HI["ollama"]
    with HttpServer(lambda _: Reply.sse(begun, end, framing="close")) as server:
        async with provider("ollama", server.url) as made:
            for _ in range(2):
                assert isinstance((await ask(made, "ollama"))[-1], Finished)
    assert server.connection_count == 2


# The user's own way out


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpServer(lambda _: greeting("ollama")) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        async with provider("ollama", "http://models.invalid:8000") as made:
            assert isinstance((await ask(made, "ollama"))[-1], Finished)
    assert [request.path for request in server.requests] == ["http://models.invalid:8000/api/chat"]


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxy_is_not_asked_for_this_machine_nor_for_what_is_excepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with HttpServer([]) as proxy, HttpServer(lambda _: greeting("ollama")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with provider("ollama", server.url) as made:
            assert isinstance((await ask(made, "ollama"))[-1], Finished)
        monkeypatch.setenv("NO_PROXY", "models.invalid")
        async with provider("ollama", "http://models.invalid:8000") as made:
            (failure,) = await ask(made, "ollama")
    assert isinstance(failure, StreamFailure)
    assert failure.kind is FailureKind.CONNECT
    assert proxy.requests == []


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxys_page_is_an_error_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<html><head><title>Access denied by policy</title></head><body>Ask your admin.</body></html>"
    for name in MAKERS:
        with HttpServer([Reply.text(page, 403, "text/html"), Reply.text(page, 200, "text/html")]) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            async with provider(name, "http://models.invalid:8000") as made:
                (refused,) = await ask(made, name)
                (instead,) = await ask(made, name)
        assert isinstance(refused, StreamFailure)
        assert (refused.kind, refused.message) == ("permission", "Access denied by policy (HTTP 403)")
        assert isinstance(instead, StreamFailure)
        assert instead.kind == "transient"
        assert instead.message.endswith("instead of a stream: Access denied by policy")


# Nothing was sent and nothing will change by itself: it is told once, and not tried again.
@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "HTTPS_PROXY",
            "socks5://127.0.0.1:1",
            "Using SOCKS proxy, but the 'socksio' package is not installed.",
        ),
        ("HTTPS_PROXY", "gopher://user:secret-word@host", "Unknown scheme for proxy URL"),
        ("HTTPS_PROXY", "http://host:port", "Invalid port: 'port'"),
        ("HTTPS_PROXY", "http://user:secret-word@127.0.0.1:99999", "Port out of range"),
        ("HTTP_PROXY", "127.0.0.1:65536", "Port out of range"),
        ("SSL_CERT_FILE", "nowhere.pem", "No such file or directory"),
    ],
)
async def test_an_environment_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    async with provider("google", "https://models.invalid") as made:
        (failure,) = await ask(made, "google")
        with pytest.raises(ProviderError) as listing:
            await made.models()
    assert isinstance(failure, StreamFailure)
    assert (failure.kind, failure.is_retryable) == (FailureKind.OTHER, False)
    assert failure.message.startswith("cannot connect to models.invalid: a proxy (HTTPS_PROXY, ")
    assert variable in failure.message
    assert said in failure.message
    assert "secret-word" not in failure.message
    assert listing.value.failure == failure


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxy_that_nobody_uses_may_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:99999")
    monkeypatch.setenv("NO_PROXY", "localhost, *")
    with HttpServer(lambda _: greeting("ollama")) as server:
        async with provider("ollama", server.url.replace("127.0.0.1", "127.1")) as made:
            assert isinstance((await ask(made, "ollama"))[-1], Finished)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def tls_context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.path, certificate.key_path)
    return context


@pytest.mark.usefixtures("no_proxies")
async def test_a_certificate_of_the_users_own_is_trusted_when_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch, certificate: Certificate, tmp_path: Path
) -> None:
    del tmp_path
    with HttpServer(lambda _: greeting("google"), tls=tls_context(certificate)) as server:
        async with provider("google", server.url) as made:
            (failure,) = await ask(made, "google")
        assert isinstance(failure, StreamFailure)
        assert failure.kind is FailureKind.CONNECT
        assert "certificate verify failed" in failure.message
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
        async with provider("google", server.url) as made:
            for _ in range(2):
                assert isinstance((await ask(made, "google"))[-1], Finished)
    assert len(server.requests) == 2


@pytest.mark.usefixtures("no_proxies")
async def test_answers_at_the_same_time_share_a_connection_where_the_vendor_speaks_http_2(
    monkeypatch: pytest.MonkeyPatch, certificate: Certificate
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    answers: list[StreamEvent] = []

    async def ask_once(made: Any) -> None:
        answers.append((await ask(made, "google"))[-1])

    body = b"".join(SAYS_HI["google"])
    with Http2Server(tls_context(certificate), body, hold_for=3) as server:
        async with provider("google", server.url) as made:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(ask_once, made)
            await ask_once(made)
    assert [type(answer) for answer in answers] == [Finished] * 4
    assert (server.request_count, server.connection_count) == (4, 1)


@pytest.mark.usefixtures("no_proxies")
async def test_http_1_is_enough_without_the_library(
    monkeypatch: pytest.MonkeyPatch, certificate: Certificate
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    monkeypatch.setattr("jp_lsp.providers.http.find_spec", lambda _: None)
    context = tls_context(certificate)
    context.set_alpn_protocols(["http/1.1"])
    with HttpServer(lambda _: greeting("google"), tls=context) as server:
        async with provider("google", server.url) as made:
            assert isinstance((await ask(made, "google"))[-1], Finished)
