"""What a conversation keeps, and what it is to the next query (config-and-tools 1.8, conversation format 4)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.config.complete import complete_table
from jp_lsp.config.resolve import complete_configuration
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.config.snapshot import from_stored, to_stored
from jp_lsp.config.stored import read_stored
from jp_lsp.conversation import stored as conversation_files
from jp_lsp.conversation.ids import counting_event_ids
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import ModelId
from jp_lsp.render.options import Labels
from tests.adapters.config.conftest import World
from tests.support.shared import shared_files
from tests.support.work import count_calls

NOWHERE = Path("/nonexistent")
EVENTS = [*shared_files("real-workspace/.jp/conversations/*/events.json"),
          *shared_files("real-workspace/.jp/conversations/.archive/*/events.json")]  # fmt: skip


def load(path: Path) -> ConversationStream:
    base = path.parent / "base_config.json"
    return conversation_files.load(
        path.read_text(encoding="utf-8"),
        base.read_text(encoding="utf-8") if base.exists() else None,
        created_at=Timestamp(0),
        mint=counting_event_ids(),
    )


def new_conversation(settings: WorkspaceSettings, *overrides: str) -> ConversationStream:
    return ConversationStream.new(Timestamp(0), settings.resolve(overrides, None).partial)


def query(settings: WorkspaceSettings, stream: ConversationStream, *overrides: str) -> Any:
    """Resolve for a query and store the change, as a driver does; gives the settings and the change."""
    resolved = settings.resolve(overrides, stream)
    delta = settings.delta(stream, resolved)
    if delta is not None:
        stream.append_config_delta(delta.delta, Timestamp(1), delta.unsets)
    return resolved, None if delta is None else delta.delta


@pytest.mark.skipif(not EVENTS, reason="shared test data is missing")
@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.parent.name[:11])
@pytest.mark.requirement("C41")
def test_real_settings_survive_a_round_trip(path: Path):
    stream = load(path)
    first = read_stored(stream.base_config, [change for _, change in stream.config_deltas()])
    complete = complete_configuration(first.tree)[0]
    written = to_stored(complete)
    assert to_stored(from_stored(written)) == written
    assert json.loads(json.dumps(written)) == written
    problems = {(problem.key, problem.severity) for problem in first.problems}
    assert problems <= {("style.code.theme", "hint")}


def plain(value: Any) -> Any:
    """Bring the older spellings of stored files into the one that is written today."""
    match value:
        case {"value": inner, "strategy": "replace" | "append", **rest} if rest.keys() <= {
            "discard_when_merged", "separator", "dedup",
        }:  # fmt: skip
            return plain(inner)
        case {"secs": secs, "nanos": nanos}:
            return f"{secs}s {nanos}ns"
        case Mapping():
            return {name: plain(member) for name, member in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


SWITCHES = {
    True: {"state": True, "allow_toggle": "any"},
    False: {"state": False, "allow_toggle": "any"},
    "explicit": {"state": False, "allow_toggle": "if_named"},
    "always": {"state": True, "allow_toggle": "never"},
}


def lost(stored: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Name what a stored file has and the written form has not."""
    if path.endswith(".enable") and not isinstance(stored, Mapping):
        if ours != SWITCHES[stored]:
            yield path
    elif path.endswith("_delay"):
        if not isinstance(ours, str):
            yield path
    elif isinstance(stored, Mapping) and isinstance(ours, Mapping):
        for name, member in stored.items():
            if member == {} or (path == ".style.code" and name == "theme"):
                continue
            if name not in ours:
                yield f"{path}.{name}"
            else:
                yield from lost(member, ours[name], f"{path}.{name}")
    elif isinstance(stored, list) and isinstance(ours, list) and len(stored) == len(ours):
        for index, (theirs, mine) in enumerate(zip(stored, ours, strict=True)):
            yield from lost(theirs, mine, f"{path}[{index}]")
    elif stored != ours:
        yield path


