"""Find ffmpeg, and build the argument lists that run it. Builders are pure; `process.run` executes them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mvpipe.errors import ToolMissing


@cache
def executable() -> str:
    """The ffmpeg that comes with the install (imageio-ffmpeg's wheel), so that every machine decodes alike.

    `IMAGEIO_FFMPEG_EXE` names another one.

    Raises
    ------
    ToolMissing : the wheel holds none for this platform
    """
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as exc:
        raise ToolMissing(
            "ffmpeg: not found: the imageio-ffmpeg wheel for this platform holds none",
            hint="install an ffmpeg and name it in IMAGEIO_FFMPEG_EXE",
        ) from exc


def quiet(*arguments: str) -> list[str]:
    """An argument list that reads nothing from the terminal and reports errors only."""
    return [executable(), "-nostdin", "-hide_banner", "-v", "error", *arguments]


def file(path: Path) -> str:
    """A path as ffmpeg takes it: colons, dashes and percent signs in it stay what they are."""
    return f"file:{path}"
