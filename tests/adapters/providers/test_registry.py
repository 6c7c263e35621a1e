"""The preflight: what can be known about a provider without the network."""

import subprocess
import sys
from typing import Any

import pytest

from jp_lsp.ports.provider import ModelId, Provider
from jp_lsp.ports.providers import PROVIDER_DEFAULTS, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.registry import ProviderRegistry
from jp_lsp.providers.request_trace import RequestTrace
from tests.adapters.providers.making import Observer, model, request
from tests.support.http_server import HttpServer, Reply

CLAUDE = ModelId("anthropic", "claude-haiku-4-5")
LLAMA = ModelId("llamacpp", "qwen3")
KEY = {"ANTHROPIC_API_KEY": "sk-ant-key"}


def refused(
    asked: ModelId, environ: dict[str, str] | None = None, **settings: ProviderSettings
) -> tuple[str, str, str | None]:
    with pytest.raises(Refusal) as caught:
        ProviderRegistry(settings, environ or {}).get(asked)
    error = caught.value.error
    return error.code, error.message, error.origin


@pytest.mark.requirement("R56")
@pytest.mark.parametrize(
    ("environ", "settings", "message", "origin"),
    [
        (
            {},
            {},
            "Provider 'anthropic' needs a key: environment variable ANTHROPIC_API_KEY is not set.",
            "ANTHROPIC_API_KEY",
        ),
        (
            {"ANTHROPIC_API_KEY": " \n"},
            {},
            "Provider 'anthropic' needs a key: environment variable ANTHROPIC_API_KEY is empty.",
            "ANTHROPIC_API_KEY",
        ),
        (
            KEY,
            {"anthropic": ProviderSettings(api_key_env="MY_KEY")},
            "Provider 'anthropic' needs a key: environment variable MY_KEY is not set.",
            "MY_KEY",
        ),
        (
            {"ANTHROPIC_API_KEY": "sk\nant"},
            {},
            "The key in environment variable ANTHROPIC_API_KEY has characters that cannot be part of a key.",
            "ANTHROPIC_API_KEY",
        ),
        (
            {"ANTHROPIC_API_KEY": "schlüssel"},
            {},
            "The key in environment variable ANTHROPIC_API_KEY has characters that cannot be part of a key.",
            "ANTHROPIC_API_KEY",
        ),
    ],
)
def test_a_missing_key_names_its_variable(
    environ: dict[str, str], settings: dict[str, Any], message: str, origin: str
) -> None:
    assert refused(CLAUDE, environ, **settings) == ("provider_auth", message, origin)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://host", "does not begin with http:// or https://"),
        ("localhost:8080", "does not begin with http:// or https://"),
        ("http://", "names no host"),
        ("http://host:99999", "has a host or port that cannot be read"),
        ("http://[::1", "has a host or port that cannot be read"),
        ("http://ho st", "has blanks in it"),
        ("http://host/\x00", "has blanks in it"),
        ("https://host/x?key=secret", "has a query or a fragment behind its path"),
    ],
)
def test_a_bad_url_is_refused_without_showing_it(url: str, problem: str) -> None:
    code, message, origin = refused(LLAMA, llamacpp=ProviderSettings(url))
    assert (code, origin) == ("config_invalid", "providers.llm.llamacpp.base_url")
    assert message == (
        f"The base URL of provider 'llamacpp' {problem}; set providers.llm.llamacpp.base_url, such as"
        " 'https://host/path'."
    )


def test_a_url_from_the_environment_is_named_as_such() -> None:
    settings = ProviderSettings(base_url_env="LLAMA_URL")
    assert refused(LLAMA, {"LLAMA_URL": "nowhere"}, llamacpp=settings)[2] == "LLAMA_URL"


def test_a_compatible_server_needs_an_address() -> None:
    assert refused(ModelId("compatible", "x")) == (
        "config_invalid",
        "The base URL of provider 'compatible' is not set; set jp.compatible.base_url, such as"
        " 'https://host/path'.",
        "jp.compatible.base_url",
    )


