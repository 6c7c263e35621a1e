"""A layer: one source of settings, frozen, with the place that it came from.

A configuration is an ordered list of layers (config-and-tools 1.2). A file with what it `extends` is one
layer of several steps, which are folded among themselves first; an assignment such as
`assistant.name=Pixel` is a change that is made to all that lies below it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Literal, TypeAlias

from jp_lsp.config.value import Partial, Path
from jp_lsp.conversation.json_value import JsonValue

LayerKind = Literal[
    "user_global", "workspace", "cwd", "user_workspace", "environment", "conversation", "request"
]
FILE_KINDS: tuple[LayerKind, ...] = ("user_global", "workspace", "cwd", "user_workspace")

WORKSPACE_KINDS: frozenset[str] = frozenset({"workspace", "cwd", "conversation"})
"""Layers that come with a workspace and therefore may be a stranger's (config-and-tools 10.4)."""

PRIVATE_KINDS: frozenset[str] = frozenset({"user_global", "user_workspace", "environment"})
"""Layers that belong to the user and are not copied into a conversation without need (1.2)."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from.

    `name` is for people: a path (relative to the workspace where it lies in it), a variable, an
    expression. `kind` is a layer's or `defaults`.
    """

    kind: LayerKind | Literal["defaults"]
    name: str
    path: FilePath | None = None
    line: int | None = None

    def __str__(self) -> str:
        return self.name if self.line is None else f"{self.name}:{self.line}"


def _unknown_line(path: Path) -> int | None:
    return None


@dataclass(frozen=True, slots=True)
class Step:
    """One file of a layer, or the whole of a layer that is no file. `line_of` finds a key's line (from 1)."""

    origin: Origin
    partial: Partial
    line_of: Callable[[Path], int | None] = field(default=_unknown_line, compare=False, repr=False)

    def place_of(self, path: Path) -> Origin:
        """Give the origin with the line of `path`, where that is known."""
        line = self.line_of(path)
        return (
            self.origin
            if line is None
            else Origin(self.origin.kind, self.origin.name, self.origin.path, line)
        )


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings that are merged over what lies below.

    `state` other than `set` says why there is nothing in it. Lists of a layer with `skips_known` leave out
    items that are there already (trap 36).
    """

    origin: Origin
    steps: tuple[Step, ...] = ()
    state: Literal["set", "not found", "skipped"] = "set"
    reason: str | None = None
    skips_known: bool = False

    @property
    def kind(self) -> LayerKind | Literal["defaults"]:
        """Its place in the order."""
        return self.origin.kind


@dataclass(frozen=True, slots=True)
class Change:
    """An assignment: `key` is dotted, empty for the root. `merges` adds to lists and maps instead of setting."""

    origin: Origin
    key: str
    value: JsonValue
    is_json: bool = False
    merges: bool = False

    @property
    def kind(self) -> LayerKind | Literal["defaults"]:
        """Its place in the order."""
        return self.origin.kind


Source: TypeAlias = Layer | Change
