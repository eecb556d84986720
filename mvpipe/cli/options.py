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
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes; errors and warnings only.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another mvpipe works in the project.")]
Force = Annotated[
    bool, typer.Option("--force", help="Render though the doctor's checks fail; the report says so.")
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        help="A server such as http://host:8188, or the name of one in settings.toml.",
        envvar="MVPIPE_BACKEND",
    ),
]
Backends = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        help="animatic, comfyui, a server such as http://host:8188, the name of one in settings.toml, or all "
        "of these; more than once for several servers.",
        envvar="MVPIPE_BACKEND",
        metavar="BACKEND",
    ),
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        help="'Name: value', sent with every request; better in MVPIPE_HEADERS or settings.toml.",
        metavar="HEADER",
    ),
]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--authority",
        help="PEM file of who signed the server's certificate.",
        metavar="FILE",
        envvar="MVPIPE_AUTHORITY",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="A Dask scheduler such as tcp://host:8786, whose workers do the work.",
        metavar="ADDRESS",
        envvar="MVPIPE_CLUSTER",
    ),
]
SharedVault = Annotated[
    str | None,
    typer.Option(
        "--vault",
        help="Where machines share finished work: a path, or a store such as s3://bucket/films.",
        metavar="URL",
        envvar="MVPIPE_VAULT",
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
Until = Annotated[
    str,
    typer.Option("--until", help="Begin no take that would not end by then.", metavar="HH:MM"),
]
MaxHours = Annotated[
    float | None, typer.Option("--max-hours", help="The same, so many hours from now.", metavar="HOURS")
]
MaxTakes = Annotated[
    int | None, typer.Option("--max-takes", help="At most so many takes are begun.", metavar="N")
]
PreviewFirst = Annotated[
    int,
    typer.Option(
        "--preview-first",
        help="So many shots first, spread over the song, as far as that costs little.",
        min=0,
        metavar="N",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", help="Takes and checks at once; 0: as many as cores, at most 4.", envvar="MVPIPE_WORKERS"
    ),
]
