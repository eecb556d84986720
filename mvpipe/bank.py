"""The bank: the pictures that pin how cast and places look, by digest, resolved before the first shot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mvpipe.build.key import file_digest
from mvpipe.errors import StoryboardError
from mvpipe.render.backend import Asset, CastMember, Place

if TYPE_CHECKING:
    from mvpipe.storyboard.load import Loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Cast and places by name."""

    cast: Mapping[str, CastMember]
    places: Mapping[str, Place]


def pin(loaded: Loaded) -> Bank:
    """The storyboard's cast and places, with every picture's digest.

    Raises
    ------
    StoryboardError : a picture cannot be read
    """
    return Bank(
        cast={
            name: CastMember(
                name=name,
                description=member.description,
                pictures=_assets(member.pictures),
                sings=member.sings,
            )
            for name, member in loaded.cast.items()
        },
        places={
            name: Place(name=name, description=place.description, pictures=_assets(place.pictures))
            for name, place in loaded.places.items()
        },
    )


def _assets(paths: Sequence[Path]) -> tuple[Asset, ...]:
    try:
        return tuple(Asset(path=path, digest=file_digest(path)) for path in paths)
    except OSError as exc:
        raise StoryboardError(f"{exc.filename}: {(exc.strerror or str(exc)).lower()}") from exc
