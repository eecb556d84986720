"""Whether lips and voice belong together, as a verdict that carries its own control.

SyncNet decides where its weights are; the mouth curve is measured beside it always, and decides alone without
them. What cannot be judged is never passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.film import Outcome
from mvpipe.gate import mfcc
from mvpipe.gate.mouth import mouth_curves, voice_curves, voiced_seconds
from mvpipe.gate.offset import CONTROL_FRAMES, Performance
from mvpipe.gate.opinions import Opinion, mouth_opinion, syncnet_opinion
from mvpipe.gate.pairs import REACH, confidence_elsewhere, match
from mvpipe.gate.rules import figures
from mvpipe.gate.tracks import Track, Watcher
from mvpipe.tools.frames import Reading, read

if TYPE_CHECKING:
    from mvpipe.gate.syncnet import SyncNet

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What of a clip the verdict needs.

    Parameters
    ----------
    tracks : of the faces, the longest first
    times : seconds at which each frame is shown, the first at 0
    damage : what the decoder complained about
    """

    tracks: tuple[Track, ...]
    times: tuple[Fraction, ...]
    damage: tuple[str, ...] = ()

    @classmethod
    def of(cls, watcher: Watcher, reading: Reading) -> Seen:
        """From a watcher that was shown a clip while it was read."""
        shown = reading.times
        damage = reading.damage
        if reading.frames != len(shown) and not damage:
            damage = (f"{reading.frames} of {len(shown)} frames can be decoded",)
        return cls(
            tracks=tuple(watcher.tracks()),
            times=tuple(shown[k] - shown[0] for k in range(len(shown))),
            damage=damage,
        )

    @property
    def seconds(self) -> Fraction:
        """How long the clip is shown."""
        count = len(self.times)
        return self.times[-1] * Fraction(count, count - 1) if count > 1 else Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncVerdict:
    """What is said of a clip.

    Parameters
    ----------
    outcome, reason : what, and why in words
    method : that decided: `syncnet`, `mouth`, or `none`
    track : the face that was judged, counted from the longest seen; None without one
    opinions : of each face, the deciding method first
    rules : every figure it was held against
    numbers : coverage, eyes_px, voiced_s, seconds; of the face that was judged
    """

    outcome: Outcome
    reason: str
    method: str
    track: int | None
    opinions: tuple[tuple[Opinion, ...], ...]
    rules: Mapping[str, float]
    numbers: Mapping[str, Any]

    @property
    def deciding(self) -> Opinion | None:
        """The opinion the verdict rests on, if there is one."""
        return self.opinions[self.track][0] if self.track is not None and self.opinions else None

    def as_json(self) -> dict[str, Any]:
        """JSON values: the verdict, its offset, confidence and control on top, all else below."""
        best = self.deciding
        return {
            "verdict": str(self.outcome),
            "offset_ms": best and best.offset_ms,
            "offset_frames_25": best and best.offset_frames_25,
            "confidence": best and best.confidence,
            "control": best and asdict(best.control),
            "method": self.method,
            "reason": self.reason,
            "numbers": {
                **self.numbers,
                "track": self.track,
                "tracks": [[asdict(one) for one in face] for face in self.opinions],
                "rules": dict(self.rules),
            },
        }


def check_sync(
    clip: Path,
    voice: Samples,
    sample_rate: int,
    *,
    network: SyncNet | None = None,
    elsewhere: Sequence[Samples] = (),
    singer: int | None = None,
    rules: Mapping[str, float] | None = None,
) -> SyncVerdict:
    """Look at a clip and judge it; see `judge_sync`.

    Raises
    ------
    MediaError : not a file that can be opened, or no picture in it
    SettingsError : a rule that does not exist, or a value it may not have
    """
    figures(rules)
    watcher = Watcher(pictures=network is not None)
    reading = read(clip, show=watcher.see)
    return judge_sync(
        Seen.of(watcher, reading), voice, sample_rate,
        network=network, elsewhere=elsewhere, singer=singer, rules=rules,
    )  # fmt: skip


