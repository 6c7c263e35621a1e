"""One method or command that a client may call, and how its parameters become a model.

The JSON that was sent is what the model sees: nothing renames a key on the way. Models are only touched
when a method is first called, and may be given as a function that imports them, because pydantic takes
longer to import than the rest of a server's start allows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.message import as_object
from jp_lsp.server.wire_error import invalid_params

if TYPE_CHECKING:
    from pydantic import BaseModel

_ModelSource: TypeAlias = "type[BaseModel] | Callable[[], type[BaseModel]]"

ParamsModel: TypeAlias = "_ModelSource | None"
"""A model, a function that gives one when it is first needed, or nothing: then the JSON goes in as it is."""

Handler: TypeAlias = Callable[[Any], object]
"""Takes the validated model or the raw JSON. Gives a JSON-able value or a model, or an awaitable of one."""


@dataclass(frozen=True, slots=True)
class Method:
    """A registered method: its name, what it takes and who handles it."""

    name: str
    handler: Handler
    params_model: ParamsModel = None

    def call(self, params: JsonValue) -> object:
        """Check the parameters and call the handler.

        Raises:
            WireError: -32602, with a message that names each field that does not fit.
        """
        if self.params_model is None:
            return self.handler(params)
        return self.handler(self._validate(self.params_model, params))

    def _validate(self, source: _ModelSource, params: JsonValue) -> object:
        from jp_lsp.protocol.reading import (  # here, so that a start does not pay for pydantic
            InvalidParams,
            read,
        )

        model = cast("type[BaseModel]", source if isinstance(source, type) else source())
        try:
            return read(model, {} if params is None else params, self.name)
        except InvalidParams as problem:
            raise invalid_params(self.name, [str(problem).removeprefix(f"{self.name}: ")]) from None


@dataclass(frozen=True, slots=True)
class Command:
    """The `workspace/executeCommand` twin of a method (query pipeline 1.10).

    Attributes:
        method: what is called; its name is the command's id.
        text_key: where a bare string argument goes, or `None` when only an object makes sense.
    """

    method: Method
    text_key: str | None = None

    def call(self, params: JsonObject) -> object:
        """Call the method with the one argument of an `executeCommand`.

        The request's own `workDoneToken` becomes the argument's, unless it has one.

        Raises:
            WireError: -32602, for more than one argument, or one that does not fit.
        """
        taken = dict(self._members(params.get("arguments")))
        if (token := params.get("workDoneToken")) is not None:
            taken.setdefault("workDoneToken", token)
        return self.method.call(taken)

    def _members(self, arguments: JsonValue) -> JsonObject:
        if arguments is None or arguments == []:
            return {}
        if isinstance(arguments, list) and len(arguments) == 1:
            (argument,) = arguments
            if (members := as_object(argument)) is not None:
                return members
            if isinstance(argument, str) and self.text_key is not None:
                return {self.text_key: argument}
        wanted = "an object" if self.text_key is None else f"an object, or the {self.text_key} as a string"
        raise invalid_params(self.method.name, [f"arguments: takes one, {wanted}"])
