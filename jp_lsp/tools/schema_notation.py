"""A short way to write the schema of an answer: `title, ?tags [str], size "s"|"m"|"l": shirt size`.

Fields stand on lines of their own or have commas between them (config-and-tools 7.6). A field is

    [?]NAME [TYPE] [: DESCRIPTION]

| part | what it may be |
| --- | --- |
| `?` | the field may be missing |
| NAME | a word, or anything in double quotes |
| TYPE | `str`, `int`, `float`, `bool`, `any` or their long names, `[T]`, `[]`, `{ FIELDS }`, a literal, `A|B`; text if none |
| DESCRIPTION | the rest of the field, a text in double quotes, or `<<END` and lines up to `END` |

A backslash at the end of a line joins it to the next. The parser is one pass over the text; what is wrong is
told with its line and column.
"""

import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

from jp_lsp.conversation.json_value import JsonObject, JsonValue

_TYPES: Mapping[str, JsonObject] = {
    "str": {"type": "string"},
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "boolean": {"type": "boolean"},
    "any": {},
}
_WORDS: Mapping[str, JsonValue] = {"true": True, "false": False, "null": None}
_KNOWN = "str, int, float, bool, any, [T], { fields } or a literal"

_MAX_DEPTH = 64
"""How deep types may stand in one another; nothing that a person writes comes near."""

_BLANK = re.compile(r"(?:[ \t]|\\\n)*")
_SPACE = re.compile(r"(?:\s|\\\n)*")
_NAME = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,2})?(?![\w.])", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_HEREDOC = re.compile(r"<<([^\W\d]\w*)[ \t]*\n")
_JOINED = "\\\n"
"""The end of a line that goes on in the next."""


class SchemaTextError(Exception):
    """A schema that cannot be read; the text says where and what is wrong."""


def read_schema_text(text: str) -> JsonObject:
    """Read a schema as a user writes one: JSON if it starts with `{`, else the short way.

    Raises:
        SchemaTextError: it is neither.
    """
    if text.lstrip().startswith("{"):
        return _read_json(text)
    return _Parser(text.replace("\r\n", "\n")).schema()


