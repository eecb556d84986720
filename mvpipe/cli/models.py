"""`mvpipe models`: the networks mvpipe can use, their terms, their files, and how they come here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.networks import Network

app = typer.Typer(
    help="List, fetch, import and verify the networks mvpipe can use.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="A name from the list.", metavar="NAME", show_default=False)]
Names = Annotated[
    list[str] | None,
    typer.Argument(help="Names from the list; all without.", metavar="[NAME...]", show_default=False),
]


@app.command("list")
def list_models(
    cache: options.Cache = None, demucs_repo: options.DemucsRepo = None, json: options.Json = False
) -> None:
    """List the networks: what each is for, its licence, and whether its files are here and whole."""
    from mvpipe.cli.terminal import Terminal

    terminal = Terminal()
    found = _chosen(None, cache, demucs_repo)
    if json:
        terminal.json([one.as_json() for one in found])
        return
    for one in found:
        terminal.result(f"{one.name}: {one.state}: {one.what}")
        terminal.result(f"  licence: {one.licence}")
        if not one.files:
            terminal.result(f"  to have it: {_how(one)}")
        for path in one.files:
            terminal.result(f"  {path}  sha256 {one.sha256.get(path.name, '?')[:12]}")
        if one.fault:
            terminal.result(f"  {one.fault}")


@app.command("fetch")
def fetch(name: Name, cache: options.Cache = None) -> None:
    """Download a network's files once into the cache, and check them by hash."""
    from mvpipe import networks
    from mvpipe.cli.settings import default_cache
    from mvpipe.cli.terminal import Terminal

    terminal = Terminal()
    with terminal.console.status(f"fetching {name}"):
        paths = networks.fetch(name, cache or default_cache(), say=terminal.note)
    for path in paths:
        terminal.result(str(path))


@app.command("import")
def bring(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            help="SyncNet's syncnet_v2.model, or a folder with a Demucs model.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    cache: options.Cache = None,
) -> None:
    """Take over files you have: checked by size and hash, opened without running anything in them."""
    from mvpipe import networks
    from mvpipe.cli.settings import default_cache
    from mvpipe.cli.terminal import Terminal

    terminal, home = Terminal(), cache or default_cache()
    for path in networks.bring(name, file, home):
        terminal.result(str(path))
    terminal.note(f"its terms: {networks.find(name, home).licence}")


@app.command("verify")
def verify(
    names: Names = None,
    cache: options.Cache = None,
    demucs_repo: options.DemucsRepo = None,
    json: options.Json = False,
) -> None:
    """Hash the files that are here, and hold them against what they should be.

    Exit code 5 says that one is damaged, or that one you named is not here.
    """
    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import ToolError

    terminal = Terminal()
    found = _chosen(names, cache, demucs_repo)
    if json:
        terminal.json([one.as_json() for one in found])
    else:
        for one in found:
            terminal.result(f"{one.name}: {one.state}{f': {one.fault}' if one.fault else ''}")
    bad = [one for one in found if one.state == "damaged" or (names and one.state == "not here")]
    if bad:
        said = "; ".join(f"{one.name} is {one.state}" for one in bad)
        raise ToolError(f"models: {said}", hint=_how(bad[0]))


@app.command("licence")
def licence(names: Names = None, cache: options.Cache = None, demucs_repo: options.DemucsRepo = None) -> None:
    """Print the terms of every network, and where it comes from."""
    from mvpipe import networks
    from mvpipe.cli.terminal import Terminal

    terminal = Terminal()
    terminal.result("\n\n".join(networks.terms(one) for one in _chosen(names, cache, demucs_repo)))


def _chosen(names: list[str] | None, cache: Path | None, repo: Path | None) -> list[Network]:
    from mvpipe import networks
    from mvpipe.cli.settings import default_cache

    home = cache or default_cache()
    return (
        [networks.find(one, home, repo=repo) for one in names] if names else networks.known(home, repo=repo)
    )


def _how(one: Network) -> str:
    """How its files come here."""
    ways = {
        "fetch": f"mvpipe models fetch {one.name}",
        "import": f"get it from {one.source}, then mvpipe models import {one.name} FILE",
        "shipped": "install mvpipe again",
    }
    return ways[one.comes]
