"""Films that are given as references: what they are, and the same film as a model counts it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from mvpipe.errors import MediaError, ToolError
from mvpipe.tools import process
from mvpipe.tools.compile import Options, filtered
from mvpipe.tools.encode import IN_STEP, THREADS
from mvpipe.tools.ffmpeg import file
from mvpipe.tools.picture import opened, tick, video

WIDE_LIGHT = {16: "PQ", 18: "HLG"}
"""Transfer curves of HDR (ISO/IEC 23091-2, table 3)."""

QUALITY = 14
"""Of x264: 45 dB and more on filmed references, which then cost no more than a picture a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footage:
    """A film as it is seen.

    Parameters
    ----------
    size : (width, height) in square pixels, the right way up
    seconds : from its first picture to the end of its last
    rate : pictures a second on average
    hdr : the curve of a film of more light than a screen shows, `PQ` or `HLG`, else empty
    """

    size: tuple[int, int]
    seconds: Fraction
    rate: Fraction
    hdr: str


def look(path: Path) -> Footage:
    """What a film is; only its first picture is decoded.

    Raises
    ------
    MediaError : not a film, or its first picture cannot be decoded
    """
    import av

    with opened(path) as container:
        stream = video(path, container)
        packets = [(p.pts, p.duration or 0) for p in container.demux(stream) if p.size and p.pts is not None]
        container.seek(0)
        try:
            frame = next(container.decode(stream), None)
        except av.error.FFmpegError as exc:
            raise MediaError(f"{path}: cannot be decoded: {exc.strerror or exc}") from exc
        if frame is None or not packets:
            raise MediaError(f"{path}: not one picture in it")
        first, (last, lasts) = min(packets)[0], max(packets)
        seconds = (last - first + lasts) * tick(stream)
        wide = round(frame.width * (stream.sample_aspect_ratio or 1))
        size = (frame.height, wide) if frame.rotation % 180 else (wide, frame.height)
        rate = len(packets) / seconds if seconds else Fraction(0)
        return Footage(size=size, seconds=seconds, rate=rate, hdr=WIDE_LIGHT.get(int(frame.color_trc), ""))


def recoded(path: Path, *, size: tuple[int, int], rate: int, most: int) -> bytes:
    """The film without its sound, as an .mp4 that every decoder shows in the same colours.

    A picture is shown at its own time: where the film has another rate, some come twice or not at all. The
    colours are those of BT.601, which is also what is taken where a decoder does not ask.

    Parameters
    ----------
    size : (width, height) in pixels, both even
    rate : pictures a second
    most : pictures that are kept, from the first

    Raises
    ------
    MediaError : something in it cannot be decoded
    """
    filters: list[tuple[str, Options]] = [
        ("setpts", {"expr": "PTS-STARTPTS"}),
        ("fps", {"fps": rate}),
        ("scale", {"width": size[0], "height": size[1], "flags": "lanczos", "out_color_matrix": "bt601"}),
        ("setsar", {"sar": 1}),
        ("format", {"pix_fmts": "yuv420p"}),
    ]
    with TemporaryDirectory() as folder:
        into = Path(folder) / "reference.mp4"
        options: Options = {
            "vframes": most,
            "an": None,
            "vcodec": "libx264",
            "preset": "veryfast",
            "crf": QUALITY,
            "threads": THREADS,
            "x264-params": IN_STEP,
            "colorspace": "smpte170m",
            "color_range": "tv",
            "map_metadata": -1,
            "fflags": "+bitexact",
            "flags:v": "+bitexact",
            "xerror": None,
        }
        argv = filtered(file(path), file(into), filters, before={"err_detect": "explode"}, options=options)
        try:
            process.run(argv)
        except ToolError as exc:
            raise MediaError(f"{path}: cannot be decoded whole: {exc}") from exc
        return into.read_bytes()