BASES = [*shared_files("real-workspace/.jp/conversations/*/base_config.json"),
         *shared_files("real-workspace/.jp/conversations/.archive/*/base_config.json")]  # fmt: skip


@pytest.mark.skipif(not BASES, reason="shared test data is missing")
@pytest.mark.parametrize("path", BASES, ids=lambda path: path.parent.name[:11])
@pytest.mark.requirement("C41")
def test_nothing_of_a_stored_base_configuration_is_lost(path: Path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    ours = to_stored(complete_configuration(read_stored(stored, ()).tree)[0])
    missing = set(lost(plain(stored), plain(ours)))
    # A model named by an alias is stored as what the alias means.
    assert missing <= {".assistant.model.id"}
    if missing:
        assert isinstance(stored["assistant"]["model"]["id"], str)


@pytest.mark.skipif(not EVENTS, reason="shared test data is missing")
@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.parent.name[:11])
@pytest.mark.requirement("C41")
def test_continuing_a_real_conversation_changes_nothing_by_itself(path: Path):
    settings = WorkspaceSettings(None, NOWHERE, {}, NOWHERE, None, ServerSettings(), lambda: None)
    stream = load(path)
    resolved, delta = query(settings, stream)
    assert delta is None
    assert resolved.warnings == ()


def test_the_encodings_are_those_of_the_format(world: Any):
    world.workspace(
        """
[assistant]
system_prompt = { value = "More.", strategy = "append", separator = "line" }
model.id = "openai/gpt"
model.parameters = { reasoning = { effort = { absolute = 99 } }, seed = 1 }
request.cache = "1h"
[[assistant.instructions]]
title = "T"
[conversation]
attachments = { value = ["file:a"], dedup = true }
compaction.rules = []
[conversation.tools.t]
source = "local"
command = "x"
enable = "explicit"
style.inline_results = 3
[style.typewriter]
text_delay = { secs = 0, nanos = 5000 }
"""
    )
    partial: Any = world.settings().resolve([], None).partial
    assert partial["assistant"]["system_prompt"] == "More."
    assert partial["assistant"]["model"] == {
        "id": {"provider": "openai", "name": "gpt"},
        "parameters": {
            "reasoning": {"effort": {"absolute": 99}, "exclude": False}, "stop_words": [], "other": {"seed": 1},
        },
    }  # fmt: skip
    assert partial["assistant"]["request"]["cache"] == "1h"
    assert partial["assistant"]["instructions"] == {
        "value": [{"title": "T", "position": 0}], "strategy": "replace", "discard_when_merged": False,
    }  # fmt: skip
    assert partial["conversation"]["attachments"] == {
        "value": ["file:a"], "strategy": "replace", "dedup": True, "discard_when_merged": False,
    }  # fmt: skip
    assert partial["conversation"]["tools"]["t"] == {
        "source": "local",
        "enable": {"state": False, "allow_toggle": "if_named"},
        "command": "x",
        "style": {
            "hidden": False, "inline_results": {"truncate": {"lines": 3}}, "results_file_link": "full",
            "parameters": "json",
        },
    }  # fmt: skip
    assert partial["conversation"]["compaction"]["rules"]["value"] == []
    assert partial["style"]["typewriter"]["text_delay"] == "5us"
    assert partial["editor"]["envs"] == ["JP_EDITOR", "VISUAL", "EDITOR"]
    assert "template" not in partial
    assert "user" not in partial
    assert list(partial) == [
        "config_load_paths", "extends", "assistant", "conversation", "style", "interrupt", "editor", "providers",
        "plugins",
    ]  # fmt: skip