def judge_sync(
    seen: Seen,
    voice: Samples,
    sample_rate: int,
    *,
    network: SyncNet | None = None,
    elsewhere: Sequence[Samples] = (),
    singer: int | None = None,
    rules: Mapping[str, float] | None = None,
) -> SyncVerdict:
    """Judge what was seen against the voice alone.

    Parameters
    ----------
    voice : the isolated vocal, float32, shape (n,), its first sample at the first frame; never the clip's own
    network : SyncNet with its weights; without, the mouth decides
    elsewhere : stretches of the vocal as long as the clip from other places of the song, at `sample_rate`;
        given, the clip counts as sung and SyncNet's floor is learnt from them
    singer : the face to judge, counted from the longest seen; None: the one that fits best, and chance is
        counted once for every face
    rules : changed by the storyboard
    """
    values = figures(rules)
    voice = voice[: int(seen.seconds * sample_rate)]
    numbers: dict[str, Any] = {"seconds": round(min(float(seen.seconds), len(voice) / sample_rate), 3)}
    numbers["voiced_s"] = round(voiced_seconds(voice, sample_rate), 2)
    faces = [track for track in seen.tracks if track.coverage >= values["coverage"]]
    numbers |= {
        "faces": len(faces),
        "coverage": round(max((t.coverage for t in seen.tracks), default=0.0), 4),
    }
    why = _unfit(seen, numbers, values)
    if why:
        return _unjudged(why, values, numbers)
    if singer is not None and not 0 <= singer < len(faces):
        return _unjudged(f"face {singer} was to be judged, {len(faces)} are seen", values, numbers)
    opinions = tuple(
        _opinions(
            track, seen, voice, sample_rate, network, elsewhere, values, len(faces) if singer is None else 1
        )
        for track in faces
    )
    chosen = singer if singer is not None else min(range(len(faces)), key=lambda k: _rank(opinions[k][0]))
    eyes = float(np.median(faces[chosen].eyes))
    numbers |= {"coverage": round(faces[chosen].coverage, 4), "eyes_px": round(eyes, 1)}
    outcome, reason = _together(opinions[chosen])
    if eyes < values["eyes_px"]:
        outcome, reason = Outcome.CANNOT_JUDGE, f"the face is too small: {eyes:.0f} pixels between the eyes"
    wrong = [k for k, face in enumerate(opinions) if k != chosen and face[0].outcome is Outcome.PASS]
    if outcome is not Outcome.PASS and wrong:
        reason += f"; face {wrong[0]} sings instead"
    return SyncVerdict(
        outcome=outcome, reason=reason, method=opinions[chosen][0].method, track=chosen,
        opinions=opinions, rules=values, numbers=numbers,
    )  # fmt: skip


def _unfit(seen: Seen, numbers: Mapping[str, Any], values: Mapping[str, float]) -> str:
    """Why the clip is not even measured; empty if it is."""
    if seen.damage:
        return f"the clip is damaged: {seen.damage[0]}"
    if not seen.tracks:
        return "no face is seen"
    if not numbers["faces"]:
        return f"the face is seen in {numbers['coverage']:.0%} of the frames only"
    if numbers["seconds"] < values["shortest_s"]:
        return f"{numbers['seconds']:.1f} s are too few to be judged alone"
    if numbers["voiced_s"] < values["voiced_s"]:
        return f"the voice is heard for {numbers['voiced_s']:.1f} s only"
    return ""


def _unjudged(why: str, values: Mapping[str, float], numbers: Mapping[str, Any]) -> SyncVerdict:
    return SyncVerdict(
        outcome=Outcome.CANNOT_JUDGE, reason=why, method="none", track=None,
        opinions=(), rules=values, numbers=numbers,
    )  # fmt: skip


def _opinions(  # noqa: PLR0913, PLR0917
    track: Track,
    seen: Seen,
    voice: Samples,
    sample_rate: int,
    network: SyncNet | None,
    elsewhere: Sequence[Samples],
    values: Mapping[str, float],
    tried: int,
) -> tuple[Opinion, ...]:
    mouth = mouth_opinion(performance(track, seen.times, voice, sample_rate), values, tried=tried)
    if network is None:
        return (mouth,)
    from mvpipe.gate import syncnet

    voices = [mfcc.resample(one, sample_rate) for one in (voice, *elsewhere)]
    frames = at_25(seen.times, seen.seconds)
    count = min([syncnet.windows(len(frames), len(one)) for one in voices])
    if count <= CONTROL_FRAMES + REACH:
        return (mouth,)
    lips = syncnet.see(network, track.crops(frames))[:count]
    heard, *others = (syncnet.hear(network, one)[:count] for one in voices)
    chance = [confidence_elsewhere(lips, other) for other in others]
    return syncnet_opinion(match(lips, heard), chance, values), mouth


def performance(track: Track, times: Sequence[Fraction], voice: Samples, sample_rate: int) -> Performance:
    """A face and the voice it should sing, as curves; of short shots, several can be estimated together."""
    return Performance(mouth=mouth_curves(track, times), voice=voice_curves(voice, sample_rate))


def at_25(times: Sequence[Fraction], seconds: Fraction) -> list[int]:
    """The frame that is shown at each of 25 moments a second, nearest in time, as by ffmpeg's `fps=25`."""
    ticks = [int(time * 25 + Fraction(1, 2)) for time in times]
    return [int(k) for k in np.searchsorted(ticks, np.arange(int(seconds * 25)), "right") - 1]


def _together(opinions: Sequence[Opinion]) -> tuple[Outcome, str]:
    """The first opinion, unless the other contradicts it."""
    first, *rest = opinions
    said = {first.outcome, *(one.outcome for one in rest)}
    if {Outcome.PASS, Outcome.FAIL} <= said:
        views = "; ".join(f"{one.method}: {one.reason}" for one in opinions)
        return Outcome.CANNOT_JUDGE, f"the two measurements disagree: {views}"
    return first.outcome, first.reason


def _rank(opinion: Opinion) -> tuple[bool, float, float]:
    """Smaller: the better fit. By chance where it is known, else by confidence."""
    return opinion.outcome is not Outcome.PASS, opinion.p or 0.0, -opinion.confidence
