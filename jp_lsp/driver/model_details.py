"""What a model can do, asked before it is asked anything else."""

import logging

import anyio

from jp_lsp.ports.provider import ModelDetails, ModelId, Provider, ProviderError

_log = logging.getLogger(__name__)

MODEL_DETAILS_TIMEOUT = 5.0
"""Seconds to ask a vendor what its model can do; without an answer, nothing is known of it."""


async def model_details(provider: Provider, model: ModelId) -> ModelDetails:
    """Ask what the model can do. Not knowing never fails a query; the request itself will tell."""
    details: ModelDetails | None = None
    with anyio.move_on_after(MODEL_DETAILS_TIMEOUT):
        try:
            details = await provider.model_details(model.name)
        except ProviderError as error:
            _log.info("nothing is known of %s: %s", model, error)
    return details or ModelDetails(model)
