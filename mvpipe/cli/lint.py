"""`mvpipe lint`: read a storyboard and say what is wrong or odd."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.cli.terminal import Terminal
    from mvpipe.storyboard.load import Loaded

POLL_S = 0.3
"""Seconds between looks at the files; a save is answered before the eye is back from the keyboard."""


def lint(
    storyboard: options.Storyboard,
    song: Annotated[
        Path | None, typer.Option("--song", help="Check the times against this song too.", metavar="FILE")
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Check again whenever it, or a file it names, is saved."),
    ] = False,
) -> None:
    """Check a storyboard; one for ComfyUI down to the graph, the prompts and the references of every shot.

    Errors end with exit code 2; oddities are listed. With --watch it goes on until Ctrl-C.
    """
    from mvpipe.cli.terminal import Terminal

    terminal, seconds = Terminal(), None
    if song:
        from mvpipe.sound.read import measure

        seconds = measure(song)[0].seconds
    if watch:
        _watch(terminal, storyboard, seconds)
    else:
        _once(terminal, storyboard, seconds)


def _once(terminal: Terminal, storyboard: Path, seconds: Fraction | None) -> Loaded:
    from mvpipe.storyboard.check import check, lint
    from mvpipe.storyboard.load import load
    from mvpipe.storyboard.lyrics import read_lyrics
    from mvpipe.storyboard.tying import check_lyrics

    loaded = load(storyboard)
    check(loaded, seconds)
    if loaded.lyrics:
        check_lyrics(loaded, read_lyrics(loaded.lyrics))
    if loaded.storyboard.render.backend == "comfyui":
        from mvpipe.doctor.wanted import want_film

        want_film(loaded)
    else:
        _check_pictures(loaded)
    notes = lint(loaded)
    for note in notes:
        terminal.result(str(note))
    terminal.note(
        f"{storyboard}: {counted(len(notes), 'note')}" if notes else f"{storyboard}: nothing to note"
    )
    return loaded


def _check_pictures(loaded: Loaded) -> None:
    """Whether the animatic can draw every picture.

    Raises
    ------
    StoryboardError : it cannot, and where it is named
    """
    from mvpipe.errors import StoryboardError
    from mvpipe.render.animatic.pillow import check_picture

    named = [("cast", name, one.pictures) for name, one in loaded.cast.items()]
    named += [("places", name, one.pictures) for name, one in loaded.places.items()]
    wrong = []
    for kind, name, pictures in named:
        for at, path in enumerate(pictures):
            try:
                check_picture(path)
            except StoryboardError as exc:
                wrong.append(loaded.problem((kind, name, "pictures", at), str(exc), exc.hint))
    if wrong:
        raise loaded.fail(*wrong)


def _watch(terminal: Terminal, storyboard: Path, seconds: Fraction | None) -> None:
    """Check after every save, until stopped; what is wrong is said and waited out."""
    import sys

    from mvpipe.errors import Cancelled, SettingsError, StoryboardError

    named: set[Path] = set()
    try:
        for _ in _saves(storyboard, named):
            terminal.note(f"-- {time.strftime('%H:%M:%S')}")
            try:
                named |= set(_named(_once(terminal, storyboard, seconds)))
            except (StoryboardError, SettingsError) as exc:
                terminal.error(str(exc), exc.hint)
            sys.stdout.flush()
    except Cancelled:
        terminal.note(f"{storyboard}: no longer watched")


def _saves(storyboard: Path, named: set[Path]) -> Iterator[None]:
    """Once at the beginning, and again after every change of the storyboard or the files it named."""
    before: dict[Path, tuple[int, int] | None] = {}
    while True:
        now = {path: _state(path) for path in (storyboard, *named)}
        there = now[storyboard] is not None  # an editor that saves by renaming takes it away for a moment
        if there and now != before:
            before = now
            yield
            before = {path: _state(path) if path not in now else now[path] for path in (storyboard, *named)}
        time.sleep(POLL_S)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _named(loaded: Loaded) -> Iterator[Path]:
    yield from (path for path in (loaded.lyrics, loaded.vocals) if path)
    for member in loaded.cast.values():
        yield from (*member.pictures, *member.videos, *filter(None, [member.voice]))
    for place in loaded.places.values():
        yield from (*place.pictures, *place.videos)
