"""`mvpipe prompt`: the exact words a shot is rendered from."""

from __future__ import annotations

from mvpipe.cli import options


def prompt(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Show the exact prompt of a shot for H3.

    And what was decided on the way: pictures left out, a camera move that was added, words that were refused.
    """
    from dataclasses import replace
    from pathlib import Path

    from mvpipe import pipeline
    from mvpipe.backends import COMFYUI, kind_of
    from mvpipe.cli import session
    from mvpipe.errors import SettingsError
    from mvpipe.project import find_folder
    from mvpipe.render.comfyui.backend import ComfyUI

    folder = project or find_folder(Path.cwd())
    ask = session.recall(folder)
    if kind_of(ask) != COMFYUI:
        ask = replace(ask, backend=COMFYUI)
    with session.work_in(folder, quiet=True, wait=wait) as work, work.watcher() as watcher:
        ready = pipeline.prepare(work.project, ask, watcher, keep=False)
        setups = pipeline.setups(work.project, ready, watcher)
        if shot > len(setups):
            raise SettingsError(f"shot {shot}: not in the plan: it has shots 1 to {len(setups)}")
        backend = ready.backend
        assert isinstance(backend, ComfyUI)
        text, notes = backend.prompt(setups[shot - 1]), backend.notes(setups[shot - 1])
        if json:
            work.terminal.json({"shot": shot, "prompt": text, "notes": list(notes)})
            return
        work.terminal.result(text)
        for note in notes:
            work.terminal.warn(note)
