"""What the block buffer makes of text: the vectors of query pipeline 5.4, and the cases around them."""

import pytest

from jp_lsp.render.block_event import Block, BlockEvent, CodeClose, CodeLine, CodeOpen, Slice, Tail
from jp_lsp.render.blocks import BlockBuffer

F = None
"""A flush."""


def seen(event: BlockEvent) -> str:
    """Write an event as the table does."""
    match event:
        case Block(text, kind):
            return f"{kind} {text!r}{column(event.indent)}"
        case Tail(text, kind):
            return f"tail {kind} {text!r}{column(event.indent)}"
        case Slice(text, _, is_first, is_last):
            return f"para{'(last)' if is_last else ''}{'(first)' if is_first else ''} {text!r}"
        case CodeOpen():
            return (
                f"open {event.run} {event.info}".rstrip()
                + column(event.indent)
                + (f" {event.lead!r}" * (event.lead != ""))
            )
        case CodeLine(text, indent):
            return f"line {text!r}{column(indent)}"
        case CodeClose():
            return ("missing" if event.is_missing else "close") + column(event.indent)


def column(indent: int) -> str:
    return f" @{indent}" if indent else ""


def check(pushes: list[str | None], expected: list[list[str]]) -> None:
    """Push one after the other; after each the events must be these."""
    buffer = BlockBuffer()
    got: list[list[str]] = []
    for text in pushes:
        if text is None:
            events = buffer.flush()
        else:
            buffer.push(text)
            events = buffer.pop_events()
        got.append([seen(event) for event in events])
    assert got == expected


VECTORS: list[tuple[list[str | None], list[list[str]]]] = [
    (["# Hello"], [[]]),
    (["# Hello", " World\n"], [[], ["heading '# Hello World\\n'"]]),
    (["Let me", " think\n\n"], [[], ["paragraph 'Let me think\\n\\n'"]]),
    (["Title\n==", "=\n"], [[], ["heading 'Title\\n===\\n'"]]),
    (["#tag\n\n"], [["paragraph '#tag\\n\\n'"]]),
    (["a\n- b\n", F], [[], ["tail paragraph 'a\\n- b\\n'"]]),
    (["- a\n- b\n- c", F], [["list_item '- a\\n'"], ["list_item '- b\\n'", "tail list_item '- c'"]]),
    (["1. a\n1. b\n", F], [["list_item '1. a\\n'"], ["tail list_item '2. b\\n'"]]),
    (["```py\nx = 1\n", "```", F], [["open ``` py", "line 'x = 1\\n'"], [], ["close"]]),
    (
        ["```md\n```sh\nls\n```\n```\n"],
        [["open ``` md", "line '```sh\\n'", "line 'ls\\n'", "line '```\\n'", "close"]],
    ),
    (["```\nx", F], [["open ```"], ["line 'x\\n'", "missing"]]),
    (
        [f"| {'a' * 150} |\n| {'b' * 150} |\n", "\n\n"],
        [[], [f"table '| {'a' * 150} |\\n| {'b' * 150} |\\n\\n'"]],
    ),
    (["p" * 130, "\n\n"], [[f"para(first) '{'p' * 130}'"], ["para(last) '\\n\\n'"]]),
    (
        ["p" * 120, " **bold st", "ill**\n\n"],
        [[], [f"para(first) '{'p' * 120} '"], ["para(last) '**bold still**\\n\\n'"]],
    ),
    (["    code\n\ntext\n"], [["code_indented '    code\\n'"]]),
    (["<details>\nx\n\n"], [["html '<details>\\nx\\n\\n'"]]),
]


@pytest.mark.requirement("R83", "R84", "R85", "R86", "R89")
@pytest.mark.parametrize(("pushes", "expected"), VECTORS)
def test_vectors(pushes: list[str | None], expected: list[list[str]]) -> None:
    check(pushes, expected)


