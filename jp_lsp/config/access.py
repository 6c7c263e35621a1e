"""The access policy of a local tool, compiled to what the tool is handed (config-and-tools 4.9).

A policy is a contract: the tool keeps it, nobody else does. So what it says must be beyond doubt. Paths are
made canonical, one that leads out of the workspace is an error, and a rule about the outside counts only
while the user's own record approves of exactly the place that it leads to.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from pathlib import PurePosixPath, PureWindowsPath

from jp_lsp.config.value import Partial
from jp_lsp.conversation.json_text import from_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue

APPROVALS_FILE = "approvals.json"

_PERMISSIONS = ("read", "write", "create", "update", "delete", "execute")
_MOST_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class CompiledAccess:
    """A policy in wire form, or why there can be none. `dropped` says which rules do not count, and why."""

    wire: JsonObject | None
    error: str | None = None
    dropped: tuple[str, ...] = ()


class _InvalidRule(Exception):
    """A rule cannot be kept; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """What the user approved of outside the workspace: by path of the rule, the place it led to."""

    targets: Mapping[str, frozenset[str]]

    def allows(self, rule_path: str, target: str) -> bool:
        """Tell whether a rule with this path may lead to this place."""
        return target in self.targets.get(rule_path, frozenset())


def read_approvals(folder: FilePath | None) -> Approvals:
    """Read the record in the user's own folder for the workspace; a missing or broken one is empty."""
    targets: dict[str, set[str]] = {}
    for mount in _mounts(folder):
        path, target = mount.get("rule_path"), mount.get("canonical_target")
        if isinstance(path, str) and isinstance(target, str):
            targets.setdefault(_lexical_or_same(path), set()).add(target)
    return Approvals({path: frozenset(found) for path, found in targets.items()})


def _mounts(folder: FilePath | None) -> Iterator[JsonObject]:
    if folder is None:
        return
    try:
        path = folder / APPROVALS_FILE
        if path.stat().st_size > _MOST_BYTES:
            return
        held = from_text(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    mounts = held.get("mounts") if isinstance(held, Mapping) else None
    for mount in mounts if isinstance(mounts, Sequence) and not isinstance(mounts, str) else ():
        if isinstance(mount, Mapping):
            yield mount


def _lexical_or_same(path: str) -> str:
    try:
        return lexical_path(path)
    except ValueError:
        return path


def compile_access(rules: Sequence[Partial], root: FilePath, approvals: Approvals) -> CompiledAccess:
    """Compile the rules of one tool.

    Args:
        rules: the items of `access.fs`; none at all means that nothing is restricted.
        root: the workspace.
        approvals: what may be reached outside of it.
    """
    compiled: list[JsonValue] = []
    dropped: list[str] = []
    try:
        top = root.resolve()
        for rule in rules:
            lexical = _lexical(rule)
            if rule.get("external") is not True:
                compiled.append(_wire(rule, _inside(lexical, top), None))
                continue
            target, problem = _outside(lexical, top, approvals)
            if problem is None:
                compiled.append(_wire(rule, lexical, target))
            else:
                dropped.append(f"the rule for `{lexical}` does not count: {problem}")
    except (_InvalidRule, OSError) as error:
        return CompiledAccess(None, str(error))
    if rules and not compiled:
        # To drop every rule must not widen what the tool may do (trap 57).
        compiled.append(_wire({}, "", None))
    return CompiledAccess({"fs": compiled, "net": [], "env": []}, None, tuple(dropped))


def lexical_path(path: str) -> str:
    """Normalise a path relative to the workspace; the workspace itself is empty.

    Raises:
        ValueError: it is not relative, or leads out of the workspace.
    """
    if (
        "\0" in path
        or PurePosixPath(path).is_absolute()
        or PureWindowsPath(path).drive
        or path.startswith("\\")
    ):
        raise ValueError("it is not relative to the workspace")
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part != "..":
            parts.append(part)
        elif not parts:
            raise ValueError("it leads out of the workspace")
        else:
            parts.pop()
    return "/".join(parts)


def _lexical(rule: Partial) -> str:
    path = str(rule["path"])
    try:
        return lexical_path(path)
    except ValueError as error:
        raise _InvalidRule(f"the path `{path}` cannot be used: {error}") from error


def _inside(lexical: str, top: FilePath) -> str:
    """Give the canonical path of an ordinary rule; links within the workspace are followed."""
    target = _resolved(top / lexical)
    if target is None:
        raise _InvalidRule(f"the path `{lexical}` cannot be used: its links lead nowhere")
    if not target.is_relative_to(top):
        raise _InvalidRule(
            f"the path `{lexical}` leads out of the workspace, to {target}; set `external = true`"
        )
    relative = target.relative_to(top).as_posix()
    return "" if relative == "." else relative


def _outside(lexical: str, top: FilePath, approvals: Approvals) -> tuple[str, str | None]:
    """Give where an external rule leads, and why that does not count."""
    target = _resolved(top / lexical)
    if target is None or not target.exists():
        return "", "there is nothing at its end"
    if target.is_relative_to(top):
        raise _InvalidRule(f"the path `{lexical}` is external, but leads into the workspace")
    if not approvals.allows(lexical, str(target)):
        return "", f"nobody approved of {target}"
    return str(target), None


def _resolved(path: FilePath) -> FilePath | None:
    """Follow all links; `None` where they go in circles, which Python tells by itself before 3.13 only."""
    try:
        target = path.resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            target.stat()
    except (OSError, RuntimeError):
        return None
    return target


def _wire(rule: Partial, path: str, target: str | None) -> JsonValue:
    permissions = {
        name: value if isinstance(value := rule.get(name), bool) else None for name in _PERMISSIONS
    }
    return {
        "lexical_path": path,
        "external": target is not None,
        "approved_target": target,
        **permissions,
    }
