"""A good film proves itself; every fault planted in one is found and said in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe import film
from mvpipe.clock import NTSC_FILM_RATE
from mvpipe.errors import MediaError
from mvpipe.reel import heard
from mvpipe.reel.assemble import assemble
from mvpipe.reel.lag import compare, match
from mvpipe.reel.mux import lay, phone
from mvpipe.reel.proof import Proof, picture_digest, prove
from mvpipe.tools import picture, process
from mvpipe.tools.ffmpeg import file, quiet
from tests.reel import indexed, songs

FRAMES = 61


@pytest.fixture(scope="module")
def song(tmp_path_factory: pytest.TempPathFactory) -> film.Song:
    return songs.song(songs.write(tmp_path_factory.mktemp("song") / "song.wav"))


@pytest.fixture(scope="module")
def master(reel: film.Reel, song: film.Song, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.mkv"
    lay(reel, song, path, title="Neon Rain")
    return path


@pytest.fixture(scope="module")
def handy(reel: film.Reel, song: film.Song, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The film for phones."""
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    phone(reel, song, path, title="Neon Rain")
    return path


def remade(folder: Path, *arguments: str, name: str = "bad.mkv") -> Path:
    """A film made from others by ffmpeg, as somebody else might."""
    process.run(quiet(*arguments, "-y", file(folder / name)))
    return folder / name


def with_samples(
    folder: Path, master: Path, song: film.Song, change: Callable[[np.ndarray], np.ndarray]
) -> Path:
    """The master with other samples in it."""
    data = song.path.read_bytes()
    samples = np.frombuffer(data[-song.samples * 4 :], "<i2").reshape(-1, 2).copy()
    (folder / "raw").write_bytes(change(samples).astype("<i2").tobytes())
    raw = ["-f", "s16le", "-ar", "44100", "-ac", "2", "-i", file(folder / "raw")]
    return remade(
        folder, "-i", file(master), *raw, "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "flac"
    )


def test_a_good_master(master: Path, song: film.Song, reel: film.Reel) -> None:
    proof = prove(master, song, frames=FRAMES, pictures=picture_digest(reel.path))
    assert proof == Proof(
        film=master,
        song=song.path,
        frames=61,
        decoded=61,
        rate=Fraction(24),
        first=Fraction(0),
        last=Fraction(5, 2),
        farthest=Fraction(1, 3000),
        pictures=picture_digest(reel.path),
        sound="exact",
        sound_codec="flac",
        sound_digest=song.digest,
        samples=song.samples,
        song_digest=song.digest,
        song_samples=110_691,
        matches=(),
        problems=(),
    )
    assert proof.ok


def test_a_good_film_for_phones(handy: Path, song: film.Song, reel: film.Reel) -> None:
    proof = prove(handy, song, frames=FRAMES, pictures=picture_digest(reel.path))
    assert (proof.ok, proof.sound, proof.samples) == (True, "coded copy", song.samples)
    assert (proof.first, proof.last, proof.farthest) == (Fraction(0), Fraction(60, 24), Fraction(0))
    assert proof.sound_digest != song.digest


def test_a_proof_is_json(handy: Path, master: Path, song: film.Song) -> None:
    good = json.loads(json.dumps(prove(master, song).as_json()))
    assert (good["result"], good["frames"], good["last"], good["rate"]) == ("pass", 61, 2.5, "24")
    bad = json.loads(json.dumps(prove(handy, song, frames=60).as_json()))
    assert (bad["result"], bad["problems"]) == ("fail", ["frames: 61 where 60 are wanted"])
    assert bad["matches"][0]["lag"] == 0


def test_one_flipped_bit_of_one_sample(tmp_path: Path, master: Path, song: film.Song) -> None:
    def flip(samples: np.ndarray) -> np.ndarray:
        samples[44_100, 1] ^= 1
        return samples

    proof = prove(with_samples(tmp_path, master, song, flip), song, frames=FRAMES)
    assert proof.sound == "different"
    assert proof.problems == (
        "sound: sample 44100 (0:01.000) is not the song's; it is the first that differs",
    )