def test_labels_whose_names_look_like_an_annotation_survive(world: Any):
    labels = '{"value":{"value":"a","strategy":"b"},"strategy":"deep_merge"}'
    partial: Any = world.settings().resolve([f"conversation.labels:={labels}"], None).partial
    assert partial["conversation"]["labels"] == {
        "value": {"value": "a", "strategy": "b"},
        "strategy": "deep_merge",
    }
    world.workspace("conversation.labels = { value = { value = 'a', strategy = 'b' }, strategy = 'keep' }")
    stream = new_conversation(world.settings())
    assert world.settings().resolve([], stream).partial["conversation"]["labels"]["value"] == {
        "value": "a", "strategy": "b",
    }  # fmt: skip


FAST = '[providers.llm.aliases]\nfast = "openai/quick"\n[conversation.tools.t]\nsource = "local"\ncommand = "x"\nenable = false\n'


@pytest.mark.requirement("F36")
def test_a_conversation_goes_on_with_its_model_and_tools_and_stores_no_change(world: Any):
    world.workspace(FAST)
    first = ["assistant.model.id=fast", "conversation.tools.t.enable=true"]
    stream = new_conversation(world.settings(), *first)
    for overrides in ([], [], ["assistant.model.id=fast"]):
        settings = world.settings()
        resolved, delta = query(settings, stream, *overrides)
        assert str(resolved.model) == "openai/quick"
        assert settings.explain("conversation.tools.t.enable.state", overrides, stream).value is True
        assert delta is None
    assert len(stream) == 0


@pytest.mark.requirement("F36")
def test_the_same_for_a_conversation_that_is_switched_later(world: Any):
    world.workspace(FAST + '[assistant.model]\nid = "openai/slow"\n')
    stream = new_conversation(world.settings())
    _, delta = query(world.settings(), stream, "assistant.model.id=fast", "conversation.tools.t.enable=true")
    assert delta == {
        "assistant": {"model": {"id": {"provider": "openai", "name": "quick"}}},
        "conversation": {"tools": {"t": {"enable": {"state": True, "allow_toggle": "any"}}}},
    }
    for overrides in ([], ["assistant.model.id=fast"]):
        resolved, delta = query(world.settings(), stream, *overrides)
        assert (str(resolved.model), delta) == ("openai/quick", None)


@pytest.mark.requirement("F36")
def test_lists_do_not_grow_from_query_to_query(world: Any):
    world.workspace(
        'config_load_paths = ["cfg"]\nproviders.llm.anthropic.beta_headers = ["b"]\n'
        'conversation.attachments = ["file:a"]\n[[assistant.instructions]]\ntitle = "T"\n'
        '[providers.mcp.s]\ntype = "stdio"\ncommand = "x"\narguments = ["--a"]\n'
    )
    world.workspace(
        'conversation.attachments = ["file:b"]\n[[assistant.instructions]]\ntitle = "P"\n', "cfg/p.toml"
    )
    world.environ["JP_CFG_EDITOR_ENVS"] = "vi"
    stream = new_conversation(world.settings(), "p")
    before = world.settings().resolve(["p"], stream).partial
    for _ in range(2):
        resolved, delta = query(world.settings(), stream, "p")
        assert delta is None
        assert resolved.partial == before
        assert resolved.warnings == ()
    settings = world.settings()
    assert settings.explain("editor.envs", ["p"], stream).value == ["vi"]
    assert settings.explain("providers.mcp.s.arguments", ["p"], stream).value == ["--a"]
    assert settings.explain("conversation.attachments", ["p"], stream).value == ["file:a", "file:b"]


def test_a_change_of_the_environment_takes_effect_but_is_not_stored(world: Any):
    world.workspace('assistant.name = "file"')
    stream = new_conversation(world.settings())
    world.environ["JP_CFG_ASSISTANT_NAME"] = "env"
    world.environ["JP_CFG_USER_NAME"] = "Pixel"
    resolved, delta = query(world.settings(), stream)
    assert (resolved.assistant_name, resolved.user_name) == ("env", "Pixel")
    assert delta is None


