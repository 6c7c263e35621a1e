"""A value that was asked for with a schema, in a fence of its own (query pipeline 5.7).

The text is shown as it arrives, without white space around it; endless white space, which models are known to
send, costs nothing but its memory. A stored value is written anew, so it may differ from what was seen live in
white space inside of it and in how the model wrote numbers and escapes.
"""

from jp_lsp.render.fixups import FENCE_SIZE_MIN

FENCE = "`" * FENCE_SIZE_MIN
OPENING = f"{FENCE}json"


class StructuredText:
    """The text of one value."""

    __slots__ = ("_held", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[str] = []

    def feed(self, text: str) -> str:
        """Take the next text and give what is to be written; the first that is not empty opens the fence."""
        if not text.strip():
            if self.is_open:
                self._held.append(text)
            return ""
        if not self.is_open:
            self.is_open = True
            self._held = ["\n"]
            text = text.lstrip()
        whole = "".join([*self._held, text])
        shown = whole.rstrip()
        self._held = [whole[len(shown) :]]
        return shown

    def close(self) -> str:
        """Give the end of the fence, and be ready for the next value."""
        self.is_open = False
        self._held = []
        return f"\n{FENCE}"
