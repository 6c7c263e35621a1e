"""`http` attachments, and HTML as markdown."""

import anyio.to_thread
import pytest

from jp_lsp.attachments import web
from jp_lsp.attachments.html_markdown import to_markdown
from jp_lsp.attachments.web import WebHandler
from jp_lsp.ports.attachment import Fetched
from tests.adapters.attachments.fetching import Folder, table, texts, to_entry
from tests.support.http_server import RESET, Hold, HttpServer, Reply, refusing_url

pytestmark = pytest.mark.anyio

PAGES: dict[str, tuple[Reply, str]] = {
    "text": (Reply.text("a\n\n\n\nb", content_type="text/plain"), "a\n\n\n\nb"),
    "json": (Reply.json({"a": 1}), '{"a": 1}'),
    "another encoding": (
        Reply.text("größe".encode("latin-1"), content_type="text/plain; charset=latin-1"),
        "größe",
    ),
    "no encoding": (Reply.text("größe", content_type="text/plain; charset=nonsense"), "größe"),
    "html": (Reply.text("<p>a</p>\n\n\n<p>b</p>", content_type="Text/HTML"), "a\n\nb"),
}


async def fetch(url: str, seconds: float = 20.0) -> Fetched:
    return await WebHandler(seconds=seconds).fetch(to_entry(url))


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_is_attached_as_text(page: str) -> None:
    reply, text = PAGES[page]
    with HttpServer([reply]) as server:
        assert texts(await fetch(f"{server.url}/x?y=z")) == {f"{server.url}/x?y=z": text}
        assert server.requests[0].path == "/x?y=z"
        assert server.requests[0].headers["user-agent"].startswith("Mozilla/5.0")


async def test_a_table_has_its_parameters_apart() -> None:
    with HttpServer([PAGES["text"][0]]) as server:
        entry = table("http", server.url.removeprefix("http://") + "/x", q=["a b", "c"])
        await WebHandler().fetch(entry)
        assert server.requests[0].path == "/x?q=a+b&q=c"


async def test_redirects_are_followed_as_far_as_is_sensible() -> None:
    with HttpServer(lambda request: Reply.text("", 302, location="/again")) as server:
        (warning,) = (await fetch(server.url)).warnings
        assert "Exceeded maximum allowed redirects" in warning
        assert len(server.requests) == 6


BAD: dict[str, tuple[Reply, str]] = {
    "not found": (Reply.text("<p>oops", 404, "text/html"), "the server answered with HTTP status 404"),
    "a picture": (Reply.text(b"\x89PNG", content_type="image/png"), "it is image/png, and only text can be"),
    "too large": (Reply.text("x" * 11, content_type="text/plain"), "it has more than"),
    "cut off": (Reply((b"abc", RESET), headers={"content-type": "text/plain"}), ""),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.requirement("G63")
async def test_what_is_no_page_is_told_to_user_and_model(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trap 63: nobody takes an error page for the content."""
    monkeypatch.setattr(web, "PAGE_LIMIT", 10)
    reply, problem = BAD[case]
    with HttpServer([reply]) as server:
        url = server.url
        fetched = await fetch(url)
    (text,) = texts(fetched).values()
    assert text.startswith(f"(This page could not be attached: {problem}")
    (warning,) = fetched.warnings
    assert warning.startswith(f"Attachment {url!r} was left out: {problem}")


@pytest.mark.requirement("G63")
async def test_a_page_that_does_not_come_is_not_waited_for() -> None:
    with HttpServer([Reply((Hold(),))]) as server:
        (warning,) = (await fetch(server.url, seconds=0.2)).warnings
    assert warning.endswith("was left out: it did not come within 0.2 s.")


@pytest.mark.parametrize("url", ["http://", "http://[", "http://exa mple/", "http:\x01"])
async def test_what_is_no_address_is_told(url: str) -> None:
    assert len((await fetch(url)).warnings) == 1


async def test_nobody_listens() -> None:
    with refusing_url() as url:
        (warning,) = (await fetch(url)).warnings
    assert "was left out: All connection attempts failed." in warning


MARKDOWN: dict[str, tuple[str, str]] = {
    "headings and paragraphs": ("<h1>A</h1><p>one\n two</p><h3>B</h3>", "# A\n\none two\n\n### B"),
    "marks": ("<p>a <b>b</b> <em>c</em> <code>d</code></p>", "a **b** *c* `d`"),
    "links and pictures": ('<a href="/x">to</a> <a>no</a> <img alt="pic"><img>', "[to](/x) no ![pic]"),
    "lists": (
        "<ul><li>a<li>b<ol><li>one</li><li>two</li></ol></ul>after",
        "- a\n- b\n\n  1. one\n  2. two\n\nafter",
    ),
    "code": ("<pre><code>a\n  b &lt; c</code></pre>x", "```\na\n  b < c\n```\n\nx"),
    "quotes": ("<blockquote><p>a</p></blockquote>b", "> a\n\nb"),
    "tables": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| a | b |\n| 1 | 2 |",
    ),
    "breaks": ("a<br>b<hr>c", "a\nb\n\n---\n\nc"),
    "what nobody sees": (
        "<head><title>t</title></head><script>s()</script><style>p{}</style><svg><text>v</text></svg>a",
        "a",
    ),
    "entities": ("&auml; &amp; &#8364; &nope;", "ä & € &nope;"),
    "broken": ("</ul></p><b>a<p>b</i><li>c", "**a\n\nb*\n- c"),
    "nothing": ("", ""),
    "nested without end": ("<ul>" * 100 + "<li>x", "  " * 19 + "- x"),
}


@pytest.mark.parametrize("case", MARKDOWN)
async def test_html_reads_as_markdown(case: str) -> None:
    page, markdown = MARKDOWN[case]
    assert (await anyio.to_thread.run_sync(to_markdown, page)).strip() == markdown.strip()


async def test_a_page_in_pieces_reads_the_same() -> None:
    page = "<p>word <b>bold</b></p>" * 8000
    written = await anyio.to_thread.run_sync(to_markdown, page)
    assert written == "\n\n".join(["word **bold**"] * 8000)


async def test_pages_are_reached_through_the_registry(folder: Folder) -> None:
    with HttpServer([PAGES["text"][0]]) as server:
        assert list(texts(await folder.fetch(server.url))) == [server.url]
