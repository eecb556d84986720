"""The clips are what a render would be: counted, locked, decided by their inputs, and spoilt as ordered."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.testing.comfyui import sound as sounds
from mvpipe.testing.comfyui.values import Sound, audio_latents, on_grid
from mvpipe.testing.standin import Standin, standin
from tests.testing import clips
from tests.testing.client import Client, wav
from tests.testing.conftest import furnish
from tests.testing.graphs import Graph, locked, usual

VOCAL = wav(audio_latents(22) * 800)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    with standin(tmp_path_factory.mktemp("comfy")) as running:
        furnish(running)
        (running.root / "input" / "vocal.wav").write_bytes(VOCAL)
        yield running


@pytest.fixture
def client(server: Standin) -> Client:
    server.heal()
    return Client(server.url)


def samples(content: bytes) -> NDArray[np.float32]:
    with wave.open(io.BytesIO(content)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).T.astype(np.float32)


def sung() -> NDArray[np.float32]:
    return samples(VOCAL)


def likeness_of_file(clip: clips.Clip, content: bytes, *, skip: int = 0) -> float:
    """How like a WAV, from its sample `skip` on, the clip sounds."""
    assert clip.sound is not None
    return clips.likeness(clip.sound, samples(content)[:, skip:])


def clip_of(client: Client, tmp_path: Path, graph: Graph) -> clips.Clip:
    entry = client.render(graph)
    assert entry["status"]["status_str"] == "success", entry["status"]["messages"][-1]
    return clips.read(client.fetch(entry, tmp_path / "clip.mp4"))


def look_of(server: Standin, client: Client, graph: Graph) -> str:
    client.render(graph)
    (sampled,) = server.runs()[-1]["sampled"]
    return str(sampled["look"])


@pytest.mark.parametrize(("length", "frames"), [(5, 5), (6, 22), (22, 22), (23, 39), (124, 124)])
def test_lengths_are_rounded_up_to_the_grid(client: Client, tmp_path: Path, length: int, frames: int) -> None:
    clip = clip_of(client, tmp_path, locked(length=length, prefix=f"l{length}"))
    assert clip.frames.shape == (frames, 48, 64)
    assert (clip.rate, clip.codec) == (Fraction(24), "h264")
    assert on_grid(length) == frames


def test_the_locked_vocal_is_what_is_heard(client: Client, tmp_path: Path) -> None:
    clip = clip_of(client, tmp_path, locked())
    assert clip.sound is not None
    assert clip.sample_rate == 32_000
    assert clips.likeness(clip.sound, sung()) > 0.99
    assert abs(clip.sound.shape[1] - 22 / 24 * 32_000) <= 1024 * 2


def test_a_reference_alone_is_no_lock(client: Client, tmp_path: Path) -> None:
    graph = usual(image="face.png", audio="vocal.wav")
    clip = clip_of(client, tmp_path, graph)
    assert clip.sound is not None
    assert abs(clips.likeness(clip.sound, sung())) < 0.3


def test_the_audio_encoder_crops_at_both_ends() -> None:
    """h3.md 0.6: 5.1667 s give 206 latents, and 266 samples at the head are lost."""
    ramp = np.arange(165_333, dtype=np.float32)
    kept = sounds.encoded(Sound(samples=np.stack([ramp, ramp]), rate=32_000, digest="x"))
    assert kept.samples.shape == (2, 206 * 800)
    assert kept.samples[0, 0] == 266
    exact = sounds.encoded(Sound(samples=np.zeros((2, 207 * 800), np.float32), rate=32_000, digest="x"))
    assert exact.samples.shape[1] == audio_latents(124) * 800


def test_another_rate_and_one_channel_become_32_khz_stereo() -> None:
    tone = np.sin(np.arange(44_100) * 0.05).astype(np.float32)[None]
    kept = sounds.stereo(Sound(samples=tone, rate=44_100, digest="x"))
    assert kept.shape == (2, 32_000)
    assert np.abs(kept[0] - np.sin(np.arange(32_000) * 0.05 * 44_100 / 32_000)).max() < 0.01


def test_everything_that_decides_a_picture_changes_it(server: Standin, client: Client) -> None:
    base = look_of(server, client, locked())
    prompt, size = locked(), locked(size=(96, 48))
    prompt["9"]["inputs"]["prompt"] = "another"
    shift = locked()
    shift["3"]["inputs"]["shift_video"] = 6.0
    client.upload("other.png", b"\x89PNG\r\n\x1a\nother")
    others = [locked(seed=2), locked(lora=0.0), prompt, size, shift, locked(image="other.png")]
    looks = [look_of(server, client, graph) for graph in others]
    assert len({base, *looks}) == 7
    assert look_of(server, client, locked()) == base


def test_two_seeds_look_different(client: Client, tmp_path: Path) -> None:
    one = clip_of(client, tmp_path, locked(seed=1)).frames.astype(float)
    two = clip_of(client, tmp_path, locked(seed=2)).frames.astype(float)
    assert np.abs(one - two).mean() > 5
    again = clip_of(client, tmp_path, locked(seed=1, prefix="again")).frames.astype(float)
    assert np.array_equal(one, again)


def test_the_whole_graph_is_in_the_metadata(client: Client, tmp_path: Path) -> None:
    graph = locked(seed=31)
    assert json.loads(clip_of(client, tmp_path, graph).metadata["prompt"]) == graph


def test_the_picture_moves_and_follows_the_voice(client: Client, tmp_path: Path) -> None:
    frames = clip_of(client, tmp_path, locked(seed=3)).frames.astype(float)
    assert np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2)).min() > 0


def is_dark(clip: clips.Clip) -> bool:
    return bool(clip.frames.max() < 40)


def is_still(clip: clips.Clip) -> bool:
    return bool(np.abs(np.diff(clip.frames.astype(int), axis=0)).mean(axis=(1, 2)).max() < 1)


def heard(clip: clips.Clip) -> NDArray[np.float32]:
    assert clip.sound is not None
    return clip.sound


SPOILT: dict[str, Any] = {
    "frames-short": lambda clip: len(clip.frames) == 7,
    "sound-missing": lambda clip: clip.sound is None,
    "sound-silent": lambda clip: np.abs(heard(clip)).max() < 1e-3,
    "sound-constant": lambda clip: (
        heard(clip)[0, 4000:20_000].std() < 1e-3 < heard(clip)[0, 4000:20_000].mean()
    ),
    "sound-short": lambda clip: heard(clip).shape[1] < 22 / 24 * 32_000 * 0.6,
    "sound-nan-stored": lambda clip: np.isnan(heard(clip)).any(),
    "lock-ignored": lambda clip: abs(clips.likeness(heard(clip), sung())) < 0.3,
    "black": is_dark,
    "frozen": is_still,
    "instant": is_still,
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_spoilt_result_is_a_success_all_the_same(
    server: Standin, client: Client, tmp_path: Path, fault: str
) -> None:
    client.post("/free", {"free_memory": True})
    server.fault(fault)
    bad = clip_of(client, tmp_path, locked(seed=50, prefix=f"bad-{fault}"))
    assert SPOILT[fault](bad)
    still_bad = clip_of(client, tmp_path, locked(seed=50, prefix=f"again-{fault}"))
    assert SPOILT[fault](still_bad)  # a new prefix saves the same bad frames and sound
    good = clip_of(client, tmp_path, locked(seed=51, prefix=f"good-{fault}"))
    assert not SPOILT[fault](good)


@pytest.mark.parametrize(("fault", "one", "other"), [
    ("seed-ignored", locked(seed=60), locked(seed=61)),
    ("lora-ignored", locked(seed=62, lora=1.0), locked(seed=62, lora=0.0)),
])  # fmt: skip
def test_what_has_no_effect(server: Standin, client: Client, fault: str, one: Graph, other: Graph) -> None:
    assert look_of(server, client, one) != look_of(server, client, other)
    client.post("/free", {"free_memory": True})
    server.fault(fault, times=2)
    assert look_of(server, client, one) == look_of(server, client, other)


def test_shimmer(server: Standin, client: Client, tmp_path: Path) -> None:
    server.fault("shimmer", times=2)
    one = clip_of(client, tmp_path, locked(seed=63)).frames.astype(float)
    client.post("/free", {"free_memory": True})
    two = clip_of(client, tmp_path, locked(seed=63, prefix="again")).frames.astype(float)
    assert 0 < np.abs(one - two).mean() < 3


def test_a_damaged_file(server: Standin, client: Client, tmp_path: Path) -> None:
    server.fault("file-damaged", bytes=500)
    entry = client.render(locked(seed=70))
    assert entry["status"]["status_str"] == "success"
    assert client.fetch(entry, tmp_path / "x.mp4").stat().st_size == 500


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("sound-nan", "av.error.ArgumentError", "Input contains (near) NaN/+-Inf"),
        ("disk-full", "OSError", "No space left on device"),
        ("no-rights", "PermissionError", "Permission denied"),
    ],
)
def test_what_saving_can_fail_of(server: Standin, client: Client, fault: str, kind: str, words: str) -> None:
    server.fault(fault)
    entry = client.render(locked(seed=hash_of(fault)))
    event, facts = entry["status"]["messages"][-1]
    assert (event, facts["node_type"], facts["exception_type"]) == ("execution_error", "SaveVideo", kind)
    assert words in facts["exception_message"]


def hash_of(word: str) -> int:
    return sum(map(ord, word))


def test_file_names(server: Standin, client: Client) -> None:
    def name(prefix: str, seed: int) -> str:
        return str(client.render(locked(prefix=prefix, seed=seed))["outputs"]["19"]["images"][0]["filename"])

    assert [name("n/clip", seed) for seed in (1, 2)] == ["clip_00001_.mp4", "clip_00002_.mp4"]
    (server.root / "output" / "n" / "clip_00002_.mp4").unlink()
    assert name("n/clip", 3) == "clip_00002_.mp4"
    assert name("%width%x%height%", 1) == "64x48_00001_.mp4"
    outside = client.render(locked(prefix="../../x"))
    assert "not allowed" in outside["status"]["messages"][-1][1]["exception_message"]
