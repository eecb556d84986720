"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Song = Annotated[
    Path,
    typer.Argument(help="The finished mix: anything ffmpeg decodes.", metavar="SONG", show_default=False),
]
Storyboard = Annotated[
    Path, typer.Argument(help="The storyboard, a YAML file.", metavar="STORYBOARD", show_default=False)
]
Shots = Annotated[
    list[str], typer.Argument(help="Shot numbers: 3 or 7-9.", metavar="SHOT...", show_default=False)
]
Shot = Annotated[int, typer.Argument(help="The number of a shot.", min=1, metavar="SHOT", show_default=False)]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        help="The project folder, if not STORYBOARD.mvpipe beside the storyboard.",
        metavar="DIR",
    ),
]
ProjectFolder = Annotated[
    Path | None,
    typer.Option("--project", help="The project folder; the only *.mvpipe here unless said.", metavar="DIR"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes; errors only.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another mvpipe works in the project.")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="animatic, comfyui, or a server such as http://host:8188; overrides the storyboard.",
        envvar="MVPIPE_BACKEND",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="auto, htdemucs, htdemucs_ft, spleeter, or a local model's name; overrides the storyboard.",
        envvar="MVPIPE_SEPARATOR",
    ),
]
Vocals = Annotated[
    Path | None, typer.Option("--vocals", help="Your own vocal stem, as long as the song.", metavar="FILE")
]
DemucsRepo = Annotated[
    Path | None,
    typer.Option(
        "--demucs-repo", help="A folder of Demucs models.", metavar="DIR", envvar="MVPIPE_DEMUCS_REPO"
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="Where model weights are kept for this user.", metavar="DIR", envvar="MVPIPE_CACHE"
    ),
]
Device = Annotated[
    str, typer.Option("--device", help="Where networks run: auto, cpu, cuda, ...", envvar="MVPIPE_DEVICE")
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", help="Takes and checks at once; 0: as many as cores, at most 4.", envvar="MVPIPE_WORKERS"
    ),
]
