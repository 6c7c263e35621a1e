"""Which files can be applied by name, and what they say about themselves (config-and-tools 1.5, 7.3)."""

from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.ports.provider import ModelId
from tests.support.shared import shared_path

LOAD_PATHS = 'config_load_paths = ["cfg", "cfg/roles"]\n'


def names(world: Any) -> list[str]:
    return [each.name for each in world.settings().named()]


def test_everything_below_the_load_paths_has_its_shortest_name(world: Any):
    world.workspace(LOAD_PATHS)
    world.workspace("", "cfg/roles/dev.toml")
    world.workspace("{}", "cfg/roles/deep/er.json")
    world.workspace("", "cfg/skill/read.yaml")
    world.workspace("", "cfg/.hidden.toml")
    world.workspace("not one of them", "cfg/readme.md")
    assert [(each.group, each.name) for each in world.settings().named()] == [
        ("deep", "deep/er"),
        ("roles", "dev"),
        ("skill", "skill/read"),
    ]


def test_each_name_applies_its_file(world: Any):
    """What is offered can be put into a query as it is."""
    world.workspace(LOAD_PATHS)
    world.workspace('assistant.name = "Dev"', "cfg/roles/dev.toml")
    world.workspace('assistant.name = "Odd"', "cfg/a=b.toml")
    world.workspace('assistant.name = "Reserved"', "cfg/NONE.toml")
    for named in world.settings().named():
        settings = world.settings().resolve([named.expression], None)
        assert settings.assistant_name == named.title
    assert {each.name: each.expression for each in world.settings().named()} == {
        "a=b": "@a=b",
        "NONE": "@NONE",
        "dev": "dev",
    }


def test_a_users_own_copy_is_applied_on_top_and_speaks_for_both(world: Any):
    world.workspace('config_load_paths = ["roles"]\n')
    ours = world.workspace('assistant.name = "Ours"', "roles/dev.toml")
    mine = world.user_of_workspace('assistant.name = "Mine"', "config/roles/dev.toml")
    world.user("", "config/roles/own.toml")
    dev, own = world.settings().named()
    assert (dev.name, dev.title, dev.paths) == ("dev", "Mine", (ours, mine))
    assert own.name == "own"


def test_a_file_that_another_one_hides_is_not_offered(world: Any):
    world.workspace('config_load_paths = ["a", "b"]\n')
    world.workspace('assistant.name = "A"', "a/x.toml")
    world.workspace('assistant.name = "B"', "b/x.toml")
    (named,) = world.settings().named()
    assert (named.title, named.paths) == ("A", (world.root / "a" / "x.toml",))


@pytest.mark.parametrize(
    ("text", "title", "description"),
    [
        (
            'assistant.name = "Ada"\nassistant.system_prompt = "You are Ada.\\n\\nAnd more."',
            "Ada",
            "You are Ada.",
        ),
        ("# Reviews code.\n# Be kind.\n\n# Not this\n[assistant]\n", None, "Reviews code. Be kind."),
        (
            '[[assistant.system_prompt_sections]]\ntitle = "Skill: Web"\ncontent = "You can\\nread pages."',
            "Skill: Web",
            "You can read pages.",
        ),
        ('[[assistant.instructions]]\ntitle = "Tone"\nitems = ["be brief"]', "Tone", None),
        ("", None, None),
        (f'assistant.name = "{"n" * 200}"', "n" * 79 + "…", None),
        (f'assistant.system_prompt = "{"p" * 900}"', None, "p" * 239 + "…"),
    ],
)
def test_what_a_file_says_about_itself(world: Any, text: str, title: str | None, description: str | None):
    world.workspace('config_load_paths = ["roles"]\n')
    world.workspace(text, "roles/x.toml")
    (named,) = world.settings().named()
    assert (named.title, named.description) == (title, description)


def test_one_that_cannot_be_applied_is_listed_with_the_reason(world: Any):
    world.workspace('config_load_paths = ["roles"]\n')
    world.workspace("assistant.name = 3\n", "roles/wrong.toml")
    world.workspace("[assistant\n", "roles/worse.toml")
    worse, wrong = sorted(world.settings().named(), key=lambda each: each.name)
    assert wrong.problem is not None
    assert wrong.problem.startswith("wrong.toml:1: `assistant.name`: ")
    assert worse.problem is not None


def test_without_load_paths_there_is_nothing_to_offer(world: Any):
    world.workspace("")
    world.workspace("", "cfg/x.toml")
    assert names(world) == []


@pytest.mark.shared
def test_the_real_workspace_offers_its_personas_and_skills() -> None:
    root = shared_path("real-workspace")
    settings = WorkspaceSettings(
        root, root, {}, Path("/nonexistent"), None, ServerSettings(), lambda: ModelId("test", "x")
    )
    found = settings.named()
    by_group = {
        group: sum(each.group == group for each in found) for group in ("knowledge", "personas", "skill")
    }
    assert by_group == {"knowledge": 13, "personas": 13, "skill": 17}
    assert len(found) == 43
    architect = next(each for each in found if each.name == "architect")
    assert (architect.title, architect.expression) == ("Software Architect", "architect")
    assert architect.description is not None
    assert architect.description.startswith("You are a principal software architect")
    debug = next(each for each in found if each.name == "skill/debug")
    assert debug.title == "Skill: JP Debugging"


def test_models_have_names_and_one_would_be_asked(world: Any):
    world.workspace(
        '[providers.llm.aliases]\nquick = "openai/a"\nfast = "quick"\nlost = "nowhere"\n'
        '[assistant.model]\nid = "fast"\n'
    )
    found = world.settings().model_names()
    assert found.effective == ModelId("openai", "a")
    assert found.aliases == {"quick": ModelId("openai", "a"), "fast": ModelId("openai", "a")}
    assert world.settings().model_names(["assistant.model.id=anthropic/b"]).effective == ModelId(
        "anthropic", "b"
    )


def test_no_model_is_no_reason_to_fail(world: Any):
    world.default_model = None
    world.workspace('assistant.model.id = "nothing/like/that"\n')
    assert world.settings().model_names().effective is None


def test_all_values_are_shown_as_they_are_and_not_as_they_were_merged(world: Any):
    world.workspace(
        'assistant.name = "Ada"\nassistant.model.id = "openai/a"\n'
        '[conversation]\nattachments = { value = ["file:a.txt"], strategy = "replace" }\n'
    )
    settings = world.settings()
    values = settings.values(["user.name=Bo"])
    assert values["user"] == {"name": "Bo"}
    assert values["assistant"]["model"]["id"] == {"provider": "openai", "name": "a"}
    assert values["assistant"]["request"]["max_retries"] == 5, "the program's defaults are there too"
    assert settings.explain("conversation.attachments").value == values["conversation"]["attachments"]
    assert len(values["conversation"]["attachments"]) == 1
    assert [each.key for each in settings.explain_all()] == [
        "assistant.name",
        "assistant.model.id",
        "conversation.attachments",
    ]
