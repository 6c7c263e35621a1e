"""What a cursor stands in, within one entry or one value in brackets: the same in every format."""

from jp_lsp.config.value import Path
from jp_lsp.language.document import Entry, KeyPlace, Node, Place, ValuePlace
from jp_lsp.language.positions import Span


def place_in_entry(text: str, entry: Entry, offset: int) -> Place | None:
    """Say what the cursor stands in; `None` where it is in neither a name nor the value."""
    end = len(entry.base)
    for name in entry.names:
        if name.span.holds(offset):
            is_assigned = entry.sign is not None
            is_list = entry.is_header and isinstance(entry.path[-1], int)
            span = _until_cursor(text, name.span, offset)
            return KeyPlace(entry.path[:end], name.text, span, entry.is_header, is_assigned, is_list)
        end += 1
        while end < len(entry.path) and isinstance(entry.path[end], int):
            end += 1
    if entry.sign is None or offset <= entry.sign:
        return None
    if entry.value is None:
        is_near = not text[entry.sign + 1 : offset].strip(" \t")
        return ValuePlace(entry.path, Span(offset, offset)) if is_near else None
    if offset < entry.value.start:
        return ValuePlace(entry.path, entry.value.span, entry.value)
    return place_in_value(text, entry.value, entry.path, offset) if entry.value.span.holds(offset) else None


def place_in_value(text: str, node: Node, path: Path, offset: int) -> Place | None:
    """Say what the cursor stands in, of a scalar, or of a list or table in brackets."""
    if node.kind == "scalar":
        return ValuePlace(path, _until_cursor(text, node.span, offset), node)
    if offset == node.start or (offset == node.end and text[offset - 1] in "]}"):
        return ValuePlace(path, node.span, node)
    for index, item in enumerate(node.items):
        if item.span.holds(offset):
            return place_in_value(text, item, (*path, index), offset)
    for entry in node.entries:
        if entry.span.holds(offset):
            return place_in_entry(text, entry, offset)
    if node.kind == "table":
        return KeyPlace(path, "", Span(offset, offset))
    index = sum(item.end <= offset for item in node.items)
    return ValuePlace((*path, index), Span(offset, offset))


def _until_cursor(text: str, span: Span, offset: int) -> Span:
    """Give a name or value; of a text that is not closed yet, only what stands before the cursor."""
    opening = text[span.start : span.start + 1]
    is_closed = opening not in {'"', "'"} or (span.end - span.start > 1 and text[span.end - 1] == opening)
    return span if is_closed else Span(span.start, max(offset, span.start))