def test_sound_one_sample_late(tmp_path: Path, master: Path, song: film.Song) -> None:
    late = with_samples(tmp_path, master, song, lambda s: np.concatenate([s[:1] * 0, s[:-1]]))
    assert any("sample 0 " in line for line in prove(late, song, frames=FRAMES).problems)


def test_sound_one_sample_short(tmp_path: Path, master: Path, song: film.Song) -> None:
    proof = prove(with_samples(tmp_path, master, song, lambda s: s[:-1]), song, frames=FRAMES)
    assert proof.problems == ("sound: 110690 samples where 110691 are wanted",)


def test_sound_that_goes_on_after_the_song(tmp_path: Path, master: Path, song: film.Song) -> None:
    longer = with_samples(tmp_path, master, song, lambda s: np.concatenate([s, s[:9]]))
    assert "sound: 110700 samples where 110691 are wanted" in prove(longer, song, frames=FRAMES).problems


def test_swapped_channels(tmp_path: Path, master: Path, song: film.Song) -> None:
    assert not prove(with_samples(tmp_path, master, song, lambda s: s[:, ::-1]), song).ok


def test_another_song(tmp_path: Path, master: Path, handy: Path) -> None:
    other = songs.song(songs.write(tmp_path / "other.wav", seed=1))
    assert any("sample 0 " in line for line in prove(master, other).problems)
    # the tone is the same in both songs, so the noise must decide
    quiet_tone = songs.song(
        remade(tmp_path, "-f", "lavfi", "-i", "anoisesrc=r=44100:d=2.51:a=0.5:seed=7", name="noise.wav")
    )
    proof = prove(handy, quiet_tone)
    assert proof.sound == "different"
    assert "sound: is not the song at 0:00.000" in proof.problems[0]


