"""Headers are held against what decodes, and believed only where they deserve it."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.sound.promise import Promise, flac_md5, flac_total, lost_end, promise
from mvpipe.tools.sound import StreamFacts

FOUR_GB = 1 << 32


def facts(
    container: str,
    *,
    codec: str = "pcm_s16le",
    bits: int = 16,
    declared: int | None = None,
    extradata: bytes = b"",
) -> StreamFacts:
    return StreamFacts(
        container=container,
        codec=codec,
        sample_format="s16",
        sample_rate=44_100,
        channels=2,
        speakers=(),
        bits=bits,
        declared=declared,
        start=Fraction(0),
        audio_streams=1,
        cover=False,
        video=False,
        extradata=extradata,
    )


def riff(
    path: Path, size: int, *, length: int | None = None, name: bytes = b"RIFF", before: bytes = b""
) -> Path:
    """A header whose data chunk claims `size` bytes, in a file that holds `length` (a hole, mostly)."""
    head = (
        name + struct.pack("<I", 0xFFFFFFFF) + b"WAVE" + before + b"fmt " + struct.pack("<I", 16) + bytes(16)
    )
    head += b"data" + struct.pack("<I", size)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + (size if length is None else length))
    return path


def ds64(data: int) -> bytes:
    return b"ds64" + struct.pack("<IQQQI", 28, data + 72, data, data // 4, 0)


def test_a_promise_is_kept_by_as_many_samples_or_more() -> None:
    assert Promise(100).is_kept(100)
    assert Promise(100).is_kept(101)
    assert not Promise(100).is_kept(99)
    assert Promise(100, slack=5).is_kept(95)
    assert not Promise(100, slack=5).is_kept(94)


def test_a_riff_promises_its_data_chunk(tmp_path: Path) -> None:
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"  # chunks of odd length are followed by a byte
    for before in (b"", odd):
        assert promise(riff(tmp_path / "x.wav", 4000, before=before, length=100), facts("wav")) == Promise(
            1000
        )


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0xFFFFFFDB, 0x7FFFFFFF, 0x7FFFFFDB])
def test_a_size_that_a_pipe_left_promises_nothing(tmp_path: Path, size: int) -> None:
    assert promise(riff(tmp_path / "x.wav", size, length=4000), facts("wav")) is None


def test_a_riff_that_ran_over_four_gigabytes_promises_all_of_it(tmp_path: Path) -> None:
    path = riff(tmp_path / "x.wav", 4000, length=FOUR_GB + 4000)
    assert promise(path, facts("wav")) == Promise((FOUR_GB + 4000) // 4)
    assert promise(riff(path, 4000, length=FOUR_GB + 3999), facts("wav")) == Promise(1000)


@pytest.mark.parametrize("name", [b"RF64", b"BW64"])
def test_an_rf64_promises_what_its_first_chunk_says(tmp_path: Path, name: bytes) -> None:
    path = riff(tmp_path / "x.wav", 0xFFFFFFFF, length=100, name=name, before=ds64(FOUR_GB + 8))
    assert promise(path, facts("wav")) == Promise((FOUR_GB + 8) // 4)


def test_a_wave64_promises_its_data_chunk_without_its_header(tmp_path: Path) -> None:
    rest = bytes(12)
    fmt = b"fmt " + rest + struct.pack("<Q", 24 + 18) + bytes(24)  # 18 bytes, padded to eight
    path = tmp_path / "x.w64"
    path.write_bytes(bytes(40) + fmt + b"data" + rest + struct.pack("<Q", 24 + 4000))
    assert promise(path, facts("w64")) == Promise(1000)


def test_a_wav_without_data_or_of_coded_sound_promises_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(b"RIFF\0\0\0\0WAVE")
    assert promise(tmp_path / "x.wav", facts("wav")) is None
    assert promise(riff(tmp_path / "x.wav", 4000), facts("wav", codec="adpcm_ms", bits=0)) is None


def streaminfo(total: int, md5: bytes = b"\x01" * 16) -> bytes:
    return bytes(13) + bytes([0xF0 | total >> 32]) + (total & 0xFFFFFFFF).to_bytes(4, "big") + md5


def test_a_flac_header_counts_in_36_bits() -> None:
    for total in (1, 0xFFFFFFFF, FOUR_GB + 5):
        assert flac_total(streaminfo(total)) == total
    assert flac_total(b"OpusHead") == 0
    assert flac_md5(streaminfo(1)) == b"\x01" * 16
    assert flac_md5(streaminfo(1, bytes(16))) == flac_md5(b"") == b""


def test_a_flac_promises_its_header_but_in_a_film_only_what_is_shown(tmp_path: Path) -> None:
    header = streaminfo(1000)
    for container in ("flac", "ogg"):
        assert promise(tmp_path, facts(container, codec="flac", extradata=header, declared=9)) == Promise(
            1000
        )
    mov = facts("mov,mp4,m4a,3gp,3g2,mj2", codec="flac", extradata=header, declared=900)
    assert promise(tmp_path, mov) == Promise(900)


def test_coded_sound_may_promise_a_little_too_much(tmp_path: Path) -> None:
    for container in ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "ogg", "asf"):
        said = promise(tmp_path, facts(container, codec="aac", bits=0, declared=441_000))
        assert said == Promise(441_000, 11_025)
    for container in ("aac", "mpegts", "ac3"):  # a guess from the bit rate
        assert promise(tmp_path, facts(container, codec="aac", bits=0, declared=441_000)) is None
    assert promise(tmp_path, facts("flac", declared=None)) is None


FRAME = bytes.fromhex("fffb9000") + bytes(413)  # MPEG-1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes


def xing(frames: int, *, name: bytes = b"Xing", flags: int = 1) -> bytes:
    head = FRAME[:36] + name + struct.pack(">II", flags, frames)
    return head + bytes(417 - len(head))


def id3(size: int) -> bytes:
    seven = [size >> 7 * k & 127 for k in (3, 2, 1, 0)]
    return b"ID3\x04\0\0" + bytes(seven) + b"Xing" + bytes(size - 4)  # a cover may hold any bytes


def test_an_mp3_promises_the_frames_its_first_frame_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.mp3"
    mp3 = facts("mp3", codec="mp3float", bits=0, declared=123)
    for name in (b"Xing", b"Info"):
        path.write_bytes(id3(5000) + id3(200) + xing(1000, name=name) + FRAME)
        assert promise(path, mp3) == Promise(1_152_000, 4608)
    vbri = FRAME[:36] + b"VBRI" + bytes(10) + struct.pack(">I", 77)
    path.write_bytes(vbri + bytes(417 - len(vbri)))
    assert promise(path, mp3) == Promise(77 * 1152, 4608)


def test_a_tag_with_a_footer_is_stepped_over(tmp_path: Path) -> None:
    path = tmp_path / "x.mp3"
    tag = bytearray(id3(100))
    tag[5] = 0x10
    path.write_bytes(bytes(tag) + b"3DI" + bytes(7) + FRAME * 3 + FRAME[:-1])
    assert lost_end(path, facts("mp3")) == "its last frame lacks 1 bytes"


def test_an_mp3_without_a_count_promises_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.mp3"
    mp3 = facts("mp3", codec="mp3float", bits=0, declared=123)
    for data in (id3(5000) + FRAME * 9, xing(1000, flags=2), xing(0), b"", FRAME[:36] + b"Xing"):
        path.write_bytes(data)
        assert promise(path, mp3) is None


@pytest.mark.parametrize("lost", [1, 413])
def test_an_mp3_that_ends_inside_a_frame(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "x.mp3"
    mp3 = facts("mp3")
    path.write_bytes(id3(500) + FRAME * 5)
    assert lost_end(path, mp3) == ""
    path.write_bytes((id3(500) + FRAME * 5)[:-lost])
    assert lost_end(path, mp3) == f"its last frame lacks {lost} bytes"


@pytest.mark.parametrize(
    "tail", [b"TAG" + bytes(125), bytes(5), b"\xff", b"\xff\xfb\x00\x00", b"\xff\xfb\xf0\x00"]
)
def test_what_follows_the_frames_of_an_mp3_is_not_taken_for_one(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "x.mp3"
    path.write_bytes(FRAME * 5 + tail)
    assert lost_end(path, facts("mp3")) == ""


@pytest.mark.parametrize(
    ("head", "length"),
    [
        ("fffb9000", 417),
        ("fffb9200", 418),
        ("fffbe400", 960),
        ("fff38400", 192),
        ("ffe31800", 72 * 8000 // 8000),
    ],
)
def test_frame_lengths_of_every_version(tmp_path: Path, head: str, length: int) -> None:
    path = tmp_path / "x.mp3"
    path.write_bytes(bytes.fromhex(head) + bytes(length - 5))
    assert lost_end(path, facts("mp3")) == "its last frame lacks 1 bytes"


def page(flags: int, body: int = 300) -> bytes:
    lacing = bytes([255] * (body // 255) + [body % 255])
    return b"OggS\0" + bytes([flags]) + bytes(20) + bytes([len(lacing)]) + lacing + bytes(body)


def test_an_ogg_ends_with_a_whole_page_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.ogg"
    ogg = facts("ogg")
    for data, whole in {
        page(2) + page(0) + page(4): True,
        page(2) + page(0): False,
        (page(2) + page(0) + page(4))[:-1]: False,
        page(2) + page(4)[:20]: False,
        b"": False,
    }.items():
        path.write_bytes(data)
        assert lost_end(path, ogg) == ("" if whole else "its last page has no end mark")
