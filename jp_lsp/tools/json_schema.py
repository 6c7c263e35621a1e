"""Values held against JSON schemas that somebody else wrote. Loads a library, so import it when it is needed.

The dialect is the one that a schema names in `$schema`, else 2020-12. Formats are not enforced, and no
document is ever fetched: a reference leads somewhere within the schema, or nowhere.
"""

import logging
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no type hints
import referencing
import referencing.exceptions

from jp_lsp.conversation.json_value import JsonObject, JsonValue

_log = logging.getLogger(__name__)
_library: Any = jsonschema
_no_documents: referencing.Registry[Any] = referencing.Registry()

_CANNOT_BE_HANDLED = (
    _library.SchemaError,
    _library.exceptions.UnknownType,
    referencing.exceptions.Unresolvable,
    re.error,
    RecursionError,
    # A number too large to be divided; a reference that leads to something that is no schema.
    ArithmeticError,
    AttributeError,
    TypeError,
    ValueError,  # an address that is none
)

MAX_PROBLEMS = 5
_MAX_PROBLEM_SIZE = 300


def find_schema_problem(schema: JsonObject) -> str | None:
    """Say why something is no JSON schema; `None` when it is one."""
    try:
        _dialect(schema).check_schema(schema, format_checker=None)  # it would try to read regular expressions
    except _library.SchemaError as error:
        return _describe(error, "the schema")
    except RecursionError:
        return "the schema: is nested too deep"
    return None


def find_problems(
    schema: JsonObject, value: JsonValue, whole: str, *, checks_patterns: bool = True
) -> list[str]:
    """Say what keeps a value from fitting, each problem with its path.

    Args:
        schema: what the value must fit.
        value: the value.
        whole: what a problem of the whole value is said of.
        checks_patterns: whether strings are held against `pattern`, as far as Python reads the expression.

    Returns:
        A few sentences at most; none when the value fits, and none when the schema cannot be handled.
    """
    dialect = _dialect(schema)
    try:
        dialect.check_schema(schema, format_checker=None)
        keywords = {"pattern": _search if checks_patterns else _accept}
        checker = _library.validators.extend(dialect, keywords)
        found: Iterator[Any] = checker(schema, registry=_no_documents).iter_errors(value)
        return [_describe(error, whole) for error in islice(found, MAX_PROBLEMS)]
    except _CANNOT_BE_HANDLED as error:
        _log.info("%s is not checked, its schema cannot be handled: %.200s", whole, error)
        return []


def _dialect(schema: JsonObject) -> Any:
    newest = _library.Draft202012Validator
    if not isinstance(schema.get("$schema"), str):
        return newest
    try:
        return _library.validators.validator_for(schema, default=newest)
    except ValueError:  # it is no address, so it names no dialect
        return newest


def _accept(*_: object) -> Iterator[object]:
    return iter(())


def _search(validator: Any, pattern: str, value: object, schema: object) -> Iterator[object]:
    """Check `pattern`. Its expressions are those of JavaScript: one that Python cannot read forbids nothing."""
    try:
        yield from _library.Draft202012Validator.VALIDATORS["pattern"](validator, pattern, value, schema)
    except re.error:
        _log.info("the pattern %.100r is not checked", pattern)


def _describe(error: Any, whole: str) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"{path.lstrip('.') or whole}: {error.message}"[:_MAX_PROBLEM_SIZE]
