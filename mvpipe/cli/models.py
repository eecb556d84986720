"""`mvpipe models`: the networks mvpipe can use, where their files are, and under which licence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.sound.weights import Known

app = typer.Typer(
    help="List and fetch the networks mvpipe can use.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_models(
    cache: options.Cache = None, demucs_repo: options.DemucsRepo = None, json: options.Json = False
) -> None:
    """List the networks: what each is for, its licence, and whether its files are here and whole."""
    from mvpipe.cli.settings import default_cache
    from mvpipe.cli.terminal import Terminal
    from mvpipe.sound import weights

    terminal = Terminal()
    found = weights.known(cache or default_cache(), repo=demucs_repo)
    if json:
        terminal.json([_as_json(known) for known in found])
        return
    for known in found:
        terminal.result(f"{known.name}: {'here' if known.present else 'not here'}: {known.what}")
        terminal.result(f"  licence: {known.licence}")
        for path in known.files:
            terminal.result(f"  {path}  sha256 {known.sha256[path.name][:12]}")


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="A name from the list, such as htdemucs.", show_default=False)],
    cache: options.Cache = None,
) -> None:
    """Download a network's files once into the cache, and check them by hash."""
    from mvpipe.cli.settings import default_cache
    from mvpipe.cli.terminal import Terminal
    from mvpipe.sound import weights

    terminal = Terminal()
    with terminal.console.status(f"fetching {name}"):
        bag = weights.fetch(name, cache or default_cache(), say=terminal.note)
    for member in bag.members:
        terminal.result(str(member.path))


def _as_json(known: Known) -> dict[str, object]:
    from dataclasses import asdict

    paths = {"files": [str(path) for path in known.files], "looked": [str(path) for path in known.looked]}
    return {**asdict(known), "present": known.present, **paths}
