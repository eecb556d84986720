"""What is heard in a song is heard once, and is what is heard in a stretch of it alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.gate import ear, syncnet
from mvpipe.gate.elsewhere import STEP
from mvpipe.gate.mfcc import SAMPLE_RATE, resample
from tests.gate import syncnet_golden as golden
from tests.gate.test_syncnet import shapes


def test_what_is_heard_of_a_song_is_what_is_heard_of_a_stretch_of_it(rng: np.random.Generator) -> None:
    network = syncnet.assemble(Path("made-up"), golden.state(shapes())[0])
    voice = rng.uniform(-0.3, 0.3, 3 * SAMPLE_RATE).astype(np.float32)
    heard = ear.Ear(network, voice, SAMPLE_RATE).hear(5 * STEP, 30)
    alone = syncnet.hear(network, resample(voice[5 * STEP * syncnet.SAMPLES :], SAMPLE_RATE))
    assert heard.shape == (30, 1024)
    off = np.linalg.norm(heard - alone[:30], axis=1) / np.linalg.norm(alone[:30], axis=1)
    assert np.median(off) < 1e-5
    assert off.max() < 0.02, "what stands first knows no sample before it to be held against"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many samples the network was asked to hear, each time; what it hears is when: the first sample."""
    lengths = []

    def hear(_: object, voice: np.ndarray[tuple[int], np.dtype[np.int16]]) -> np.ndarray[tuple[int, int]]:
        lengths.append(len(voice))
        begins = np.arange(len(voice) // syncnet.SAMPLES - syncnet.WINDOW + 1) * syncnet.SAMPLES
        return np.repeat(voice[begins + 320][:, None].astype(np.float32), 1024, axis=1)

    monkeypatch.setattr(syncnet, "hear", hear)
    return lengths


def song(pictures: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Each picture's stretch of it says which it is."""
    return np.repeat(np.arange(pictures) / 32767, syncnet.SAMPLES).astype(np.float32)


def test_no_moment_is_heard_twice(asked: list[int]) -> None:
    listener = ear.Ear(syncnet.SyncNet(), song(2000), SAMPLE_RATE)
    own = (40.0, 46.0)
    first, again = (listener.elsewhere(own, many=20) for _ in range(2))
    assert len(first) == 20
    for at, rows in first.items():
        np.testing.assert_allclose(rows[:, 0], np.arange(at, at + 146), atol=1)
        np.testing.assert_array_equal(rows, again[at])
    assert not any(33 * 25 < at < 47 * 25 for at in first)
    assert len(asked) <= -(-2000 // ear.BLOCK)


def test_where_the_song_ends_less_is_heard(asked: list[int]) -> None:
    listener = ear.Ear(syncnet.SyncNet(), song(100), SAMPLE_RATE)
    assert len(listener.hear(60, 150)) == 100 - 60 - syncnet.WINDOW + 1
    assert len(asked) == 2


def test_of_a_song_with_too_few_places_nothing_is_heard(asked: list[int]) -> None:
    assert ear.Ear(syncnet.SyncNet(), song(500), SAMPLE_RATE).elsewhere((6.0, 14.0), many=20) == {}
    assert asked == []
