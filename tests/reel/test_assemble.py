"""Joined mezzanines: every frame in its place, at its time, for an hour."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe import film
from mvpipe.clock import NTSC_FILM_RATE, Span
from mvpipe.errors import MediaError
from mvpipe.reel.assemble import assemble
from mvpipe.reel.conform import conform, slug
from mvpipe.reel.mux import lay, phone
from mvpipe.reel.proof import picture_digest, prove
from mvpipe.tools import frames, picture, process
from mvpipe.tools.ffmpeg import file, quiet
from tests.reel import indexed, songs
from tests.reel.boxes import edits


def test_forty_shots_with_handles_and_a_song_read_back_frame_by_frame(tmp_path: Path) -> None:
    """Takes with B-frames and sound of their own, a slug among them, cut at odd lengths, in both films."""
    rng = np.random.default_rng(440)
    parts, wanted, at = list[tuple[Path, int]](), list[tuple[int, int] | None](), 0
    for number in range(1, 43):
        count = int(rng.integers(9, 31))
        mezzanine = tmp_path / f"m {number}'.mp4"
        if number == 20:
            slug(_missing(number, at, count), mezzanine, size=indexed.SIZE)
            wanted += [None] * count
        else:
            take = tmp_path / "take.mp4"
            indexed.write(take, number, 124)
            clip = indexed.clip(take, number=number, start=at, frames=count, slip=int(rng.integers(0, 9)))
            conform(clip, mezzanine, size=indexed.SIZE)
            wanted += [(number, clip.first + k) for k in range(count)]
        parts.append((mezzanine, count))
        at += count
    reel = assemble(parts, indexed.RATE, tmp_path / "reel.mp4")
    song = songs.song(songs.write(tmp_path / "song.wav", seconds=at / 24 - 0.013))
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        write(reel, song, tmp_path / name, title="Forty shots")
        assert _read_back(tmp_path / name) == wanted
        proof = prove(tmp_path / name, song, frames=at, pictures=picture_digest(reel.path))
        assert proof.ok, proof.problems
    assert reel.frames == at == len(wanted)


@pytest.mark.parametrize("rate", [Fraction(24), NTSC_FILM_RATE, Fraction(25)])
def test_frame_k_is_shown_at_k_over_rate(take: Path, tmp_path: Path, rate: Fraction) -> None:
    part = tmp_path / "m.mp4"
    shot = film.Shot(number=1, cut=Span(0, 49, rate), window=Span(0, 124, rate), card=film.Card(prompt="x"))
    conform(film.Clip(shot=shot, take=indexed.take(take, 124, rate=rate)), part, size=indexed.SIZE)
    reel = assemble([(part, 49)] * 9, rate, tmp_path / "reel.mp4")
    times = picture.times(reel.path)
    assert [times[k] for k in range(len(times))] == [k / rate for k in range(9 * 49)]
    facts = picture.facts(reel.path)
    assert (facts.rate, facts.base, facts.size) == (rate, Fraction(1, picture.timescale(rate)), indexed.SIZE)
    assert edits(reel.path) == [(int(9 * 49 * picture.timescale(rate) / rate), 0)], (
        "an edit list that does nothing"
    )


def test_the_pictures_are_those_of_the_mezzanines(reel: film.Reel, take: Path, tmp_path: Path) -> None:
    assert indexed.addresses(reel.path) == [(7, 12 + k) for k in range(31)] + [(7, k) for k in range(30)]
    parts = [reel.path.with_name("1.mp4"), reel.path.with_name("2.mp4")]
    assert frames.digest(*parts) == picture_digest(reel.path)
    assert frames.digest(*reversed(parts)) != picture_digest(reel.path)


def test_the_same_bytes_every_time(reel: film.Reel, tmp_path: Path) -> None:
    parts = [(reel.path.with_name("1.mp4"), 31), (reel.path.with_name("2.mp4"), 30)]
    assemble(parts, indexed.RATE, tmp_path / "again.mp4")
    assert (tmp_path / "again.mp4").read_bytes() == reel.path.read_bytes()


@pytest.mark.parametrize("said", [30, 32])
def test_a_mezzanine_of_another_length_is_named(reel: film.Reel, tmp_path: Path, said: int) -> None:
    parts = [(reel.path.with_name("2.mp4"), 30), (reel.path.with_name("1.mp4"), said)]
    with pytest.raises(MediaError, match=rf"shot 2: 1\.mp4: 31 frames where {said} are wanted"):
        assemble(parts, indexed.RATE, tmp_path / "reel.mp4")


@pytest.mark.parametrize("other", [("-s", "96x64"), ("-profile:v", "main"), ("-x264-params", "ref=5")])
def test_a_mezzanine_coded_otherwise_is_named(
    reel: film.Reel, tmp_path: Path, other: tuple[str, str]
) -> None:
    first = reel.path.with_name("1.mp4")
    process.run(quiet("-i", file(first), "-c:v", "libx264", *other, file(tmp_path / "o.mp4")))
    with pytest.raises(MediaError, match=r"shot 3: o\.mp4: coded otherwise than shot 1"):
        assemble([(first, 31), (first, 31), (tmp_path / "o.mp4", 31)], indexed.RATE, tmp_path / "reel.mp4")


def test_a_missing_mezzanine_is_named(reel: film.Reel, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"gone\.mp4"):
        assemble([(reel.path, 61), (tmp_path / "gone.mp4", 30)], indexed.RATE, tmp_path / "reel.mp4")


def test_a_reel_of_nothing_is_a_mistake_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        assemble([], indexed.RATE, tmp_path / "reel.mp4")


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(24), NTSC_FILM_RATE])
def test_an_hour_does_not_drift(tmp_path: Path, rate: Fraction) -> None:
    parts = []
    for k, count in enumerate((124, 97, 141, 118, 101, 155)):
        indexed.write(tmp_path / "t.mp4", k, film.window_length(count), rate=rate, sound=False)
        window = Span(0, film.window_length(count), rate)
        shot = film.Shot(number=1, cut=Span(0, count, rate), window=window, card=film.Card(prompt="x"))
        clip = film.Clip(shot=shot, take=indexed.take(tmp_path / "t.mp4", len(window), rate=rate))
        conform(clip, tmp_path / f"{k}.mp4", size=indexed.SIZE)
        parts.append((tmp_path / f"{k}.mp4", count))
    shots = parts * 118
    total = sum(count for _, count in shots)
    assert total / rate > 3600
    reel = assemble(shots, rate, tmp_path / "reel.mp4")
    seconds = float(total / rate) - 0.02
    song = songs.song(songs.write(tmp_path / "song.wav", seconds=seconds, sample_rate=8000, channels=1))
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        write(reel, song, tmp_path / name, title="An hour")
        proof = prove(tmp_path / name, song, frames=total, rate=rate)
        assert proof.ok, proof.problems
        assert proof.farthest <= (Fraction(1, 2000) if name.endswith("mkv") else 0)
        assert [match.lag for match in proof.matches] == ([] if name.endswith("mkv") else [0, 0])


def _missing(number: int, start: int, count: int) -> film.Slug:
    window = Span(start, start + film.window_length(count))
    card = film.Card(prompt="rain")
    return film.Slug(
        shot=film.Shot(number=number, cut=Span(start, start + count), window=window, card=card),
        reason="no take passed",
    )


def _read_back(path: Path) -> list[tuple[int, int] | None]:
    """The address of each frame; None for a slug, which has none."""
    seen: list[tuple[int, int] | None] = []

    def see(luma: indexed.Gray) -> None:
        grey = 80 < np.median(luma) < 100 and float(luma[-4:].std()) < 3
        seen.append(None if grey else indexed.address(luma))

    frames.read(path, see=see)
    return seen
