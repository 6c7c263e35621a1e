"""How every wire model behaves: camelCase outside, unknown fields ignored, values that never change.

Three rules hold for every type on the wire:

- A field that is unknown is ignored, so that an older server and a newer client get along.
- `null` for a field means that the field is left out, because clients written in Lua or Lisp cannot always
  tell the two apart. We never send a `null` for a field either.
- JSON types are taken as they are: the text `"yes"` is no boolean and `"3"` is no number.

Models are built when they are first used (`defer_build`), because a server that starts needs only a few.
Read them with `jp_lsp.protocol.reading.read`, which turns trouble into a sentence for the client.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

_Item = TypeVar("_Item")

Array = Annotated[tuple[_Item, ...], Field(strict=False, fail_fast=True)]
"""A JSON array, kept as a tuple. The first wrong item is enough to refuse it."""

ProgressToken = TypeAliasType("ProgressToken", int | str)
"""What LSP puts on progress notifications; a turn is named by one."""


class WireModel(BaseModel):
    """A JSON object on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,  # for our own code; what arrives is read by alias only
        extra="ignore",
        frozen=True,
        strict=True,
        defer_build=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        fields = cast("Mapping[object, object]", value)
        return {name: field for name, field in fields.items() if field is not None}

    def to_json(self) -> dict[str, Any]:
        """Give the JSON object that goes over the wire; fields that hold `None` are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
