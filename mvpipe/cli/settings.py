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

SEVERAL = ("backend",)
"""Options that may be given more than once."""

COMMANDS = ("init", "draft", "render", "plan", "rerender")


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


def read_settings(file: Path | None = None) -> dict[str, Any]:
    """What the settings file holds, or another one like it; empty without one.

    Raises
    ------
    SettingsError : it is not TOML
    """
    path = file or settings_file()
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsError(f"{path}: cannot be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{path}: not TOML: {exc}", hint="mend or remove the file") from exc


def load_defaults() -> dict[str, Any]:
    """The settings file as defaults of the commands' options; servers are `servers.load_servers`.

    Raises
    ------
    SettingsError : as `read_settings`
    """
    found = read_settings()
    for_all = {name: value for name, value in found.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    return {command: _listed({**for_all, **tables.get(command, {})}) for command in COMMANDS}


def _listed(options: dict[str, Any]) -> dict[str, Any]:
    """Options that may be given more than once, given once."""
    once = {name: [options[name]] for name in SEVERAL if isinstance(options.get(name), str)}
    return {**options, **once}
