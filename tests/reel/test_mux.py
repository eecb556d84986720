"""The song in the master is the musician's, sample for sample; the phone's is coded once and in its place."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import pytest

from mvpipe import film
from mvpipe.errors import ToolError
from mvpipe.reel.mux import PHONE_RATES, lay, master_argv, phone, phone_argv, phone_rate
from mvpipe.reel.proof import prove
from mvpipe.tools import picture, process
from mvpipe.tools.ffmpeg import file, quiet
from mvpipe.tools.sound import probe
from tests.reel import songs
from tests.reel.boxes import edits
from tests.reel.test_conform import NAMES


class Kind(NamedTuple):
    """A kind of song: its file, how it is coded, and how the master holds it."""

    name: str
    coding: tuple[str, ...]
    held: str
    sample_rate: int = 44_100
    channels: int = 2
    layout: str = ""


KINDS = [
    Kind("u8.wav", ("-c:a", "pcm_u8"), "pcm_u8"),
    Kind("s16.wav", ("-c:a", "pcm_s16le"), "flac"),
    Kind("mono.wav", ("-c:a", "pcm_s16le"), "flac", channels=1),
    Kind("s24.wav", ("-c:a", "pcm_s24le"), "flac", 48_000),
    Kind("s24-96k.wav", ("-c:a", "pcm_s24le"), "flac", 96_000),
    Kind("s32.wav", ("-c:a", "pcm_s32le"), "pcm_s32le", 48_000),
    Kind("s64.wav", ("-c:a", "pcm_s64le"), "pcm_s64le", 48_000),
    Kind("f32.wav", ("-c:a", "pcm_f32le"), "pcm_f32le"),
    Kind("f64.wav", ("-c:a", "pcm_f64le"), "pcm_f64le"),
    Kind("s16-37001.wav", ("-c:a", "pcm_s16le"), "flac", 37_001, 1),
    Kind("s16-88203.wav", ("-c:a", "pcm_s16le"), "pcm_s16le", 88_203, 1),
    Kind("big-endian.aiff", ("-c:a", "pcm_s24be"), "flac"),
    Kind("5.1.wav", ("-c:a", "pcm_s24le"), "flac", 48_000, 6, "5.1"),
    Kind("5.1-side.flac", ("-c:a", "flac"), "flac", 48_000, 6, "5.1(side)"),
    Kind("7.1.wav", ("-c:a", "pcm_s16le"), "flac", 48_000, 8, "7.1"),
    Kind("ten.wav", ("-c:a", "pcm_s16le"), "pcm_s16le", 48_000, 10),
    Kind("s16.flac", (), "flac"),
    Kind("s24.flac", ("-sample_fmt", "s32"), "flac", 48_000),
    Kind("alac.m4a", ("-c:a", "alac"), "flac"),
    Kind("vbr.mp3", ("-q:a", "4"), "pcm_f32le"),
    Kind("no-xing.mp3", ("-q:a", "4", "-write_xing", "0"), "pcm_f32le", 48_000, 1),
    Kind("aac.m4a", ("-c:a", "aac"), "pcm_f32le", 48_000),
    Kind("adts.aac", ("-c:a", "aac"), "pcm_f32le"),
    Kind("5.1.m4a", ("-c:a", "aac"), "pcm_f32le", 48_000, 6, "5.1"),
    Kind("vorbis.ogg", ("-c:a", "libvorbis"), "pcm_f32le"),
    Kind("opus.opus", ("-c:a", "libopus", "-b:a", "160k"), "pcm_f32le", 48_000),
    Kind("rf64.wav", ("-c:a", "pcm_s16le", "-rf64", "always"), "flac"),
    Kind("w64.w64", ("-c:a", "pcm_s16le"), "flac"),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_master_holds_the_songs_own_samples(reel: film.Reel, tmp_path: Path, kind: Kind) -> None:
    song = _song(tmp_path, kind)
    lay(reel, song, tmp_path / "film.mkv", title="Neon Rain")
    proof = prove(tmp_path / "film.mkv", song, frames=61)
    assert proof.problems == _longer_than(song)
    assert (proof.sound, proof.sound_codec) == ("exact", kind.held)
    assert (proof.sound_digest, proof.samples) == (song.digest, song.samples)
    assert proof.farthest <= Fraction(1, 2000)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_phones_song_lies_where_the_song_lies(reel: film.Reel, tmp_path: Path, kind: Kind) -> None:
    song = _song(tmp_path, kind)
    phone(reel, song, tmp_path / "film.mp4", title="Neon Rain")
    proof = prove(tmp_path / "film.mp4", song, frames=61)
    assert proof.problems == _longer_than(song)
    assert (proof.sound, proof.sound_codec) == ("coded copy", "aac")
    assert [match.lag for match in proof.matches] == [0]
    assert proof.farthest == 0
    facts = probe(tmp_path / "film.mp4")
    assert facts.channels == min(2, kind.channels)
    assert facts.sample_rate == (song.sample_rate if song.sample_rate in PHONE_RATES else 48_000)


@pytest.mark.parametrize("layout", ["5.1", "5.1(side)", "quad", "7.1"])
def test_flac_keeps_the_names_of_the_speakers(reel: film.Reel, tmp_path: Path, layout: str) -> None:
    channels = {"quad": 4, "7.1": 8}.get(layout, 6)
    kind = Kind("song.wav", ("-c:a", "pcm_s24le"), "flac", 48_000, channels, layout)
    song = _song(tmp_path, kind)
    lay(reel, song, tmp_path / "film.mkv", title="")
    assert probe(tmp_path / "film.mkv").speakers == probe(song.path).speakers != ()


def test_cover_art_stays_out(reel: film.Reel, tmp_path: Path) -> None:
    plain = songs.write(tmp_path / "plain.mp3")
    cover = quiet("-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1", file(tmp_path / "c.png"))
    process.run(cover)
    both = quiet(
        "-i", file(plain), "-i", file(tmp_path / "c.png"), "-map", "0:a", "-map", "1:v", "-c", "copy"
    )
    process.run([*both, "-disposition:v", "attached_pic", file(tmp_path / "cover.mp3")])
    song = songs.song(tmp_path / "cover.mp3")
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        write(reel, song, tmp_path / name, title="")
        facts = picture.facts(tmp_path / name)
        assert (facts.pictures, facts.sounds, facts.others) == (1, 1, 0)
        assert prove(tmp_path / name, song, frames=61).ok


@pytest.mark.parametrize("offset", ["0.7", "-0.3"])
def test_a_song_inside_a_video_starts_with_the_film(reel: film.Reel, tmp_path: Path, offset: str) -> None:
    """Its sound starts later or earlier than its picture; in the film the first sample is at 0."""
    plain = songs.write(tmp_path / "plain.wav")
    late = quiet("-f", "lavfi", "-i", "testsrc2=s=64x64:d=4", "-itsoffset", offset, "-i", file(plain))
    process.run([*late, "-c:v", "libx264", "-c:a", "aac", file(tmp_path / "video.mp4")])
    song = songs.song(tmp_path / "video.mp4")
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        write(reel, song, tmp_path / name, title="")
        start = picture.sound_times(tmp_path / name)
        assert start.start == 0
        assert not [p for p in prove(tmp_path / name, song).problems if "sound" in p]


def test_a_song_with_a_hole_in_its_times_has_none_in_the_film(reel: film.Reel, tmp_path: Path) -> None:
    plain = songs.write(tmp_path / "plain.wav")
    holed = quiet("-i", file(plain), "-af", "asetpts=PTS+gt(T\\,1)*0.5/TB", "-c:a", "flac")
    process.run([*holed, file(tmp_path / "holed.mkv")])
    assert picture.sound_times(tmp_path / "holed.mkv").hole > Fraction(4, 10)
    song = songs.song(tmp_path / "holed.mkv")
    lay(reel, song, tmp_path / "film.mkv", title="")
    assert prove(tmp_path / "film.mkv", song, frames=61).ok


@pytest.mark.parametrize("name", NAMES)
def test_names_are_only_names(reel: film.Reel, tmp_path: Path, name: str) -> None:
    wav = songs.write(tmp_path / "plain.wav")
    odd = wav.rename(tmp_path / name.replace("mp4", "wav"))
    moved = film.Reel(path=tmp_path / f"reel {name}", frames=61, rate=reel.rate, size=reel.size)
    moved.path.write_bytes(reel.path.read_bytes())
    lay(moved, songs.song(odd), tmp_path / f"film {name}.mkv", title=name)
    assert prove(tmp_path / f"film {name}.mkv", songs.song(odd), frames=61).ok
    assert picture.facts(tmp_path / f"film {name}.mkv").tags["title"] == name


def test_a_film_says_its_title_and_nothing_else(reel: film.Reel, tmp_path: Path) -> None:
    wav = songs.write(tmp_path / "s.mp3", "-metadata", "artist=someone", "-metadata", "comment=a prompt")
    song = songs.song(wav)
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        write(reel, song, tmp_path / name, title="Neon Rain: 100 % = 'wet'")
        with av.open(str(tmp_path / name)) as container:
            said = {**container.metadata, **container.streams[0].metadata, **container.streams[1].metadata}
        ours = {k: v for k, v in said.items() if k not in MACHINERY}
        assert ours == {"title": "Neon Rain: 100 % = 'wet'"}


MACHINERY = {
    "major_brand",
    "minor_version",
    "compatible_brands",
    "DURATION",
    "handler_name",
    "vendor_id",
    "language",
    "encoder",
}


def test_the_same_bytes_every_time(reel: film.Reel, tmp_path: Path) -> None:
    song = songs.song(songs.write(tmp_path / "s.wav"))
    for write, name in ((lay, "film.mkv"), (phone, "film.mp4")):
        for again in ("1", "2"):
            write(reel, song, tmp_path / f"{again}{name}", title="Neon")
        assert (tmp_path / f"1{name}").read_bytes() == (tmp_path / f"2{name}").read_bytes()


def test_a_phone_can_start_before_the_file_is_whole(reel: film.Reel, tmp_path: Path) -> None:
    song = songs.song(songs.write(tmp_path / "s.wav"))
    phone(reel, song, tmp_path / "film.mp4", title="")
    data = (tmp_path / "film.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    picture_edit, sound_edit = edits(tmp_path / "film.mp4")
    assert picture_edit == (61_000, 0), "the picture is right even where edit lists are ignored"
    assert sound_edit[1] == 1024, "the priming of AAC is skipped"


def test_a_song_that_cannot_be_read_is_an_error(reel: film.Reel, tmp_path: Path) -> None:
    song = songs.song(songs.write(tmp_path / "s.wav"))
    song.path.unlink()
    with pytest.raises(ToolError, match="No such file"):
        lay(reel, song, tmp_path / "film.mkv", title="")


def test_golden_argument_lists() -> None:
    song = film.Song(
        path=Path("/s/so ng.wav"), digest="", sample_rate=96_000, samples=9, channels=6, sample_format="s16"
    )
    reel = film.Reel(path=Path("/r/reel.mp4"), frames=24, rate=Fraction(24), size=(64, 64))
    inputs = ["-nostdin", "-hide_banner", "-v", "error", "-i", "file:/r/reel.mp4", "-i", "file:/s/so ng.wav"]
    inputs += ["-map", "0:V:0", "-map", "1:a:0", "-c:v", "copy", "-af"]
    plain = [
        "-map_metadata",
        "-1",
        "-map_chapters",
        "-1",
        "-metadata",
        "title=T",
        "-disposition:v",
        "default",
    ]
    plain += ["-disposition:a", "default", "-fflags", "+bitexact", "-flags", "+bitexact"]
    plain += ["-metadata:s:a:0", "encoder="]
    master = master_argv(reel.path, song, Path("f.mkv"), title="T", coding=["-c:a", "flac"])
    assert master[1:] == [
        *(*inputs, "asettb=1/96000,asetpts=N,asetnsamples=n=4096:p=0", "-c:a", "flac", *plain),
        *("-f", "matroska", "-y", "file:f.mkv"),
    ]
    assert phone_argv(reel, song, Path("f.mp4"), title="T")[1:] == [
        *(*inputs, "asettb=1/96000,asetpts=N,asetnsamples=n=4096:p=0,aresample=48000:resampler=soxr"),
        *("-ac", "2", "-c:a", "aac", "-b:a", "256000", *plain),
        *("-movflags", "+faststart", "-movie_timescale", "24000", "-f", "mp4", "-y", "file:f.mp4"),
    ]
    for argv in (master, phone_argv(reel, song, Path("f.mp4"), title="T")):
        assert not {"-shortest", "-frames:v", "-t", "-itsoffset", "-ss"} & set(argv)


@pytest.mark.parametrize(
    ("given", "heard"), [(44_100, 44_100), (48_000, 48_000), (96_000, 48_000), (37_001, 48_000)]
)
def test_phones_get_rates_they_play(given: int, heard: int) -> None:
    song = film.Song(path=Path("s"), digest="", sample_rate=given, samples=1, channels=1, sample_format="s16")
    assert phone_rate(song) == heard


def _song(folder: Path, kind: Kind) -> film.Song:
    path = songs.write(
        folder / kind.name,
        *kind.coding,
        sample_rate=kind.sample_rate,
        channels=kind.channels,
        layout=kind.layout,
    )
    return songs.song(path)


def _longer_than(song: film.Song) -> tuple[str, ...]:
    """Some codings add samples and so ask for more frames than the reel has; nothing else may be wrong."""
    shorter = song.seconds - Fraction(61, 24)
    return (
        ()
        if shorter <= 0
        else (f"length: the picture is {float(shorter) * 1000:.3f} ms shorter than the song",)
    )
