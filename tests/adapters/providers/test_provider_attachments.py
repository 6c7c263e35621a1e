"""Text attachments as XML."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.providers.attachments import data_url, text_documents

IMAGE = BinaryAttachment("a.png", b"\x00\x01", "image/png")


def test_no_text_gives_no_block() -> None:
    assert text_documents([]) is None
    assert text_documents([IMAGE]) is None


def test_the_index_counts_all_attachments() -> None:
    assert text_documents([IMAGE, TextAttachment('file:///a"b&c', "x & y")]) == (
        "<documents>\n"
        "  <document>\n"
        "    <index>1</index>\n"
        '    <source>file:///a"b&amp;c</source>\n'
        "    <content>x &amp; y</content>\n"
        "  </document>\n"
        "</documents>"
    )


def test_markup_turns_all_texts_into_cdata() -> None:
    block = text_documents([TextAttachment("one", "a & b"), TextAttachment("two", "if (a]]>b) <x>")])
    assert block is not None
    assert "<content><![CDATA[a & b]]></content>" in block
    assert "<source><![CDATA[one]]></source>" in block
    assert "<content><![CDATA[if (a]]]]><![CDATA[>b) <x>]]></content>" in block


# Characters that XML itself cannot hold are left to the model's good will.
_TEXT = st.text(
    st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters="\x7f\ufffe\uffff")
)


@given(texts=st.lists(_TEXT, min_size=1, max_size=3))
def test_the_block_is_wellformed_and_holds_every_text(texts: list[str]) -> None:
    block = text_documents([TextAttachment(f"s{i}", text) for i, text in enumerate(texts)])
    assert block is not None
    root = ElementTree.fromstring(block)
    assert [document.findtext("content") for document in root] == texts


def test_a_data_url() -> None:
    assert data_url(IMAGE) == "data:image/png;base64,AAE="


@pytest.mark.requirement("F26")
def test_the_block_is_the_same_every_time() -> None:
    attachments = [TextAttachment("a", "1"), IMAGE, TextAttachment("b", "<2>")]
    assert text_documents(attachments) == text_documents(list(attachments))
