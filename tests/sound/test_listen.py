"""What is heard: phrases and gaps against songs whose answer is known, and all that is awkward in a song."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.sound.hearing import Hearing, load, save
from mvpipe.sound.listen import listen
from mvpipe.sound.notes import breaths
from mvpipe.sound.spectrum import HOPS, Stem
from mvpipe.sound.voice import singing
from tests.sound.hearings import RATE, gap_scores, hear, heard, shuffled, synth
from tests.synth import pieces, song

SONGS: tuple[dict[str, Any], ...] = (
    {"seed": 1, "bpm": 100.0},
    {"seed": 2, "bpm": 84.0, "voice": "low"},
    {"seed": 3, "bpm": 128.0, "vocal_db": -4.0},
)


@pytest.mark.parametrize("kw", SONGS)
def test_phrase_gaps_are_found_on_the_true_stem(kw: dict[str, Any]) -> None:
    recall, precision = gap_scores(heard(**kw), synth(**kw).truth.phrases)
    assert recall >= 0.9
    assert precision >= 0.95


@pytest.mark.parametrize("kw", SONGS)
@pytest.mark.parametrize("leakage_db", [20.0, 15.0, 10.0])
def test_phrase_gaps_are_found_on_leaky_stems(kw: dict[str, Any], leakage_db: float) -> None:
    kw = {**kw, "leakage_db": leakage_db}
    recall, precision = gap_scores(heard(**kw), synth(**kw).truth.phrases)
    assert recall >= 0.8
    assert precision >= 0.85


@pytest.mark.parametrize("kw", SONGS)
def test_a_stem_that_does_not_fit_the_song_fails_that_measure(kw: dict[str, Any]) -> None:
    made = synth(**kw)
    recall, precision = gap_scores(hear(made, shuffled(made.vocals)), made.truth.phrases)
    assert recall < 0.6
    assert precision < 0.6


@pytest.mark.parametrize("kw", SONGS)
def test_the_mix_in_place_of_the_stem_fails_that_measure(kw: dict[str, Any]) -> None:
    made = synth(**kw)
    recall, _ = gap_scores(hear(made, made.mix), made.truth.phrases)
    assert recall < 0.3


@pytest.mark.parametrize("kw", SONGS)
def test_phrases_begin_and_end_where_they_do(kw: dict[str, Any]) -> None:
    phrases, truth = heard(**kw).phrases / HOPS, np.array(synth(**kw).truth.phrases)
    starts = np.abs(phrases[:, :1] - truth[:, 0]).min(axis=0)
    ends = np.abs(phrases[:, 1:] - truth[:, 1]).min(axis=0)
    assert np.median(starts) <= 0.08
    assert np.median(ends) <= 0.06


@pytest.mark.parametrize("leakage_db", [None, 25.0, 15.0])
def test_an_instrumental_song_has_no_voice(leakage_db: float | None) -> None:
    hearing = heard(instrumental=True, leakage_db=leakage_db)
    assert hearing.voice_share == 0
    assert not hearing.effort.any()


def test_a_voice_in_the_same_leaky_stem_is_heard() -> None:
    assert 0.6 < heard(seed=1, leakage_db=15.0).voice_share < 0.8


def test_a_capella_is_all_voice_and_its_gaps() -> None:
    hearing = heard(seed=2, a_cappella=True)
    recall, precision = gap_scores(hearing, synth(seed=2, a_cappella=True).truth.phrases)
    assert recall >= 0.9
    assert precision >= 0.95


def test_a_voice_in_opposite_phase_does_not_vanish() -> None:
    made = synth(seed=1)
    turned = made.vocals * np.array([1, -1], np.float32)
    assert hear(made, turned).voice_share == pytest.approx(heard(seed=1).voice_share, abs=0.01)


@pytest.mark.parametrize("gain_db", [-20, -34, -50])
def test_a_quiet_master_of_24_bit_is_heard_like_a_loud_one(gain_db: int) -> None:
    made = synth(seconds=40.0)
    loud = hear(made, made.vocals)
    gain = np.float32(10 ** (gain_db / 20))
    mix = np.rint(made.mix * gain * 2**23).astype(np.float32) / np.float32(2**23)
    soft = listen(pieces(mix), pieces(made.vocals * gain), sample_rate=RATE)
    for name in ("phrases", "held", "breaths", "onsets", "beats", "bars", "sections", "labels"):
        assert np.array_equal(getattr(soft, name), getattr(loud, name)), name
        assert len(getattr(soft, name)), name
    assert np.allclose(soft.voice_db - gain_db, loud.voice_db, atol=0.1)
    assert np.allclose(soft.effort, loud.effort, atol=0.001)


@pytest.mark.parametrize(
    ("gap_db", "after_hit_db", "start"),
    [
        (-45, -20, 496),  # what stays loud after the drum is the word that it hid
        (-45, -45, 536),  # the drum alone
        (-20, -20, 536),  # a band that plays as loud in the gap: nothing tells
    ],
)
def test_a_word_that_a_drum_hid_begins_with_the_drum(gap_db: int, after_hit_db: int, start: int) -> None:
    stem, mix = np.full(1000, -70, np.float32), np.full(1000, -45, np.float32)
    for a, b in ((100, 400), (540, 800)):
        stem[a:b] = mix[a:b] = -20
    mix[400:500], mix[500:505], mix[505:540] = gap_db, -12, after_hit_db
    assert singing(stem, mix).phrases[:, 0].tolist() == [96, start]


@pytest.mark.parametrize("leak_db", [-26, -15])
@pytest.mark.parametrize("drawn", [True, False])
def test_a_hi_hat_that_leaks_is_no_breath(leak_db: int, drawn: bool) -> None:
    mix, own = np.full(1000, -60, np.float32), np.full(1000, -100, np.float32)
    for a, b in ((100, 400), (480, 800)):
        own[a:b] = -20
    if drawn:
        own[445:470] = -32
    for hat in range(0, 1000, 40):
        mix[hat : hat + 10] = -10 - 2 * np.arange(10)
    stem = 10 * np.log10(10 ** (own / 10) + 10 ** ((mix + leak_db) / 10))
    mix = 10 * np.log10(10 ** (mix / 10) + 10 ** (own / 10))
    found = breaths(_air(stem), mix.astype(np.float32), np.array([(100, 400), (480, 800)], np.int64))
    after = found[found[:, 0] >= 400, 0]
    assert len(after) == drawn
    assert (np.abs(after - 445) <= 5).all()


def test_a_breath_is_heard_where_the_line_before_still_rings() -> None:
    air = np.full(1000, -100, np.float32)
    air[100:400] = air[480:800] = -20
    air[400:440] = np.linspace(-30, -50, 40)  # the room, above all that follows the breath
    air[440:465], air[465:480] = -32, -70
    found = breaths(_air(air), np.full(1000, -20, np.float32), np.array([(100, 400), (480, 800)], np.int64))
    assert found.tolist() == [[pytest.approx(440, abs=5), pytest.approx(465, abs=2)]]


def _air(level: NDArray[np.float32]) -> Stem:
    level = level.astype(np.float32)
    return Stem(samples=len(level) * RATE // HOPS, level=level, air=level, flux=np.zeros_like(level))


@pytest.mark.parametrize(("leak_db", "lead"), [(-40, 4), (-10, 8)])
def test_what_leaks_hides_how_softly_a_phrase_begins(leak_db: int, lead: int) -> None:
    mix = np.full(1000, -20, np.float32)
    stem = mix + np.float32(leak_db)
    stem[200:400] = stem[500:800] = -20
    assert singing(stem, mix).phrases[:, 0].tolist() == [200 - lead, 500 - lead]


def test_hops_lie_on_hundredths_of_a_second_at_any_rate() -> None:
    for rate in (8_000, 11_025, 44_100, 48_000, 96_000):
        click = np.zeros(rate * 2, np.float32)
        click[round(rate * 1.23)] = 1
        hearing = listen([click], [click], sample_rate=rate)
        assert len(hearing.voice_db) == 201
        assert abs(int(np.argmax(hearing.voice_db)) - 123) <= 1
        assert abs(hearing.sample(123) - round(rate * 1.23)) <= 1


def test_blocks_of_any_size_say_the_same() -> None:
    made = song(12, sample_rate=RATE)
    whole = listen([made.mix], [made.vocals], sample_rate=RATE)
    for size in (97, 4096):
        same = listen(pieces(made.mix, size), pieces(made.vocals, size), sample_rate=RATE)
        for field in dataclasses.fields(Hearing):
            assert np.array_equal(getattr(whole, field.name), getattr(same, field.name)), field.name


@pytest.mark.parametrize("samples", [1, 2, 441, 22_050])
def test_a_song_may_be_tiny(samples: int) -> None:
    sound = np.full((samples, 1), 0.1, np.float32)
    hearing = listen([sound], [np.zeros_like(sound)], sample_rate=RATE)
    assert hearing.samples == samples
    assert hearing.voice_share == 0
    assert not len(hearing.beats)


def test_silence_is_neither_voice_nor_beat() -> None:
    silence = np.zeros((RATE * 30, 2), np.float32)
    hearing = listen([silence], [silence], sample_rate=RATE)
    assert not len(hearing.phrases)
    assert not len(hearing.beats)
    assert not len(hearing.onsets)
    assert not len(hearing.sections)


def test_a_stem_of_another_length_is_refused() -> None:
    sound = np.zeros((1000, 1), np.float32)
    with pytest.raises(MediaError, match=r"vocals: length: 999 samples where the song has 1000"):
        listen([sound], [sound[:999]], sample_rate=RATE)


def test_no_sound_at_all_is_refused() -> None:
    with pytest.raises(MediaError):
        listen([], [], sample_rate=RATE)


def test_memory_does_not_grow_with_the_song() -> None:
    def peak(minutes: int) -> int:
        def noise() -> Iterator[NDArray[np.float32]]:
            rng = np.random.default_rng(440)
            return (rng.random((8_000, 1), np.float32) for _ in range(60 * minutes))

        tracemalloc.start()
        listen(noise(), noise(), sample_rate=8_000)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(1)  # what is imported and compiled only once
    assert peak(10) - peak(6) < 4 * 60 * 16_000  # 16 kB a second; the two sounds alone have 64


def test_a_hearing_is_kept_whole_and_as_the_same_bytes(tmp_path: Path) -> None:
    hearing = heard(seed=1)
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    save(hearing, first)
    back = load(first)
    save(back, second)
    assert first.read_bytes() == second.read_bytes()
    for field in dataclasses.fields(Hearing):
        kept, given = getattr(back, field.name), getattr(hearing, field.name)
        assert type(kept) is type(given)
        assert np.array_equal(kept, given)


@pytest.mark.parametrize("rot", ["cut", "other", "missing"])
def test_a_rotten_hearing_is_refused(tmp_path: Path, rot: str) -> None:
    path = tmp_path / "hearing.npz"
    save(heard(seed=1), path)
    if rot == "cut":
        path.write_bytes(path.read_bytes()[:-5000])
    elif rot == "other":
        np.savez(path, numbers=np.array([99, 1, 1, 0]))
    else:
        path.unlink()
    with pytest.raises(MediaError, match="hearing"):
        load(path)
