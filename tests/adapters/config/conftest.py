"""A workspace on disk, written by a test line by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.driver.trust import apply_trust
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal


class World:
    """Folders as they lie around a workspace, and the settings that follow from them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.user_config = folder / "home" / "config"
        self.user_workspace = folder / "home" / "workspace"
        self.environ: dict[str, str] = {}
        self.server = ServerSettings()
        self.default_model: ModelId | None = ModelId("anthropic", "some-model")
        self.cwd = self.root
        (self.root / ".jp").mkdir(parents=True)

    def workspace(self, text: str, name: str = ".jp/config.toml") -> Path:
        """Write a file of the workspace."""
        return _write(self.root / name, text)

    def user(self, text: str, name: str = "config.toml") -> Path:
        """Write a file of the user's own configuration."""
        return _write(self.user_config / name, text)

    def user_of_workspace(self, text: str, name: str = "config.toml") -> Path:
        """Write a file that the user keeps for this workspace."""
        return _write(self.user_workspace / name, text)

    def settings(self) -> WorkspaceSettings:
        """Give the settings as a server would make them."""
        return WorkspaceSettings(
            self.root,
            self.cwd,
            self.environ,
            self.user_config,
            self.user_workspace,
            self.server,
            lambda: self.default_model,
        )

    def refusal(self, *overrides: str) -> str:
        """Give the message of the refusal that a query meets where the workspace is not trusted."""
        with pytest.raises(Refusal) as caught:
            apply_trust(self.settings().resolve(overrides, None), is_trusted=False)
        assert caught.value.error.code == "config_invalid"
        return caught.value.error.message


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def value_of(world: World) -> Callable[..., object]:
    """Give the resolved value of a key, in the form of stored files."""

    def value(key: str, *overrides: str) -> object:
        return world.settings().explain(key, overrides).value

    return value
