"""Who makes titles, and with which parameters (config-and-tools 2.3, providers 9)."""

from typing import Any

import pytest

from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.ports.provider import CachePolicy, Effort, ModelId, ModelParameters
from jp_lsp.ports.settings import TitleSettings

LOW = Effort("low", exclude=True)
ONCE = CachePolicy(0)
MAIN = ModelId("anthropic", "some-model")
TITLE = "conversation.title"


def titles(world: Any, *overrides: str) -> TitleSettings:
    found = world.settings().resolve(overrides, None).title
    assert isinstance(found, TitleSettings)
    return found


@pytest.mark.requirement("F24")
@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ((), TitleSettings(True, MAIN, ModelParameters(reasoning=LOW, cache=ONCE))),
        (
            (f"{TITLE}.from_heading=false", f"{TITLE}.generate.auto=false"),
            TitleSettings(False, None, ModelParameters(reasoning=LOW, cache=ONCE)),
        ),
        (
            (f"{TITLE}.generate.model.id=test/small", "assistant.model.parameters.temperature=1"),
            TitleSettings(True, ModelId("test", "small"), ModelParameters(reasoning=LOW, cache=ONCE)),
        ),
        (
            (f"{TITLE}.generate.model.id=test/small", f"{TITLE}.generate.model.parameters.reasoning=off"),
            TitleSettings(True, ModelId("test", "small"), ModelParameters(reasoning="off", cache=ONCE)),
        ),
        (
            ("assistant.model.parameters.reasoning=max", "assistant.model.parameters.max_tokens=9"),
            TitleSettings(True, MAIN, ModelParameters(max_tokens=9, reasoning=LOW, cache=ONCE)),
        ),
    ],
)
def test_the_settings(world: Any, overrides: tuple[str, ...], expected: TitleSettings) -> None:
    assert titles(world, *overrides) == expected


@pytest.mark.requirement("F24")
def test_an_alias_names_the_model(world: Any) -> None:
    world.workspace('[providers.llm.aliases]\ntiny = "test/small"\n')
    assert titles(world, f"{TITLE}.generate.model.id=tiny").model == ModelId("test", "small")


@pytest.mark.requirement("F24")
def test_the_embedded_model_makes_titles_only_when_it_is_named_for_that(world: Any) -> None:
    embedded = world.default_model = ModelId("local", "smollm2-135m")
    assert titles(world).model is None
    assert titles(world).from_heading
    assert titles(world, f"{TITLE}.generate.model.id={embedded}").model == embedded
    assert titles(world, f"{TITLE}.generate.model.id=test/small").model == ModelId("test", "small")
    assert titles(world, "assistant.model.id=test/big").model == ModelId("test", "big")


def test_a_stored_title_model_is_served_by_who_really_answers(world: Any) -> None:
    world.server = ServerSettings(lmstudio_base_url="http://localhost:1")
    first = world.settings().resolve((f"{TITLE}.generate.model.id=lmstudio/tiny",), None)
    assert first.title.model == ModelId("lmstudio", "tiny")
    assert first.partial["conversation"]["title"]["generate"]["model"]["id"]["provider"] == "llamacpp"