def _read_json(text: str) -> JsonObject:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise SchemaTextError(f"{where}: this is no JSON: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:
        raise SchemaTextError(f"this is no JSON: {problem}") from None
    return cast("JsonObject", value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    schema: JsonObject
    is_optional: bool


@dataclass(frozen=True, slots=True)
class _Literal:
    """A type that is one value."""

    value: JsonValue


class _Parser:
    """Reads one text; `_at` is where it stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def schema(self) -> JsonObject:
        """Read all of it."""
        self._skip(_SPACE)
        if self._is_over:
            self._fail("the schema is empty; name at least one field")
        return self._fields(closing="")

    # Fields.

    def _fields(self, closing: str) -> JsonObject:
        """Read fields up to the end of the text, or of the object whose closing brace is given."""
        fields: dict[str, _Field] = {}
        while True:
            self._skip(_SPACE)
            if self._is_over or (closing and self._peek == closing):
                break
            start = self._at
            field = self._field(closing)
            if field.name in fields:
                self._fail(f"the field {field.name!r} is there twice", start)
            fields[field.name] = field
            self._separator(closing)
        properties = {name: field.schema for name, field in fields.items()}
        required = [name for name, field in fields.items() if not field.is_optional]
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
        }

    def _field(self, closing: str) -> _Field:
        is_optional = self._take("?")
        self._skip(_BLANK)
        name = self._name()
        self._skip(_BLANK)
        has_type = not self._is_over and self._peek not in {",", "\n", ":"} and self._peek != closing
        schema = self._type() if has_type else _TYPES["str"]
        self._skip(_BLANK)
        if self._take(":"):
            description = self._description(closing)
            schema = {**schema, "description": description} if description else schema
        return _Field(name, schema, is_optional)

    def _name(self) -> str:
        if self._peek == '"':
            return self._string()
        match = _NAME.match(self._text, self._at)
        if match is None:
            self._fail(f"expected the name of a field, found {self._found}; put other names in double quotes")
        self._at = match.end()
        return match[0]

    def _separator(self, closing: str) -> None:
        self._skip(_BLANK)
        if self._is_over or self._take(",") or self._take("\n") or (closing and self._peek == closing):
            return
        self._fail(f"expected a comma or a new line behind the field, found {self._found}")

    def _description(self, closing: str) -> str:
        self._skip(_BLANK)
        if self._peek == '"':
            return self._string()
        heredoc = _HEREDOC.match(self._text, self._at)
        if heredoc is not None:
            return self._heredoc(heredoc)
        start = self._at
        ends = {",", "\n", closing}
        while not self._is_over and self._peek not in ends:
            self._at += 2 if self._text.startswith(_JOINED, self._at) else 1
        lines = self._text[start : self._at].split(_JOINED)
        return " ".join(line.strip() for line in lines).strip()

    def _heredoc(self, opening: re.Match[str]) -> str:
        ending = re.compile(rf"^[ \t]*{re.escape(opening[1])}[ \t]*$", re.MULTILINE)
        end = ending.search(self._text, opening.end())
        if end is None:
            self._fail(f"this text never ends; put {opening[1]} on a line of its own behind it")
        self._at = end.end()
        return textwrap.dedent(self._text[opening.end() : end.start()]).strip("\n")

    # Types.

    def _type(self) -> JsonObject:
        """Read a type, or several with `|` between them."""
        alternatives = [self._alternative()]
        self._skip(_BLANK)
        while self._take("|"):
            self._skip(_SPACE)
            alternatives.append(self._alternative())
            self._skip(_BLANK)
        literals = [each.value for each in alternatives if isinstance(each, _Literal)]
        if len(alternatives) == 1:
            return _as_schema(alternatives[0])
        if len(literals) == len(alternatives):
            return {"enum": literals}
        return {"anyOf": [_as_schema(each) for each in alternatives]}

    def _alternative(self) -> JsonObject | _Literal:
        match self._peek:
            case "[":
                return self._nested(self._array)
            case "{":
                return self._nested(self._object)
            case '"':
                return _Literal(self._string())
            case _:
                return self._word()

    def _nested(self, read: Callable[[], JsonObject]) -> JsonObject:
        if self._depth == _MAX_DEPTH:
            self._fail(f"types stand in one another more than {_MAX_DEPTH} deep")
        self._depth += 1
        schema = read()
        self._depth -= 1
        return schema

    def _array(self) -> JsonObject:
        start = self._at
        self._take("[")
        self._skip(_SPACE)
        if self._take("]"):
            return {"type": "array"}
        if self._is_over:
            self._fail("this bracket is never closed", start)
        items = self._type()
        self._skip(_SPACE)
        if not self._take("]"):
            if self._is_over:
                self._fail("this bracket is never closed", start)
            self._fail(f"expected `]`, found {self._found}")
        return {"type": "array", "items": items}

    def _object(self) -> JsonObject:
        start = self._at
        self._take("{")
        schema = self._fields(closing="}")
        if not self._take("}"):
            self._fail("this brace is never closed", start)
        if not schema["properties"]:
            self._fail("an object needs at least one field", start)
        return schema

    def _word(self) -> JsonObject | _Literal:
        number = _NUMBER.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            return _Literal(cast("JsonValue", json.loads(number[0])))
        word = _NAME.match(self._text, self._at)
        if word is None:
            self._fail(f"expected a type, found {self._found}; types are {_KNOWN}")
        if word[0] in _WORDS:
            self._at = word.end()
            return _Literal(_WORDS[word[0]])
        if word[0] not in _TYPES:
            self._fail(f"{word[0]!r} is no type; types are {_KNOWN}")
        self._at = word.end()
        return _TYPES[word[0]]

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is None:
            self._fail("this text in double quotes never ends")
        try:
            value = json.loads(match[0], strict=False)
        except ValueError:
            self._fail("this text holds a backslash that JSON does not know; write two for one")
        self._at = match.end()
        return cast("str", value)

    # The text.

    @property
    def _is_over(self) -> bool:
        return self._at >= len(self._text)

    @property
    def _peek(self) -> str:
        """The next character; empty at the end."""
        return self._text[self._at : self._at + 1]

    @property
    def _found(self) -> str:
        return (
            "the end" if self._is_over else "the end of the line" if self._peek == "\n" else repr(self._peek)
        )

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self._text, self._at)
        assert match is not None, "the pattern matches nothing too"
        self._at = match.end()

    def _take(self, character: str) -> bool:
        is_there = self._peek == character
        self._at += is_there
        return is_there

    def _fail(self, problem: str, at: int | None = None) -> NoReturn:
        before = self._text[: self._at if at is None else at]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise SchemaTextError(f"line {line}, column {column}: {problem}")


def _as_schema(alternative: JsonObject | _Literal) -> JsonObject:
    return {"const": alternative.value} if isinstance(alternative, _Literal) else alternative
