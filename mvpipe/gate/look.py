"""All that needs a take's pixels, in one pass: what is seen, the faces, and what SyncNet makes of their lips.

Judging needs no pixels any more: it is pure over a Look, the voice and the rules, so other thresholds decode
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.gate.pairs import RATE, Features
from mvpipe.gate.pictures import WIDTH, Eye, Sight
from mvpipe.gate.portraits import Portraits, portray
from mvpipe.gate.tracks import Track, Watcher
from mvpipe.tools.audible import Audible, measure
from mvpipe.tools.frames import Reading, read
from mvpipe.tools.heard import hear
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.gate.syncnet import SyncNet

ARRAYS = "look.npz"
"""The file that holds what is too much for JSON."""

SEEN_ENOUGH = 0.5
"""Share of the frames in which a face is seen for SyncNet to look at it: the least a rule may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What of a clip the verdict on its lips needs.

    Parameters
    ----------
    tracks : of the faces, the longest first
    times : seconds at which each frame is shown, the first at 0
    damage : what the decoder complained about
    portraits : of each track, by which it is known whose face it is
    lips : of each track, what SyncNet sees in it at 25 pictures a second, float32, shape (n - 4, 1024), or
        None where it is seen too seldom; empty where SyncNet did not look
    """

    tracks: tuple[Track, ...]
    times: tuple[Fraction, ...]
    damage: tuple[str, ...] = ()
    portraits: tuple[Portraits, ...] = ()
    lips: tuple[Features | None, ...] = ()

    @classmethod
    def of(cls, watcher: Watcher, reading: Reading, network: SyncNet | None = None) -> Seen:
        """From a watcher that was shown a clip while it was read; for SyncNet it must have kept pictures."""
        shown = reading.times
        damage = reading.damage
        if reading.frames != len(shown) and not damage:
            damage = (f"{reading.frames} of {counted(len(shown), 'frame')} can be decoded",)
        times = tuple(shown[k] - shown[0] for k in range(len(shown)))
        tracks = tuple(watcher.tracks())
        return cls(
            tracks=tuple(replace(track, patches=()) for track in tracks),
            times=times,
            damage=damage,
            portraits=tuple(portray(track.chips) for track in tracks),
            lips=_lips(tracks, times, network),
        )

    @property
    def seconds(self) -> Fraction:
        """How long the clip is shown."""
        return shown_for(self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one pass over a take found.

    Parameters
    ----------
    sight : of its frames
    sound : of its own sound; None where there is none, or it was not listened to
    seen : of its faces; without tracks where none were looked for
    faces : whether faces were looked for
    """

    sight: Sight
    seen: Seen
    faces: bool
    sound: Audible | None = None

    def save(self, folder: Path) -> dict[str, Any]:
        """Write what is too much for JSON into a folder, and return the rest."""
        arrays: dict[str, NDArray[Any]] = {}
        for k, track in enumerate(self.seen.tracks):
            arrays |= {f"frames {k}": track.frames, f"points {k}": track.points}
        for k, one in enumerate(self.seen.portraits):
            arrays |= {f"portrait frames {k}": one.frames, f"portraits {k}": one.faces}
        for k, lips in enumerate(self.seen.lips):
            if lips is not None:
                arrays[f"lips {k}"] = lips
        if self.sound is not None:
            arrays["sound levels"] = self.sound.levels
        np.savez(folder / ARRAYS, allow_pickle=False, **arrays)
        return {
            "sight": self.sight.as_json(),
            "sound": self.sound and self.sound.as_json(),
            "faces": self.faces,
            "tracks": [track.total for track in self.seen.tracks],
            "lips": len(self.seen.lips),
            "damage": list(self.seen.damage),
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], folder: Path) -> Look:
        """The Look that `save` wrote down, bit for bit; pictures of faces are not kept."""
        sight = Sight.from_json(facts["sight"])
        with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
            tracks = tuple(
                Track(total=total, frames=arrays[f"frames {k}"], points=arrays[f"points {k}"])
                for k, total in enumerate(facts["tracks"])
            )
            portraits = tuple(
                Portraits(frames=arrays[f"portrait frames {k}"], faces=arrays[f"portraits {k}"])
                for k in range(len(tracks))
            )
            sound = facts["sound"] and Audible(**facts["sound"], levels=arrays["sound levels"])
            lips = tuple(
                arrays[name] if (name := f"lips {k}") in arrays else None for k in range(facts["lips"])
            )
        seen = Seen(
            tracks=tracks,
            times=sight.times,
            damage=tuple(facts["damage"]),
            portraits=portraits,
            lips=lips,
        )
        return cls(sight=sight, seen=seen, faces=facts["faces"], sound=sound)


def look(path: Path, *, faces: bool = True, sound: bool = False, network: SyncNet | None = None) -> Look:
    """Decode a take once and measure all that needs its pixels.

    Parameters
    ----------
    faces : look for faces and follow them; costs 10 ms of CPU a frame, 80 while none is found
    sound : listen to its own sound as well
    network : SyncNet with its weights, to look at the lips as well

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it; damage within is reported instead
    """
    eye = Eye()
    watcher = Watcher(pictures=network is not None) if faces else None
    show = watcher.see if watcher else None
    reading = read(path, see=eye.see, tint=eye.tint, show=show, width=WIDTH)
    sight = eye.sight(reading)
    seen = Seen.of(watcher, reading, network) if watcher else Seen(tracks=(), times=sight.times)
    return Look(sight=sight, seen=seen, faces=faces, sound=_listen(path) if sound else None)


def shown_for(times: Sequence[Fraction]) -> Fraction:
    """Seconds for which frames are shown, the last as long as the others on average."""
    count = len(times)
    return times[-1] * Fraction(count, count - 1) if count > 1 else Fraction(0)


def at_25(times: Sequence[Fraction], seconds: Fraction) -> list[int]:
    """The frame that is shown at each of 25 moments a second, nearest in time, as by ffmpeg's `fps=25`."""
    ticks = [int(time * RATE + Fraction(1, 2)) for time in times]
    return [int(k) for k in np.searchsorted(ticks, np.arange(int(seconds * RATE)), "right") - 1]


def _listen(path: Path) -> Audible | None:
    """The numbers of a take's sound; of one that cannot be decoded there are none, as of a take without."""
    try:
        return measure(hear(path))
    except MediaError:
        return None


def _lips(
    tracks: Sequence[Track], times: Sequence[Fraction], network: SyncNet | None
) -> tuple[Features | None, ...]:
    """What SyncNet sees in each face."""
    if network is None:
        return ()
    from mvpipe.gate import syncnet

    frames = at_25(times, shown_for(times))
    if len(frames) < syncnet.WINDOW:
        return (None,) * len(tracks)
    return tuple(
        syncnet.see(network, track.crops(frames)) if track.coverage >= SEEN_ENOUGH else None
        for track in tracks
    )
