"""The front matter of a document, with the place of everything in it."""

import pytest

from jp_lsp.language.front_matter import MOST_SIZE, Unreadable, read_front_matter, written_word


def fields(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names, and what each is given: its kind, and what stands at its place in the text."""
    front = read_front_matter(text)
    assert front is not None
    assert front.problem is None, front.problem
    for field in front.fields:
        assert text[field.span.start : field.span.end] == field.name
    return [
        (each.name, [(word.kind, text[word.span.start : word.span.end]) for word in each.words])
        for each in front.fields
    ]


def test_words_and_lists_have_their_places() -> None:
    text = (
        "---\n"
        'model: "𝄞/x"\n'
        "tools: [a, -b]   # two\n"
        "attachments:\n"
        "  - 𝄞 notes.md\n"
        "  - docs/*.md\n"
        "template: true\n"
        "reasoning: 2000\n"
        "title:\n"
        "schema: {a: 1}\n"
        "---\n"
        "body"
    )
    assert fields(text) == [
        ("model", [("text", '"𝄞/x"')]),
        ("tools", [("text", "a"), ("text", "-b")]),
        ("attachments", [("text", "𝄞 notes.md"), ("text", "docs/*.md")]),
        ("template", [("boolean", "true")]),
        ("reasoning", [("number", "2000")]),
        ("title", [("nothing", "")]),
        ("schema", [("table", "{a: 1}")]),
    ]


@pytest.mark.parametrize("text", ["", "hello", "# ---\n", "\n---\na: 1\n---\n", "----\n", "--- a\n"])
def test_a_text_without_one(text: str) -> None:
    assert read_front_matter(text) is None


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\n---\nhi", "hi"),
        ("---\r\nmodel: a\r\n---\r\nhi", "hi"),
        ("---\rmodel: a\r---\rhi", "hi"),
        ("---\rmodel: a\r...\nhi", "hi"),
        ("---\nmodel: a --- b\n---\nhi", "hi"),
        ("\ufeff---  \nmodel: a\n---\t\nhi", "hi"),
        ("---\nmodel: a\n...\nhi", "hi"),
        ("---\nmodel: a\n---", ""),
    ],
)
def test_where_the_body_begins(text: str, body: str) -> None:
    front = read_front_matter(text)
    assert front is not None
    assert front.problem is None
    assert text[front.body :] == body


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        ("---\nmodel: a\n", "the front matter has no end; write `---` on a line of its own below it", "---"),
        ("---\n- a\n---\n", "expected lines of `name: value`", "- a"),
        ("---\na: \x01\n---\n", "not valid YAML: a character that YAML does not allow", "\x01"),
        (f"---\na: {'x' * MOST_SIZE}\n---\n", "the front matter is longer than 64 KiB", "---"),
    ],
)
def test_what_cannot_be_read(text: str, problem: str, place: str) -> None:
    found = problem_in(text)
    assert (found.text, text[found.span.start : found.span.end]) == (problem, place)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nmodel: x\na: b: c\n---\n", 2),
        ("---\n𝄞: ]\n---\n", 1),
        ("---\n\tx: 1\n---\n", 1),
        (f"---\n{'[' * 3000}\n---\n", 1),
        ("---\na: \ud800\n---\n", 1),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(text: str, line: int) -> None:
    found = problem_in(text)
    assert found.text.startswith("not valid YAML: ")
    assert text.count("\n", 0, found.span.start) == line


def problem_in(text: str) -> Unreadable:
    front = read_front_matter(text)
    assert front is not None
    assert front.fields == ()
    assert front.problem is not None
    return front.problem


@pytest.mark.parametrize(
    "text",
    ["a/b", "-web_fetch", "*", "-*", "docs/*.md", "true", "null", "12", "1.5", "a: b", "a #b", "x ", "", "@dev",
     "𝄞 notes.md", "assistant.name=Ada", "cmd:git diff", "[x]", "~", "-1", "1e5", "a'b", 'a"b', ".inf", "0x1f",
     "jp-c17912345678", "https://example.com/a?b=c&d", "- a"],
)  # fmt: skip
def test_a_written_word_is_read_as_the_same_text(text: str) -> None:
    for shape in ("model: {}\n", "model: [{}]\n", "model:\n  - {}\n"):
        front = read_front_matter(f"---\n{shape.format(written_word(text))}---\n")
        assert front is not None
        ((field,)) = front.fields
        assert [(word.kind, word.text) for word in field.words] == [("text", text)]
