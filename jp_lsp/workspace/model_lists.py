"""What vendors said about their models, as files in the user's own data (providers 7).

One file for each vendor and address. It holds names and numbers that the vendor tells anybody; the address is
no part of it, since it may hold a password. A file that cannot be read is as good as none.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast, get_args

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.model_lists import KeptModel, KeptModels
from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    EffortLevel,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.workspace.atomic import write_file

_log = logging.getLogger(__name__)

_FORMAT = 1
_LARGEST = 16 * 1024 * 1024
_LEVELS: frozenset[str] = frozenset(get_args(EffortLevel))


@dataclass(frozen=True, slots=True)
class ModelListFiles:
    """Implements `ModelLists` in a folder, which is made when there is something to keep."""

    folder: Path

    def load(self, provider: str, address: str) -> KeptModels | None:
        """Give what a vendor said."""
        path = self._path(provider, address)
        try:
            with path.open("rb") as file:
                value = json.loads(file.read(_LARGEST))
            return _kept_from_json(value, provider)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            _log.info("%s is not used: %r", path, problem)
            return None

    def save(self, provider: str, address: str, kept: KeptModels) -> None:
        """Keep what a vendor said.

        Raises:
            OSError: it could not be written.
        """
        text = json.dumps(_kept_to_json(kept), indent=1, ensure_ascii=False)
        write_file(self._path(provider, address), text.encode("utf-8", "replace"))

    def _path(self, provider: str, address: str) -> Path:
        digest = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:16]
        return self.folder / f"{provider}-{digest}.json"


def _kept_to_json(kept: KeptModels) -> JsonObject:
    return {
        "format": _FORMAT,
        "listed_at": kept.listed_at,
        "models": {name: _model_to_json(model) for name, model in sorted(kept.models.items())},
    }


def _kept_from_json(value: Any, provider: str) -> KeptModels | None:
    if value["format"] != _FORMAT:
        return None
    listed_at = value["listed_at"]
    return KeptModels(
        {name: _model_from_json(ModelId(provider, name), model) for name, model in value["models"].items()},
        None if listed_at is None else float(listed_at),
    )


def _model_to_json(kept: KeptModel) -> JsonObject:
    details = kept.details
    cutoff = details.knowledge_cutoff
    known: Mapping[str, JsonValue] = {
        "display_name": details.display_name,
        "context_window": details.context_window,
        "max_output_tokens": details.max_output_tokens,
        "reasoning": _reasoning_to_json(details.reasoning),
        "knowledge_cutoff": None if cutoff is None else cutoff.isoformat(),
        "deprecated": details.deprecated,
        "structured_output": details.structured_output,
        "answers_in_text": None if details.answers_in_text else False,
        "prefill": details.prefill,
        "features": sorted(details.features) or None,
    }
    return {"asked_at": kept.asked_at, **{name: item for name, item in known.items() if item is not None}}


def _model_from_json(model: ModelId, value: Any) -> KeptModel:
    cutoff = value.get("knowledge_cutoff")
    return KeptModel(
        ModelDetails(
            model,
            display_name=_typed(str, value.get("display_name")),
            context_window=_typed(int, value.get("context_window")),
            max_output_tokens=_typed(int, value.get("max_output_tokens")),
            reasoning=_reasoning_from_json(value.get("reasoning")),
            knowledge_cutoff=None if cutoff is None else date.fromisoformat(cutoff),
            deprecated=_typed(bool, value.get("deprecated")),
            structured_output=_typed(bool, value.get("structured_output")),
            answers_in_text=value.get("answers_in_text") is not False,
            prefill=_typed(bool, value.get("prefill")),
            features=frozenset(map(str, value.get("features", ()))),
        ),
        float(value["asked_at"]),
    )


def _typed(kind: type, value: Any) -> Any:
    """Give a value that may be absent.

    Raises:
        TypeError: it is of another type.
    """
    if value is not None and type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _reasoning_to_json(reasoning: ReasoningSupport | None) -> JsonValue:
    match reasoning:
        case None:
            return None
        case Unsupported():
            return {"mode": "none"}
        case Budgetted(can_disable, least, most):
            return {"mode": "budget", "can_disable": can_disable, "min_tokens": least, "max_tokens": most}
        case Leveled(can_disable, levels):
            return {"mode": "levels", "can_disable": can_disable, "levels": sorted(levels)}
        case Adaptive(can_disable, xhigh, most):
            return {"mode": "adaptive", "can_disable": can_disable, "xhigh": xhigh, "max": most}


def _reasoning_from_json(value: Any) -> ReasoningSupport | None:
    match value:
        case None:
            return None
        case {"mode": "none"}:
            return Unsupported()
        case {
            "mode": "budget",
            "can_disable": bool(can_disable),
            "min_tokens": int(least),
            "max_tokens": most,
        }:
            return Budgetted(can_disable, least, _typed(int, most))
        case {"mode": "levels", "can_disable": bool(can_disable), "levels": levels}:
            known = _LEVELS.intersection(_typed(list, levels))
            return Leveled(can_disable, cast(frozenset[EffortLevel], known))
        case {"mode": "adaptive", "can_disable": bool(can_disable), "xhigh": bool(xhigh), "max": bool(most)}:
            return Adaptive(can_disable, xhigh, most)
        case _:
            raise ValueError(f"no way of reasoning: {value!r}")
