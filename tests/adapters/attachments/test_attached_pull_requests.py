"""Pull requests as attachments, with a GitHub on the loopback (config-and-tools 6.7)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jp_lsp.attachments.github import GitHub
from jp_lsp.attachments.pull_request import PullRequestHandler
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from tests.adapters.attachments.fetching import Folder, table, texts, to_entry
from tests.support.http_server import HttpServer, Reply, Request, refusing_url

pytestmark = pytest.mark.anyio

CODE = "diff --git a/src/main.py b/src/main.py\n--- a/src/main.py\n+++ b/src/main.py\n@@ -1 +1 @@\n-a\n+b\n"
LOCK = "diff --git a/uv.lock b/uv.lock\n--- a/uv.lock\n+++ b/uv.lock\n@@ -1 +1 @@\n-1\n+2\n"
DOCS = "diff --git a/docs/a.md b/docs/a.md\nnew file mode 100644\n+++ b/docs/a.md\n@@ -0,0 +1 @@\n+x\n"
SOURCE = "gh://me/it/pull/7/diff"


async def fetch(
    server: HttpServer, entry: str | AttachmentEntry, root: Path = Path("/none")
) -> dict[str, str]:
    environ = {"GITHUB_API_URL": f"{server.url}/api/", "GITHUB_TOKEN": "other", "JP_GITHUB_TOKEN": "secret"}
    read = to_entry(entry) if isinstance(entry, str) else entry
    return texts(await PullRequestHandler(str(root), GitHub(environ)).fetch(read))


@pytest.mark.requirement("R221")
@pytest.mark.parametrize(
    ("entry", "diff"),
    [
        (SOURCE, f"{CODE}{DOCS}(Left out: uv.lock)\n"),
        ("gh://me/it/pull/7/diff?no_defaults", CODE + LOCK + DOCS),
        ("gh://me/it/pull/7/diff?no_defaults=false", f"{CODE}{DOCS}(Left out: uv.lock)\n"),
        ("gh://me/it/pull/7/diff?exclude=docs&exclude=*.py", "(Left out: src/main.py, uv.lock, docs/a.md)\n"),
        (table("gh", "me/it/pull/7/diff", exclude=["docs/*.md"]), f"{CODE}(Left out: uv.lock, docs/a.md)\n"),
    ],
)
async def test_a_diff(entry: str | AttachmentEntry, diff: str) -> None:
    with HttpServer([Reply.text(CODE + LOCK + DOCS)]) as server:
        assert await fetch(server, entry) == {SOURCE: diff}
        (request,) = server.requests
        assert request.path == "/api/repos/me/it/pulls/7"
        assert request.headers["accept"] == "application/vnd.github.diff"
        assert request.headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:me/it.git",
        "https://github.com/me/it",
        "ssh://git@github.com:22/me/it.git",
        "https://x@github.com/me/it/",
    ],
)
async def test_the_repository_of_the_workspace(tmp_path: Path, url: str) -> None:
    (tmp_path / ".git").mkdir()
    config = f'[core]\n\tbare = false\n[remote "fork"]\n\turl = https://github.com/no/no\n[remote "origin"]\n\turl = {url}\n'
    (tmp_path / ".git" / "config").write_text(config, encoding="utf-8")
    with HttpServer([Reply.text(CODE)]) as server:
        assert await fetch(server, "gh:pull/7/diff", tmp_path) == {SOURCE: CODE}


@pytest.mark.parametrize(
    "config", [None, "", '[remote "origin"]\n\turl = https://github.com.evil.example/me/it\n']
)
async def test_a_workspace_without_a_repository_of_github(tmp_path: Path, config: str | None) -> None:
    if config is not None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "config").write_text(config, encoding="utf-8")
    with HttpServer([]) as server, pytest.raises(AttachmentError, match="the workspace has none of GitHub"):
        await fetch(server, "gh:pull/7/diff", tmp_path)


REVIEWS = [
    {
        "user": {"login": "ann"},
        "state": "APPROVED",
        "body": "Good <work>",
        "submitted_at": "2026-01-02T03:04:05Z",
    },
    {"user": {"login": "bob"}, "state": "COMMENTED", "body": ""},
    "no review",
]
COMMENTS = [
    {"user": {"login": "bob"}, "path": "a.py", "line": 3, "diff_hunk": "@@ -1 +1 @@\n+a < b", "body": "Why?"},
    {"user": None, "path": "old.py", "line": None, "diff_hunk": "@@", "body": "Gone"},
    {"user": {}, "path": "b.py", "line": None, "subject_type": "file", "diff_hunk": "", "body": "All of it"},
]
ANN = '<review author="ann" state="APPROVED" at="2026-01-02T03:04:05Z">Good &lt;work&gt;</review>'
BOB = '<comment author="bob" path="a.py" line="3">\n<diff>\n@@ -1 +1 @@\n+a &lt; b\n</diff>\nWhy?\n</comment>'
GONE = '<comment path="old.py" line="outdated">\n<diff>\n@@\n</diff>\nGone\n</comment>'
WHOLE = '<comment path="b.py" line="file">\n<diff>\n\n</diff>\nAll of it\n</comment>'


def talk(server: Callable[[], HttpServer]) -> Callable[[Request], Reply]:
    """A GitHub that gives the comments in two pages."""

    def answer(request: Request) -> Reply:
        if "/reviews" in request.path:
            return Reply.json(REVIEWS)
        if "page=2" in request.path:
            return Reply.json(COMMENTS[1:], link='<https://elsewhere.invalid/x>; rel="next"')
        following = f'<{server().url}/api/repos/me/it/pulls/7/comments?page=2>; rel="next"'
        return Reply.json(COMMENTS[:1], link=following)

    return answer


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        ("gh://me/it/pull/7/reviews", [ANN, BOB, WHOLE]),
        ("gh://me/it/pull/7/reviews?include_outdated", [ANN, BOB, GONE, WHOLE]),
    ],
)
async def test_reviews_with_all_pages_of_their_comments(entry: str, lines: list[str]) -> None:
    server = HttpServer(talk(lambda: server))
    with server:
        assert await fetch(server, entry) == {"gh://me/it/pull/7/reviews": "\n".join(lines)}
        assert [request.path for request in server.requests] == [
            "/api/repos/me/it/pulls/7/reviews?per_page=100",
            "/api/repos/me/it/pulls/7/comments?per_page=100",
            "/api/repos/me/it/pulls/7/comments?page=2",
        ]


async def test_no_reviews() -> None:
    with HttpServer(lambda request: Reply.json([])) as server:
        found = await fetch(server, "gh://me/it/pull/7/reviews")
        assert found == {"gh://me/it/pull/7/reviews": "(There are no reviews.)"}


@pytest.mark.parametrize(
    ("entry", "reply", "problem"),
    [
        ("gh://me/it/issues/7", None, "names no part of a pull request; write `gh://OWNER/REPO/pull/N/diff`"),
        ("gh://me/it/pull/7", None, "names no part of a pull request"),
        ("gh://me/it/pull/7/diff?exlude=x", None, "has the unknown parameter `exlude`; known are `exclude`, `no_defaults`."),
        (SOURCE, Reply.json({}, 404), "cannot be had: GitHub has no such pull request, or the token"),
        (SOURCE, Reply.json({}, 401), "cannot be had: GitHub does not accept the token"),
        (SOURCE, Reply.json({}, 500), "cannot be had: GitHub answered with 500."),
        (SOURCE, Reply.text("", 302, location="https://elsewhere.invalid/"), "cannot be had: GitHub answered with 302."),
        ("gh://me/it/pull/7/reviews", Reply.json({"message": "?"}), "GitHub's answer is not the list that was asked for."),
        ("gh://me/it/pull/7/reviews", Reply.text("<html>"), "GitHub's answer is not the list that was asked for."),
    ],
)  # fmt: skip
async def test_what_cannot_be_had_is_said(entry: str, reply: Reply | None, problem: str) -> None:
    with HttpServer([] if reply is None else [reply]) as server, pytest.raises(AttachmentError) as error:
        await fetch(server, entry)
    assert problem in str(error.value)
    assert error.value.entry == entry


async def test_a_github_that_is_not_there() -> None:
    with refusing_url() as url:
        handler = PullRequestHandler("/none", GitHub({"GITHUB_API_URL": url}))
        with pytest.raises(AttachmentError, match="cannot be had: GitHub cannot be reached: "):
            await handler.fetch(to_entry(SOURCE))


async def test_without_a_token_none_is_sent() -> None:
    with HttpServer([Reply.text(CODE)]) as server:
        await PullRequestHandler("/none", GitHub({"GITHUB_API_URL": server.url})).fetch(to_entry(SOURCE))
        assert "authorization" not in server.requests[0].headers


async def test_the_workspace_knows_the_kind(tmp_path: Path) -> None:
    with pytest.raises(AttachmentError, match="names no part of a pull request"):
        await Folder(tmp_path).fetch("gh:nothing")
