"""Whether lips and voice belong together, as a verdict that carries its own control.

SyncNet decides where its weights are; the mouth curve is measured beside it always, and decides alone without
them. What cannot be judged is never passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvpipe.film import Outcome
from mvpipe.gate import mfcc
from mvpipe.gate.look import Seen
from mvpipe.gate.mouth import mouth_curves, voice_curves, voiced_seconds
from mvpipe.gate.offset import CONTROL_FRAMES, Performance
from mvpipe.gate.opinions import Opinion, mouth_opinion, syncnet_opinion
from mvpipe.gate.pairs import REACH, Features, confidence_elsewhere, match
from mvpipe.gate.people import moving
from mvpipe.gate.rules import LOOKED_AT, figures
from mvpipe.gate.tracks import Track
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.gate.syncnet import SyncNet

Floats = NDArray[np.float64]
Samples = NDArray[np.float32]

STILL = "the mouth hardly moves while somebody is heard"
"""How a reason begins where that explains it best."""


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
    numbers : coverage, eyes_px, voiced_s, seconds; of the face that was judged; the names of all, where known
    thin : whether nothing but too little evidence is wrong, so that more of the same performance may decide
    """

    outcome: Outcome
    reason: str
    method: str
    track: int | None
    opinions: tuple[tuple[Opinion, ...], ...]
    rules: Mapping[str, float]
    numbers: Mapping[str, Any]
    thin: bool = False

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
            "thin": self.thin,
            "numbers": {
                **self.numbers,
                "track": self.track,
                "tracks": [[asdict(one) for one in face] for face in self.opinions],
                "rules": dict(self.rules),
            },
        }


