"""Which local model there is, and what users are told about it. Loads nothing heavy: start-up asks here."""

import re
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.ports.provider import ModelDetails, ModelId, Unsupported
from jp_lsp.ports.providers import LOCAL
from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.local.installed import current_installation, is_installed

EMBEDDED_NAME = "smollm2-135m"
EMBEDDED_CONTEXT = 8192

SMALL_MODEL_NOTICE = (
    "This answer comes from SmolLM2 135M, a very small model that runs on your own computer: it shows how "
    "everything works, but it is often wrong and cannot use tools; choose a larger model for real work."
)
"""For the first answer of the embedded model in a server's life."""

_SET_KEY = "set a vendor's API key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, and choose its model"

NOT_INSTALLED_MESSAGE = (
    f"The local model is not installed. Run `jp-lsp local install` (about 127 MB), or {_SET_KEY} with "
    "`assistant.model.id`."
)

_GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class LocalModelSettings:
    """How the local model is to be run.

    Args:
        data_dir: the user data folder (conversation format 1.3), where `jp-lsp local install` installs.
        model_path: a GGUF file of the user's own; it runs in the installed runtime.
        threads: processor threads for generation. More than one is faster on an idle machine and far
            slower on a busy one.
        context: tokens that a request and its answer may take together.
    """

    data_dir: Path
    model_path: Path | None = None
    threads: int = 1
    context: int = EMBEDDED_CONTEXT


def default_model(data_dir: Path, model_path: Path | None = None) -> ModelId | None:
    """Give the model to use when nothing else is configured; `None` when it is not installed."""
    return model_id(model_path) if is_installed(data_dir) else None


def model_id(model_path: Path | None) -> ModelId:
    """Name the one model there is: the embedded one, or a user's file by its name without `.gguf`.

    Characters that a model id cannot have (config-and-tools 3.1) become dashes.
    """
    if model_path is None:
        return ModelId(LOCAL, EMBEDDED_NAME)
    return ModelId(LOCAL, re.sub(r"[^A-Za-z0-9_.:~-]+", "-", model_path.stem) or "-")


def describe_model(settings: LocalModelSettings) -> ModelDetails:
    """Say what the model can do, as far as that is known."""
    name = model_id(settings.model_path)
    if settings.model_path is not None:
        display_name = f"{settings.model_path.name} (your own file)"
        return ModelDetails(name, display_name=display_name, context_window=settings.context)
    return ModelDetails(
        name,
        display_name="SmolLM2 135M (built in, small)",
        context_window=settings.context,
        reasoning=Unsupported(),
        structured_output=True,
        prefill=True,
    )


def check_settings(settings: LocalModelSettings) -> None:
    """Find out before anything is started what would keep the model from starting.

    Raises:
        Refusal: it is not installed, or a setting cannot work; says which and what to do.
    """
    if settings.threads < 1:
        raise Refusal("config_invalid", f"The local model needs at least 1 thread, not {settings.threads}.")
    if settings.context < 1:
        raise Refusal("config_invalid", f"The local model needs a context of tokens, not {settings.context}.")
    if settings.model_path is not None:
        _check_model_file(settings.model_path)
    installation = current_installation(settings.data_dir)
    if not installation.folder.exists():
        raise Refusal("model_unknown", NOT_INSTALLED_MESSAGE)
    problem = installation.find_problem()
    if problem is not None:
        raise Refusal(
            "model_unknown",
            "The installed local model is damaged. Run `jp-lsp local install` to replace it.",
            chain=(problem,),
        )


def _check_model_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise Refusal(
            "config_invalid",
            f"The local model file {path} cannot be read: {error.strerror}.",
            origin=str(path),
        ) from error
    if magic != _GGUF_MAGIC:
        raise Refusal("config_invalid", f"{path} is not a GGUF model file.", origin=str(path))
