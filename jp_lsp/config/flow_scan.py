"""Reading bracketed values with their places: JSON and JSON5, and the values of TOML.

The text is known to be valid, because it was parsed before; so this scanner only has to tell where things
begin and end, not whether they are right.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.config.edit import EditError
from jp_lsp.config.edit_flow import Member, Node

_JSON_TOKEN = re.compile(
    r"(?P<blank>[\s\ufeff]+|//[^\n]*|/\*.*?(?:\*/|\Z))"
    r'|(?P<string>"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    r"|(?P<mark>[\[\]{},:])"
    r"|(?P<word>[^\s\[\]{},:/\"']+)",
    re.DOTALL,
)
_TOML_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n]+|#[^\n]*)"
    r'|(?P<string>"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|\'\'\'(?:[^\']|\'(?!\'\'))*\'{3,5}'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<mark>[\[\]{},=])"
    r"|(?P<word>[^\s\[\]{},=#\"']+)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Grammar:
    """What tells two formats apart: their tokens, what parts a key from its value, and what a key means."""

    token: re.Pattern[str]
    separator: str
    names: Callable[[str], tuple[str, ...]]


def json_grammar(names: Callable[[str], tuple[str, ...]]) -> Grammar:
    """Give that of JSON and JSON5; `names` reads a key as it stands."""
    return Grammar(_JSON_TOKEN, ":", names)


def toml_grammar(names: Callable[[str], tuple[str, ...]]) -> Grammar:
    """Give that of a value of TOML; `names` reads a key as it stands, dots and all."""
    return Grammar(_TOML_TOKEN, "=", names)


def scan_value(text: str, position: int, grammar: Grammar) -> Node:
    """Read the value that begins at an offset, or behind blanks and comments there.

    Raises:
        EditError: there is none.
    """
    return _Scanner(text, position, grammar).value()


class _Scanner:
    """Goes over the tokens of a text; `_kind` is that of the token at `_start`."""

    def __init__(self, text: str, position: int, grammar: Grammar) -> None:
        self._text = text
        self._grammar = grammar
        self._start = self._end = position
        self._next()

    def value(self) -> Node:
        """Read a value; the token behind it is then the current one."""
        start = self._start
        if self._takes("{"):
            members: list[Member] = []
            while not self._is("}"):
                members.append(self._member())
                self._takes(",")
            return self._closed(start, members, [])
        if self._takes("["):
            items: list[Node] = []
            while not self._is("]"):
                items.append(self.value())
                self._takes(",")
            return self._closed(start, [], items)
        end = self._end
        self._next()
        # A date may have a blank in the middle, and is two words then.
        while self._token[:1].isdigit() and self._text[end : self._start] == " ":
            end = self._end
            self._next()
        return Node(start, end, "scalar")

    def _closed(self, start: int, members: list[Member], items: list[Node]) -> Node:
        end = self._end
        self._next()
        is_table = self._text[start] == "{"
        return Node(start, end, "table" if is_table else "list", tuple(members), tuple(items))

    def _member(self) -> Member:
        start = self._start
        end = start
        while not self._is(self._grammar.separator):
            end = self._end
            self._next()
        self._next()
        return Member(self._grammar.names(self._text[start:end]), start, self.value())

    @property
    def _token(self) -> str:
        return self._text[self._start : self._end]

    def _is(self, mark: str) -> bool:
        if self._start >= len(self._text):
            raise EditError("the file ends within a value")
        return self._token == mark

    def _takes(self, mark: str) -> bool:
        if self._token != mark:
            return False
        self._next()
        return True

    def _next(self) -> None:
        """Go to the next token that is not blank; at the end of the text it is empty."""
        while True:
            self._start = self._end
            if self._start >= len(self._text):
                return
            token = self._grammar.token.match(self._text, self._start)
            if token is None:
                raise EditError(f"the file has something odd at offset {self._start}")
            self._end = token.end()
            if token.lastgroup != "blank":
                return
