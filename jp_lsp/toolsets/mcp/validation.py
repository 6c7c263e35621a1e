"""Arguments checked against the schema that a server gave (query pipeline 3.2, step 5).

Regular expressions are not checked: a schema's are those of JavaScript, so Python would refuse what is right.
The server checks them anyhow. A schema that cannot be handled checks nothing.
"""

import logging
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no type hints
import referencing
import referencing.exceptions

from jp_lsp.conversation.json_value import JsonObject

_log = logging.getLogger(__name__)
_library: Any = jsonschema
_no_documents: referencing.Registry[Any] = referencing.Registry()

MAX_PROBLEMS = 5
_MAX_PROBLEM_SIZE = 300


def find_problems(schema: JsonObject, arguments: JsonObject) -> list[str]:
    """Say what is wrong with arguments, a few sentences at most; none when nothing is, or nothing can be said."""
    dialect = _library.validators.validator_for(schema, default=_library.Draft202012Validator)
    try:
        dialect.check_schema(schema, format_checker=None)  # it would try to read regular expressions
        lenient = _library.validators.extend(dialect, {"pattern": _accept})
        found: Iterator[Any] = lenient(schema, registry=_no_documents).iter_errors(arguments)
        return [_describe(error) for error in islice(found, MAX_PROBLEMS)]
    except (
        _library.SchemaError,
        _library.exceptions.UnknownType,
        referencing.exceptions.Unresolvable,
        re.error,
        RecursionError,
    ) as error:
        _log.info("arguments are not checked, their schema cannot be handled: %.200s", error)
        return []


def _accept(*_: object) -> Iterator[object]:
    return iter(())


def _describe(error: Any) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"{path.lstrip('.') or 'arguments'}: {error.message}"[:_MAX_PROBLEM_SIZE]
