"""The bank: the files that pin cast and places, by digest, resolved before the first shot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvpipe.build.key import file_digest
from mvpipe.errors import StoryboardError
from mvpipe.render.backend import Asset, Backend, CastMember, Pins, Place, Setup

if TYPE_CHECKING:
    from mvpipe.storyboard.load import Loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Cast and places by name."""

    cast: Mapping[str, CastMember]
    places: Mapping[str, Place]


def pin(loaded: Loaded) -> Bank:
    """The storyboard's cast and places, with every file's digest.

    Raises
    ------
    StoryboardError : a file cannot be read
    """
    return Bank(
        cast={
            name: CastMember(
                name=name,
                description=member.description,
                pictures=_assets(member.pictures),
                videos=_assets(member.videos),
                voice=next(iter(_assets([member.voice] if member.voice else [])), None),
                sings=member.sings,
            )
            for name, member in loaded.cast.items()
        },
        places={
            name: Place(
                name=name,
                description=place.description,
                pictures=_assets(place.pictures),
                videos=_assets(place.videos),
            )
            for name, place in loaded.places.items()
        },
    )


def listed(bank: Bank, setups: Sequence[Setup], backend: Backend) -> tuple[Mapping[str, Any], ...]:
    """Every pinned file as JSON values: whose, what, digest, how it is sent, and the shots made from it.

    Parameters
    ----------
    setups : one a shot; their sound is not looked at
    """
    uses = [(one.shot.number, backend.pinned(one) if isinstance(backend, Pins) else {}) for one in setups]
    return tuple(
        {
            "of": of,
            "name": name,
            "kind": kind,
            "file": asset.path.name,
            "digest": asset.digest,
            "size": None,
            **next((sent[asset.digest] for _, sent in uses if asset.digest in sent), {}),
            "shots": [number for number, sent in uses if asset.digest in sent],
        }
        for of, name, kind, asset in _pinned(bank)
    )


def _pinned(bank: Bank) -> Iterator[tuple[str, str, str, Asset]]:
    """(`cast` or `place`, whose, what kind, file) of everything."""
    for of, owners in (("cast", bank.cast), ("place", bank.places)):
        for name, owner in owners.items():
            yield from ((of, name, "picture", asset) for asset in owner.pictures)
            yield from ((of, name, "video", asset) for asset in owner.videos)
            if isinstance(owner, CastMember) and owner.voice:
                yield of, name, "voice", owner.voice


def _assets(paths: Sequence[Path]) -> tuple[Asset, ...]:
    try:
        return tuple(Asset(path=path, digest=file_digest(path)) for path in paths)
    except OSError as exc:
        raise StoryboardError(f"{exc.filename}: {(exc.strerror or str(exc)).lower()}") from exc
