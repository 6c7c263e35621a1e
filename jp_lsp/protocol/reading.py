"""Reads JSON into wire models, and says in a sentence what is wrong with it.

The sentence names the method and the field as the client wrote it, what is allowed, and what came. Values
are shown only where they are harmless: a wrong text may be the secret that was just typed, so of a value
with the wrong type only its type is told.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_Model = TypeVar("_Model", bound=BaseModel)

_PROBLEMS_SHOWN = 5
_SHOWN_VALUE_SIZE = 60

_PHRASES: Mapping[str, str] = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "an integer",
    "float_type": "a number",
    "tuple_type": "an array",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
}


@dataclass(frozen=True, slots=True)
class _Found:
    """An error, and the part of its location that is not in the value."""

    details: ErrorDetails
    rest: tuple[int | str, ...]

    @property
    def context(self) -> Mapping[str, Any]:
        return self.details.get("ctx", {})


class InvalidParams(ValueError):
    """What arrived does not have the promised shape; the text is for the client's user."""


def read(model: type[_Model], value: object, what: str) -> _Model:
    """Read a JSON value that arrived from a client.

    Args:
        model: The wire model to make.
        value: Decoded JSON.
        what: The name of the method or setting, which begins the message.

    Raises:
        InvalidParams: the value does not fit.
    """
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidParams(f"{what}: {_explain(error, value)}") from None


def _explain(error: ValidationError, value: object) -> str:
    """Put one problem for each place into words, the first few of them."""
    places: dict[str, list[_Found]] = {}
    for details in error.errors(include_url=False):
        place, rest = _place_of(details["loc"], value)
        places.setdefault(place, []).append(_Found(details, rest))
    problems = [_problem(place, found) for place, found in places.items()]
    if len(problems) > _PROBLEMS_SHOWN:
        problems[_PROBLEMS_SHOWN:] = [f"and {len(problems) - _PROBLEMS_SHOWN} more problems"]
    return "; ".join(problems)


def _place_of(location: tuple[int | str, ...], value: object) -> tuple[str, tuple[int | str, ...]]:
    """Follow an error's location through the value, and give what is left of it.

    A union adds steps that are not in the value: the name of a branch, which ends the walk, or the tag of
    the chosen one, which is stepped over.
    """
    names: list[str] = []
    tagged: object = None
    for depth, step in enumerate(location):
        if isinstance(value, Mapping):
            fields = cast("Mapping[object, object]", value)
            if fields is not tagged and step == fields.get("type"):
                tagged = fields
                continue
            if fields.get(step) is not None:
                value = fields[step]
                names.append(f".{step}")
                continue
        elif isinstance(value, list) and isinstance(step, int):
            value = cast("list[object]", value)[step]
            names.append(f"[{step}]")
            continue
        return "".join(names).removeprefix("."), location[depth:]
    return "".join(names).removeprefix("."), ()


def _problem(place: str, found: Sequence[_Found]) -> str:
    """Say what is wrong at one place; several errors there are the branches of a union."""
    first = found[0]
    match first.details["type"]:
        case "missing" if len(found) == 1:
            return f"`{f'{place}.' if place else ''}{first.rest[-1]}` is missing"
        case "value_error":
            return str(first.context.get("error", first.details["msg"]))
        case "union_tag_not_found":
            return f"`{place}.type` is missing"
        case "union_tag_invalid":
            tags = str(first.context["expected_tags"]).split(", ")
            return f"`{place}.type` must be {_either(tags)}, not {_shown(first.context['tag'])}"
        case _:
            pass
    subject = f"`{place}`" if place else "the params"
    allowed = list(dict.fromkeys(phrase for each in found for phrase in _phrases(each)))
    return f"{subject} must be {_either(allowed)}, not {_came(found)}"


def _phrases(found: _Found) -> Sequence[str]:
    """Say what would have been right; each phrase continues "must be"."""
    match found.details["type"]:
        case "literal_error":
            return str(found.context["expected"]).replace(" or ", ", ").split(", ")
        case "greater_than_equal":
            return (f"{found.context['ge']} or more",)
        case "less_than_equal":
            return (f"{found.context['le']} or less",)
        case "missing":
            return (f"an object with `{found.rest[-1]}`",)
        case kind:  # our own errors have a message that continues "must be"
            return (_PHRASES.get(kind, found.details["msg"]),)


def _either(phrases: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _came(found: Sequence[_Found]) -> str:
    """Show a value whose type is right, or that is a number where one belongs; of others only the type."""
    value = found[0].details["input"]
    kinds = {each.details["type"] for each in found}
    is_expected = not kinds <= _PHRASES.keys()
    if is_expected or (isinstance(value, int | float) and kinds & {"int_type", "float_type"}):
        return _shown(value)
    return _type_of(value)


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list):
        return _type_of(cast("object", value))
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_VALUE_SIZE else f"{text[:_SHOWN_VALUE_SIZE]}…"


def _type_of(value: object) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case Mapping():
            return "an object"
        case _:
            return "an array"
