"""Machine settings: command line, then environment `MVPIPE_*`, then `settings.toml` in the user's folder.

`settings.toml` holds a table a command and, outside any table, values for every command::

    workers = 4
    cache = "/data/models"
    [render]
    backend = "animatic"
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from mvpipe.errors import SettingsError

COMMANDS = ("render", "plan", "rerender")


def settings_file() -> Path:
    """Where the user's settings are; `MVPIPE_SETTINGS` names another file."""
    if named := os.environ.get("MVPIPE_SETTINGS"):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("mvpipe", appauthor=False) / "settings.toml"


def default_cache() -> Path:
    """Where model weights are kept for this user."""
    from platformdirs import user_cache_path

    return user_cache_path("mvpipe", appauthor=False) / "models"


def load_defaults() -> dict[str, Any]:
    """The settings file as defaults of the commands' options.

    Raises
    ------
    SettingsError : it is not TOML, or names something unknown
    """
    path = settings_file()
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"{path}: cannot be read: {exc}") from exc
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{path}: not TOML: {exc}", hint="mend or remove the file") from exc
    for_all = {name: value for name, value in found.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    return {command: {**for_all, **tables.get(command, {})} for command in COMMANDS}
