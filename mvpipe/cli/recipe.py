"""`mvpipe recipe`: what to install and how to start it, by kind of machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options

app = typer.Typer(
    help="Files, flags and settings for a kind of machine.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(help="A recipe from the list.", metavar="RECIPE", show_default=False)]


@app.command("list")
def list_recipes(json: options.Json = False) -> None:
    """List the recipes."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.recipes import known_recipes

    terminal = Terminal()
    if json:
        terminal.json({name: recipe.title for name, recipe in known_recipes().items()})
        return
    for name, recipe in known_recipes().items():
        terminal.result(f"{name}: {recipe.title}")


@app.command("show")
def show_recipe(name: Name, json: options.Json = False) -> None:
    """Show a recipe: files with sizes and folders, flags, nodes, settings, what was never proved."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.recipes import find_recipe

    terminal, recipe = Terminal(), find_recipe(name)
    if json:
        terminal.json(recipe.model_dump(mode="json"))
    else:
        terminal.result(recipe.text(name))


@app.command("use")
def use_recipe(
    name: Name,
    storyboard: Annotated[
        Path | None,
        typer.Argument(help="A storyboard to write it into.", metavar="[STORYBOARD]", show_default=False),
    ] = None,
) -> None:
    """Print a recipe's line for a storyboard, or write it into one; nothing else in it is changed."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.doctor.recipes import find_recipe, render_line
    from mvpipe.doctor.use import with_settings
    from mvpipe.errors import SettingsError

    terminal, recipe = Terminal(), find_recipe(name)
    if storyboard is None:
        terminal.result(render_line(name))
        return
    try:
        text = storyboard.read_bytes().decode("utf-8")
        _replace(storyboard, with_settings(text, recipe.settings()))
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"{storyboard}: cannot be edited: {exc}") from exc
    terminal.result(f"{storyboard}: {render_line(name)}")
    if recipe.files:
        terminal.note(f"its figures are for {recipe.size}: see picture.size; mvpipe doctor {storyboard} next")


def _replace(storyboard: Path, text: str) -> None:
    """Put a text in a storyboard's place, if it is one.

    Raises
    ------
    SettingsError : it is none; the storyboard is left as it was
    """
    from mvpipe.errors import MvpipeError, SettingsError
    from mvpipe.storyboard.load import load

    scratch = storyboard.with_name(f".{storyboard.stem}.new{storyboard.suffix}")
    try:
        scratch.write_bytes(text.encode("utf-8"))
        load(scratch)
        scratch.replace(storyboard)
    except MvpipeError as exc:
        said = str(exc).replace(scratch.name, storyboard.name)
        raise SettingsError(
            f"{storyboard}: left as it was, for with the recipe it is no storyboard: {said}"
        ) from exc
    finally:
        scratch.unlink(missing_ok=True)
