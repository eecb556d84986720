"""The plan as a page: where it is written, what can be heard on it, and the browser that shows it."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mvpipe.errors import SettingsError
from mvpipe.project import Project, write_atomically

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mvpipe.cli.session import Session
    from mvpipe.cutting import Heard
    from mvpipe.editing import Desk, Edited
    from mvpipe.page import Sound
    from mvpipe.pipeline import Watcher

LISTENED_AT = 24_000
"""Hz of the copies on the page: enough to judge a cut, and MP3 keeps it small."""

BITRATES = ((900, 56), (2400, 40))
"""(seconds of song up to which, kbit/s); longer ones get 24. An hour of song and voice stays under 30 MB."""


def pages(project: Project, html: Path | None, *, open_page: bool) -> list[Path]:
    """The files to write; the one to open comes first.

    Raises
    ------
    SettingsError : the folder of a named file is not there
    """
    if html and not html.absolute().parent.is_dir():
        raise SettingsError(f"--html {html}: no such folder", hint="make it first")
    own = [project.report / "plan.html"] if open_page else []
    return [*own, *([html] if html else [])]


def write(pages: Sequence[Path], heard: Heard) -> None:
    """Write the page.

    Raises
    ------
    VaultError : it cannot be written
    """
    from mvpipe.page import page

    text = page(heard, _sound(heard))
    for path in pages:
        write_atomically(path, text)


def opened(page: Path) -> bool:
    """Whether a browser took the page."""
    try:
        return webbrowser.open(page.absolute().as_uri())
    except webbrowser.Error:
        return False


def edit(work: Session, desk: Desk, edited: Edited, watcher: Watcher, *, apply: bool, json: bool) -> None:
    """Show a change of the storyboard and what it would render again; put it in place if that is wanted."""
    from mvpipe import editing, pipeline
    from mvpipe.cli import tables

    changes = editing.diff(desk, edited)
    ready = pipeline.prepare(work.project, edited.request, watcher, keep=False)
    foreseen = pipeline.foresee(work.project, ready, watcher)
    if apply and changes:
        editing.keep(desk, edited)
        pipeline.prepare(work.project, edited.request, watcher)
    if json:
        shots = [change.as_json() for change in foreseen]
        work.terminal.json({"result": "done" if apply else "dry run", "diff": changes, "shots": shots})
        return
    made = ready.production.plan
    work.terminal.result(changes or "nothing changes")
    work.terminal.result(tables.changes(made, foreseen))
    for note in made.notes:
        if note.startswith(str(desk.loaded.path)):
            work.terminal.warn(note)
    if apply and changes:
        work.terminal.result("to take it back: mvpipe edit undo")


def _sound(heard: Heard) -> Sound:
    """Small copies of song and voice."""
    from mvpipe.page import Sound
    from mvpipe.production import STEM
    from mvpipe.sound import read, wav
    from mvpipe.sound.resample import length_at, resample

    song = heard.plan.song
    stem = wav.blocks(heard.entries["vocals"].path(STEM), mono=True)
    voice = resample(
        (piece[:, None] for piece in stem),
        song.sample_rate,
        LISTENED_AT,
        samples=length_at(song.samples, song.sample_rate, LISTENED_AT),
        channels=1,
    )
    kbps = next((rate for most, rate in BITRATES if song.seconds <= most), 24)
    mix = read.blocks(song, channels=1, sample_rate=LISTENED_AT)
    return Sound(song=_copy(mix, kbps), voice=_copy(voice, kbps))


def _copy(pieces: Iterable[NDArray[np.float32]], kbps: int) -> bytes:
    from mvpipe.tools.encode import listening_copy

    with TemporaryDirectory() as folder:
        path = Path(folder) / "copy.mp3"
        listening_copy(path, pieces, sample_rate=LISTENED_AT, kbps=kbps)
        return path.read_bytes()
