"""What a sound stream is, and its samples: libav probes it, the bundled ffmpeg decodes it.

Nothing a header says about length is believed here; `StreamFacts.declared` only repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from subprocess import PIPE

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition

from mvpipe.errors import MediaError, ToolError
from mvpipe.tools import ffmpeg, process

WIDTHS = {"u8": 1, "s16": 2, "s32": 4, "s64": 8, "f32": 4, "f64": 8}
"""Bytes of one sample in each format a decoder gives."""

_NATIVE = {"u8": "u8", "s16": "s16", "s32": "s32", "s64": "s64", "flt": "f32", "dbl": "f64"}
_LISTS = ("concat", "hls", "dash", "imf")  # libav opens these, but the sound is in other files
_NO_HURRY_S = (
    7 * 24 * 3600.0
)  # whoever takes the samples sets the pace: a separator needs hours for a long song


class Damaged(MediaError):
    """The decoder met bytes that make no sense; `complaint` is the first thing it said."""

    def __init__(self, message: str, *, complaint: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.complaint = complaint


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """The first sound stream of a file, as its decoder gives it.

    Parameters
    ----------
    container, codec : libav's names, such as `mov,mp4,m4a,3gp,3g2,mj2` and `aac`
    sample_format : u8, s16, s32, s64, f32 or f64; what the decoder gives, planes folded together
    sample_rate : Hz, of the first decoded samples (a header may know only half of an HE-AAC's)
    channels : of the first decoded samples
    speakers : libav's name of each channel (`FL`, `FR`, `FC`, `LFE`, ...); empty where nobody says
    bits : per sample as stored; 0 where the coding has no such number
    declared : samples by the header or by libav's guess; None where neither says
    start : seconds from the first picture to the first sample; 0 without pictures
    audio_streams : how many there are
    cover, video : whether there is an attached picture, and a real one
    extradata : the codec's own header
    """

    container: str
    codec: str
    sample_format: str
    sample_rate: int
    channels: int
    speakers: tuple[str, ...]
    bits: int
    declared: int | None
    start: Fraction
    audio_streams: int
    cover: bool
    video: bool
    extradata: bytes

    @property
    def width(self) -> int:
        """Bytes of one sample of all channels."""
        return WIDTHS[self.sample_format] * self.channels


def probe(path: Path) -> StreamFacts:
    """What the first sound stream of a file is; a few packets are decoded to see it as it is.

    Raises
    ------
    MediaError : missing, unreadable, not a media file, or without a sound that can be decoded
    """
    _check_file(path)
    options = {"protocol_whitelist": "file"}
    with _said_as_ours(path), av.open(ffmpeg.file(path), options=options, metadata_errors="replace") as box:
        if box.format.name.startswith(_LISTS):
            raise MediaError(f"{path.name}: a list of other files ({box.format.name}), not a sound")
        if not box.streams.audio:
            kinds = ", ".join(sorted({stream.type for stream in box.streams}))
            raise MediaError(f"{path.name}: no sound in it: found {kinds or 'nothing'}")
        stream = box.streams.audio[0]
        return _facts(box, stream, _first_frame(path, box, stream))


def decode(path: Path, sample_format: str, *, strict: bool = False, block: int = 1 << 18) -> Iterator[bytes]:
    """The samples of the first sound stream: interleaved, little-endian, at the stream's own rate.

    Parameters
    ----------
    path : the file
    sample_format : as `probe` found it, so that nothing is converted
    strict : stop at the first bytes that cannot be decoded, instead of going on as players do
    block : bytes of each piece but the last

    Raises
    ------
    Damaged : the file cannot be opened, or (`strict`) something in it cannot be decoded; all that could be
        is yielded before
    """
    try:
        with process.start(
            decode_argv(path, sample_format, strict), stdout=PIPE, deadline_s=_NO_HURRY_S
        ) as child:
            assert child.stdout is not None
            while piece := child.stdout.read(block):
                yield piece
    except ToolError as exc:
        if exc.status <= 0:  # killed, or never started: not the file's fault
            raise
        complaint = _complaint(exc.stderr)
        raise Damaged(f"{path.name}: cannot be decoded: {complaint}", complaint=complaint) from exc


def decode_argv(path: Path, sample_format: str, strict: bool) -> list[str]:
    """The ffmpeg that writes the samples to its stdout."""
    coder = "pcm_u8" if sample_format == "u8" else f"pcm_{sample_format}le"
    # a stream that changes its rate or channels midway would be resampled without a word
    how = ["-xerror", "-reinit_filter", "0"] if strict else []
    source = ["-protocol_whitelist", "file", "-i", ffmpeg.file(path), "-map", "0:a:0"]
    # `data` writes the bytes and nothing else, as `s16le` and its like do; of these there is none for s64
    return ffmpeg.quiet(*how, *source, "-c:a", coder, "-f", "data", "pipe:1")


def _facts(box: InputContainer, stream: AudioStream, frame: AudioFrame) -> StreamFacts:
    context = stream.codec_context
    pictures = [video for video in box.streams.video if not video.disposition & Disposition.attached_pic]
    extradata = bytes(context.extradata or b"")
    speakers = tuple(channel.name for channel in frame.layout.channels)
    return StreamFacts(
        container=box.format.name,
        codec=context.name,
        sample_format=_NATIVE[frame.format.name.removesuffix("p")],
        sample_rate=frame.sample_rate,
        channels=frame.layout.nb_channels,
        speakers=speakers if not {"NONE", "UNK", "UNSD"} & set(speakers) else (),
        bits=_bits(context.name, extradata),
        declared=_declared(box, stream, frame.sample_rate),
        start=_seconds(stream) - _seconds(pictures[0]) if pictures else Fraction(0),
        audio_streams=len(box.streams.audio),
        cover=len(pictures) < len(box.streams.video),
        video=bool(pictures),
        extradata=extradata,
    )


def _first_frame(path: Path, box: InputContainer, stream: AudioStream) -> AudioFrame:
    if stream.codec_context is None:
        raise MediaError(f"{path.name}: sound in a coding that ffmpeg does not know")
    for packet in box.demux(stream):
        try:
            frames = packet.decode()
        except av.error.InvalidDataError:
            continue  # the reader says it, when it decodes the whole
        if frames:
            first = frames[0]
            assert isinstance(first, AudioFrame)
            return first
    raise MediaError(f"{path.name}: no samples in it that can be decoded")


def _seconds(stream: av.stream.Stream) -> Fraction:
    return Fraction((stream.start_time or 0) * (stream.time_base or 0))


def _declared(box: InputContainer, stream: AudioStream, sample_rate: int) -> int | None:
    if stream.duration and stream.time_base:
        return round(stream.duration * stream.time_base * sample_rate)
    # Matroska: the tag that ffmpeg and mkvmerge write for each stream; libav leaves it a text
    tag = re.match(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    if tag:
        seconds = int(tag[1]) * 3600 + int(tag[2]) * 60 + Fraction(tag[3])
        return round((seconds - _seconds(stream)) * sample_rate)
    alone = box.duration and len(box.streams) == 1
    return round(Fraction(box.duration or 0, 1_000_000) * sample_rate) if alone else None


def _bits(codec: str, extradata: bytes) -> int:
    stored = re.match(r"pcm_[suf](\d+)", codec)
    if stored:
        return int(stored[1])
    if codec == "flac" and len(extradata) >= 34:  # STREAMINFO: five bits across two bytes
        return ((extradata[12] & 1) << 4 | extradata[13] >> 4) + 1
    if codec == "alac" and len(extradata) >= 18:  # the magic cookie, behind 12 bytes of atom
        return extradata[17]
    return 0


def _check_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise MediaError(f"{path}: a folder, not a sound file")
        if not path.is_file():
            path.stat()
            raise MediaError(
                f"{path}: not a regular file", hint="save the sound to a file first: it is read twice"
            )
        if not path.stat().st_size:
            raise MediaError(f"{path.name}: an empty file")
        path.open("rb").close()
    except OSError as exc:
        raise MediaError(f"{path}: cannot be read: {(exc.strerror or str(exc)).lower()}") from exc


@contextmanager
def _said_as_ours(path: Path) -> Iterator[None]:
    try:
        yield
    except av.error.InvalidDataError as exc:
        raise MediaError(
            f"{path.name}: not a sound or video file, or its beginning or index is gone"
        ) from exc
    except av.error.FFmpegError as exc:
        raise MediaError(f"{path.name}: cannot be read: {(exc.strerror or str(exc)).lower()}") from exc


def _complaint(stderr: str) -> str:
    """The first thing ffmpeg said, without the addresses it says it from."""
    lines = [re.sub(r"^(\[[^\]]*\]\s*)+", "", line).strip(" .") for line in stderr.splitlines()]
    return next((line for line in lines if line), "it said nothing")