BLOCKS: list[tuple[str, list[str]]] = [
    ("# a\n", ["heading '# a\\n'"]),
    ("   ###### a\n", ["heading '   ###### a\\n'"]),
    ("#\n", ["heading '#\\n'"]),
    ("####### a\n\n", ["paragraph '####### a\\n\\n'"]),
    ("* * *\n", ["rule '* * *\\n'"]),
    ("_____\n", ["rule '_____\\n'"]),
    ("** *x\n\n", ["paragraph '** *x\\n\\n'"]),
    ("[id]: http://x.y\n", ["other '[id]: http://x.y\\n'"]),
    ("[^1]: note\n    more\n\n", ["paragraph '[^1]: note\\n    more\\n\\n'"]),
    ("[id]:\n\n", ["paragraph '[id]:\\n\\n'"]),
    ("> q\n> r\n\n", ["other '> q\\n> r\\n\\n'"]),
    ("> q\n---\n", ["other '> q\\n'", "rule '---\\n'"]),
    ("a\n---\n", ["heading 'a\\n---\\n'"]),
    ("a\n- - -\n", ["paragraph 'a\\n'", "rule '- - -\\n'"]),
    ("a\n# b\n", ["paragraph 'a\\n'", "heading '# b\\n'"]),
    ("a\n    # b\n\n", ["paragraph 'a\\n    # b\\n\\n'"]),
    ("a\n```\nb\n```\n", ["paragraph 'a\\n'", "open ```", "line 'b\\n'", "close"]),
    ("a\n<div>\n\n", ["paragraph 'a\\n'", "html '<div>\\n\\n'"]),
    ("a\n<x-y>\n\n", ["paragraph 'a\\n<x-y>\\n\\n'"]),
    ("<x-y>\nb\n\n", ["html '<x-y>\\nb\\n\\n'"]),
    ("<!-- a\n\nb -->\nc\n\n", ["html '<!-- a\\n\\nb -->\\n'", "paragraph 'c\\n\\n'"]),
    ("<pre>\n\n</pre>\n", ["html '<pre>\\n\\n</pre>\\n'"]),
    ("<?php\n?>\n", ["html '<?php\\n?>\\n'"]),
    ("<![CDATA[\n]]>\n", ["html '<![CDATA[\\n]]>\\n'"]),
    ("<!DOCTYPE html>\n", ["html '<!DOCTYPE html>\\n'"]),
    ("a\n   \nb\n\n", ["paragraph 'a\\n\\n'", "paragraph 'b\\n\\n'"]),
    ("\n\n \na\n\n", ["paragraph 'a\\n\\n'"]),
    ("    a\n\n\n    b\nc\n\n", ["code_indented '    a\\n\\n\\n    b\\n'", "paragraph 'c\\n\\n'"]),
    ("\ta\nb\n\n", ["code_indented '\\ta\\n'", "paragraph 'b\\n\\n'"]),
    ("~~~x\n```\n~~~~\n", ["open ~~~ x", "line '```\\n'", "close"]),
    ("```a`b\n\n", ["paragraph '```a`b\\n\\n'"]),
    ("````\n```\n````\n", ["open ````", "line '```\\n'", "close"]),
    ("  ```\n    x\n y\n  ```\n", ["open ``` @2", "line '  x\\n' @2", "line 'y\\n' @2", "close @2"]),
    ("```\n       ```\n```\n", ["open ```", "line '       ```\\n'", "close"]),
    ('```py title="x y"\n```\n', ['open ``` py title="x y"', "close"]),
    ("```\n\n  \n```\n", ["open ```", "line '\\n'", "line '  \\n'", "close"]),
]


@pytest.mark.requirement("R83", "R84", "R267", "R227")
@pytest.mark.parametrize(("text", "expected"), BLOCKS)
def test_blocks(text: str, expected: list[str]) -> None:
    check([text], [expected])