def test_what_only_the_users_own_files_add_is_not_stored_but_a_workspaces_is(world: Any):
    stream = new_conversation(world.settings())
    tool = '[conversation.tools.{}]\nsource = "local"\ncommand = "x"\n'
    world.user(tool.format("mine") + '[user]\nname = "Pixel"\n')
    world.workspace(tool.format("ours"))
    resolved, delta = query(world.settings(), stream)
    assert resolved.user_name == "Pixel"
    assert delta == {"conversation": {"tools": {"ours": {"source": "local", "command": "x"}}}}
    _, delta = query(world.settings(), stream, "conversation.tools.mine.run=unattended")
    assert delta == {
        "conversation": {"tools": {"mine": {"source": "local", "command": "x", "run": "unattended"}}}
    }


@pytest.mark.requirement("G45")
def test_a_list_that_lost_items_is_stored_whole(world: Any):
    """Trap 45: what cannot be said by adding is said by replacing."""
    tool = '[conversation.tools.t]\nsource = "local"\ncommand = "x"\n'
    world.workspace(tool + 'access.fs = [{ path = "a", read = true }, { path = "b", read = true }]\n')
    stream = new_conversation(world.settings())
    only_b = 'conversation.tools.t.access.fs:=[{"path":"b","read":true}]'
    resolved, delta = query(world.settings(), stream, only_b)
    assert delta == {
        "conversation": {"tools": {"t": {"access": {"fs": {
            "value": [{"path": "b", "read": True}], "strategy": "replace", "discard_when_merged": False,
        }}}}}
    }  # fmt: skip
    assert resolved.warnings == ()
    again = world.settings().resolve([], stream).partial
    assert again["conversation"]["tools"]["t"]["access"]["fs"]["value"] == [{"path": "b", "read": True}]


def test_what_is_set_without_doubles_stays_so(world: Any):
    world.workspace('conversation.attachments = { value = ["file:a"], dedup = true }')
    stream = new_conversation(world.settings())
    resolved, _ = query(
        world.settings(), stream, "conversation.attachments=file:z", "conversation.attachments+=file:z"
    )
    assert [entry.text for entry in resolved.attachments] == ["file:z"]
    again, delta = query(world.settings(), stream)
    assert (again.partial, delta) == (resolved.partial, None)


def test_a_list_that_grew_holds_only_what_is_new(world: Any):
    world.workspace('[[assistant.instructions]]\ntitle = "a"\nposition = 5\n')
    stream = new_conversation(world.settings())
    _, delta = query(world.settings(), stream, 'assistant.instructions:+=[{"title":"b","position":1}]')
    assert delta == {"assistant": {"instructions": [{"title": "b", "position": 1}]}}
    resolved = world.settings().resolve([], stream)
    assert [section.title for section in resolved.sections] == ["b", "a"]


def test_what_the_format_cannot_keep_holds_for_one_query_and_says_so(world: Any):
    world.workspace('assistant.name = "x"\neditor.envs = ["a", "b"]')
    stream = new_conversation(world.settings())
    resolved, delta = query(world.settings(), stream, "assistant.name:=null", "editor.envs=b")
    assert resolved.assistant_name is None
    assert delta is None
    assert resolved.warnings == (
        "`assistant.name`: this change holds for this query only; the conversation's file format cannot keep it",
        "`editor.envs`: this change holds for this query only; the conversation's file format cannot keep it",
    )


@pytest.mark.requirement("G38")
def test_the_newer_format_keeps_it_and_says_so_of_what_comes_back(world: Any):
    """A list that was replaced stays so; a value without another in its place comes from the file again."""
    world.workspace('assistant.name = "x"\neditor.envs = ["a", "b"]')
    first = world.settings().resolve(["user.name=Pixel"], None).partial
    stream = ConversationStream(Timestamp(0), first, mint=counting_event_ids(), newer_format=True)
    wanted = ("assistant.name:=null", "user.name:=null", "editor.envs=b")
    resolved, delta = query(world.settings(), stream, *wanted)
    assert (resolved.assistant_name, resolved.user_name) == (None, None)
    assert delta == {"editor": {"envs": ["b"]}}
    ((_, change),) = stream.config_deltas()
    assert set(change.unsets) == {"assistant.name", "user.name", "editor.envs"}
    assert resolved.warnings == (
        "`assistant.name`: this change holds for this query only; "
        ".jp/config.toml:1 sets it, which then counts again",
    )
    again, delta = query(world.settings(), stream)
    assert (again.assistant_name, again.user_name) == ("x", None)
    assert again.partial["editor"]["envs"] == ["b"]
    assert delta == {"assistant": {"name": "x"}}


