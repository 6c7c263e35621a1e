"""Changing a configuration file: what it will say, whether that is right, and what comes of it.

Nothing is written here. A `FileChange` is made from the file's present text, or that of the editor's document,
and checked against all other layers first; whoever writes it makes sure that the text is still the one that was
read. Nothing that is set becomes trusted by it: what a file of the workspace says about programs and servers is
asked about at the next query, as if it had been written by hand (config-and-tools 1.11, 10.4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Literal

from jp_lsp.config.about_file import is_same_file
from jp_lsp.config.edit import Edit, EditError, edited
from jp_lsp.config.endpoints import holds_secret
from jp_lsp.config.explain import explain_path
from jp_lsp.config.explanation import Explanation
from jp_lsp.config.file_edits import Wish, edits_for
from jp_lsp.config.files import LoadedFile, read_text
from jp_lsp.config.fold import in_order
from jp_lsp.config.layer import Layer, LayerKind, Origin, Source, Step
from jp_lsp.config.parse import ParseError, parse
from jp_lsp.config.problem import Problem, errors_in, refusal
from jp_lsp.config.resolve import resolve
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.config.target import Target
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.trust import TrustItem

_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed text, and the keys that it is about as paths of the schema.

    `asked` is what the user must trust without the change.
    """

    target: Target
    before: str
    after: str
    keys: tuple[Path, ...]
    asked: frozenset[TrustItem] = frozenset()


def plan_change(settings: WorkspaceSettings, target: Target, text: str, wishes: Sequence[Wish]) -> FileChange:
    """Say what a file with this text will be; an empty one is a file that is not there yet.

    Raises:
        Refusal: a key or value is wrong, the file cannot be read, or it would break the configuration.
    """
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    extension = target.path.suffix[1:]
    body = text.removeprefix(mark)
    data = _data(target, body, extension)
    planned = edits_for(wishes, data, resolve(settings.sources()).tree)
    _keep_secrets_out(settings, target, planned.edits)
    try:
        after = mark + edited(body, extension, planned.edits)
    except EditError as error:
        raise Refusal("invalid_params", f"{target.name}: {error}", origin=target.name) from None
    overrides = settings.expressions_for(target.path) or ()
    _check(settings, target, overrides, text, after)
    asked = settings.to_be_trusted(overrides)
    return FileChange(
        target, text, after, planned.keys, frozenset(replace(item, origin="") for item in asked)
    )


def _data(target: Target, text: str, extension: str) -> JsonObject:
    try:
        return parse(text.encode("utf-8", "surrogatepass"), extension) if text.strip() else {}
    except ParseError as error:
        place = target.name if error.line is None else f"{target.name}:{error.line}"
        raise Refusal("config_invalid", f"{place}: {error}; mend it first", origin=place) from None


def _keep_secrets_out(settings: WorkspaceSettings, target: Target, edits: Sequence[Edit]) -> None:
    """A password in an address would be committed with the workspace (1.2)."""
    if not settings.places.really_holds(target.path):
        return
    for edit in edits:
        value = getattr(edit, "value", None)
        is_address = edit.path[-1:] == ("base_url",) and isinstance(value, str)
        if is_address and holds_secret(str(value)):
            text = "this address has a password in it, which does not belong into a file of the workspace"
            raise Refusal(
                "invalid_params", f"{text}; choose `user_workspace` or `user_global`", origin="base_url"
            )


def _check(
    settings: WorkspaceSettings, target: Target, overrides: Sequence[str], before: str, after: str
) -> None:
    """Refuse what is wrong now and was not before, in the file or across all layers.

    Raises:
        Refusal: names all that would be wrong.
    """
    known = {(each.key, each.text) for each in _problems(settings, target, overrides, before)}
    new = [
        each
        for each in errors_in(_problems(settings, target, overrides, after))
        if (each.key, each.text) not in known
    ]
    if new:
        raise refusal(new)


def _problems(
    settings: WorkspaceSettings, target: Target, overrides: Sequence[str], text: str
) -> Iterator[Problem]:
    file = read_text(target.path, text)
    for finding in file.findings:
        origin = Origin("workspace", target.name, target.path, file.line_of(finding.path))
        yield Problem(".".join(map(str, finding.path)), finding.text, origin, finding.severity)
    if target.exists:
        yield from resolve(settings.with_text(target.path, text).sources(overrides)).problems
    elif text:
        yield from resolve(_with_new_file(settings, target, file)).problems


def _with_new_file(settings: WorkspaceSettings, target: Target, file: LoadedFile) -> Sequence[Source]:
    """Give the layers as they would be with a file that is not there yet; one that needs a name as if named."""
    sources = settings.sources()
    kind: LayerKind = "request"
    for candidate, folder, stem in settings.places.candidates():
        if stem == target.path.stem and is_same_file(folder / target.path.name, target.path):
            kind = candidate
    origin = Origin(kind, target.name, target.path)
    return in_order((*sources, Layer(origin, (Step(origin, file.partial, file.line_of),))), settings.order)


# ------------------------------------------------------------------------------------------ what comes of it


@dataclass(frozen=True, slots=True)
class KeyOutcome:
    """A key after the change: its effective value with its explanation, and what has become of the file's word.

    `own` is what the file now holds; `state` says whether that counts, and `unread` that nothing reads the file.
    """

    explanation: Explanation
    own: JsonValue
    state: Literal["wins", "adds", "shadowed", "not set", "unread"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change has led to.

    `expression` is what a query must name for the file to count, `unread` why nothing reads it. `questions` are
    what the user will be asked to trust because of it.
    """

    keys: tuple[KeyOutcome, ...]
    expression: str | None
    unread: str | None
    questions: tuple[str, ...]
    problems: tuple[Problem, ...]


def outcome_of(
    after: WorkspaceSettings, change: FileChange, conversation: ConversationStream | None
) -> Outcome:
    """Say what holds with the change.

    Args:
        after: the settings with it.
        change: what was changed.
        conversation: whose effective values are wanted; a new one's, if none.
    """
    path = change.target.path
    expressions = after.expressions_for(path)
    overrides = expressions or ()
    sources = after.sources(overrides, conversation)
    resolved = resolve(sources).tree
    keys = tuple(
        _key_outcome(
            explain_path(key, sources, after.order, resolved), change, is_read=expressions is not None
        )
        for key in change.keys
    )
    questions = tuple(
        f"{item.origin}: {item.text}"
        for item in after.to_be_trusted(overrides)
        if replace(item, origin="") not in change.asked
    )
    unread = after.about_file(path).unreachable if expressions is None else None
    problems = tuple(each for each in after.problems(overrides) if _is_about(each, path))
    return Outcome(keys, next(iter(overrides), None), unread, questions, problems)


def _is_about(problem: Problem, path: FilePath) -> bool:
    return problem.origin is not None and is_same_file(problem.origin.path, path)


def _key_outcome(explanation: Explanation, change: FileChange, *, is_read: bool) -> KeyOutcome:
    said = [each for each in explanation.contributions if is_same_file(each.origin.path, change.target.path)]
    for each in reversed(said):
        match each.state:
            case "wins" | "adds" | "shadowed" as state:
                return KeyOutcome(explanation, each.value, state)
            case _:
                pass
    return KeyOutcome(explanation, None, "not set" if is_read else "unread")