def test_a_missing_frame(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    """Dropped from the middle, and the rest moved up so that no time shows it."""
    argv = ["-i", file(reel.path), "-vf", "select='not(eq(n,20))',setpts=N/(24*TB)", "-c:v", "libx264"]
    short = film.Reel(
        path=remade(tmp_path, *argv, "-bf", "0", "-video_track_timescale", "24000", name="short.mp4"),
        frames=60,
        rate=reel.rate,
        size=reel.size,
    )
    lay(short, song, tmp_path / "film.mkv", title="")
    proof = prove(tmp_path / "film.mkv", song, frames=FRAMES)
    assert proof.problems[0] == "frames: 60 where 61 are wanted"
    assert "length: the picture is 10.000 ms shorter than the song" in proof.problems


def test_a_missing_frame_at_the_end(tmp_path: Path, master: Path, song: film.Song) -> None:
    argv = ["-i", file(master), "-map", "0", "-c:a", "copy", "-vf", "trim=end_frame=60", "-c:v", "libx264"]
    assert "frames: 60 where 61 are wanted" in prove(remade(tmp_path, *argv), song).problems


def test_a_hole_where_a_frame_was(tmp_path: Path, master: Path, song: film.Song) -> None:
    argv = ["-i", file(master), "-map", "0", "-c:a", "copy", "-vf", "select='not(eq(n,20))'"]
    proof = prove(remade(tmp_path, *argv, "-fps_mode", "passthrough", "-c:v", "libx264"), song, frames=60)
    assert "times: 40 frames are off their places; frame 20 appears at 0:00.875, not at 0:00.833" in (
        proof.problems
    )


def test_a_frame_shown_twice(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    """One is doubled and one left out: the count is right, and only the pictures' digest tells."""
    argv = ["-i", file(reel.path), "-vf", "select='not(eq(n,20))',loop=1:1:30,setpts=N/(24*TB)"]
    argv += ["-c:v", "libx264", "-bf", "0", "-video_track_timescale", "24000"]
    bad = replace(reel, path=remade(tmp_path, *argv, name="twice.mp4"))
    lay(bad, song, tmp_path / "film.mkv", title="")
    assert prove(tmp_path / "film.mkv", song, frames=FRAMES).ok
    proof = prove(tmp_path / "film.mkv", song, frames=FRAMES, pictures=picture_digest(reel.path))
    assert proof.problems == ("picture: not the frames of the reel, though perhaps as many",)


def test_one_frame_more(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    one = reel.path.with_name("1.mp4")
    longer = assemble([(reel.path, 61), (one, 31)], indexed.RATE, tmp_path / "longer.mp4")
    lay(longer, song, tmp_path / "film.mkv", title="")
    proof = prove(tmp_path / "film.mkv", song)
    assert proof.problems == (
        "frames: 92 where 61 are wanted",
        "length: the picture is 1323.333 ms longer than the song",
    )


def test_another_rate(master: Path, handy: Path, song: film.Song) -> None:
    assert any("off their places" in line for line in prove(handy, song, rate=NTSC_FILM_RATE).problems)
    assert any("off their places" in line for line in prove(master, song, rate=NTSC_FILM_RATE).problems)


def test_a_picture_that_starts_late(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    argv = [
        "-itsoffset",
        "0.04",
        "-i",
        file(reel.path),
        "-i",
        file(song.path),
        "-c:v",
        "copy",
        "-c:a",
        "flac",
    ]
    proof = prove(remade(tmp_path, *argv), song)
    assert proof.first == Fraction(1, 25)
    assert "times: 61 frames are off their places; frame 0 appears at 0:00.040, not at 0:00.000" in (
        proof.problems
    )


def test_sound_that_starts_late(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    """The samples are the song's, but they are heard 21 ms after their frames."""
    argv = [
        "-i",
        file(reel.path),
        "-itsoffset",
        "0.021",
        "-i",
        file(song.path),
        "-c:v",
        "copy",
        "-c:a",
        "flac",
    ]
    proof = prove(remade(tmp_path, *argv), song)
    assert proof.sound == "exact"
    assert proof.problems[0] == "sound: starts at 21.000 ms, not with the picture"


def test_sound_with_a_hole_in_its_times(tmp_path: Path, reel: film.Reel, song: film.Song) -> None:
    late = [
        "-map",
        "0:v",
        "-map",
        "1:a",
        "-af",
        "asetpts=PTS+gt(T\\,1)*0.5/TB",
        "-c:v",
        "copy",
        "-c:a",
        "flac",
    ]
    proof = prove(remade(tmp_path, "-i", file(reel.path), "-i", file(song.path), *late), song)
    assert proof.sound == "exact"
    assert any("a hole of 500" in line or "a hole of 501" in line for line in proof.problems)


def test_two_sounds(tmp_path: Path, master: Path, song: film.Song) -> None:
    argv = ["-i", file(master), "-map", "0:v", "-map", "0:a", "-map", "0:a", "-c", "copy"]
    assert prove(remade(tmp_path, *argv), song).problems == (
        "streams: 1 picture, 2 sounds and 0 others where one picture and one sound are wanted",
    )


def test_cover_art_and_subtitles(tmp_path: Path, master: Path, song: film.Song) -> None:
    (tmp_path / "s.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nno way home\n")
    argv = ["-i", file(master), "-i", file(tmp_path / "s.srt"), "-map", "0", "-map", "1", "-c", "copy"]
    assert "and 1 other " in prove(remade(tmp_path, *argv), song).problems[0]


def test_no_sound(reel: film.Reel, song: film.Song) -> None:
    proof = prove(reel.path, song)
    assert (proof.sound, proof.samples) == ("none", 0)
    assert proof.problems[0].startswith("streams: 1 picture, 0 sounds")
    assert "sound: none" in proof.problems


def test_a_master_cut_off(tmp_path: Path, master: Path, song: film.Song) -> None:
    data = master.read_bytes()
    (tmp_path / "cut.mkv").write_bytes(data[: len(data) * 2 // 3])
    proof = prove(tmp_path / "cut.mkv", song, frames=FRAMES)
    assert proof.sound == "different"
    assert any(line.startswith("frames:") for line in proof.problems)
    assert any("samples where 110691 are wanted" in line for line in proof.problems)


def test_a_film_for_phones_cut_off(tmp_path: Path, handy: Path, song: film.Song) -> None:
    data = handy.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) * 2 // 3])
    assert not prove(tmp_path / "cut.mp4", song, frames=FRAMES).ok


def test_damage_in_the_picture(tmp_path: Path, handy: Path, song: film.Song) -> None:
    data = bytearray(handy.read_bytes())
    at = data.index(b"mdat") + 9000
    data[at : at + 600] = bytes(600)
    (tmp_path / "bad.mp4").write_bytes(data)
    assert any("cannot be decoded" in line for line in prove(tmp_path / "bad.mp4", song).problems)


@pytest.mark.parametrize("content", [b"", b"not a film at all", None])
def test_a_file_that_is_no_film_is_an_error(tmp_path: Path, song: film.Song, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "f.mkv").write_bytes(content)
    with pytest.raises(MediaError, match=r"f\.mkv: cannot be read"):
        prove(tmp_path / "f.mkv", song)


def test_a_song_is_no_film(song: film.Song) -> None:
    with pytest.raises(MediaError, match="picture: none"):
        prove(song.path, song)


def test_a_song_that_is_gone_cannot_be_compared_with(handy: Path, master: Path, song: film.Song) -> None:
    """The digest still proves an exact film; a coded copy needs the song itself."""
    gone = replace(song, path=song.path.with_name("gone.wav"))
    assert prove(master, gone).ok
    assert any("song: cannot be decoded" in line for line in prove(handy, gone).problems)


def test_a_song_that_is_gone_does_not_hide_a_fault(tmp_path: Path, master: Path, song: film.Song) -> None:
    bad = with_samples(tmp_path, master, song, lambda s: s[::-1])
    (problem,) = prove(bad, replace(song, path=song.path.with_name("gone.wav"))).problems
    assert problem.startswith("sound: is not the song's; where it differs cannot be said: gone.wav")


def test_a_song_that_changed_after_it_was_read(master: Path, song: film.Song) -> None:
    (problem,) = prove(master, replace(song, digest="0" * 64)).problems
    assert problem == "sound: is what song.wav holds now, which is not what was read from it before"


@pytest.mark.parametrize("codec", ["libopus", "aac", "libvorbis", "ac3"])
def test_priming_that_a_container_knows_of_is_no_lateness(
    tmp_path: Path, reel: film.Reel, song: film.Song, codec: str
) -> None:
    """Films that others made: a coded song in Matroska, whose first packets lie before zero."""
    argv = ["-i", file(reel.path), "-i", file(song.path), "-map", "0:v", "-map", "1:a", "-c:v", "copy"]
    proof = prove(remade(tmp_path, *argv, "-c:a", codec, "-b:a", "256k"), song, frames=FRAMES)
    assert [m.lag for m in proof.matches] == [0]
    assert not any("starts at" in line for line in proof.problems)


@pytest.mark.parametrize("shift", [-300, -1, 1, 1024])
def test_a_coded_copy_that_is_off_by_samples(
    tmp_path: Path, master: Path, song: film.Song, shift: int
) -> None:
    moved = with_samples(tmp_path, master, song, lambda s: np.roll(s, shift, axis=0))
    argv = ["-i", file(moved), "-c:v", "copy", "-c:a", "aac", "-b:a", "256k"]
    proof = prove(remade(tmp_path, *argv, name="bad.mp4"), song, frames=FRAMES)
    assert [match_.lag for match_ in proof.matches] == [shift]
    how, samples = "late" if shift > 0 else "early", "sample" if abs(shift) == 1 else "samples"
    assert f"sound: {abs(shift)} {samples} {how} at 0:00.000" in proof.problems


def test_a_coded_copy_that_ends_early(tmp_path: Path, handy: Path, song: film.Song) -> None:
    argv = ["-i", file(handy), "-c:v", "copy", "-af", "atrim=end=2", "-c:a", "aac"]
    proof = prove(remade(tmp_path, *argv, name="bad.mp4"), song, frames=FRAMES)
    assert "sound: 88200 samples where 110691 are wanted" in proof.problems


def test_packets_copied_into_matroska_lose_their_priming(
    tmp_path: Path, reel: film.Reel, song: film.Song
) -> None:
    """Why the master holds an MP3 decoded: 1105 samples that nobody skips are heard as 25 ms of lateness."""
    coded = songs.song(remade(tmp_path, "-i", file(song.path), "-b:a", "320k", name="song.mp3"))
    argv = ["-i", file(reel.path), "-i", file(coded.path), "-map", "0:v", "-map", "1:a", "-c", "copy"]
    proof = prove(remade(tmp_path, *argv), coded, frames=FRAMES)
    assert [m.lag for m in proof.matches] == [1105]
    assert "sound: 1105 samples late at 0:00.000" in proof.problems


def test_lag_is_found_in_the_last_ten_seconds_too(tmp_path: Path) -> None:
    """A copy whose clock runs fast: right at the start, late at the end."""
    wav = songs.write(tmp_path / "song.wav", seconds=34, channels=1)
    argv = ["-i", file(wav), "-af", "asetrate=44098,aresample=44100"]
    drifting = remade(tmp_path, *argv, name="drift.wav")
    first, last = compare(drifting, wav, sample_rate=44_100, channels=1)
    assert (first.at, last.at) == (0, 30)
    assert last.lag > 30
    assert abs(first.lag) < 20


def test_silence_is_not_compared(tmp_path: Path) -> None:
    silent = remade(tmp_path, "-f", "lavfi", "-i", "anullsrc=r=44100:d=3", name="silent.wav")
    assert compare(silent, silent, sample_rate=44_100, channels=2) == ()


def test_a_loud_middle_is_enough(tmp_path: Path) -> None:
    argv = ["-f", "lavfi", "-i", "anoisesrc=r=8000:d=5:seed=3", "-af", "adelay=14s:all=1,apad=pad_dur=20"]
    wav = remade(tmp_path, *argv, name="middle.wav")
    (found,) = compare(wav, wav, sample_rate=8000, channels=1)
    assert (found.at, found.lag, round(found.likeness, 6)) == (10, 0, 1)


def test_channels_against_each_other_do_not_cancel() -> None:
    noise = np.random.default_rng(440).standard_normal(8000).astype(np.float32)
    both = np.stack([noise, -noise], axis=1)
    found = match(np.roll(both, 5, axis=0), both, reach=100)
    assert found.lag == 5
    assert found.likeness > 0.99
    assert match(both * 0, both, reach=100).likeness == 0


def test_sound_that_no_decoder_knows_is_said(
    tmp_path: Path, master: Path, song: film.Song, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, sample_format: str) -> None:
        raise MediaError("film.mkv: cannot be decoded: no such decoder")

    monkeypatch.setattr(heard, "decode", refuse)
    proof = prove(master, song)
    assert (proof.sound, len(proof.problems)) == ("different", 1)
    assert "no such decoder" in proof.problems[0]


def test_matroska_rounds_to_a_millisecond_and_no_more(master: Path) -> None:
    times = picture.times(master)
    assert times.base == Fraction(1, 1000)
    assert 0 < times.farthest(indexed.RATE) <= Fraction(1, 2000)
    assert times.farthest(NTSC_FILM_RATE) > Fraction(2, 1000)