@pytest.mark.parametrize("model", ["lmstudio/qwen", "local/qwen", "compatible/qwen"])
def test_models_of_ours_are_stored_as_what_the_command_line_tool_knows(world: Any, model: str):
    world.server = ServerSettings(
        lmstudio_base_url="http://localhost:1234" if model.startswith("lm") else None,
        compatible_base_url="http://localhost:8000" if model.startswith("co") else None,
    )
    world.default_model = ModelId("local", "qwen") if model.startswith("local") else None
    stream = new_conversation(world.settings(), f"assistant.model.id={model}")
    assert stream.base_config["assistant"]["model"]["id"] == {"provider": "llamacpp", "name": "qwen"}  # type: ignore[index, call-overload]
    for overrides in ([], [f"assistant.model.id={model}"]):
        resolved, delta = query(world.settings(), stream, *overrides)
        assert (str(resolved.model), delta) == (model, None)


def test_a_llamacpp_model_without_other_servers_is_one(world: Any):
    world.default_model = ModelId("local", "embedded")
    stream = new_conversation(world.settings(), "assistant.model.id=llamacpp/qwen")
    assert str(query(world.settings(), stream)[0].model) == "llamacpp/qwen"
    world.server = ServerSettings(lmstudio_base_url="http://localhost:1234")
    assert (
        str(query(world.settings(), stream, "assistant.model.id=llamacpp/qwen")[0].model) == "llamacpp/qwen"
    )


class StoredDelta:
    def __init__(self, delta: Any, unsets: Sequence[str] = (), *, is_reset: bool = False) -> None:
        self.delta = delta
        self.unsets = tuple(unsets)
        self.is_reset = is_reset


def test_newer_changes_clear_and_reset():
    base: Any = {
        "assistant": {"name": "x", "system_prompt": "p"},
        "conversation": {"tools": {"my.tool": {"source": "local"}}, "labels": {"a": "1", "b": "2"}},
    }
    changes = [
        StoredDelta({"user": {"name": "Pixel"}}, ["assistant.name", "nothing.here", "conversation.labels.a"])
    ]
    tree: Any = to_stored(read_stored(base, changes).tree)
    assert tree["assistant"] == {"system_prompt": "p"}
    assert tree["conversation"]["labels"] == {"b": "2"}
    assert tree["user"] == {"name": "Pixel"}
    dotted: Any = to_stored(read_stored(base, [StoredDelta({}, ["conversation.tools.my.tool"])]).tree)
    assert "tools" not in dotted["conversation"]
    reset = read_stored(
        base, [*changes, StoredDelta({}, is_reset=True), StoredDelta({"user": {"name": "Quill"}})]
    )
    assert reset.tree == {"user": {"name": "Quill"}}


@pytest.mark.requirement("C43")
def test_what_is_not_understood_is_left_out_alone_and_noted():
    base: Any = {
        "assistant": {"name": "x", "request": {"max_retries": "many", "cache": False}},
        "future": {"a": 1},
    }
    stored = read_stored(base, [StoredDelta({"assistant": {"nme": "y"}})])
    assert stored.tree == {"assistant": {"name": "x", "request": {"cache": False}}}
    assert [(problem.key, problem.severity) for problem in stored.problems] == [
        ("assistant.request.max_retries", "warning"),
        ("future", "hint"),
        ("assistant.nme", "hint"),
    ]


