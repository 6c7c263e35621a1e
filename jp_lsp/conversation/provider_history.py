"""Which provider was configured when an event was made.

An event's opaque metadata means something only to the vendor that gave it, so a request says of each
event whose it is. Only `assistant.model.id` and `providers.llm.aliases` are folded here; folding the whole
configuration for each event would cost the square of the length (conversation format 4.1, trap 64).
"""

from bisect import bisect_left
from collections.abc import Mapping

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream

_MODEL_ID = ("assistant", "model", "id")
_ALIASES = ("providers", "llm", "aliases")
_LONGEST_ALIAS_CHAIN = 32


class ProviderHistory:
    """The providers of a stream, one for each change of settings."""

    def __init__(self, stream: ConversationStream) -> None:
        state = _ModelState(stream.base_config)
        self._changed_at: list[int] = []
        self._providers = [state.provider]
        for position, delta in stream.config_deltas():
            state.apply(delta)
            self._changed_at.append(position)
            self._providers.append(state.provider)

    def at(self, position: int) -> str | None:
        """Give the provider that the changes before this entry leave; `None` where no model is set."""
        return self._providers[bisect_left(self._changed_at, position)]


class _ModelState:
    """The folded model id and aliases."""

    def __init__(self, base: JsonObject) -> None:
        self._model: JsonValue = _look_up(base, _MODEL_ID)
        self._aliases: dict[str, JsonValue] = {}
        self._add_aliases(base)

    def apply(self, delta: ConfigDelta) -> None:
        if delta.is_reset:
            self._model, self._aliases = None, {}
        for path in delta.unsets:
            self._unset(tuple(path.split(".")))
        self._add_aliases(delta.delta)
        model = _look_up(delta.delta, _MODEL_ID)
        if isinstance(model, Mapping):
            self._model = {**self._resolved(), **model}
        elif model is not None:
            self._model = model

    @property
    def provider(self) -> str | None:
        provider = self._resolved().get("provider")
        return provider if isinstance(provider, str) else None

    def _add_aliases(self, config: JsonObject) -> None:
        aliases = _look_up(config, _ALIASES)
        if isinstance(aliases, Mapping):
            self._aliases.update(aliases)

    def _unset(self, path: tuple[str, ...]) -> None:
        if _MODEL_ID[: len(path)] == path:
            self._model = None
        if _ALIASES[: len(path)] == path:
            self._aliases = {}
        elif path[: len(_ALIASES)] == _ALIASES:
            self._aliases.pop(".".join(path[len(_ALIASES) :]), None)  # names may have dots themselves

    def _resolved(self) -> JsonObject:
        """Follow aliases, which may form a circle in a file that nobody checked, to provider and name."""
        model = self._model
        for _ in range(_LONGEST_ALIAS_CHAIN):
            if isinstance(model, Mapping):
                return model
            if not isinstance(model, str):
                return {}
            provider, slash, name = model.partition("/")
            if slash:
                return {"provider": provider, "name": name}
            model = self._aliases.get(model)
        return {}


def _look_up(config: JsonObject, path: tuple[str, ...]) -> JsonValue:
    value: JsonValue = config
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
