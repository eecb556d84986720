"""`mvpipe init`: listen to a song and write a storyboard to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options
from mvpipe.wording import counted


def init(
    song: options.Song,
    lyrics: Annotated[
        Path | None, typer.Option("--lyrics", help="The words: .lrc, .srt, .vtt or .txt.", metavar="FILE")
    ] = None,
    cast: Annotated[
        list[str] | None,
        typer.Option("--cast", help="Somebody who is seen; the first sings.", metavar="NAME[=PICTURE]"),
    ] = None,
    style: Annotated[
        str, typer.Option("--style", help="Begin from a style: ballad, rap, band, lyric-video, ...")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write, if not SONG.yaml here.", metavar="FILE")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Title of the film, if not the song's name.")] = "",
    separator: options.Separator = None,
    vocals: options.Vocals = None,
    demucs_repo: options.DemucsRepo = None,
    cache: options.Cache = None,
    device: options.Device = "auto",
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> None:
    """Listen to a song and write a storyboard worth editing.

    Sections are named and timed, the words stand where they are sung, every cut has a shot. Nothing is
    ever overwritten.
    """
    from mvpipe import pipeline
    from mvpipe.beginning import compose
    from mvpipe.cli import session, starting
    from mvpipe.cli.settings import default_cache
    from mvpipe.parts import named
    from mvpipe.request import Request
    from mvpipe.storyboard.load import parse
    from mvpipe.storyboard.lyrics import read_lyrics

    session.find_song(song)
    target = starting.target(song, out)
    brief = starting.brief(
        song, target, lyrics=lyrics, cast=cast or [], style=style, title=title, vocals=vocals
    )

    def request(text: str) -> Request:
        return Request(
            song=song,
            loaded=parse(text, target),
            separator=separator,
            vocals=vocals,
            demucs_repo=demucs_repo,
            cache=cache or default_cache(),
            device=device,
        )

    first = request(starting.bare(brief))
    with session.work_in(session.project_folder(target, None), quiet=quiet, wait=wait) as work:
        with work.watcher() as watcher:
            heard = pipeline.hear(work.project, first, watcher)
        found = named(heard.plan)
        text = compose(heard.plan, brief, found, read_lyrics(lyrics) if lyrics else ())
        pipeline.prepare(work.project, request(text), pipeline.Watcher())
        starting.write(target, text, schema=work.project.folder)
        shots = len(heard.plan.shots)
        work.terminal.result(f"{target}: {counted(len(found), 'section')}, {counted(shots, 'shot')}")
        for note in heard.plan.notes:
            if not note.startswith(str(target)):
                work.terminal.warn(note)
        for line in starting.next_steps(song, target, separator=separator, repo=demucs_repo):
            work.terminal.note(line)
