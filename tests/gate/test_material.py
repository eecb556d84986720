"""What the benchmark of the gate is made of does what it says."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from mvpipe.gate.look import Seen
from tests.benchmarks.sync.measure import moved, together
from tests.benchmarks.sync.recipes import SETS, recipe
from tests.benchmarks.sync.shelf import ADA, Look, restore, store
from tests.benchmarks.sync.voices import sung
from tests.gate.faces_synth import HEAD, SAMPLE_RATE
from tests.gate.photo_synth import Photo, trace
from tests.gate.test_page import TIMES
from tests.gate.test_page import sung as sung_track

VOICES, FACES = ("a", "b", "c", "d"), ("drawn", "painted", "photographed")


def test_the_mouth_of_a_picture_opens_as_far_as_it_is_told() -> None:
    photo = Photo(np.asarray(cv2.imread(str(ADA)), np.uint8))
    heights = []
    for opening in (0.0, 0.5, 1.0):
        image = photo(opening, 0.5, 0.0, "none")
        assert image.shape == (HEAD, HEAD, 4)
        points = trace(np.ascontiguousarray(image[..., :3]))
        assert points is not None
        heights.append(float(np.linalg.norm(points[13] - points[14])))
    assert heights[0] < 5
    assert heights[1] - heights[0] > 7
    assert heights[2] - heights[1] > 7


def test_a_picture_without_a_face_is_refused() -> None:
    with pytest.raises(ValueError, match="no face"):
        Photo(np.full((200, 200, 3), 90, np.uint8))


def test_the_singers_sounds_are_where_its_voice_is() -> None:
    voice, phones = sung(np.random.default_rng(3), 6.0)
    assert len(voice) == 6 * SAMPLE_RATE
    level = np.sqrt(np.convolve(voice**2, np.ones(480) / 480, "same"))
    vowels = [phone for phone in phones if phone.opening >= 0.4 and phone.stop - phone.start > 0.15]
    assert len(vowels) >= 4
    inside = [
        level[int((one.start + 0.05) * SAMPLE_RATE) : int((one.stop - 0.03) * SAMPLE_RATE)].mean()
        for one in vowels
    ]
    assert min(inside) > 0.25 * max(inside)
    assert level[: int((phones[0].start) * SAMPLE_RATE)].mean() < 0.1 * max(inside)


def test_a_recipe_is_decided_by_its_set_and_number_and_halves_hold_the_same_kinds() -> None:
    assert recipe("sync", 7, VOICES, FACES) == recipe("sync", 7, VOICES, FACES)
    kinds = [
        sorted(
            (one.voice, one.faces) for k in range(half, 48, 2) if (one := recipe("sync", k, VOICES, FACES))
        )
        for half in (0, 1)
    ]
    assert kinds[0] == kinds[1]
    assert sum(SETS.values()) >= 200


def test_a_shelf_gives_back_what_was_put_on_it(tmp_path: Path) -> None:
    track, voice = sung_track()
    store(tmp_path / "a.npz", Look(seen=Seen(tracks=(track,), times=TIMES), voice=voice))
    held = restore(tmp_path / "a.npz")
    assert held.seen.times == TIMES
    np.testing.assert_array_equal(held.seen.tracks[0].points, track.points)
    np.testing.assert_array_equal(held.voice, voice)


def test_a_voice_is_moved_against_the_picture_and_faces_stand_side_by_side() -> None:
    track, voice = sung_track()
    late = moved(voice, 0.1)
    assert len(late) == len(voice)
    np.testing.assert_array_equal(late[:100], voice[2400:2500])
    short = Seen(tracks=(track,), times=TIMES[:100])
    both = together([Seen(tracks=(track,), times=TIMES), short])
    assert len(both.times) == 100
    assert [one.total for one in both.tracks] == [100, 100]
