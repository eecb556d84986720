"""Who sings: told of two synthesized singers, and not told where nobody could."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.film import SungBy
from mvpipe.sound.singers import SURE, Singers, load, save, tell
from mvpipe.sound.timbre import timbre
from tests.duets import Duet, Singer, alone, duet, sounds_like
from tests.songbook import RATE
from tests.synth import Stereo

LOW, HIGH = Singer(57, 1.0), Singer(57, 1.18)
STRANGER = Singer(50, 0.75)


@cache
def pair(seed: int = 900, one: Singer = LOW, other: Singer = HIGH) -> Duet:
    return duet(seed, (one, other))


def told(made: Duet, stem: Stereo) -> tuple[Singers, tuple[SungBy, ...]]:
    """Who sings its true phrases."""
    known = Singers({name: sounds_like(sound) for name, sound in zip("ab", made.alone, strict=True)})
    phrases = np.rint(np.array(made.song.truth.phrases) * 100).astype(np.int64)
    return known, tell(known, sounds_like(stem), phrases)


@pytest.mark.parametrize("stem", ["vocals", "separated", "leaky"])
def test_two_singers_are_told_by_their_recordings(stem: str) -> None:
    made = pair()
    leaky = made.song.vocals + np.float32(10**-0.5) * made.song.accompaniment
    known, sung = told(made, leaky if stem == "leaky" else getattr(made.song, stem))
    assert known.alike == ()
    assert {one.name for one in sung} >= {"a", "b"}
    assert [one.name for one in sung if one.name] == [
        "ab"[who] for one, who in zip(sung, made.who, strict=True) if one.name
    ]
    assert sum(bool(one.name) for one in sung) >= 0.8 * len(sung)


def test_recordings_of_one_person_tell_nobody_apart() -> None:
    made = pair(900, LOW, LOW)
    known, sung = told(made, made.song.vocals)
    assert known.alike == (("a", "b"),)
    assert [one.name for one in sung] == [""] * len(sung)
    assert all(one.sure < SURE for one in sung)


def test_recordings_that_were_swapped_fail_that_measure() -> None:
    made = pair()
    known = Singers({"a": sounds_like(made.alone[1]), "b": sounds_like(made.alone[0])})
    phrases = np.rint(np.array(made.song.truth.phrases) * 100).astype(np.int64)
    sung = tell(known, sounds_like(made.song.vocals), phrases)
    right = sum(one.name == "ab"[who] for one, who in zip(sung, made.who, strict=True))
    assert right <= 0.1 * len(sung)


def test_a_stranger_is_neither() -> None:
    made = pair()
    known, _ = told(made, made.song.vocals)
    sound = sounds_like(alone(77, STRANGER))
    sung = tell(known, sound, np.array([(100, 500), (700, 1100), (1300, 1800)]))
    assert [(one.name, one.sure) for one in sung] == [("", 0.0)] * 3


def test_a_phrase_without_a_loud_moment_is_nobodys() -> None:
    made = pair()
    known, _ = told(made, made.song.vocals)
    silent = timbre([np.zeros((RATE, 1), np.float32)], RATE)
    assert tell(known, silent, np.array([(10, 60)]))[0].name == ""


def test_two_seconds_of_voice_are_too_few() -> None:
    with pytest.raises(MediaError, match=r"voice of anna: too short: 1.\d s of voice in it") as caught:
        Singers({"anna": sounds_like(pair().alone[0][: 2 * RATE])})
    assert "5 s and more" in caught.value.hint


def test_a_recording_as_of_a_telephone_is_refused() -> None:
    with pytest.raises(MediaError, match="voice: 8000 Hz: 10000 are needed"):
        timbre([np.zeros((8000, 1), np.float32)], 8_000)


def test_who_sings_is_kept_exactly(tmp_path: Path) -> None:
    sung = (SungBy(start=Fraction(1, 100), stop=Fraction(3), name="", likeliest="a", sure=0.5),)
    save(sung, [("a", "b")], tmp_path / "s.json")
    assert load(tmp_path / "s.json") == (sung, (("a", "b"),))
