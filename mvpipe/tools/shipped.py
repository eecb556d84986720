"""Files that come with mvpipe: inside an installed package, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from mvpipe.errors import SettingsError

PACKAGE = Path(__file__).parents[1]


def folder(name: str, holds: str) -> Path:
    """A folder that comes with mvpipe.

    Parameters
    ----------
    holds : a file that is always there: who finds it has found the folder

    Raises
    ------
    SettingsError : it is nowhere: a broken installation
    """
    for found in (PACKAGE / name, PACKAGE.parent / name):
        if (found / holds).is_file():
            return found
    raise SettingsError(f"{PACKAGE}: its {name} are missing", hint="install mvpipe again")
