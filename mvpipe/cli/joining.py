"""A command joined by a cluster, and by the store that its machines share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mvpipe.backends import ANIMATIC, COMFYUI, kind_of
from mvpipe.cli.session import Session
from mvpipe.errors import SettingsError, ToolMissing

if TYPE_CHECKING:
    from mvpipe.request import Request

SHARED = "shared"
"""Below the project: the store of a cluster, where none is named."""


@contextmanager
def joined(alone: Session, ask: Request) -> Iterator[Session]:
    """The session, its vault shared where that is asked for, its work done by a cluster where that is.

    Raises
    ------
    ToolMissing : the extra is not installed
    SettingsError : a server is named, too
    BackendError, VaultError : the cluster cannot do what is wanted, as `build.muster` says
    """
    if ask.cluster is None and ask.vault is None:
        yield alone
        return
    from mvpipe.build.store import Store
    from mvpipe.build.vault import Vault

    project, say = alone.project, alone.terminal.warn
    store = Store(ask.vault or str((project.folder / SHARED).absolute()))
    project = replace(project, vault=Vault(project.vault.root, store=store, on_damage=say))
    if ask.cluster is None:
        yield replace(alone, project=project)
        return
    _check(ask)
    try:
        from mvpipe.build.cluster import connected
    except ModuleNotFoundError as exc:
        raise ToolMissing(
            f"--cluster: {exc.name} is not installed", hint="pip install 'mvpipe[cluster]' brings it"
        ) from exc
    from mvpipe.build.muster import muster
    from mvpipe.cli.worker import OWN, kit
    from mvpipe.crowd import H3

    with connected(ask.cluster, project.vault, own=OWN, kit=kit) as cluster:
        for fault in muster(cluster, ask.cluster, "" if kind_of(ask) == ANIMATIC else H3, kit).values():
            say(f"{fault}; its takes are made by others meanwhile")
        yield replace(alone, project=replace(project, force=cluster), cluster=cluster)


def _check(ask: Request) -> None:
    if ask.also or ask.backend not in (None, ANIMATIC, COMFYUI):
        raise SettingsError(
            f"--cluster: the servers are those of its workers, and not {ask.backend}",
            hint="--backend comfyui; each worker is told its own: MVPIPE_BACKEND in its environment",
        )
