"""Probing sees streams as they decode; decoding gives raw samples and ends in an error where it must."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.errors import Cancelled, MediaError, ToolError
from mvpipe.tools import ffmpeg, process
from mvpipe.tools.sound import Damaged, decode, decode_argv, probe
from tests.sound import songs


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return songs.pcm_wav(tmp_path / "source.wav", songs.integers(songs.music(50_001), 16), bits=16)


def test_facts_of_a_plain_wav(source: Path) -> None:
    facts = probe(source)
    assert (facts.container, facts.codec, facts.sample_format, facts.bits) == ("wav", "pcm_s16le", "s16", 16)
    assert (facts.sample_rate, facts.channels, facts.width, facts.declared) == (44_100, 2, 4, 50_001)
    assert facts.speakers == ()  # a plain header names none
    assert (facts.audio_streams, facts.cover, facts.video, facts.start) == (1, False, False, Fraction(0))


@pytest.mark.parametrize(
    ("name", "options", "sample_format", "bits"),
    [
        ("x.flac", ("-sample_fmt", "s32", "-bits_per_raw_sample", "24"), "s32", 24),
        ("x.m4a", ("-c:a", "alac", "-sample_fmt", "s32p"), "s32", 24),
        ("x.m4a", (), "f32", 0),
        ("x.mp3", (), "f32", 0),
        ("x.wav", ("-c:a", "pcm_u8"), "u8", 8),
        ("x.wav", ("-c:a", "pcm_s24le"), "s32", 24),
        ("x.wav", ("-c:a", "pcm_f64le"), "f64", 64),
        ("x.wav", ("-c:a", "pcm_mulaw"), "s16", 0),
    ],
)
def test_what_a_coder_gives(
    tmp_path: Path, source: Path, name: str, options: tuple[str, ...], sample_format: str, bits: int
) -> None:
    facts = probe(songs.encode(source, tmp_path / name, *options))
    assert (facts.sample_format, facts.bits) == (sample_format, bits)


def test_named_loudspeakers(tmp_path: Path) -> None:
    six = songs.pcm_wav(tmp_path / "six.wav", songs.integers(songs.music(9000, channels=6), 16), bits=16)
    facts = probe(songs.encode(six, tmp_path / "x.flac"))
    assert facts.speakers == ("FL", "FR", "FC", "LFE", "BL", "BR")


def test_a_cover_is_no_video(tmp_path: Path, source: Path) -> None:
    facts = probe(songs.encode_with_cover(source, tmp_path / "x.mp3"))
    assert (facts.cover, facts.video) == (True, False)


def test_a_video_tells_how_much_later_its_sound_starts(tmp_path: Path, source: Path) -> None:
    for name in ("x.mkv", "x.mov"):
        path = songs.film(tmp_path / name, source, source, delay_s="0.25", options=("-c:a", "pcm_s16le"))
        facts = probe(path)
        assert (facts.cover, facts.video, facts.audio_streams) == (False, True, 2)
        assert facts.start == Fraction(1, 4)


def test_matroska_keeps_the_length_of_each_stream_in_a_tag(tmp_path: Path, source: Path) -> None:
    film = songs.film(tmp_path / "x.mkv", source, delay_s="0.5", options=("-c:a", "flac"))
    for path in (film, songs.encode(source, tmp_path / "x.mka")):
        assert abs((probe(path).declared or 0) - 50_001) < 4410  # milliseconds, and whole blocks


def test_tags_in_an_old_script_are_no_error(tmp_path: Path, source: Path) -> None:
    path = songs.encode(source, tmp_path / "x.wav", "-metadata", "title=chanson")
    data = path.read_bytes()
    assert b"chanson" in data
    path.write_bytes(data.replace(b"chanson", "été été".encode("latin-1")))
    assert probe(path).declared == 50_001


def test_the_whole_and_nothing_but_the_samples(source: Path) -> None:
    samples = songs.integers(songs.music(50_001), 16)
    pieces = list(decode(source, "s16", block=1000))
    assert b"".join(pieces) == samples.tobytes()
    assert {len(piece) for piece in pieces[:-1]} == {1000}
    assert b"".join(decode(source, "s16", strict=True)) == samples.tobytes()


def test_the_program_gets_names_as_they_are_and_reads_files_only() -> None:
    argv = decode_argv(Path("-a:b %d.wav"), "s32", strict=False)
    assert argv[1:] == [
        *("-nostdin", "-hide_banner", "-v", "error", "-protocol_whitelist", "file"),
        *("-i", "file:-a:b %d.wav", "-map", "0:a:0", "-c:a", "pcm_s32le", "-f", "data", "pipe:1"),
    ]
    assert "-xerror" in decode_argv(Path("x"), "u8", strict=True)
    assert "pcm_u8" in decode_argv(Path("x"), "u8", strict=True)


def test_a_strict_decode_stops_at_the_damage_and_a_patient_one_goes_on(tmp_path: Path, source: Path) -> None:
    path = songs.damage(songs.encode(source, tmp_path / "x.m4a", "-movflags", "+faststart"), 0.5)
    given: list[bytes] = []
    with pytest.raises(Damaged, match=r"x\.m4a: cannot be decoded: ") as caught:
        given.extend(decode(path, "f32", strict=True))
    assert 0 < sum(map(len, given)) < 40_000 * 8
    assert caught.value.complaint
    assert "0x" not in caught.value.complaint  # an address would make every message another
    assert sum(map(len, decode(path, "f32"))) > 45_000 * 8


def test_what_is_no_sound_cannot_be_decoded(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_text("la la la")
    with pytest.raises(Damaged, match=r"x\.wav: cannot be decoded: .*[Ii]nvalid data"):
        list(decode(tmp_path / "x.wav", "s16"))
    with pytest.raises(MediaError, match="not a sound or video file"):
        probe(tmp_path / "x.wav")


def test_a_decoder_that_was_killed_is_not_the_songs_fault(source: Path) -> None:
    pieces = decode(source, "s16", block=100)
    next(pieces)
    for child in list(process._running):
        child.kill()
    with pytest.raises(ToolError, match="exit status -9") as caught:
        list(pieces)
    assert not isinstance(caught.value, MediaError)


def test_stopping_everything_stops_a_decoder(source: Path) -> None:
    pieces = decode(source, "s16", block=100)
    next(pieces)
    process.stop_all()
    try:
        with pytest.raises(Cancelled):
            list(pieces)
    finally:
        process.allow()


def test_an_error_of_libav_becomes_ours(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import av

    def fail(*_: object, **__: object) -> None:
        raise av.error.OSError(5, "Input/output error", "x")

    monkeypatch.setattr(av, "open", fail)
    with pytest.raises(MediaError, match=r"source\.wav: cannot be read: input/output error"):
        probe(source)


def test_every_error_of_libav_is_caught_by_the_one_that_is_mapped() -> None:
    import av

    kinds = [kind for name in dir(av.error) if isinstance(kind := getattr(av.error, name), type)]
    failures = [kind for kind in kinds if issubclass(kind, Exception) and kind.__module__.startswith("av")]
    assert len(failures) > 20
    assert all(issubclass(kind, av.error.FFmpegError) for kind in failures)


def test_the_bundled_program_is_the_one_that_decodes() -> None:
    assert decode_argv(Path("x"), "s16", strict=False)[0] == ffmpeg.executable()