def test_an_address_that_editors_set_is_named_as_they_do() -> None:
    """The configuration files know no table for these vendors, and would refuse one."""
    settings = ProviderSettings("nowhere")
    assert refused(ModelId("lmstudio", "x"), lmstudio=settings)[2] == "jp.lmstudio.base_url"
    assert refused(ModelId("llamacpp", "x"), llamacpp=settings)[2] == "providers.llm.llamacpp.base_url"


def test_an_unknown_vendor_names_the_known_ones_and_a_near_one() -> None:
    assert refused(ModelId("antropic", "claude")) == (
        "model_unknown",
        "Unknown provider 'antropic' in model 'antropic/claude'. Did you mean 'anthropic'?"
        " Known: anthropic, cerebras, compatible, deepseek, google, llamacpp, lmstudio, ollama, openai,"
        " openrouter, xai.",
        "assistant.model.id",
    )
    assert "Did you mean" not in refused(ModelId("zzz", "x"))[1]
    assert refused(ModelId("local", "x"))[0] == "model_unknown"


def test_the_local_model_comes_from_its_maker() -> None:
    made: list[Any] = []

    def make(trace: RequestTrace | None) -> Any:
        assert trace is None
        made.append(object())
        return made[-1]

    registry = ProviderRegistry({}, {}, local=make)
    assert registry.get(ModelId("local", "a")) is registry.get(ModelId("local", "b"))
    assert len(made) == 1
    assert "local" in registry.known


@pytest.mark.requirement("R255")
def test_adapters_are_kept_and_registries_are_strangers() -> None:
    one, other = ProviderRegistry({}, KEY), ProviderRegistry({}, KEY)
    assert one.get(CLAUDE) is one.get(ModelId("anthropic", "claude-opus-5"))
    assert one.get(CLAUDE) is not other.get(CLAUDE)


def test_adapters_fit_the_port() -> None:
    port: Provider = ProviderRegistry({}, KEY).get(CLAUDE)
    assert port.pauses_in_arguments


@pytest.mark.anyio
@pytest.mark.requirement("R255")
async def test_settings_reach_the_wire() -> None:
    events = "data: [DONE]\n\n"
    with HttpServer([Reply.sse(events), Reply.sse(events)]) as server:
        settings = {
            "llamacpp": ProviderSettings("http://unused.example", "MY_KEY", "MY_URL"),
            "anthropic": ProviderSettings(f"{server.url}/prefix/", beta_headers=("a", "b")),
        }
        environ = {"MY_KEY": " key-for-llama\n", "MY_URL": server.url, **KEY}
        registry = ProviderRegistry(settings, environ)
        for asked in (LLAMA, CLAUDE):
            of = model(str(asked))
            _ = [event async for event in registry.get(asked).stream(request(of=of), Observer())]
        await registry.aclose()
    llama, claude = server.requests
    assert (llama.path, claude.path) == ("/v1/chat/completions", "/prefix/v1/messages")
    assert llama.headers["authorization"] == "Bearer key-for-llama"
    assert claude.headers["x-api-key"] == "sk-ant-key"
    assert claude.headers["anthropic-version"] == "2023-06-01"
    assert claude.headers["anthropic-beta"] == "a,b"
    assert "authorization" not in claude.headers


def test_no_key_no_header() -> None:
    connection = Connection("http://127.0.0.1:1")
    assert set(connection.http("x")._headers) == {"user-agent"}


def test_every_vendor_has_defaults() -> None:
    registry = ProviderRegistry({}, {})
    assert set(registry.known) <= set(PROVIDER_DEFAULTS)


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import jp_lsp.providers.registry", {"httpx": False, "jp_lsp.providers.anthropic.adapter": False}),
        (
            "from jp_lsp.providers.registry import ProviderRegistry; from jp_lsp.ports.provider import ModelId;"
            "ProviderRegistry({}, {}).get(ModelId('llamacpp', 'x'))",
            {
                "httpx": False,
                "jp_lsp.providers.chat.llamacpp": True,
                "jp_lsp.providers.anthropic.adapter": False,
            },
        ),
    ],
    ids=["imported", "asked"],
)
def test_nothing_is_loaded_before_it_is_needed(code: str, loaded: dict[str, bool]) -> None:
    script = f"import sys; {code}; print([name in sys.modules for name in {list(loaded)}])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(list(loaded.values()))