@pytest.mark.requirement("C42", "G9")
def test_trap_09_a_flat_first_delta_is_the_base_configuration():
    events = json.dumps(
        [
            {
                "type": "config_delta",
                "timestamp": "2026-01-01 00:00:00.0",
                "event_id": "abc",
                "assistant": {"name": "x"},
            }
        ]
    )
    stream = conversation_files.load(events, None, created_at=Timestamp(0), mint=counting_event_ids())
    assert read_stored(stream.base_config, ()).tree == {"assistant": {"name": "x"}}


@pytest.mark.requirement("G38")
def test_trap_38_null_in_a_delta_is_no_change():
    assert read_stored({"assistant": {"name": "x"}}, [StoredDelta({"assistant": {"name": None}})]).tree == {
        "assistant": {"name": "x"}
    }


def test_an_old_alias_means_what_it_meant_then(world: Any):
    world.workspace('providers.llm.aliases.flash = "google/new"')
    base: Any = {
        "assistant": {"model": {"id": "flash"}},
        "providers": {"llm": {"aliases": {"flash": {"provider": "google", "name": "old"}}}},
    }
    assert str(world.settings().resolve([], ConversationStream.new(Timestamp(0), base)).model) == "google/old"


@pytest.mark.requirement("C43")
def test_keys_that_an_old_conversation_lacks_come_from_the_files(world: Any):
    world.workspace("assistant.request.max_retries = 9\nassistant.name = 'new'")
    stream = ConversationStream.new(Timestamp(0), {"assistant": {"name": "old"}})
    resolved = world.settings().resolve([], stream)
    assert (resolved.retry.max_retries, resolved.assistant_name) == (9, "old")


def test_completing_twice_is_completing_once(world: Any):
    tree = from_stored(world.settings().resolve([], None).partial)
    assert complete_table(SCHEMA, tree) == tree


@pytest.mark.skipif(not EVENTS, reason="shared test data is missing")
@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.parent.name[:11])
@pytest.mark.requirement("C41", "C64")
def test_a_conversation_is_shown_as_it_would_be_continued(path: Path) -> None:
    stream = load(path)
    settings = WorkspaceSettings(NOWHERE, NOWHERE, {}, NOWHERE, None, ServerSettings(), lambda: None)
    look_after = settings.looks(stream)
    moments = [*(at for at, _ in stream.config_deltas()), len(stream)]
    for count, end in enumerate(moments):
        stream_then = stream.copy()
        stream_then.truncate(end)
        then, look = settings.resolve((), stream_then), look_after(count)
        assert (look.options, look.labels.model, look.problem) == (then.display, str(then.model), None)
        assert look.labels.assistant == (then.assistant_name or "Assistant")


@pytest.mark.requirement("C43", "C64")
def test_how_a_conversation_was_shown_is_found_out_moment_by_moment(world: World) -> None:
    """What cannot be used is left out, and only there; asking costs the same however many changes there were."""
    world.workspace("[user]\nname = 'Ann'\n")
    stream = ConversationStream.new(Timestamp(0), {"assistant": {"name": "A", "model": {"id": "gone"}}})
    for number in range(400):
        model = {"model": {"id": "openai/o3"}} if number == 0 else {}
        stream.append_config_delta({"assistant": {"name": f"N{number}", **model}}, Timestamp(1))
    settings = world.settings()
    look_after = settings.looks(stream)
    first, second, last = (look_after(count) for count in (0, 1, 400))
    assert (first.labels, second.labels) == (Labels("Ann", "A", None), Labels("Ann", "N0", "openai/o3"))
    assert (last.labels.assistant, second.problem) == ("N399", None)
    assert first.problem is not None
    assert "`gone` is neither a known alias" in first.problem
    assert count_calls(lambda: look_after(400)) < 1.2 * count_calls(lambda: look_after(1))
