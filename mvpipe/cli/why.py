"""`mvpipe why`: why a shot would be rendered again, or would not."""

from __future__ import annotations

from mvpipe.cli import options


def why(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Say why a shot would be rendered again.

    Or why it would be kept: what has changed since its take, a line a field.
    """
    from pathlib import Path

    from mvpipe import pipeline
    from mvpipe.cli import session
    from mvpipe.project import find_folder

    folder = project or find_folder(Path.cwd())
    ask = session.recall(folder)
    with session.work_in(folder, quiet=True, wait=wait) as work, work.watcher() as watcher:
        ready = pipeline.prepare(work.project, ask, watcher)
        found = pipeline.foresee(work.project, ready, watcher)
        session.check_shots([shot], ready.production.plan.shots)
        change = found[shot - 1]
        if json:
            work.terminal.json(change.as_json())
        else:
            what = "would be rendered" if change.render else "would be kept"
            work.terminal.result("\n".join([f"shot {shot} {what}", *(f"  {line}" for line in change.why)]))
