"""Texts with a cursor in them, written as `|`."""


def cursor(marked: str) -> tuple[str, int]:
    """Take the one cursor out of a text; gives its offset."""
    before, mark, after = marked.partition("|")
    assert mark, "there is no cursor in the text"
    assert "|" not in after, "there is more than one cursor in the text"
    return before + after, len(before)
