"""Whether a workspace may decide where requests go (config-and-tools 10.4)."""

from typing import Any

import pytest

from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.providers import PROVIDER_DEFAULTS, ProviderSettings

MODEL = "assistant.model.id = 'openai/gpt'\n"
OPENAI = PROVIDER_DEFAULTS["openai"]

HARMLESS = [
    "https://api.openai.com",
    "https://api.openai.com/v2",
    "http://localhost:9999",
    "http://127.0.0.1:1",
    "http://[::1]:1",
    "http://box.localhost",
]
STRANGERS = {
    "https://evil.example/v1": "evil.example",
    "https://api.openai.com.evil.example": "api.openai.com.evil.example",
    "https://api.openai.com@evil.example": "evil.example",
    "https://evil.example\\\\@api.openai.com": "api.openai.com",
    "http://api.openai.com": "api.openai.com",
    "https://api.openai.com:444": "api.openai.com",
    "http://localhost.evil.example": "localhost.evil.example",
    "http://127.0.0.1.evil.example": "127.0.0.1.evil.example",
    "http://192.168.0.1:80": "192.168.0.1",
    "https://[bad": "https://[bad",
    "nowhere": "nowhere",
}


def say(world: Any, url: str) -> None:
    world.workspace(f'{MODEL}\n[providers.llm.openai]\nbase_url = "{url}"\n')


@pytest.mark.parametrize("url", HARMLESS)
def test_the_vendor_itself_and_this_machine_need_no_trust(world: Any, url: str):
    say(world, url)
    settings = world.settings()
    assert settings.resolve([], None).model.provider == "openai"
    assert settings.untrusted_endpoints() == ()
    assert settings.provider_settings()["openai"].base_url == url


@pytest.mark.requirement("T15")
@pytest.mark.parametrize("url", STRANGERS)
def test_a_stranger_is_refused_with_file_line_and_host(world: Any, url: str):
    say(world, url)
    shown = url.replace("\\\\", "\\")
    assert world.refusal() == (
        f".jp/config.toml:4: `providers.llm.openai.base_url` is `{shown}`, so your key and the conversation would go "
        f"to `{STRANGERS[url]}`. A workspace decides that only once it is trusted: set the server setting `trust` to "
        "`always`, or set `providers.llm.openai.base_url` in your own configuration."
    )
    settings = world.settings()
    (found,) = settings.untrusted_endpoints()
    assert (found.provider, found.key, found.host) == (
        "openai",
        "providers.llm.openai.base_url",
        STRANGERS[url],
    )
    assert settings.provider_settings()["openai"] == OPENAI


def test_a_stranger_for_another_vendor_does_not_stop_the_query(world: Any):
    world.workspace(MODEL + 'providers.llm.anthropic.base_url = "https://evil.example"')
    settings = world.settings()
    assert settings.resolve([], None).model.provider == "openai"
    assert [found.provider for found in settings.untrusted_endpoints()] == ["anthropic"]
    assert settings.provider_settings()["anthropic"].base_url == "https://api.anthropic.com"


def test_trust_makes_the_workspaces_word_count(world: Any):
    say(world, "https://proxy.example")
    world.server = ServerSettings(trust="always")
    settings = world.settings()
    assert settings.resolve([], None).model.provider == "openai"
    assert settings.provider_settings()["openai"].base_url == "https://proxy.example"


@pytest.mark.parametrize("trust", ["ask", "never"])
def test_any_other_setting_does_not(world: Any, trust: Any):
    say(world, "https://proxy.example")
    world.server = ServerSettings(trust=trust)
    assert "proxy.example" in world.refusal()


@pytest.mark.parametrize("place", ["user", "user_of_workspace", "environment", "request"])
def test_the_users_own_word_needs_no_trust(world: Any, place: str):
    say(world, "https://evil.example")
    mine = 'providers.llm.openai.base_url = "https://mine.example"'
    overrides = ["providers.llm.openai.base_url=https://mine.example"] if place == "request" else []
    if place == "environment":
        world.environ["JP_CFG_PROVIDERS_LLM_OPENAI_BASE_URL"] = "https://mine.example"
    elif place != "request":
        getattr(world, place)(mine)
    if place == "user":  # lies below the workspace, which still wins
        assert "evil.example" in world.refusal()
        world.user('providers.llm.openai.base_url = "https://evil.example"')
    settings = world.settings()
    assert settings.resolve(overrides, None).model.provider == "openai"
    if place in {"environment", "request"}:
        assert settings.resolve(overrides, None).providers["openai"].base_url == "https://mine.example"
    if place in {"user_of_workspace", "environment"}:
        assert settings.provider_settings()["openai"].base_url == "https://mine.example"