LISTS: list[tuple[str, list[str]]] = [
    ("- a\n* b\n", ["list_item '- a\\n'", "tail list_item '* b\\n'"]),
    ("1. a\n2) b\n", ["list_item '1. a\\n'", "tail list_item '2) b\\n'"]),
    ("- a\n1. b\n", ["list_item '- a\\n'", "tail list_item '1. b\\n'"]),
    ("- a\nlazy\n- b\n", ["list_item '- a\\nlazy\\n'", "tail list_item '- b\\n'"]),
    ("- a\n\n  more\n\nend\n", ["list_item '- a\\n\\n  more\\n\\n'", "tail paragraph 'end\\n'"]),
    ("- a\n# h\n", ["list_item '- a\\n'", "heading '# h\\n'"]),
    ("- a\n---\n", ["list_item '- a\\n'", "rule '---\\n'"]),
    ("- a\n  # h\n- b\n", ["list_item '- a\\n  # h\\n'", "tail list_item '- b\\n'"]),
    (" 8. a\n 9. b\n10. c\n", ["list_item ' 8. a\\n'", "list_item ' 9. b\\n'", "tail list_item '10. c\\n'"]),
    ("3) a\n3) b\n", ["list_item '3) a\\n'", "tail list_item '4) b\\n'"]),
    ("01. a\n02. b\n", ["list_item '01. a\\n'", "tail list_item '02. b\\n'"]),
    (
        "- a\n  - b\n  - c\n- d\n",
        ["list_item '- a\\n'", "list_item '- b\\n' @2", "list_item '- c\\n' @2", "tail list_item '- d\\n'"],
    ),
    ("- a\n  - b\n\n  c\n", ["list_item '- a\\n'", "list_item '- b\\n\\n' @2", "tail list_item '  c\\n'"]),
    ("- a\n  * b\n  - c\n", ["list_item '- a\\n'", "list_item '* b\\n' @2", "tail list_item '- c\\n' @2"]),
    (
        "- a\n  ```py\n  x\n\n   y\n  ```\n  b\n- c\n",
        [
            "list_item '- a\\n'",
            "open ``` py @2",
            "line 'x\\n' @2",
            "line '\\n' @2",
            "line ' y\\n' @2",
            "close @2",
            "list_item '  b\\n'",
            "tail list_item '- c\\n'",
        ],
    ),
    (
        "- ```py\n  x\n  ```\n- b\n",
        ["open ``` py '- '", "line 'x\\n' @2", "close @2", "tail list_item '- b\\n'"],
    ),
    (
        "- a\n  ```\n  x\n  ```\nend\n",
        ["list_item '- a\\n'", "open ``` @2", "line 'x\\n' @2", "close @2", "tail paragraph 'end\\n'"],
    ),
    ("- a\n\n      1. code\n      1. code\n", ["tail list_item '- a\\n\\n      1. code\\n      1. code\\n'"]),
    ("- - -\n", ["rule '- - -\\n'"]),
    ("- a\n  # h\nend\n", ["list_item '- a\\n  # h\\n'", "tail paragraph 'end\\n'"]),
    ("- a\n\n      code\nend\n", ["list_item '- a\\n\\n      code\\n'", "tail paragraph 'end\\n'"]),
    ("- \nend\n", ["list_item '- \\n'", "tail paragraph 'end\\n'"]),
    ("  1. a\n  b\n    * c\n", ["tail list_item '  1. a\\n  b\\n    * c\\n'"]),
    ("-\tb\n    c\n", ["tail list_item '-\\tb\\n    c\\n'"]),
    ("1234567890. a\n\n", ["paragraph '1234567890. a\\n\\n'"]),
    ("- a\n\n\n\nend\n", ["list_item '- a\\n\\n\\n\\n'", "tail paragraph 'end\\n'"]),
]


@pytest.mark.requirement("R85")
@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_lists(text: str, expected: list[str]) -> None:
    buffer = BlockBuffer()
    buffer.push(text)
    assert [seen(event) for event in buffer.pop_events() + buffer.flush()] == expected


@pytest.mark.requirement("R85")
def test_an_item_that_gets_a_wider_number_takes_its_content_along() -> None:
    check(
        ["9. a\n9. b\n\n   c\n   - d\n     ```\n     e\n     ```\nend\n\n"],
        [
            [
                "list_item '9. a\\n'",
                "list_item '10. b\\n\\n    c\\n'",
                "list_item '- d\\n' @4",
                "open ``` @6",
                "line 'e\\n' @6",
                "close @6",
                "paragraph 'end\\n\\n'",
            ]
        ],
    )


@pytest.mark.requirement("R85")
def test_an_item_that_gets_a_narrower_number_takes_its_content_along() -> None:
    check(["1. a\n100. b\n\n     c\n", F], [["list_item '1. a\\n'"], ["tail list_item '2. b\\n\\n   c\\n'"]])


NESTED = [
    ("- fruit\n  - pear\n\nThat is all.\n", ["- fruit\n", "- pear\n\n"], "tail paragraph 'That is all.\\n'"),
    (
        "- a\n  - b\n    - c\n      - d\n\nThat is all.\n",
        ["- a\n", "- b\n", "- c\n", "- d\n\n"],
        "tail paragraph 'That is all.\\n'",
    ),
    (
        "- a\n  - b\n    - c\n\nThat is all.\n# End\n",
        ["- a\n", "- b\n", "- c\n\n"],
        "heading '# End\\n'",
    ),
    ("- fruit\n  - pear\n\n  Also.\n", ["- fruit\n", "- pear\n\n"], "tail list_item '  Also.\\n'"),
]


@pytest.mark.requirement("F40")
@pytest.mark.parametrize(("text", "items", "last"), NESTED)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_text_behind_a_nested_list_is_outside_of_all_its_levels(
    text: str, items: list[str], last: str, size: int
) -> None:
    buffer = BlockBuffer()
    events: list[BlockEvent] = []
    for start in range(0, len(text), size):
        buffer.push(text[start : start + size])
        events += buffer.pop_events()
    events += buffer.flush()
    assert [event.text for event in events if isinstance(event, Block) and event.kind == "list_item"] == items
    assert seen(events[-1]) == last


