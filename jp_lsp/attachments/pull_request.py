"""Pull requests: `gh://OWNER/REPO/pull/N/diff`, or `.../reviews`; `gh:pull/N/diff` in the workspace's own repository.

Which repository that is says the remote `origin` in `.git/config`, which is only read: no program is run for
it (config-and-tools 6.7).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import anyio.to_thread

from jp_lsp.attachments.address import Address, address_of, require_known
from jp_lsp.attachments.github import GitHub, GitHubError
from jp_lsp.attachments.globs import Glob
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched

_PATH = re.compile(r"(?:([\w.-]+)/([\w.-]+)/)?pull/([0-9]{1,9})/(diff|reviews)", re.ASCII)
_REMOTE = re.compile(r'\[remote "origin"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*(\S+)', re.MULTILINE)
_REPOSITORY = re.compile(r"(?:^|[/:@])github\.com(?::\d+)?[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$", re.ASCII)
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(r"diff --git a/.*? b/(.*)")

_CONFIG_LIMIT = 1024 * 1024

_DEFAULTS = (
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "*.lock",
    "go.sum",
    "*.min.js",
    "*.min.css",
    "*.snap",
)
"""Files that nobody reads in a diff."""


@dataclass(frozen=True, slots=True)
class _PullRequest:
    owner: str
    repository: str
    number: str

    @property
    def path(self) -> str:
        return f"/repos/{self.owner}/{self.repository}/pulls/{self.number}"


class PullRequestHandler:
    """Fetches diffs and reviews.

    Args:
        root: the absolute path of the workspace folder.
        github: where they are.
    """

    def __init__(self, root: str, github: GitHub) -> None:
        self._root = Path(root)
        self._github = github

    async def fetch(self, entry: AttachmentEntry) -> Fetched:
        """Fetch the part of a pull request that an entry names.

        Raises:
            AttachmentError: it names none, or it cannot be had.
        """
        address = address_of(entry)
        match = _PATH.fullmatch(address.path.strip("/"))
        if match is None:
            text = f"Attachment {entry.text!r} names no part of a pull request; write `gh://OWNER/REPO/pull/N/diff` or `.../reviews`."
            raise AttachmentError(text, entry.text)
        request = _PullRequest(*await self._repository(entry, match), match[3])
        try:
            content = await (self._diff if match[4] == "diff" else self._reviews)(entry, address, request)
        except GitHubError as error:
            raise AttachmentError(f"Attachment {entry.text!r} cannot be had: {error}.", entry.text) from error
        source = f"gh://{request.owner}/{request.repository}/pull/{request.number}/{match[4]}"
        return Fetched((TextAttachment(source, content),))

    async def _repository(self, entry: AttachmentEntry, match: re.Match[str]) -> tuple[str, str]:
        if match[1] is not None:
            return match[1], match[2]
        found = await anyio.to_thread.run_sync(_origin, self._root)
        if found is None:
            text = f"Attachment {entry.text!r} names no repository, and the workspace has none of GitHub; write `gh://OWNER/REPO/pull/N/...`."
            raise AttachmentError(text, entry.text)
        return found

    async def _diff(self, entry: AttachmentEntry, address: Address, request: _PullRequest) -> str:
        require_known(entry, address, ("exclude", "no_defaults"))
        patterns = [*address.values("exclude"), *(() if _is_set(address, "no_defaults") else _DEFAULTS)]
        diff = await self._github.text(request.path, "application/vnd.github.diff")
        return without_files(diff, [Glob(pattern) for pattern in patterns])

    async def _reviews(self, entry: AttachmentEntry, address: Address, request: _PullRequest) -> str:
        require_known(entry, address, ("include_outdated",))
        reviews = await self._github.items(f"{request.path}/reviews")
        comments = await self._github.items(f"{request.path}/comments")
        if not _is_set(address, "include_outdated"):
            comments = [each for each in comments if not _is_outdated(each)]
        lines = [*map(_review, reviews), *map(_comment, comments)]
        return "\n".join(line for line in lines if line) or "(There are no reviews.)"


def without_files(diff: str, patterns: Sequence[Glob]) -> str:
    """Take the files out of a diff that one of the patterns fits, and say which."""
    kept: list[str] = []
    left_out: list[str] = []
    for part in _FILE.split(diff):
        name = _NAME.match(part)
        if name is not None and any(pattern.covers(name[1]) for pattern in patterns):
            left_out.append(name[1])
        else:
            kept.append(part)
    note = f"(Left out: {', '.join(left_out)})\n" if left_out else ""
    return f"{''.join(kept)}{note}"


def _origin(root: Path) -> tuple[str, str] | None:
    """Read which repository of GitHub the workspace is a clone of."""
    try:
        with (root / ".git" / "config").open("rb") as file:
            text = file.read(_CONFIG_LIMIT).decode("utf-8", "replace")
    except OSError:
        return None
    remote = _REMOTE.search(text)
    found = _REPOSITORY.search(remote[1]) if remote is not None else None
    return None if found is None else (found[1], found[2])


def _is_set(address: Address, name: str) -> bool:
    value = address.value(name)
    return value is not None and value.lower() not in {"false", "0", "no"}


def _is_outdated(comment: JsonObject) -> bool:
    """Tell whether the line that a comment is about is no longer there; one about a whole file has none."""
    return comment.get("line") is None and comment.get("subject_type") != "file"


def _review(review: JsonObject) -> str:
    body = _text(review, "body").strip()
    state = _text(review, "state")
    if not body and state == "COMMENTED":
        return ""  # it only holds comments, which come by themselves
    return f"<review{_attributes(review, author=_author(review), state=state)}>{escape(body)}</review>"


def _comment(comment: JsonObject) -> str:
    line = comment.get("line")
    place = str(line) if isinstance(line, int) else "outdated" if _is_outdated(comment) else "file"
    attributes = _attributes(comment, author=_author(comment), path=_text(comment, "path"), line=place)
    hunk = escape(_text(comment, "diff_hunk").strip("\n"))
    return f"<comment{attributes}>\n<diff>\n{hunk}\n</diff>\n{escape(_text(comment, 'body').strip())}\n</comment>"


def _attributes(item: JsonObject, **attributes: str) -> str:
    time = _text(item, "submitted_at") or _text(item, "created_at")
    return "".join(
        f" {name}={quoteattr(value)}" for name, value in {**attributes, "at": time}.items() if value
    )


def _author(item: JsonObject) -> str:
    user = item.get("user")
    return _text(user, "login") if isinstance(user, Mapping) else ""


def _text(item: JsonObject, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""
