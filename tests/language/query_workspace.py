"""A workspace as query documents see it, made of values."""

from collections.abc import Callable, Sequence
from pathlib import Path

from jp_lsp.attachments.survey import Survey
from jp_lsp.config.layer import Origin
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.problem import Problem
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.language.query_known import KnownToQuery
from jp_lsp.ports.attachment import AttachmentError
from jp_lsp.ports.provider import ModelDetails, ModelId
from jp_lsp.ports.upkeep import ConversationFacts

CHESS = ConversationId("jp-c17912345678")
GO = ConversationId("jp-c17912345679")
FILES = ("README.md", "docs/a b.md", "docs/guide.md", "src/main.py", "src/deep/part.py")
SURVEYS = {
    "src/main.py": Survey(
        "file", "file:src/main.py", Path("/w/src/main.py"), "text", 1, 120, ("src/main.py",)
    ),
    "docs/a b.md": Survey("file", "file:docs/a b.md", Path("/w/docs/a b.md"), "text", 1, 9, ("docs/a b.md",)),
    "tool.bin": Survey("file", "file:tool.bin", Path("/w/tool.bin"), None, 1, 5, ("tool.bin",)),
    "huge.md": Survey("file", "file:huge.md", Path("/w/huge.md"), problem="it is too large"),
    "docs": Survey("folder", "file:docs", Path("/w/docs"), None, 2, 30, ("docs/a b.md", "docs/guide.md")),
    "*.rs": Survey("pattern", "file:*.rs", Path("/w"), None, 0),
    "*.py": Survey("pattern", "file:*.py", Path("/w"), None, 20, 20_000, ("src/main.py",)),
    "!docs": Survey("exclusion", "file:docs?exclude"),
    "untitled:One": Survey("document", "untitled:One", content="text", files=1, size=1234),
    "https://example.com/a": Survey("address", "https://example.com/a"),
    "jp-c17912345678": Survey("address", "jp://jp-c17912345678"),
    "jp-c1": Survey("address", "jp://jp-c1"),
    "jp-c17912345679": Survey("address", "jp://jp-c17912345679"),
    "ftp://example.com": Survey("address", "ftp://example.com"),
    "mcp+git+memo://log": Survey("address", "mcp+git+memo://log"),
    "mcp+got+memo://log": Survey("address", "mcp+got+memo://log"),
}
NAMED = (
    NamedConfiguration("dev", "dev", "Dev", "Writes code.", (Path("/w/personas/dev.toml"),)),
    NamedConfiguration("bad", "bad", None, None, (Path("/w/personas/bad.toml"),), "unknown key"),
)
VALUES = {
    "conversation": {
        "tools": {
            "*": {"run": "ask"},
            "grep": {"summary": "Finds text.", "run": "unattended", "enable": {"state": True}},
            "web_fetch": {"summary": "Reads a page.", "enable": {"state": False}},
        }
    },
    "providers": {
        "mcp": {"git": {}},
        "llm": {"aliases": {"fast": {"provider": "anthropic", "name": "tiny"}}},
    },
}
MODELS = (
    ModelDetails(ModelId("anthropic", "tiny"), "Tiny", 200_000, 8_000),
    ModelDetails(ModelId("anthropic", "big"), "Big"),
)


def _problems(overrides: Sequence[str]) -> Sequence[Problem]:
    """Know the file `dev`, the alias `fast` and models with a provider, and no other names."""
    standing = [Problem("style", "is wrong anyway", Origin("workspace", ".jp/config.toml"))]
    for text in overrides:
        is_known = (
            text == "@dev" or text.endswith("=fast") or "/" in text or text.startswith("assistant.name=")
        )
        if not is_known:
            standing.append(Problem("", "is not known", Origin("request", text)))
    return standing


def _locked(overrides: Sequence[str], switches: Sequence[tuple[bool, str | None]]) -> str | None:
    return "cannot disable describe_tools" if (False, "describe_tools") in switches else None


def _survey(name: str) -> Survey:
    if name not in SURVEYS:
        raise AttachmentError(f"Attachment {name!r}: there is no such file.", name)
    return SURVEYS[name]


def _paths(folder: str, fits: Callable[[str], bool], limit: int) -> Sequence[str]:
    return [path for path in FILES if path.startswith(folder) and fits(path)][:limit]


def workspace(*, runs_commands: bool = False) -> KnownToQuery:
    """The workspace."""
    return KnownToQuery(
        values=lambda overrides: VALUES,
        problems=_problems,
        locked=_locked,
        named=lambda: NAMED,
        sets=lambda named: [("assistant.name", "Dev")],
        survey=_survey,
        paths=_paths,
        models=MODELS,
        conversations=(
            ConversationFacts(CHESS, "projected", False, "𝄞 Chess", Timestamp(1_791_234_567_800_000_000)),
        ),
        archived=(ConversationFacts(GO, "projected", True, "Go"),),
        open_names=("src/main.py", "untitled:One"),
        runs_commands=lambda: runs_commands,
    )