STREAMING = [
    ("from 128 bytes on", ["x" * 127], [[]]),
    ("bytes, not characters", ["é" * 64], [[f"para(first) '{'é' * 64}'"]]),
    (
        "whole lines after the first",
        ["x" * 130 + "\nab", "c\n"],
        [[f"para(first) '{'x' * 130}\\n'"], ["para 'abc\\n'"]],
    ),
    (
        "an open line is not classified",
        ["x" * 130 + "\n#", "# h\n"],
        [[f"para(first) '{'x' * 130}\\n'"], ["para(last) ''", "heading '## h\\n'"]],
    ),
    (
        "an underline comes too late",
        ["x" * 130 + "\n---\n"],
        [[f"para(last)(first) '{'x' * 130}\\n'", "rule '---\\n'"]],
    ),
    ("code spans", ["y" * 130 + " `a b", "` c"], [[f"para(first) '{'y' * 130} '"], ["para '`a b` c'"]]),
    ("links", ["y" * 130 + " [a](b", ") c"], [[f"para(first) '{'y' * 130} '"], ["para '[a](b) c'"]]),
    (
        "an unmatched star holds the rest",
        ["*" + "y" * 130, "z\n\n"],
        [[], [f"para(last)(first) '*{'y' * 130}z\\n\\n'"]],
    ),
    ("quotations stream too", ["> " + "y" * 130], [[f"para(first) '> {'y' * 130}'"]]),
    ("bold at the beginning", ["**a** " + "y" * 130], [[f"para(first) '**a** {'y' * 130}'"]]),
    ("a number at the beginning", ["12 " + "y" * 130], [[f"para(first) '12 {'y' * 130}'"]]),
    (
        "also behind a list",
        ["- a\n\n", "Th", "y" * 130],
        [[], ["list_item '- a\\n\\n'"], [f"para(first) 'Th{'y' * 130}'"]],
    ),
    (
        "but not in it",
        ["- a\n", "Th" + "y" * 130, "\n- b\n"],
        [[], [], [f"list_item '- a\\nTh{'y' * 130}\\n'"]],
    ),
    ("nor when indented to it", ["- a\n\n", "  T" + "y" * 130], [[], []]),
    (
        "and behind code",
        ["    a\n\n", "Th" + "y" * 130],
        [[], ["code_indented '    a\\n'", f"para(first) 'Th{'y' * 130}'"]],
    ),
    ("a pipe never streams", ["|" + "y" * 200, "\n\n"], [[], [f"table '|{'y' * 200}\\n\\n'"]]),
    ("what may be a definition waits", ["[" + "y" * 200, "]: x\n"], [[], [f"other '[{'y' * 200}]: x\\n'"]]),
]


@pytest.mark.requirement("R86", "R87")
@pytest.mark.parametrize(
    ("pushes", "expected"), [case[1:] for case in STREAMING], ids=[case[0] for case in STREAMING]
)
def test_streaming(pushes: list[str | None], expected: list[list[str]]) -> None:
    check(pushes, expected)


@pytest.mark.requirement("R263", "R266")
def test_what_is_open_can_be_inspected() -> None:
    buffer = BlockBuffer()
    steps = [
        ("", "boundary"),
        ("a", "paragraph(held)"),
        ("b" * 130, "paragraph(streaming)"),
        ("\n\n", "boundary"),
        ("1. x\n", "list(column 0, content 3, '.', items 1 + 1)"),
        ("   - y\n", "list(column 0, content 3, '.', items 1 + 1) > list(column 3, content 5, '-', items -)"),
        (
            "     ```md\n     ```sh\n",
            "list(column 0, content 3, '.', items 1 + 1) > list(column 3, content 5, '-', items -)"
            " > fence(```, column 5, depth 1)",
        ),
    ]
    for text, expected in steps:
        buffer.push(text)
        assert buffer.describe() == expected
    buffer.flush()
    assert buffer.describe() == "boundary"
    buffer.push("<div>\n")
    assert buffer.describe() == "html(until blank line)"
    buffer.flush()
    buffer.push("<!-- x\n")
    assert buffer.describe() == "html(until -->)"
    buffer.push("-->\n")
    buffer.push("<div>\n")
    buffer.push("\n    code\n")
    assert buffer.describe() == "code_indented"
