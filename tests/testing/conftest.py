"""Stand-ins that several tests share, one a version, and the facts that were recorded of the real ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mvpipe.testing.standin import Standin, standin
from tests.testing.client import PNG, Client, wav

VERSIONS = ("0.3.64", "0.33.0")


def facts(scenario: str, version: str) -> Any:
    """What was recorded of a scenario."""
    path = Path(__file__).parent / "facts" / f"{scenario}.json"
    found = json.loads(path.read_text("utf-8"))
    if version not in found:
        return found["both"]
    return {**found["both"], **found[version]} if "both" in found else found[version]


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    with standin(tmp_path_factory.mktemp("comfy"), version=version) as running:
        furnish(running)
        yield running


@pytest.fixture
def client(server: Standin) -> Client:
    return Client(server.url)


def furnish(running: Standin) -> None:
    """The two files the graphs read, at the top and in a subfolder."""
    for folder in (running.root / "input", running.root / "input" / "rec"):
        folder.mkdir(exist_ok=True)
        (folder / "face.png").write_bytes(PNG)
        (folder / "vocal.wav").write_bytes(wav(65 * 800))
