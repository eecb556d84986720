"""Clips as they were made and looked at, kept in a scratch folder: a measurement can be done in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import cv2
import numpy as np

import mvpipe.gate
from mvpipe.gate.faces import region_of
from mvpipe.gate.look import Seen
from mvpipe.gate.rules import LOOKED_AT, figures
from mvpipe.gate.sync import Samples
from mvpipe.gate.tracks import Track, Watcher
from mvpipe.tools.encode import read_frames, read_mono
from mvpipe.tools.frames import read
from mvpipe.tools.picture import facts
from tests.benchmarks.sync import voices as spoken_by
from tests.benchmarks.sync.recipes import Recipe, recipe
from tests.gate import faces_synth, photo_synth
from tests.gate.faces_synth import SAMPLE_RATE, Image, Sitter, make

ADA = Path(__file__).parents[3] / "examples/first-light/pictures/ada.jpg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the watcher remembers of a clip, and the voice that goes with it, at `SAMPLE_RATE`."""

    seen: Seen
    voice: Samples


class Shelf:
    """Makes a clip when it is first asked for.

    Parameters
    ----------
    folder : scratch; may be deleted
    real : a clip that talks, from which one more face is taken
    """

    def __init__(self, folder: Path, real: Path | None = None) -> None:
        self.folder = folder
        self._real = real
        folder.mkdir(parents=True, exist_ok=True)

    @cached_property
    def voices(self) -> dict[str, faces_synth.Speaker]:
        """Name -> speaker, of those that can be had here."""
        return spoken_by.voices()

    @cached_property
    def faces(self) -> dict[str, Sitter]:
        """Name -> sitter, of those that can be had here."""
        found: dict[str, Callable[[], Image | None]] = {
            "painted": partial(_picture, ADA),
            "photographed": _astronaut,
            "real": partial(_closed_frame, self._real, self.folder),
        }
        skin = np.array([150.0, 190, 232])
        sitters: dict[str, Sitter] = {"drawn": partial(faces_synth._head, skin)}
        for name, show in found.items():
            picture = show()
            if picture is not None:
                sitters[name] = photo_synth.Photo(picture)
        return sitters

    def recipe(self, kind: str, number: int) -> Recipe:
        """The clip with this number in a set, of the voices and faces that can be had."""
        return recipe(kind, number, tuple(self.voices), tuple(self.faces))

    def holds(self, one: Recipe) -> bool:
        """Whether the clip was made and looked at already."""
        return self._path(one).exists()

    def clip(self, one: Recipe) -> Look:
        """Make a clip, or take the one that was made."""
        path = self._path(one)
        if not path.exists():
            film = path.with_suffix(".mp4")
            sitters = [self.faces[name] for name in one.faces]
            voice = make(one.part, film, self.voices[one.voice], sitters)
            store(path, Look(seen=look(film), voice=voice))
            film.unlink()
        return restore(path)

    def real(self, path: Path) -> Look:
        """A clip with its own sound."""
        place = self.folder / f"real-{_digest(str(path.resolve()), path.stat().st_size, _eyes())}.npz"
        if not place.exists():
            store(place, Look(seen=look(path), voice=read_mono(path, SAMPLE_RATE)))
        return restore(place)

    def _path(self, one: Recipe) -> Path:
        return self.folder / f"{one.name}-{_digest(one, _hands(), _eyes())}.npz"


def look(path: Path) -> Seen:
    """Follow the faces of a clip."""
    watcher = Watcher()
    reading = read(path, show=watcher.see)
    return Seen.of(watcher, reading)


JUDGES = ("mouth.py", "offset.py", "opinions.py", "sync.py")


def judges() -> str:
    """A digest of what judges: what was judged by other rules is judged anew."""
    folder = Path(mvpipe.gate.__file__).parent
    return _digest(figures(about=LOOKED_AT), *((folder / name).read_text() for name in JUDGES))


@cache
def _eyes() -> str:
    """The same of what finds and follows faces."""
    folder = Path(mvpipe.gate.__file__).parent
    return _digest(*((folder / name).read_text() for name in ("faces.py", "tracks.py")))


@cache
def _hands() -> str:
    """The same of what makes clips."""
    return _digest(*(Path(str(made.__file__)).read_text() for made in (faces_synth, photo_synth, spoken_by)))


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(repr, parts)).encode()).hexdigest()[:12]


def store(path: Path, one: Look) -> None:
    """Write it down whole, or not at all."""
    arrays: dict[str, Any] = {"voice": one.voice, "damage": np.array(one.seen.damage, "U200")}
    arrays["times"] = np.array([(t.numerator, t.denominator) for t in one.seen.times])
    for k, track in enumerate(one.seen.tracks):
        arrays |= {f"frames{k}": track.frames, f"points{k}": track.points}
    scratch = path.with_suffix(".part.npz")
    np.savez(scratch, **arrays)
    scratch.replace(path)


def restore(path: Path) -> Look:
    """Read what `store` wrote."""
    with np.load(path) as held:
        times = tuple(Fraction(int(a), int(b)) for a, b in held["times"])
        tracks: list[Track] = []
        while f"frames{len(tracks)}" in held:
            k = len(tracks)
            tracks.append(Track(total=len(times), frames=held[f"frames{k}"], points=held[f"points{k}"]))
        damage = tuple(str(d) for d in held["damage"])
        return Look(seen=Seen(tracks=tuple(tracks), times=times, damage=damage), voice=held["voice"])


def _astronaut() -> Image | None:
    """NASA's portrait of Eileen Collins, in the public domain, which scikit-image carries."""
    try:
        data: Any = import_module("skimage.data")
    except ModuleNotFoundError:
        return None
    return np.ascontiguousarray(data.astronaut()[..., ::-1])


def _closed_frame(path: Path | None, folder: Path) -> Image | None:
    """Of the first seconds of a clip, the frame in which the mouth is most closed."""
    if path is None:
        return None
    place = folder / f"face-{_digest(str(path.resolve()), path.stat().st_size)}.png"
    if not place.exists():
        size = facts(path).size
        best = (np.inf, np.zeros((1, 1, 3), np.uint8))
        for frame in read_frames(path, size, range(0, 100, 4)):
            picture = np.ascontiguousarray(frame[..., ::-1])
            points = photo_synth.trace(picture)
            if points is not None:
                gap = float(np.linalg.norm(points[13] - points[14])) / region_of(points).side
                best = min(best, (gap, picture), key=lambda one: one[0])
        cv2.imwrite(str(place), best[1])
    return _picture(place)


def _picture(path: Path) -> Image:
    return np.asarray(cv2.imread(str(path)), np.uint8)
