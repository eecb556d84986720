"""How long a file itself says its sound is, where that can be believed, so that a cut-off file is noticed.

The count that mvpipe works with always comes from decoding; a promise is only ever held against it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

from mvpipe.tools.sound import StreamFacts

CODING_SLACK = Fraction(1, 4)
"""Seconds by which containers of coded sound are allowed to promise too much: priming and padding are
counted by some writers and not by others (2112 + 1023 samples in AAC, 46 ms measured in WMA)."""

_EXACT = ("flac", "aiff", "au", "tta", "wv")
_ROUGH = ("ogg", "matroska", "asf", "mov")
_WHOLE_IN_MOV = ("pcm_", "alac", "flac")
_STREAMINFO = 34  # bytes
_RIFF_LIMIT = 1 << 32
_UNKNOWN_BELOW = 256  # writers to a pipe leave 0, or about the largest number, where the size should stand
_OGG_TAIL = 1 << 17  # a page has at most 65,307 bytes


@dataclass(frozen=True, slots=True)
class Promise:
    """So many samples per channel, of which `slack` may be the coder's padding."""

    samples: int
    slack: int = 0

    def is_kept(self, samples: int) -> bool:
        """Whether so many decoded samples are all that was promised."""
        return samples + self.slack >= self.samples


def promise(path: Path, facts: StreamFacts) -> Promise | None:
    """What the file says of its own length; None where it does not, or where that is often wrong."""
    if facts.container in ("wav", "w64"):
        return _chunk_promise(path, facts)
    if facts.container == "mp3":
        return _mp3_promise(path, 1152 if facts.sample_rate >= 32_000 else 576)
    if facts.container in ("flac", "ogg") and (total := flac_total(facts.extradata)):
        return Promise(total)
    slack = _slack(facts)
    return Promise(facts.declared, slack) if facts.declared and slack is not None else None


def _slack(facts: StreamFacts) -> int | None:
    """Samples by which `declared` may be too many; None where it says nothing."""
    mov = facts.container.startswith("mov")
    if facts.container.startswith(_EXACT) or (mov and facts.codec.startswith(_WHOLE_IN_MOV)):
        return 0
    return int(CODING_SLACK * facts.sample_rate) if facts.container.startswith(_ROUGH) else None


def flac_total(streaminfo: bytes) -> int:
    """Samples by a FLAC's header; 0 where its encoder did not know, or it is no FLAC's."""
    if len(streaminfo) != _STREAMINFO:
        return 0
    high, low = streaminfo[13] & 15, int.from_bytes(streaminfo[14:18], "big")
    return high << 32 | low


def flac_md5(streaminfo: bytes) -> bytes:
    """The MD5 of all samples that a FLAC's encoder left in its header; empty where it left none."""
    md5 = streaminfo[18:] if len(streaminfo) == _STREAMINFO else b""
    return md5 if any(md5) else b""


def lost_end(path: Path, facts: StreamFacts) -> str:
    """What shows that a file has lost its end though it keeps its promise; empty if nothing does."""
    with path.open("rb") as file:
        if facts.container == "ogg" and not _ogg_ends(file):
            return "its last page has no end mark"
        if facts.container == "mp3" and (missing := _mp3_missing(file)):
            return f"its last frame lacks {missing} bytes"
    return ""


