"""The command line: one thin file a command. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from mvpipe import __version__
from mvpipe.cli import (
    account,
    calibrate,
    check,
    doctor,
    draft,
    edit,
    explain,
    gate,
    graph,
    init,
    lint,
    models,
    pick,
    plan,
    prompt,
    recipe,
    render,
    rerender,
    schema,
    status,
    stop,
    takes,
    verify,
    why,
)
from mvpipe.errors import Cancelled, MvpipeError

app = typer.Typer(
    name="mvpipe",
    help="A song and a storyboard become a finished, proved music video.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing boxes around the help costs a third of its time
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    init,
    draft,
    render,
    plan,
    doctor,
    explain,
    rerender,
    status,
    account,
    stop,
    why,
    takes,
    pick,
    prompt,
    check,
    calibrate,
    gate,
    verify,
    lint,
    schema,
):
    name = command.__name__.rpartition(".")[2]
    app.command(name, cls=getattr(command, "Spread", None))(getattr(command, name))
app.add_typer(edit.app, name="edit")
app.add_typer(graph.app, name="graph")
app.add_typer(models.app, name="models")
app.add_typer(recipe.app, name="recipe")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"mvpipe {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A song and a storyboard become a finished, proved music video."""


def _stop(signum: int, frame: object) -> None:
    raise Cancelled


def main() -> None:
    """Run the command line; every failure becomes words and an exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)  # typer would end on a KeyboardInterrupt without a word
    from mvpipe.cli.settings import load_defaults
    from mvpipe.cli.terminal import Terminal

    try:
        app(default_map=load_defaults())
    except MvpipeError as exc:
        Terminal.current().error(str(exc), exc.hint)
        sys.exit(exc.exit_code)
    except Cancelled as exc:
        Terminal.current().stopped(exc.args)
        sys.exit(Cancelled.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe left early; there is nobody to tell
        sys.exit(0)