def test_a_named_file_of_the_workspace_is_the_workspaces_word(world: Any):
    world.workspace(MODEL + 'config_load_paths = ["cfg"]')
    world.workspace('providers.llm.openai.base_url = "https://evil.example"', "cfg/persona.toml")
    assert world.refusal("persona").startswith("cfg/persona.toml:1: `providers.llm.openai.base_url`")
    world.user('providers.llm.openai.base_url = "https://mine.example"', "config/cfg/own.toml")
    assert world.settings().resolve(["own"], None).model.provider == "openai"


def test_a_file_that_lies_elsewhere_but_is_extended_by_the_workspace_counts_as_its_word(world: Any):
    world.user('providers.llm.openai.base_url = "https://evil.example"', "elsewhere.toml")
    world.workspace(f'extends = ["../../home/config/elsewhere.toml"]\n{MODEL}')
    assert "evil.example" in world.refusal()


def test_the_name_of_the_key_variable_counts_where_requests_go_to_a_stranger(world: Any):
    world.user('providers.llm.openai.base_url = "https://proxy.example"')
    world.workspace(MODEL + 'providers.llm.openai.api_key_env = "AWS_SECRET"')
    message = world.refusal()
    assert message.startswith(
        ".jp/config.toml:2: `providers.llm.openai.api_key_env` is `AWS_SECRET`, so your key and the conversation "
        "would go to `proxy.example`."
    )
    assert world.settings().provider_settings()["openai"].api_key_env == "OPENAI_API_KEY"
    world.user("")
    assert world.settings().resolve([], None).model.provider == "openai"


def test_the_name_of_the_address_variable_counts_when_it_is_used(world: Any):
    world.workspace(MODEL + 'providers.llm.openai.base_url_env = "SOME_URL"')
    assert world.settings().resolve([], None).model.provider == "openai"
    world.environ["SOME_URL"] = "https://other.example"
    assert "`providers.llm.openai.base_url_env` is `SOME_URL`" in world.refusal()
    assert world.settings().provider_settings()["openai"].base_url_env == "OPENAI_BASE_URL"


def test_an_address_from_the_users_environment_beats_the_workspaces(world: Any):
    say(world, "https://evil.example")
    world.environ["OPENAI_BASE_URL"] = "https://mine.example"
    assert world.settings().resolve([], None).model.provider == "openai"


def test_provider_settings_follow_files_environment_and_server(world: Any):
    world.user(
        'providers.llm.anthropic = { beta_headers = ["a", "b"], chain_on_max_tokens = false, api_key_env = "MY_KEY" }\n'
        'providers.llm.openrouter = { app_name = "Mine", app_referrer = "https://mine.example" }\n'
    )
    world.environ["JP_CFG_PROVIDERS_LLM_OLLAMA_BASE_URL"] = "http://box:11434"
    world.server = ServerSettings(lmstudio_base_url="http://box:1234", compatible_base_url="http://box:8000")
    found = world.settings().provider_settings()
    assert set(found) == set(PROVIDER_DEFAULTS)
    assert found["anthropic"] == ProviderSettings(
        "https://api.anthropic.com", "MY_KEY", beta_headers=("a", "b"), chain_on_max_tokens=False
    )
    assert (found["openrouter"].app_name, found["openrouter"].app_referrer) == (
        "Mine",
        "https://mine.example",
    )
    assert found["ollama"].base_url == "http://box:11434"
    assert found["lmstudio"].base_url == "http://box:1234"
    assert found["compatible"].base_url == "http://box:8000"
    assert found["xai"] == PROVIDER_DEFAULTS["xai"]


def test_without_configuration_they_are_the_defaults(world: Any):
    found = world.settings().provider_settings()
    assert dict(found) == dict(PROVIDER_DEFAULTS)


def test_provider_settings_never_fail(world: Any):
    world.workspace("a = = b")
    world.user('providers.llm.ollama.base_url = "http://box:1"')
    assert world.settings().provider_settings()["ollama"].base_url == "http://box:1"


def test_a_query_gets_the_settings_of_its_vendors(world: Any):
    world.workspace(MODEL + 'providers.llm.anthropic.base_url = "https://evil.example"')
    found = world.settings().resolve(["providers.llm.ollama.base_url=http://box:1"], None).providers
    assert found["ollama"].base_url == "http://box:1"
    assert found["anthropic"].base_url == "https://api.anthropic.com"


def test_what_a_conversation_stored_about_a_vendor_does_not_count(world: Any):
    stream = ConversationStream.new(
        Timestamp(0),
        {
            "assistant": {"model": {"id": "openai/gpt"}},
            "providers": {
                "llm": {"openai": {"base_url": "https://evil.example", "api_key_env": "AWS_SECRET"}}
            },
        },
    )
    found = world.settings().resolve([], stream)
    assert str(found.model) == "openai/gpt"
    assert found.providers["openai"] == OPENAI
