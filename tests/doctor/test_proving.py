"""The canary sees what a render is worth, keeps what it proved, and notices a LoRA that does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mvpipe.doctor import props, proving
from mvpipe.doctor.canary import keep, last
from mvpipe.doctor.facts import Canary, Unseen
from mvpipe.doctor.wanted import want
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.template import names
from mvpipe.testing.standin import Standin, standin
from tests.doctor.cases import canary

SIZE = (960, 544)
MOMENTS = 5
"""Of a sampler in a run: its beginning, and four steps."""


def prove(tmp_path: Path, *faults: str, times: int = 1) -> Canary:
    with standin(tmp_path / "server") as server:
        for fault in faults:
            server.fault(fault, times=times)
        client = Client(address(server.url), tmp_path / "jobs")
        try:
            return proving.prove(want(size=SIZE), client, tmp_path, now=1000.0)
        finally:
            client.close()


def test_the_phrase_is_a_voice_that_fits() -> None:
    sound = props.phrase()
    assert sound.dtype == np.float32
    assert sound.shape == (round(22 / 24 * 40) * 800, 2)
    assert float(np.abs(sound).max()) == pytest.approx(0.5, rel=1e-3)
    assert np.array_equal(sound, props.phrase())


def test_a_good_server_passes(tmp_path: Path) -> None:
    found = prove(tmp_path)
    assert found.faults == ()
    assert found.lora is True
    assert found.version == "0.33.0"
    assert isinstance(found.peak, int)
    assert found.peak > 0
    assert isinstance(found.step_s, float)
    assert found.step_s > 0
    assert found.itself == 0.0, "the stand-in computes the same twice alike"
    assert isinstance(found.by_seed, float)
    assert found.by_seed > 5


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    """A server with every usual pack."""
    with standin(tmp_path_factory.mktemp("full")) as server:
        yield server


@pytest.fixture(scope="module")
def multishot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    """A server with H3-Multishot, which breaks graphs of others."""
    flags = ("--packs", "core,multishot")
    with standin(tmp_path_factory.mktemp("multishot"), flags=flags) as server:
        yield server


@pytest.mark.parametrize("graph", names())
def test_every_graph_has_its_canary(full: Standin, multishot: Standin, tmp_path: Path, graph: str) -> None:
    server = multishot if graph == "multishot-pinned" else full
    client = Client(address(server.url), tmp_path / "jobs")
    try:
        found = proving.prove(want(graph, size=SIZE), client, tmp_path, now=float(3000 + 10 * len(graph)))
    finally:
        client.close()
    assert (found.faults, found.lora) == ((), True)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("black", "black"), ("sound-missing", "no sound"), ("lock-ignored", "lock had no effect"),
     ("frames-short", "frames instead of 22"), ("node-error", "SamplerCustomAdvanced"),
     ("frozen", "show what the one before showed"), ("sound-constant", "constant")],
)  # fmt: skip
def test_a_bad_render_is_seen(tmp_path: Path, fault: str, words: str) -> None:
    found = prove(tmp_path, fault)
    assert isinstance(found.lora, Unseen)
    assert any(words in one for one in found.faults), found.faults
    assert isinstance(found.lora, Unseen), "an ablation of a bad take proves nothing"


def test_the_same_seed_is_sampled_again_and_not_taken_from_the_cache(tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        client = Client(address(server.url), tmp_path / "jobs")
        try:
            proving.prove(want(size=SIZE), client, tmp_path, now=1000.0)
        finally:
            client.close()
        seeds = [run["sampled"][0]["seed"] for run in server.runs()]
    assert seeds == [1000, 1000, 1001, 1000]


@pytest.mark.parametrize("shaky", [(), ("shimmer",)])
@pytest.mark.parametrize(
    ("fault", "lora", "words"),
    [("", True, ""), ("lora-ignored", False, ""), ("seed-ignored", True, "two seeds give the same picture")],
)  # fmt: skip
def test_what_does_nothing_is_noticed_also_on_a_card_that_is_not_exact(
    tmp_path: Path, fault: str, lora: bool, words: str, shaky: tuple[str, ...]
) -> None:
    found = prove(tmp_path, *filter(None, (fault,)), *shaky, times=9)
    assert found.lora is lora
    assert [words in one for one in found.faults] == ([True] if words else [])
    assert isinstance(found.itself, float)
    assert (found.itself > 0) == bool(shaky)


def test_what_fails_only_the_second_time_is_told(tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        server.fault("sound-missing", after=1)
        client = Client(address(server.url), tmp_path / "jobs")
        try:
            found = proving.prove(want(size=SIZE), client, tmp_path, now=1000.0)
        finally:
            client.close()
    assert found.faults == ("same seed again: no sound",)


def test_a_render_that_fails_without_the_lora_proves_nothing_of_it(tmp_path: Path) -> None:
    with standin(tmp_path / "server") as server:
        server.fault("node-error", after=3 * MOMENTS)
        client = Client(address(server.url), tmp_path / "jobs")
        try:
            found = proving.prove(want(size=SIZE), client, tmp_path, now=1000.0)
        finally:
            client.close()
    assert isinstance(found.lora, Unseen)
    assert "without it nothing was rendered" in found.lora.why


def test_what_was_proved_is_kept_by_server(tmp_path: Path) -> None:
    one, two = canary(), canary(faults=("no sound",), peak=Unseen("silent"))
    keep(tmp_path, "http://one:8188", one)
    keep(tmp_path, "http://two:8188", two)
    assert last(tmp_path, "http://one:8188") == one
    found = last(tmp_path, "http://two:8188")
    assert not isinstance(found, Unseen)
    assert found.faults == ("no sound",)
    assert isinstance(found.peak, Unseen)
    assert isinstance(last(tmp_path, "http://three:8188"), Unseen)


@pytest.mark.parametrize("text", ["", "[]", '{"http://one:8188": 3}', "\x00"])
def test_a_spoilt_record_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "canaries.json").write_text(text)
    assert isinstance(last(tmp_path, "http://one:8188"), Unseen)
