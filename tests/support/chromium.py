"""The Chromium of this machine: what real pages are shown in, without a screen."""

import shutil

import pytest

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str:
    """Find a Chromium, or skip the test."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (path := shutil.which(name)) is not None:
            return path
    pytest.skip("no Chromium on this machine to show pages in")
