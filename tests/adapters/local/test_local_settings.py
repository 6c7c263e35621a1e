"""Which local model is chosen, what is refused before anything starts, and what the user reads."""

import shutil
from pathlib import Path, PurePosixPath

import pytest

from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.local import release, settings
from jp_lsp.providers.local.adapter import Backend, create
from jp_lsp.providers.local.installed import current_installation, is_installed
from jp_lsp.providers.local.process import Endpoint
from jp_lsp.providers.local.release import RELEASE_NAME, UnknownPlatformError, release_for
from jp_lsp.providers.local.settings import (
    LocalModelSettings,
    check_settings,
    default_model,
    describe_model,
    model_id,
)
