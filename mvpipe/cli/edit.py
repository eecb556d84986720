"""`mvpipe edit`: the storyboard changed by what a director would say, its comments and order kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from mvpipe.editing import Desk, Edited, Wish
    from mvpipe.recut import Recut

app = typer.Typer(
    help="Change the storyboard by what a director would say; comments, order and quotes are kept.\n\n"
    "Works on the storyboard that was last planned or rendered here. Each command prints what changes in "
    "the file and which shots it would render again; --dry-run stops there, `edit undo` takes it back.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would change; change nothing.")]
Moment = Annotated[
    str, typer.Argument(help="A time of the song: 41.2, 0:41.2.", metavar="TIME", show_default=False)
]
Words = Annotated[str, typer.Argument(help="The new words.", metavar="TEXT", show_default=False)]
Everywhere = Annotated[
    bool,
    typer.Option("--everywhere", help="Also where the same description comes round again in its section."),
]


@app.command()
def move(
    shot: options.Shot,
    to: Moment,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Move the cut a shot begins with."""
    from mvpipe import recut

    when = _time(to)
    _recut(lambda desk: recut.move(desk.loaded, desk.heard.plan, desk.shot(shot), when), **_with(locals()))


@app.command()
def split(
    shot: options.Shot,
    at: Moment,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Cut a shot in two."""
    from mvpipe import recut

    when = _time(at)
    _recut(lambda desk: recut.split(desk.loaded, desk.heard.plan, desk.shot(shot), when), **_with(locals()))


@app.command()
def merge(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Make one of a shot and the one behind it."""
    from mvpipe import recut

    _recut(lambda desk: recut.merge(desk.loaded, desk.heard.plan, desk.shot(shot)), **_with(locals()))


@app.command()
def pin(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Keep the cut a shot begins with where it is."""
    from mvpipe import recut

    _recut(lambda desk: recut.pin(desk.loaded, desk.heard.plan, desk.shot(shot)), **_with(locals()))


@app.command()
def unpin(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Let the cut a shot begins with fall where it is best."""
    from mvpipe import recut
    from mvpipe.editing import described

    _edit(
        lambda desk: described(desk, recut.unpin(desk.loaded, desk.heard.plan, desk.shot(shot))),
        **_with(locals()),
    )


@app.command()
def mute(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Let nobody sing in a shot: it becomes b-roll, its mouths stay shut."""
    from mvpipe import redress

    _dress(lambda desk: {shot: redress.muted(desk.heard, desk.shot(shot))}, everywhere, **_with(locals()))


@app.command()
def unmute(
    shot: options.Shot,
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Let a shot be a performance again."""
    from mvpipe import redress

    _dress(lambda desk: {shot: redress.unmuted(desk.heard, desk.shot(shot))}, everywhere, **_with(locals()))


@app.command()
def prompt(
    shot: options.Shot,
    text: Words,
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Say anew what is seen in a shot."""
    _dress(lambda desk: {desk.shot(shot): {"prompt": text}}, everywhere, **_with(locals()))


@app.command()
def framing(
    shot: options.Shot,
    text: Words,
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Say how near and from where a shot is seen."""
    _dress(lambda desk: {desk.shot(shot): {"framing": text}}, everywhere, **_with(locals()))


@app.command()
def place(
    shot: options.Shot,
    name: Annotated[str, typer.Argument(help="The name of a place.", show_default=False)],
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Let a shot play in another place."""
    _dress(lambda desk: {desk.shot(shot): {"place": name}}, everywhere, **_with(locals()))


@app.command()
def cast(
    shot: options.Shot,
    names: Annotated[
        list[str], typer.Argument(help="Who is seen in it.", metavar="NAME...", show_default=False)
    ],
    project: options.ProjectFolder = None,
    everywhere: Everywhere = False,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Say who is seen in a shot."""
    _dress(lambda desk: {desk.shot(shot): {"cast": names}}, everywhere, **_with(locals()))


@app.command()
def swap(
    old: Annotated[str, typer.Argument(help="Who goes.", metavar="NAME", show_default=False)],
    new: Annotated[str, typer.Argument(help="Who comes.", metavar="NAME", show_default=False)],
    shots: Annotated[
        list[str] | None, typer.Option("--in", help="Only in these shots: 3 or 7-9.", metavar="SHOTS")
    ] = None,
    project: options.ProjectFolder = None,
    dry_run: DryRun = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Let another one take somebody's place, in the cast and by name in the prompts."""
    from mvpipe.cli import session
    from mvpipe.editing import described
    from mvpipe.redress import swapped

    only = session.numbers(shots or [])
    _edit(
        lambda desk: described(
            desk, swapped(desk.loaded, desk.heard, old, new, [desk.shot(number) for number in only])
        ),
        **_with(locals()),
    )


@app.command()
def undo(
    project: options.ProjectFolder = None,
    wait: options.Wait = False,
) -> None:
    """Take the last edit back."""
    from pathlib import Path

    from mvpipe.cli import session
    from mvpipe.editing import undo as take_back
    from mvpipe.project import find_folder
    from mvpipe.request import load_request

    folder = project or find_folder(Path.cwd())
    with session.work_in(folder, quiet=True, wait=wait) as work:
        path = take_back(work.project, load_request(folder).storyboard)
        work.terminal.result(f"{path}: as it was before the last edit")


def _time(text: str) -> Fraction:
    from mvpipe.errors import SettingsError
    from mvpipe.storyboard import scalars

    try:
        return scalars.time(text)
    except scalars.Wrong as exc:
        raise SettingsError(str(exc), hint=exc.hint) from exc


def _with(given: dict[str, Any]) -> dict[str, Any]:
    """The options every command has, from a command's own."""
    return {name: given[name] for name in ("project", "dry_run", "wait", "json")}


def _recut(wish: Callable[[Desk], Recut], **given: Any) -> None:
    from mvpipe.editing import recut

    _edit(lambda desk: recut(desk, wish(desk)), **given)


def _dress(wish: Callable[[Desk], dict[int, Any]], everywhere: bool, **given: Any) -> None:
    from mvpipe.editing import described
    from mvpipe.redress import dress

    def make(desk: Desk) -> Edited:
        return described(desk, dress(desk.loaded, desk.heard, wish(desk), everywhere=everywhere))

    _edit(make, **given)


def _edit(wish: Wish, *, project: Any, dry_run: bool, wait: bool, json: bool) -> None:
    """Make an edit, show it, say what it would render again, and put it in place."""
    from pathlib import Path

    from mvpipe import editing
    from mvpipe.cli import session, showing
    from mvpipe.project import find_folder

    folder = project or find_folder(Path.cwd())
    with session.work_in(folder, quiet=True, wait=wait) as work, work.watcher() as watcher:
        desk = editing.open_desk(work.project, session.recall(folder), watcher)
        showing.edit(work, desk, wish(desk), watcher, apply=not dry_run, json=json)
