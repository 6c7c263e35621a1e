"""A query document that lies in the workspace may be a stranger's, and is trusted no more than its other files."""

from pathlib import Path
from typing import Any

import pytest

from jp_lsp.ports.settings import QuerySettings

RUNS = {
    "a command that is attached": ((), ("cmd:git diff",), "attachment cmd:git diff: cmd:git diff"),
    "a tool": (
        ('{"conversation":{"tools":{"t":{"source":"local","command":"make"}}}}',),
        (),
        "tool t: make",
    ),
}


def resolved(world: Any, document: Path, overrides: Any, attachments: Any) -> QuerySettings:
    found = world.settings().written_in(str(document)).resolve(overrides, None, attachments)
    assert isinstance(found, QuerySettings)
    return found


@pytest.mark.parametrize("case", RUNS)
def test_what_a_document_of_the_workspace_wants_to_run_must_be_trusted(world: Any, case: str) -> None:
    overrides, attachments, expected = RUNS[case]
    found = resolved(world, world.root / "ask.jp.md", overrides, attachments)
    assert [f"{item.kind} {item.name}: {item.text}" for item in found.untrusted] == [expected]


@pytest.mark.parametrize("case", RUNS)
def test_a_document_of_the_users_own_is_the_user(world: Any, case: str) -> None:
    overrides, attachments, _ = RUNS[case]
    assert resolved(world, world.user_config / "ask.jp.md", overrides, attachments).untrusted == ()


def test_a_document_cannot_send_requests_to_a_stranger(world: Any) -> None:
    asked = ("providers.llm.anthropic.base_url=https://stranger.example",)
    inside = resolved(world, world.root / "ask.jp.md", asked, ())
    assert [item.kind for item in inside.untrusted] == ["endpoint"]
    assert inside.providers["anthropic"].base_url != "https://stranger.example"
    outside = resolved(world, world.user_config / "ask.jp.md", asked, ())
    assert outside.providers["anthropic"].base_url == "https://stranger.example"


@pytest.mark.parametrize("case", RUNS)
@pytest.mark.parametrize("place", ["../another/ask.jp.md", "git:/project/ask.jp.md"])
def test_a_document_of_another_folder_is_trusted_no_more(world: Any, place: str, case: str) -> None:
    """An editor has several folders open, and only the first is the workspace."""
    overrides, attachments, expected = RUNS[case]
    found = resolved(
        world, world.root / place if place.startswith("..") else Path(place), overrides, attachments
    )
    assert [f"{item.kind} {item.name}: {item.text}" for item in found.untrusted] == [expected]


def test_a_document_of_another_folder_names_the_users_own_files(world: Any) -> None:
    """What the user keeps is the user's, whoever names it; a file that lies beside the document is not."""
    world.workspace("config_load_paths = ['cfg']")
    tool = "conversation.tools.t = { source = 'local', command = 'make' }\n"
    world.user(tool, "config/cfg/mine.toml")
    another = world.root.parent / "another"
    another.mkdir()
    (another / "theirs.toml").write_text(tool, encoding="utf-8")
    document = another / "ask.jp.md"
    assert resolved(world, document, ("mine",), ()).untrusted == ()
    found = resolved(world, document, (f"{another}/theirs.toml",), ())
    assert [item.name for item in found.untrusted] == ["t"]
