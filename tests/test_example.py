"""The shipped example: its song is what its script says, its voice can be found, its storyboard is whole."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.film import Song
from mvpipe.sound import read

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "first-light"
SONG = EXAMPLE / "first-light.opus"
BEAT = 60 / 88

SUNG = [(5.37, 9.6), (10.9, 14.9), (16.36, 20.6), (21.74, 25.7), (27.27, 31.83), (32.72, 39.4)]
"""Seconds of the six lines, heard in the stem that examples/make_song.py --stems writes."""


@pytest.fixture(scope="module")
def song() -> Song:
    """The song, measured."""
    found, notes = read.measure(SONG)
    assert notes == ()
    return found


@pytest.fixture(scope="module")
def samples(song: Song) -> NDArray[np.float32]:
    """All of it."""
    return np.concatenate(list(read.blocks(song)))


def make(script: str, *words: str) -> None:
    """Run one of the example's scripts."""
    argv = [sys.executable, str(ROOT / "examples" / script), *words]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, env=here, check=False)
    assert done.returncode == 0, done.stderr


def decoded(jpeg: Path) -> NDArray[np.float64]:
    """Pixels of a picture."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(jpeg.read_bytes())).convert("RGB"), np.float64)


class TestFiles:
    def test_it_is_small(self) -> None:
        sizes = {path.name: path.stat().st_size for path in EXAMPLE.rglob("*") if path.is_file()}
        assert sizes["first-light.opus"] < 450_000
        assert all(size < 60_000 for name, size in sizes.items() if name in {"ada.jpg", "quay.jpg"})
        assert sum(sizes.values()) < 700_000

    def test_its_storyboard_has_nothing_to_note(self, song: Song) -> None:
        from mvpipe.storyboard.check import check, lint
        from mvpipe.storyboard.load import load

        loaded = load(EXAMPLE / "storyboard.yaml")
        check(loaded, song.seconds)
        assert lint(loaded) == []

    def test_its_words_stand_where_they_are_sung(self) -> None:
        from mvpipe.storyboard.lyrics import read_lyrics

        lines = read_lyrics(EXAMPLE / "first-light.lrc")
        assert [line.text for line in lines][::4] == ["Morning on the window", "First light, find me"]
        for line, (start, stop) in zip(lines, SUNG, strict=True):
            assert line.start is not None
            assert start - 0.15 < line.start < stop


class TestSong:
    def test_it_lasts_sixteen_bars_and_a_breath(self, song: Song) -> None:
        assert song.sample_rate == 48_000
        assert song.channels == 2
        assert abs(song.seconds - Fraction(64 * BEAT + 1.2)) < Fraction(1, 100)

    def test_it_is_as_loud_as_it_should_be_and_does_not_clip(self, samples: NDArray[np.float32]) -> None:
        sys.path.insert(0, str(ROOT / "examples"))
        try:
            from make_song import loudness  # type: ignore[import-not-found]
        finally:
            sys.path.pop(0)
        assert loudness(samples.astype(np.float64)) == pytest.approx(-14, abs=0.3)
        assert np.abs(samples).max() < 0.95

    @pytest.mark.slow
    def test_the_script_makes_it_again(self, tmp_path: Path, samples: NDArray[np.float32]) -> None:
        make("make_song.py", str(tmp_path), "--stems")
        again, _ = read.measure(tmp_path / "mix.wav")
        fresh = np.concatenate(list(read.blocks(again)))
        assert len(fresh) == len(samples)
        lost = ((fresh - samples) ** 2).mean() / (fresh**2).mean()
        assert 10 * np.log10(lost) < -9, "the shipped file is another song than the script's"
        stems = sum(
            np.concatenate(list(read.blocks(read.measure(tmp_path / f"{name}.wav")[0])))
            for name in ("vocals", "accompaniment")
        )
        assert np.abs(stems - fresh).max() < 4 / 32768
        assert (tmp_path / "first-light.lrc").read_bytes() == (EXAMPLE / "first-light.lrc").read_bytes()


def test_the_pictures_are_drawn_again(tmp_path: Path) -> None:
    make("make_pictures.py", str(tmp_path))
    for name in ("ada", "quay", "lamp-room"):
        shipped, fresh = decoded(EXAMPLE / "pictures" / f"{name}.jpg"), decoded(tmp_path / f"{name}.jpg")
        assert shipped.shape == fresh.shape
        assert np.abs(shipped - fresh).mean() < 2, f"{name}: run examples/make_pictures.py again"


@pytest.mark.slow
def test_the_weak_separator_finds_its_phrases(song: Song, tmp_path: Path) -> None:
    """With the weights that come with the install, so that a first try offline makes sense."""
    from mvpipe.sound import wav
    from mvpipe.sound.listen import listen
    from mvpipe.sound.separate import separate
    from mvpipe.sound.spleeter import Spleeter

    stem = separate(
        song, tmp_path / "vocals.wav", separator=Spleeter(device="cpu"), progress=lambda _done, _of: None
    )
    heard = listen(read.blocks(song), wav.blocks(stem.path), sample_rate=song.sample_rate)
    phrases = [(start / 100, stop / 100) for start, stop in heard.phrases]
    for start, stop in SUNG:
        inside = [(a, b) for a, b in phrases if b > start and a < stop]
        assert abs(inside[0][0] - start) < 0.6, f"{start}: {phrases}"
        assert abs(inside[-1][1] - stop) < 0.8, f"{stop}: {phrases}"
    quiet = [(0.5, 4.8), (25.9, 27.0), (40.5, 44.0)]
    assert not [(a, b) for a, b in phrases for start, stop in quiet if a < stop and b > start]


@pytest.mark.slow
def test_its_plan_is_its_storyboard(tmp_path: Path) -> None:
    """Eight shots for eight cards, each in its section, and no cut inside a word."""
    argv = ["plan", str(SONG), str(EXAMPLE / "storyboard.yaml"), "--separator", "spleeter", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "mvpipe", *argv, "--into", str(tmp_path / "p.mvpipe")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["frames"], plan["cuts_inside_words"]) == (1077, 0)
    sung = [shot["kind"] == "performance" for shot in plan["shots"]]
    assert sung == [False, True, True, False, True, True, True, False]
    starts = [shot["cut"]["start"] / 24 for shot in plan["shots"]]
    for (_, before), (after, _), cut in zip(SUNG, SUNG[1:], starts[2:7], strict=False):
        assert before < cut < after


def test_the_readme_shows_what_the_example_is(song: Song) -> None:
    head = (EXAMPLE / "storyboard.yaml").read_text("utf-8")
    assert re.search(rf"a song of {round(float(song.seconds))} seconds", head)
