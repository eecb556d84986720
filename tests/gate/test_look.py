"""One look at a take finds all that judging needs, and can be written down and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.film import Outcome
from mvpipe.gate import look as module
from mvpipe.gate import syncnet
from mvpipe.gate.look import Look, look
from mvpipe.gate.sounds import judge_sound
from mvpipe.gate.sync import judge_sync
from mvpipe.sound import wav
from mvpipe.tools import frames, process
from mvpipe.tools.audible import measure
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.heard import hear
from tests.gate import takes
from tests.gate.faces_synth import SAMPLE_RATE, Part, Samples, make

PART = Part(seed=31, size=(400, 224), seconds=6)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Samples]:
    path = tmp_path_factory.mktemp("look") / "clip.mp4"
    return path, make(PART, path)


def back(looked: Look, folder: Path) -> Look:
    """Written down, and read back."""
    return Look.load(json.loads(json.dumps(looked.save(folder))), folder)


def test_what_is_written_down_is_read_back_and_judged_alike(
    clip: tuple[Path, Samples], tmp_path: Path
) -> None:
    path, voice = clip
    looked = look(path)
    again = back(looked, tmp_path)
    assert again.sight == looked.sight == takes.sight(path)
    [one], [other] = again.seen.tracks, looked.seen.tracks
    assert np.array_equal(one.frames, other.frames)
    assert np.array_equal(one.points, other.points)
    [face], [kept] = again.seen.portraits, looked.seen.portraits
    assert np.array_equal(face.faces, kept.faces)
    assert np.array_equal(face.frames, kept.frames)
    assert judge_sync(again.seen, voice, SAMPLE_RATE) == judge_sync(looked.seen, voice, SAMPLE_RATE)


def test_a_take_is_decoded_once(clip: tuple[Path, Samples], monkeypatch: pytest.MonkeyPatch) -> None:
    count: list[Path] = []

    def counted(path: Path, **more: Any) -> frames.Reading:
        count.append(path)
        return frames.read(path, **more)

    monkeypatch.setattr(module, "read", counted)
    look(clip[0])
    assert len(count) == 1


def test_its_sound_is_listened_to_where_that_is_asked(clip: tuple[Path, Samples], tmp_path: Path) -> None:
    voice = tmp_path / "voice.wav"
    wav.write(voice, [clip[1][:, None]], sample_rate=SAMPLE_RATE, channels=1, samples=len(clip[1]))
    both = tmp_path / "both.mp4"
    process.run(quiet("-i", file(clip[0]), "-i", file(voice), "-c:v", "copy", file(both)))
    looked = look(both, faces=False, sound=True)
    assert looked.sound is not None
    assert judge_sound(looked.sound, measure(hear(voice)), 6)[-1].outcome is Outcome.PASS
    again = back(looked, tmp_path)
    assert again.sound is not None
    assert np.array_equal(again.sound.levels, looked.sound.levels)
    assert again.sound.as_json() == looked.sound.as_json()
    assert look(clip[0], faces=False, sound=True).sound is None
    assert look(both, faces=False).sound is None


def test_without_faces_none_are_looked_for(clip: tuple[Path, Samples], tmp_path: Path) -> None:
    looked = look(clip[0], faces=False)
    assert (looked.faces, looked.seen.tracks) == (False, ())
    assert back(looked, tmp_path) == looked


def test_lips_are_kept_bit_for_bit(
    clip: tuple[Path, Samples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    features = rng.standard_normal((146, 1024)).astype(np.float32)
    shapes: list[tuple[int, ...]] = []

    def see(_: object, crops: Iterable[NDArray[np.uint8]]) -> NDArray[np.float32]:
        shapes.extend(crop.shape for crop in crops)
        return features

    monkeypatch.setattr(syncnet, "see", see)
    looked = look(clip[0], network=syncnet.SyncNet())
    again = back(looked, tmp_path)
    assert shapes == 150 * [(224, 224, 3)]
    assert not looked.seen.tracks[0].patches, "pictures are let go"
    assert again.seen.lips[0] is not None
    assert np.array_equal(again.seen.lips[0], features)
    bare = {"tracks": (), "lips": (), "portraits": ()}
    assert replace(again.seen, **bare) == replace(looked.seen, **bare)
