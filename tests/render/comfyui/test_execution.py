"""Every template runs on the stand-in, of both cores: its film has the frames and the sound asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvpipe.errors import GraphRejected
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.filling import fill, finished
from mvpipe.render.comfyui.fitting import fitted
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge import Setting
from mvpipe.render.comfyui.order import Order
from mvpipe.render.comfyui.pictures import still
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.server import Server
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import Template, clashes, load, names
from mvpipe.render.comfyui.vocal import vocal_samples, wav_bytes
from mvpipe.testing.standin import Standin, standin
from mvpipe.tools import sound
from mvpipe.tools.heard import Heard
from mvpipe.tools.likeness import likeness
from tests.render.comfyui.rig import QUICK, frames_of, sung, write_png

FRAMES, SIZE = 124, (416, 256)


@dataclass
class Studio:
    """A server with every pack, and a client of it."""

    server: Standin
    client: Client
    folder: Path


@pytest.fixture(scope="module", params=["0.33.0", "0.38.0"])
def studio(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    flags = ("--shrink", "4", "--no-previews")
    with standin(folder / "server", version=request.param, flags=flags) as server:
        yield Studio(server, Client(address(server.url), folder / "records", QUICK), folder)


def fit(template: Template, server: Server, graph: Graph) -> Graph:
    """As the backend fits a graph to a server."""
    asked = {name: info for name in template.asks() if (info := server.schema(name)) is not None}
    return fitted(template, graph, read_schemas(asked), Setting(device="a card of no kind", probe=True)).graph


def ordered(template: Template, folder: Path, *, voiced: bool = True, seed: int = 7) -> Order:
    voice = wav_bytes(np.repeat(sung(7, vocal_samples(FRAMES))[:, None], 2, axis=1))
    sound = f"mvpipe/{hashlib.sha256(voice).hexdigest()}.wav"
    path = write_png(folder / "big.png", 90)
    picture = still(_enlarged(path), hashlib.sha256(path.read_bytes()).hexdigest())
    values: dict[str, Fill] = {
        "prompt": "she sings", "seed": seed, "width": SIZE[0], "height": SIZE[1], "length": FRAMES,
        "pictures": [picture.name], "vocals": sound if voiced else None,
    }  # fmt: skip
    return Order(
        key=hashlib.sha256(f"{template.name} {voiced} {seed}".encode()).hexdigest(),
        title=template.name,
        graph=fill(template, values),
        outputs=template.slots.outputs,
        uploads={picture.name: picture.png} | ({sound: voice} if voiced else {}),
        fit=partial(fit, template),
        finish=partial(finished, template),
    )


def _enlarged(path: Path) -> Path:
    with Image.open(path) as small:
        small.resize((320, 320)).save(path)
    return path


def made(studio: Studio, name: str, *, voiced: bool = True) -> tuple[int, float]:
    """(frames, likeness of the film's sound to the vocal) of a template's film."""
    into = studio.folder / f"{name}-{voiced}.mp4"
    studio.client.make(ordered(load(name), studio.folder, voiced=voiced), into, lambda done, of: None)
    facts = sound.probe(into)
    heard = np.frombuffer(b"".join(sound.decode(into, "f32")), np.float32).reshape(-1, facts.channels)
    voice = sung(7, vocal_samples(FRAMES))[:, None]
    alike = likeness(
        Heard(samples=heard, sample_rate=facts.sample_rate), Heard(samples=voice, sample_rate=32_000)
    )
    return frames_of(into), alike


USUAL = [name for name in names() if name != "multishot-pinned"]


@pytest.mark.parametrize("name", USUAL)
def test_with_a_vocal(studio: Studio, name: str) -> None:
    frames, alike = made(studio, name)
    assert frames == FRAMES
    assert (alike > 0.8) is (load(name).slots.lock == "exact"), alike


@pytest.mark.parametrize("name", USUAL)
def test_without_one(studio: Studio, name: str) -> None:
    frames, alike = made(studio, name, voiced=False)
    assert frames == FRAMES
    assert alike < 0.5


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server with H3-Multishot, whose pack breaks others."""
    folder = tmp_path_factory.mktemp("multishot")
    flags = ("--shrink", "4", "--no-previews", "--packs", "core,longmedia,multishot")
    with standin(folder / "server", flags=flags) as server:
        yield Studio(server, Client(address(server.url), folder / "records", QUICK), folder)


def test_multishot_comes_close(beside: Studio) -> None:
    frames, alike = made(beside, "multishot-pinned")
    assert frames == FRAMES
    assert alike > 0.5


def test_longmedia_beside_multishot_is_known_to_break(beside: Studio) -> None:
    template = load("longmedia-lip-sync")
    found = clashes(template, lambda name: beside.client.server.schema(name) is not None)
    assert found
    assert found[0].startswith("H3MultishotMemorySampler is installed")


def test_a_pack_that_is_not_there_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    with standin(tmp_path / "server", flags=("--packs", "core")) as server:
        client = Client(address(server.url), tmp_path / "records", QUICK)
        with pytest.raises(GraphRejected, match=r"MiniMaxH3AudioConditioningT8.*no such class"):
            client.make(ordered(load("t8-lock-source"), tmp_path), tmp_path / "t8.mp4", lambda done, of: None)
        assert not server.requests("/upload")
        assert not server.requests("/prompt", "POST")
