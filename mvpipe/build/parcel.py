"""Work as bytes that another machine can do: what it does by code, its files by what is in them.

A path means nothing elsewhere. So one into the vault becomes the key of its entry, and any other file its
digest, put into the store; whoever unpacks has them as paths of its own, fetched and held against those
digests. What every machine has of its own (its server) is named, and is the unpacker's.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import cloudpickle

from mvpipe.build.graph import Work
from mvpipe.build.key import file_digest
from mvpipe.build.trim import touch
from mvpipe.build.vault import Vault
from mvpipe.errors import VaultError

ENTRY, FILE, OWN = "entry", "file", "own"


@dataclass
class Packer:
    """Packs work.

    Parameters
    ----------
    vault : whose entries the work refers to; it has a store
    own : type -> name of what the unpacker has of its own
    """

    vault: Vault
    own: Mapping[type[Any], str] = field(default_factory=dict[type[Any], str])
    _digests: dict[tuple[Path, int, int], str] = field(
        default_factory=dict[tuple[Path, int, int], str], init=False
    )

    def pack(self, work: Work) -> bytes:
        """The work as bytes; all of its files are in the store then.

        Raises
        ------
        VaultError : the store cannot be used
        """
        into = BytesIO()
        _Pickler(into, self).dump((work.task, work.make))
        return into.getvalue()

    def stands_for(self, value: Any) -> tuple[str, ...] | None:
        """What is sent instead of a value; None where it goes as it is."""
        if name := self.own.get(type(value)):
            return OWN, name
        return self._path(value) if isinstance(value, Path) else None

    def _path(self, path: Path) -> tuple[str, ...] | None:
        if path.is_relative_to(self.vault.root):
            return self._entry(path.relative_to(self.vault.root).parts)
        if not path.is_file():
            return None
        stat = path.stat()
        known = path.absolute(), stat.st_size, stat.st_mtime_ns
        if known not in self._digests:
            self._digests[known] = file_digest(path)
        digest = self._digests[known]
        assert self.vault.store
        self.vault.store.put_file(path, digest)
        return FILE, digest, str(stat.st_size), path.name

    def _entry(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        if len(parts) < 2 or (found := self.vault.find(parts[1])) is None:
            return None
        self.vault.share(found)
        return ENTRY, *parts[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacker:
    """Unpacks work on the machine that does it.

    Parameters
    ----------
    vault : of this machine, with the packer's store
    own : name -> what this machine has of its own
    """

    vault: Vault
    own: Mapping[str, Callable[[], Any]]

    def unpack(self, data: bytes) -> Work:
        """The work, with paths of this machine.

        Raises
        ------
        VaultError : the store lacks what the work needs, or cannot be used
        """
        task, make = _Unpickler(BytesIO(data), self).load()
        return Work(task=task, make=make)

    def stood_for(self, what: tuple[str, ...]) -> Any:
        """What a packed value stands for here."""
        kind, *rest = what
        if kind == OWN:
            return self.own[rest[0]]()
        if kind == FILE:
            held = self.vault.hold(rest[0], int(rest[1]), rest[2])
            touch(held.parent)
            return held
        found = self.vault.find(rest[0])
        if found is None:
            where = self.vault.store.url if self.vault.store else self.vault.root
            raise VaultError(f"{where}: {rest[0][:12]}: needed for this work, and not there")
        touch(found.folder)
        return found.folder.joinpath(*rest[1:])


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, into: BytesIO, packer: Packer) -> None:
        super().__init__(into)
        self._packer = packer

    def persistent_id(self, value: Any) -> tuple[str, ...] | None:
        return self._packer.stands_for(value)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: BytesIO, unpacker: Unpacker) -> None:
        super().__init__(data)
        self._unpacker = unpacker

    def persistent_load(self, what: tuple[str, ...]) -> Any:
        return self._unpacker.stood_for(what)
