"""Argument lists for runs with a filter graph. ffmpeg-python writes the graph; nothing else of it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mvpipe.tools.ffmpeg import quiet

Options = Mapping[str, str | int | None]
"""Option or filter argument -> value, as ffmpeg names them; None where an option takes no value."""


def filtered(
    source: str,
    into: str,
    filters: Sequence[tuple[str, Options]],
    *,
    select: str = "V:0",
    before: Options | None = None,
    options: Options,
) -> list[str]:
    """The argument list that sends one stream of `source` through `filters` into one file.

    Parameters
    ----------
    source, into : as ffmpeg takes them: `ffmpeg.file(path)` or `pipe:0`; what is there is written over
    filters : (name, arguments) in order; special characters in the arguments are escaped here
    select : the stream; `V` is a video stream that is not an attached picture
    before : options of the input
    options : options of the output
    """
    import ffmpeg

    stream = ffmpeg.input(source, **(before or {}))[select]
    for name, arguments in filters:
        stream = stream.filter(name, **arguments)
    return quiet(*ffmpeg.get_args(ffmpeg.output(stream, into, **options), overwrite_output=True))
