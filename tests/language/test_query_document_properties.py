"""Whatever is in a document, and wherever the cursor stands: something sensible comes of it."""

from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.language.mentions import find_mentions
from jp_lsp.language.query_completion import complete_query
from jp_lsp.language.query_document import flaws, read_query, to_params
from jp_lsp.language.query_findings import find_query_marks
from jp_lsp.language.query_hover import describe_subject, query_subject_at
from tests.language.query_workspace import workspace

PIECES = ["---\n", "\r\n", "\n", "model: ", "tools: [", "]", "- ", "  ", "@", '"', "`", "```\n", "\\", "𝄞", "src/main.py",
          "jp-c17912345678", ": ", "{", "}", "!", "&a ", "*a", "<<: ", "#", "true", "\ufeff", "\ud800", "\x00", "\t", "persona"]  # fmt: skip
DOCUMENTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)


@given(DOCUMENTS, st.booleans(), st.data())
def test_any_text_is_read(text: str, has_front_matter: bool, data: st.DataObject) -> None:
    text = f"---\n{text}" if has_front_matter else text
    offset = data.draw(st.integers(0, len(text)))
    document, known = read_query(text), workspace()
    for mark in (*flaws(document), *find_query_marks(document, known)):
        assert 0 <= mark.span.start <= mark.span.end <= len(text)
    for proposal in complete_query(text, offset, known):
        assert proposal.edit.span.holds(offset)
    subject = query_subject_at(document, offset)
    if subject is not None:
        assert subject.span.holds(offset)
        describe_subject(subject, document, known, None)
    if not list(flaws(document)):
        assert to_params(document, lambda name: True)["text"] == document.body


@given(DOCUMENTS)
def test_mentions_stand_where_they_say_and_never_overlap(text: str) -> None:
    end = 0
    for mention in find_mentions(text, 0):
        assert mention.span.start >= end
        assert text[mention.span.start] == "@"
        assert mention.name in text[mention.span.start : mention.span.end]
        end = mention.span.end
