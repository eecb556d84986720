"""A clean place for every test: no home, no cache, no settings, no network, one thread a library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Read once, when the libraries are first imported: set before any test module is.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("mvpipe", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("mvpipe")


@pytest.fixture(autouse=True)
def isolation(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The user's own files and settings do not reach a test, and a test leaves the working folder alone."""
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    for name in list(os.environ):
        if name.startswith("MVPIPE_") or name in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"}:
            monkeypatch.delenv(name)
    before = Path.cwd()
    yield
    assert Path.cwd() == before, "a test left the working folder changed"


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(440)
