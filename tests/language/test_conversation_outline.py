"""What is found in the document of a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.language.conversation_document import conversation_of, read_conversation

DOCUMENT = """\
## User (turn 1, 2 hours ago)

Read the *file*, please

`````
## User (turn 7, now)
Calling tool fake
`````

## Assistant

Let me think.

More.

---

I look at [it](src/a.py).

Calling tool read

```json
{"path": "src/a.py"}
```

Tool result (truncated):

```
one
```

see: <file:///tmp/whole.txt>

Calling tool `odd name`

Calling tool read (2)

## User (turn 2, now)

Next

## Assistant

ok
"""


def test_turns_and_their_calls() -> None:
    found = read_conversation(DOCUMENT)
    assert [
        (turn.number, turn.name, [(call.name, call.number) for call in turn.calls]) for turn in found.turns
    ] == [
        (1, "Read the *file*, please", [("read", 0), ("odd name", 0), ("read", 1)]),
        (2, "Next", []),
    ]
    assert DOCUMENT[found.turns[0].start : found.turns[0].end].endswith("read (2)\n\n")
    at = found.call_at(DOCUMENT.index("(2)"))
    assert at is not None
    assert (at[0].number, at[1].number) == (1, 1)
    assert found.call_at(DOCUMENT.index("fake")) is None


def test_folds() -> None:
    lines = DOCUMENT.split("\n")
    folds = [(fold.kind, lines[fold.first], lines[fold.last]) for fold in read_conversation(DOCUMENT).folds]
    assert folds == [
        ("turn", "## User (turn 1, 2 hours ago)", "Calling tool read (2)"),
        ("reasoning", "Let me think.", ""),
        ("call", "Calling tool read", "```"),
        ("result", "Tool result (truncated):", "```"),
        ("turn", "## User (turn 2, now)", "ok"),
    ]


def test_links() -> None:
    links = read_conversation(DOCUMENT).links
    assert [link.target for link in links] == ["src/a.py", "file:///tmp/whole.txt"]
    assert [DOCUMENT[link.span.start : link.span.end] for link in links] == [link.target for link in links]


@pytest.mark.parametrize(
    ("uri", "conversation"),
    [
        ("file:///data/scratch/jp-c17457886043-2.md", "jp-c17457886043"),
        ("file:///work/README.md", None),
        ("file:///work/jp-c1.md", None),
    ],
)
def test_which_document_is_one(uri: str, conversation: str | None) -> None:
    assert conversation_of(uri) == conversation


@given(st.lists(st.sampled_from(DOCUMENT.splitlines(keepends=True)) | st.text(max_size=6), max_size=30))
def test_no_document_is_too_broken(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = read_conversation(text)
    for fold in found.folds:
        assert 0 <= fold.first < fold.last <= text.count("\n") + text.count("\r")
    for turn in found.turns:
        assert 0 <= turn.start <= turn.header_end <= turn.end <= len(text)
