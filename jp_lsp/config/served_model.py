"""Which model is meant where a configuration alone does not say it: none is set, or a conversation keeps another name.

Both are settled with what this machine has: the embedded model, and the servers that the server's settings name.
"""

from collections.abc import Callable

from jp_lsp.config.layer import Origin
from jp_lsp.config.model_id import STORED_PROVIDER
from jp_lsp.config.models import MAIN_MODEL
from jp_lsp.config.problem import dotted
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.value import ABSENT, Partial, value_at, with_value
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal

_NO_MODEL = (
    "no model is set: run `jp-lsp local install` for the small built-in one, which needs no key, or set "
    "`assistant.model.id` (or pass `--model`) to a vendor's model and the vendor's API key in the environment"
)


def with_default_model(tree: Partial, default_model: Callable[[], ModelId | None]) -> Partial:
    """Give a configuration in which a model is set.

    Raises:
        Refusal: none is, and there is no embedded one.
    """
    if value_at(tree, MAIN_MODEL) is not ABSENT:
        return tree
    model = default_model()
    if model is None:
        raise Refusal("config_invalid", _NO_MODEL, origin=dotted(MAIN_MODEL))
    return with_value(tree, MAIN_MODEL, {"provider": model.provider, "name": model.name})


def served_model(
    model: ModelId, origin: Origin | None, default_model: Callable[[], ModelId | None], server: ServerSettings
) -> ModelId:
    """Give a model that `origin` names with the provider that answers for it.

    A conversation keeps our own providers under another name (config-and-tools 3.1); which one it is, the name
    of the embedded model and the server's settings tell.
    """
    if model.provider != STORED_PROVIDER or origin is None or origin.kind != "conversation":
        return model
    embedded = default_model()
    if embedded is not None and embedded.name == model.name:
        return embedded
    if server.lmstudio_base_url is not None:
        return ModelId("lmstudio", model.name)
    if server.compatible_base_url is not None:
        return ModelId("compatible", model.name)
    return model