def judge_sync(  # noqa: PLR0913
    seen: Seen,
    voice: Samples,
    sample_rate: int,
    *,
    network: SyncNet | None = None,
    elsewhere: Sequence[Features] = (),
    singer: int | None = None,
    names: Mapping[int, str] | None = None,
    rules: Mapping[str, float] | None = None,
) -> SyncVerdict:
    """Judge what was seen against the voice alone.

    Parameters
    ----------
    voice : the isolated vocal, float32, shape (n,), its first sample at the first frame; never the clip's own
    network : SyncNet with its weights, which looked at the lips; without, the mouth decides
    elsewhere : what SyncNet hears in stretches of the vocal as long as the clip from other places of the song
        (`ear`); given, the clip counts as sung and SyncNet's floor is learnt from them
    singer : the face to judge, counted from the longest seen, which fails where surely another one sings;
        None: the one that fits best, and chance is counted once for every face
    names : place in `seen.tracks` -> whose face it is, where that is known
    rules : changed by the storyboard
    """
    values = figures(rules, LOOKED_AT)
    voice = voice[: int(seen.seconds * sample_rate)]
    numbers: dict[str, Any] = {"seconds": round(min(float(seen.seconds), len(voice) / sample_rate), 3)}
    numbers["voiced_s"] = round(voiced_seconds(voice, sample_rate), 2)
    faces = [k for k, track in enumerate(seen.tracks) if track.coverage >= values["coverage"]]
    numbers |= {
        "faces": len(faces),
        "coverage": round(max((t.coverage for t in seen.tracks), default=0.0), 4),
    }
    why = _unfit(seen, numbers, values)
    if why:
        return replace(_unjudged(why, values, numbers), thin=not seen.damage and _large(seen, faces, values))
    if singer is not None and not 0 <= singer < len(faces):
        where = f"face {singer} was to be judged, where {counted(len(faces), 'face')} can be seen"
        return _unjudged(where, values, numbers)
    curves = voice_curves(voice, sample_rate)
    heard = () if network is None else (_heard(network, voice, sample_rate), *elsewhere)
    tried = len(faces) if singer is None else 1
    opinions = tuple(_opinions(face, seen, curves, heard, values, tried) for face in faces)
    chosen = singer if singer is not None else min(range(len(faces)), key=lambda k: _rank(opinions[k][0]))
    track = seen.tracks[faces[chosen]]
    eyes = float(np.median(track.eyes))
    numbers |= {"coverage": round(track.coverage, 4), "eyes_px": round(eyes, 1)}
    outcome, reason = _together(opinions[chosen])
    if names:
        numbers["names"] = [names.get(face, "") for face in faces]
    numbers["moves"] = round(float(np.percentile(moving(track, seen), 90)), 4)
    if outcome is Outcome.CANNOT_JUDGE and numbers["moves"] < values["mouth_moves"]:
        reason = f"{STILL}; {reason}"
    if eyes < values["eyes_px"]:
        outcome, reason = Outcome.CANNOT_JUDGE, f"the face is too small: {eyes:.0f} pixels between the eyes"
    others = [k for k, face in enumerate(opinions) if k != chosen and face[0].outcome is Outcome.PASS]
    if outcome is Outcome.CANNOT_JUDGE and others:
        numbers["instead"] = (names or {}).get(faces[others[0]], "another face")
        reason += f"; {numbers['instead']} sings instead"
        if singer is not None and any(_sure(opinions[k][0], values) for k in others):
            outcome = Outcome.FAIL
    return SyncVerdict(
        outcome=outcome, reason=reason, method=opinions[chosen][0].method, track=chosen,
        opinions=opinions, rules=values, numbers=numbers,
        thin=outcome is not Outcome.FAIL and eyes >= values["eyes_px"]
        and all(_unsure(one, values) for one in opinions[chosen]),
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


def _heard(network: SyncNet, voice: Samples, sample_rate: int) -> Features:
    """What SyncNet hears in the shot's own voice, as many windows as its pictures are compared with."""
    from mvpipe.gate import syncnet

    samples = mfcc.resample(voice, sample_rate)
    return syncnet.hear(network, samples)[: syncnet.windows(len(samples) // syncnet.SAMPLES, len(samples))]


def _opinions(
    face: int,
    seen: Seen,
    voice: Floats,
    heard: Sequence[Features],
    values: Mapping[str, float],
    tried: int,
) -> tuple[Opinion, ...]:
    """What is said of one face; SyncNet first, where it looked and heard the shot's voice, then others."""
    mouth = mouth_opinion(performance(seen.tracks[face], seen.times, voice), values, tried=tried)
    lips = seen.lips[face] if seen.lips else None
    if not heard or lips is None:
        return (mouth,)
    count = min(len(lips) - 1, *map(len, heard))  # the official script leaves the last window out
    if count <= CONTROL_FRAMES + REACH:
        return (mouth,)
    lips, (own, *others) = lips[:count], (one[:count] for one in heard)
    chance = [confidence_elsewhere(lips, other) for other in others]
    return syncnet_opinion(match(lips, own), chance, values), mouth


def performance(track: Track, times: Sequence[Fraction], voice: Floats) -> Performance:
    """A face beside the curves of the voice it should sing; several short ones are estimated together."""
    return Performance(mouth=mouth_curves(track, times), voice=voice)


def _together(opinions: Sequence[Opinion]) -> tuple[Outcome, str]:
    """The first opinion, unless the other contradicts it."""
    first, *rest = opinions
    said = {first.outcome, *(one.outcome for one in rest)}
    if {Outcome.PASS, Outcome.FAIL} <= said:
        views = "; ".join(f"{one.method}: {one.reason}" for one in opinions)
        return Outcome.CANNOT_JUDGE, f"the two measurements disagree: {views}"
    if first.outcome is Outcome.CANNOT_JUDGE and rest and said != {Outcome.CANNOT_JUDGE}:
        return first.outcome, f"{first.reason}; by the mouth's movement alone, {rest[0].reason}"
    return first.outcome, first.reason


def _large(seen: Seen, faces: Sequence[int], values: Mapping[str, float]) -> bool:
    """Whether there is a face, and the one that is seen longest is large enough to be judged."""
    return bool(faces) and float(np.median(seen.tracks[faces[0]].eyes)) >= values["eyes_px"]


def _unsure(opinion: Opinion, values: Mapping[str, float]) -> bool:
    """Whether an opinion only lacks confidence; nothing in it says that something is wrong."""
    doubts = opinion.p is None or opinion.p > values["pass_p"]
    return opinion.outcome is Outcome.CANNOT_JUDGE and doubts


def _sure(opinion: Opinion, values: Mapping[str, float]) -> bool:
    """Whether a face that sings is as sure as one that fails has to be."""
    return opinion.outcome is Outcome.PASS and (opinion.p is None or opinion.p <= values["fail_p"])


def _rank(opinion: Opinion) -> tuple[bool, float, float]:
    """Smaller: the better fit. By chance where it is known, else by confidence."""
    return opinion.outcome is not Outcome.PASS, opinion.p or 0.0, -opinion.confidence
