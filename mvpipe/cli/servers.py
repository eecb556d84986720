"""Which server a backend means, and the secrets it is called with: command line, environment, settings file.

In `settings.toml`, beside the options of commands::

    [servers.studio]
    url = "https://render.example/comfy"       # a path before ComfyUI's own is kept
    headers = {Authorization = "Bearer ..."}
    authority = "/etc/ssl/studio.pem"          # who signed its certificate, if the system does not know
    weight = 2                                 # its share of the work beside others
    largest = "960x544"                        # the largest picture it is given; left out: any
    longest = 8                                # seconds of the longest window it is given
    profiles = ["ref2va-turbo-4"]              # the only sampling profiles it is given

`--backend studio` means this one, `--backend https://render.example/comfy` too, with its headers; `comfyui`
alone means the first in the file. Several share a film: `--backend studio --backend attic`, or all of the
file with `--backend all`; the first is the one whose speed counts as 1. None of it is ever written down:
notes and logs have the name or the URL. A file `servers.toml` beside it may hold such tables as well, as
[studio].
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mvpipe.backends import ANIMATIC, COMFYUI, LOCAL_SERVER
from mvpipe.cli.settings import read_settings, settings_file
from mvpipe.errors import SettingsError
from mvpipe.render.backend import NO_LIMITS, Limits
from mvpipe.render.comfyui.address import Address, address
from mvpipe.request import Machine

ALL = "all"
"""As a backend: every server of the settings file."""

APART = "servers.toml"
"""Beside the settings file: its servers alone."""

ENVIRONMENT = "MVPIPE_HEADERS"
"""Headers as lines `Name: value`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server as the settings file names it.

    Parameters
    ----------
    name : of its table
    url : may hold secrets
    headers : secret
    authority : PEM file of the certificates to trust; None for those of the system
    weight : its share of the work beside others, > 0
    limits : what it is to be given
    """

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    authority: Path | None = None
    weight: float = 1.0
    limits: Limits = NO_LIMITS


def load_servers() -> dict[str, Server]:
    """The servers of the settings file by name, in its order.

    Raises
    ------
    SettingsError : an entry that is none; the message holds no secret
    """
    apart = settings_file().with_name(APART)
    tables, more = read_settings().get("servers", {}), read_settings(apart)
    for file, found, how in ((settings_file(), tables, "[servers.NAME]"), (apart, more, "[NAME]")):
        if not isinstance(found, dict) or not all(isinstance(table, dict) for table in found.values()):
            raise SettingsError(f"{file}: servers: not tables", hint=f"write {how}")
    if twice := tables.keys() & more.keys():
        raise SettingsError(f"{apart}: {min(twice)}: in {settings_file().name} as well", hint="keep one")
    found = {
        name: _server(f"{settings_file()}: servers.{name}", name, table) for name, table in tables.items()
    }
    return found | {name: _server(f"{apart}: {name}", name, table) for name, table in more.items()}


def find_server(backend: str | None, headers: Sequence[str] = (), authority: Path | None = None) -> Address:
    """The server that a backend means, with what it is called with.

    Parameters
    ----------
    backend : a name from the settings file, an address, `comfyui`, or None
    headers : lines `Name: value` of the command line
    authority : PEM file of the command line or the environment

    Raises
    ------
    SettingsError : no such address, or a header that cannot be sent; the message holds no secret
    """
    known = load_servers()
    server = _meant(backend, known)
    sent = {**server.headers, **_headers(_environment()), **_headers(headers)}
    return address(server.url, sent, authority or server.authority)


def find_machines(
    backends: Sequence[str], headers: Sequence[str] = (), authority: Path | None = None
) -> tuple[Machine, ...]:
    """The servers that the words after `--backend` mean, the first of them first, each once.

    Raises
    ------
    SettingsError : as `find_server`; headers for none in particular of several servers; the animatic among
        servers; `all`, and the settings file has none
    """
    known = load_servers()
    if len(backends) > 1 and ANIMATIC in backends:
        raise SettingsError(f"--backend: {ANIMATIC}: not a server, and cannot share a film with one")
    words = [name for word in backends for name in (_all(known) if word == ALL else [word])]
    if len(words) > 1 and (headers or _environment()):
        raise SettingsError(
            "server header: which of several servers it is for cannot be told",
            hint=f"write it into {settings_file()}: [servers.NAME] headers",
        )
    found: dict[str, Machine] = {}
    for word in words or (None,):
        where = find_server(word, headers, authority)
        meant = _meant(word, known)
        found.setdefault(where.base, Machine(address=where, weight=meant.weight, limits=meant.limits))
    return tuple(found.values())


def _all(known: Mapping[str, Server]) -> list[str]:
    if not known:
        raise SettingsError(f"{settings_file()}: no servers in it", hint="write [servers.NAME] with a url")
    return list(known)


def _meant(backend: str | None, known: Mapping[str, Server]) -> Server:
    if backend in known:
        return known[str(backend)]
    if backend in (None, COMFYUI, ANIMATIC):
        return next(iter(known.values()), Server(name="", url=LOCAL_SERVER))
    base = address(str(backend)).base
    same = next((server for server in known.values() if address(server.url).base == base), None)
    return (
        replace(same, url=_with_secrets(str(backend), same.url))
        if same
        else Server(name="", url=str(backend))
    )


def _with_secrets(given: str, noted: str) -> str:
    """The address with secrets in it, of two that name one server: what is given goes first."""
    asked = address(given)
    return given if asked.query or asked.headers else noted


def _environment() -> list[str]:
    return [line for line in os.environ.get(ENVIRONMENT, "").splitlines() if line.strip()]


def _headers(lines: Sequence[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise SettingsError("server header: no colon in it", hint="write it like 'X-Api-Key: word'")
        found[name.strip()] = value.strip()
    return found


FIELDS: dict[str, type | tuple[type, ...]] = {
    "url": str, "headers": dict, "authority": str, "weight": (int, float),
    "largest": str, "longest": (int, float), "profiles": list,
}  # fmt: skip


def _server(where: str, name: str, table: Mapping[str, Any]) -> Server:
    for key, value in table.items():
        if key not in FIELDS:
            raise SettingsError(f"{where}.{key}: unknown", hint=f"it knows {', '.join(FIELDS)}")
        if not isinstance(value, FIELDS[key]) or isinstance(value, bool):
            raise SettingsError(f"{where}.{key}: not what is wanted there")
    headers = table.get("headers", {})
    if not all(isinstance(value, str) for value in headers.values()):
        raise SettingsError(f"{where}.headers: not texts")
    if "url" not in table:
        raise SettingsError(f"{where}.url: missing")
    if table.get("weight", 1) <= 0:
        raise SettingsError(f"{where}.weight: must be over 0")
    authority = Path(table["authority"]).expanduser() if "authority" in table else None
    return Server(
        name=name,
        url=table["url"],
        headers=headers,
        authority=authority,
        weight=float(table.get("weight", 1)),
        limits=_limits(where, table),
    )


def _limits(where: str, table: Mapping[str, Any]) -> Limits:
    """What a server is to be given, as its table says."""
    from mvpipe.render.comfyui.profiles import known

    largest = re.fullmatch(r"(\d+)\s*x\s*(\d+)", table.get("largest", "").strip())
    if "largest" in table and not largest:
        raise SettingsError(f"{where}.largest: not a size: {table['largest']}", hint="write it like 960x544")
    longest = table.get("longest")
    if longest is not None and not longest > 0:
        raise SettingsError(f"{where}.longest: must be over 0 seconds: {longest}")
    profiles = table.get("profiles", [])
    there = known().profiles if profiles else {}
    if wrong := [one for one in profiles if one not in there]:
        raise SettingsError(
            f"{where}.profiles: no such profile: {wrong[0]}", hint=f"there are {', '.join(sorted(there))}"
        )
    return Limits(
        largest=(int(largest[1]), int(largest[2])) if largest else None,
        longest_s=float(longest) if longest is not None else None,
        profiles=tuple(profiles),
    )
