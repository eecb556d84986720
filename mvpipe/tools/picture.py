"""Look into films without decoding them: what the container says, every packet's time; and join them.

PyAV does it in this process (the wheel that brings ffmpeg has no ffprobe). Times are integers in the
stream's own time base and become `Fraction` seconds on the way out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.errors import MediaError
from mvpipe.tools.ffmpeg import file

if TYPE_CHECKING:
    from av import Packet
    from av.audio.stream import AudioStream
    from av.container import InputContainer, OutputContainer
    from av.video.stream import VideoStream

ATTACHED = 0x400
"""AV_DISPOSITION_ATTACHED_PIC: cover art, which is a video stream to a container but not to us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a container says about itself; nothing is decoded.

    Parameters
    ----------
    pictures : video streams, cover art not counted
    sounds : audio streams
    others : all other streams, cover art among them
    size : (width, height) of the first video stream
    rate : its average rate as the container gives it; 0 if it does not
    base : its time base, seconds per tick
    codec : its codec, such as `h264`
    head : its parameter sets (the container's codec private bytes)
    tags : metadata of the container
    """

    pictures: int
    sounds: int
    others: int
    size: tuple[int, int]
    rate: Fraction
    base: Fraction
    codec: str
    head: bytes
    tags: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When each packet of a video stream is shown.

    Parameters
    ----------
    ticks : presentation times in the order shown, int64, shape (n,)
    base : seconds per tick
    """

    ticks: array[int]
    base: Fraction

    def __len__(self) -> int:
        return len(self.ticks)

    def __getitem__(self, frame: int) -> Fraction:
        return self.ticks[frame] * self.base

    def farthest(self, rate: Fraction) -> Fraction:
        """The largest distance of a frame from its place `frame / rate`, in seconds."""
        scale = self.base * rate
        worst = max((abs(tick * scale - k) for k, tick in enumerate(self.ticks)), default=Fraction(0))
        return worst / rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundTimes:
    """When the packets of a file's first sound stream are heard.

    Parameters
    ----------
    codec : such as `flac`, `pcm_s16le`, `aac`
    sample_rate : Hz
    channels : 1 or more
    start : of the first sample that is not priming, in seconds
    stop : end of the last packet, in seconds
    hole : the longest time between the end of a packet and the start of the next, in seconds
    base : seconds per tick; times are no finer than this
    """

    codec: str
    sample_rate: int
    channels: int
    start: Fraction
    stop: Fraction
    hole: Fraction
    base: Fraction


def facts(path: Path) -> Facts:
    """What the container says.

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it
    """
    with opened(path) as container:
        return facts_of(path, container)


def times(path: Path) -> Times:
    """The times of all packets; nothing is decoded.

    Raises
    ------
    MediaError : as for `facts`; or a packet without a time
    """
    with opened(path) as container:
        stream = video(path, container)
        ticks = array("q", (p.pts for p in container.demux(stream) if p.size and p.pts is not None))
        return Times(ticks=array("q", sorted(ticks)), base=tick(stream))


def sound_times(path: Path) -> SoundTimes:
    """When the first sound stream's packets are heard; of them, only the first few are decoded.

    Raises
    ------
    MediaError : not a file that can be opened, or no sound in it
    """
    with opened(path) as container:
        if not container.streams.audio:
            raise MediaError(f"{path}: sound: none in this file")
        stream = container.streams.audio[0]
        heard, stop, hole = None, 0, 0
        for packet in container.demux(stream):
            if not packet.size or packet.pts is None:
                continue
            if heard is None:
                heard = _first_heard(packet)
            else:
                hole = max(hole, packet.pts - stop)
            stop = packet.pts + (packet.duration or 0)
        context, base = stream.codec_context, tick(stream)
        return SoundTimes(
            codec=context.name,
            sample_rate=context.sample_rate,
            channels=context.channels,
            start=heard or Fraction(0),
            stop=stop * base,
            hole=hole * base,
            base=base,
        )


def join(parts: Sequence[Path], rate: Fraction, into: Path) -> tuple[int, ...]:
    """Copy the packets of files, one after the other, into an .mp4 in which frame k is shown at k / rate.

    Parts must be coded alike and without reordering. Times are integers, written anew: nothing accumulates.

    Parameters
    ----------
    parts : files
    rate : frames per second

    Returns
    -------
    frames copied from each part

    Raises
    ------
    MediaError : a part cannot be read, or the film not be written
    """
    scale = timescale(rate)
    step = int(scale / rate)
    counts: list[int] = []
    with _writing(into, scale) as out:
        with opened(parts[0]) as template:
            stream = out.add_stream_from_template(video(parts[0], template))
        stream.time_base = Fraction(1, scale)
        for path in parts:
            counts.append(_copy(path, out, stream, sum(counts) * step, step))
    return tuple(counts)


def timescale(rate: Fraction) -> int:
    """Ticks per second in which every frame of `rate` lasts a whole number of ticks.

    24000 for 24 and for 24000/1001, as editors expect.
    """
    return rate.numerator if rate.denominator > 1 else rate.numerator * 1000


def _first_heard(packet: Packet[AudioStream]) -> Fraction | None:
    """When the first sample sounds that is not priming, which a decoder swallows; None for none in here."""
    import av

    try:
        frames = packet.decode()
    except av.error.InvalidDataError:  # whoever decodes the whole will say it
        return None
    for frame in frames:
        if frame.pts is not None and frame.time_base is not None:
            return frame.pts * frame.time_base
    return None


def _copy(path: Path, out: OutputContainer, stream: VideoStream, start: int, step: int) -> int:
    count = 0
    for packet in _packets(path):
        packet.stream, packet.time_base = stream, tick(stream)
        packet.pts = packet.dts = start + count * step
        packet.duration = step
        out.mux(packet)
        count += 1
    return count


def _packets(path: Path) -> Iterator[Packet[VideoStream]]:
    """In a generator, so that what fails while writing them is not said to be this file's fault."""
    with opened(path) as container:
        yield from (packet for packet in container.demux(video(path, container)) if packet.size)


@contextmanager
def opened(path: Path) -> Iterator[InputContainer]:
    """A film, open for reading; libav's complaints become `MediaError`."""
    import av

    try:
        with av.open(file(path)) as container:
            yield container
    except (av.error.FFmpegError, OSError) as exc:
        raise MediaError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


@contextmanager
def _writing(path: Path, scale: int) -> Iterator[OutputContainer]:
    import av

    options = {"fflags": "+bitexact", "video_track_timescale": str(scale), "movie_timescale": str(scale)}
    try:
        with av.open(file(path), "w", format="mp4", options=options) as container:
            yield container
    except (av.error.FFmpegError, OSError) as exc:
        raise MediaError(f"{path}: cannot be written: {exc.strerror or exc}") from exc


def _shown(container: InputContainer) -> list[VideoStream]:
    return [s for s in container.streams.video if not s.disposition & ATTACHED]


def video(path: Path, container: InputContainer) -> VideoStream:
    """The first video stream that is not cover art."""
    streams = _shown(container)
    if not streams:
        raise MediaError(f"{path}: picture: none in this file")
    return streams[0]


def tick(stream: VideoStream | AudioStream) -> Fraction:
    """Seconds per tick of a stream's times."""
    assert stream.time_base is not None
    return stream.time_base


def facts_of(path: Path, container: InputContainer) -> Facts:
    """What an open container says about itself."""
    stream = video(path, container)
    pictures, sounds = len(_shown(container)), len(container.streams.audio)
    context = stream.codec_context
    return Facts(
        pictures=pictures,
        sounds=sounds,
        others=len(container.streams) - pictures - sounds,
        size=(context.width, context.height),
        rate=stream.average_rate or Fraction(0),
        base=tick(stream),
        codec=context.name,
        head=bytes(context.extradata or b""),
        tags=dict(container.metadata),
    )