def _chunk_promise(path: Path, facts: StreamFacts) -> Promise | None:
    if not facts.bits:
        return None
    with path.open("rb") as file:
        size = _w64_data(file) if facts.container == "w64" else _riff_data(file)
    return Promise(size // (facts.channels * facts.bits // 8)) if size else None


def _riff_data(file: BinaryIO) -> int | None:
    """Bytes of sound by a RIFF, RF64 or BW64 header."""
    end = file.seek(0, 2)
    file.seek(12)
    large = None
    while len(head := file.read(8)) == 8:
        name, size = struct.unpack("<4sI", head)
        start = file.tell()
        if name == b"ds64":
            large = struct.unpack("<8xQ", file.read(16))[0]
        elif name == b"data" and large is not None:
            return int(large) or None
        elif name == b"data":
            return _unwrapped(size, end - start)
        file.seek(start + size + size % 2)
    return None


def _unwrapped(size: int, behind: int) -> int | None:
    """The size by a 32-bit field, made good where a writer ran over it."""
    for largest in (1 << 31, _RIFF_LIMIT):
        if largest - _UNKNOWN_BELOW <= size < largest:
            return None
    return size + max(behind - size, 0) // _RIFF_LIMIT * _RIFF_LIMIT or None


def _w64_data(file: BinaryIO) -> int | None:
    """Bytes of sound by a Wave64 header: 16-byte names, sizes that include their own 24 bytes."""
    file.seek(40)
    while len(head := file.read(24)) == 24:
        name, size = struct.unpack("<4s12xQ", head)
        if name == b"data":
            return max(int(size) - 24, 0) or None
        file.seek(max(-(-size // 8) * 8, 24) - 24, 1)
    return None


def _ogg_ends(file: BinaryIO) -> bool:
    end = file.seek(0, 2)
    file.seek(max(end - _OGG_TAIL, 0))
    tail = file.read()
    page = tail[max(tail.rfind(b"OggS"), 0) :]
    if len(page) < 27 or not page[5] & 4:
        return False
    segments = page[26]
    return len(page) >= 27 + segments + sum(page[27 : 27 + segments])


def _mp3_promise(path: Path, per_frame: int) -> Promise | None:
    """By the count of frames in a Xing, Info or VBRI header, where the first frame carries one.

    libav's own figure is not used: where other bytes follow the song, it is a guess from the bit rate.
    """
    with path.open("rb") as file:
        file.seek(_behind_id3(file))
        head = file.read(2048)
    for name, behind in ((b"Xing", 8), (b"Info", 8), (b"VBRI", 14)):
        at = head.find(name)
        count = head[at + behind : at + behind + 4]
        if at < 0 or len(count) < 4 or (behind == 8 and not head[at + 7] & 1):  # its flags: bit 0, a count
            continue
        frames = int.from_bytes(count, "big")
        return Promise(frames * per_frame, 4 * per_frame) if frames else None
    return None


def _behind_id3(file: BinaryIO) -> int:
    """Where an mp3 begins behind the tags in front of it."""
    start = 0
    while True:
        file.seek(start)
        head = file.read(10)
        if len(head) < 10 or head[:3] != b"ID3":
            return start
        size = 0
        for seven_bits in head[6:10]:
            size = size << 7 | seven_bits & 127
        start += 10 + size + (10 if head[5] & 16 else 0)


# ISO 11172-3 and 13818-3, layer III: by the two version bits, kbit/s by index from 1, and Hz
_KBPS_1 = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBPS_2 = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_HZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


def _mp3_missing(file: BinaryIO) -> int:
    """Bytes that the last frame lacks; 0 if it is whole, or if the frames cannot be followed to the end."""
    end = file.seek(0, 2)
    at = _behind_id3(file)
    while at + 4 <= end:
        file.seek(at)
        length = _mp3_frame(file.read(4))
        if not length:
            return 0
        at += length
    return max(at - end, 0)


def _mp3_frame(head: bytes) -> int:
    """Bytes of the layer III frame that begins so; 0 if none does."""
    if head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return 0
    version, rate, kind = head[1] >> 3 & 3, head[2] >> 2 & 3, head[2] >> 4
    if version == 1 or rate == 3 or not 0 < kind < 15:
        return 0
    kbps = (_KBPS_1 if version == 3 else _KBPS_2)[kind - 1]
    slots = 144 if version == 3 else 72
    return slots * 1000 * kbps // _HZ[version][rate] + (head[2] >> 1 & 1)
