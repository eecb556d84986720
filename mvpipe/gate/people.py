"""Who is in a take, and whether mouths move that should be closed. Pure, over what one look found.

How much a mouth moves is the standard deviation of the height of its lips over the distance of the eyes, at
the pace of syllables, second by second (at 640 and 320 pixels, crf 23-30, grain of sigma 3-8):

| | median second | liveliest second |
|---|---|---|
| a closed mouth, a half open one that stands; the head moving | 0.003-0.008 | 0.011 or less |
| the same voice sung with half the opening | 0.02 | 0.028 |
| voices sung, by drawn faces; native H3 speech | 0.02-0.04; 0.039 | 0.03-0.05; 0.096 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mvpipe.film import Finding, Outcome
from mvpipe.gate.look import Seen
from mvpipe.gate.mouth import HOPS, mouth_curves, paced
from mvpipe.gate.portraits import Faces, distances
from mvpipe.gate.tracks import Track

NEARER = 0.1
"""By which the singer's face is nearer to the singer's pictures than any other face of the take is."""

MOMENT = 25
"""Frames of a face that is seen long enough to be seen to sing: a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Whom a shot should show.

    Parameters
    ----------
    sings : whether somebody should be seen to sing
    closed : whether a mouth that moves is wrong: there are people, and nobody sings; with `sings` somebody
        does for a moment, and only one that moves most of the time is
    cast : name -> the faces of their pictures, shape (n, 128); only of those whose takes should be like them
    singer : name of the one who sings, or empty
    shown : frames of the take that the film shows: in the handles the singer may sing on; None for all
    """

    sings: bool
    closed: bool
    cast: Mapping[str, Faces] = field(default_factory=dict[str, Faces])
    singer: str = ""
    shown: range | None = None


def judge_people(seen: Seen, expected: Expected, values: Mapping[str, float]) -> tuple[Finding, ...]:
    """Every finding on the people of a take.

    Parameters
    ----------
    values : of all rules
    """
    return (
        _face(seen, expected, values),
        _closed(seen, expected, values),
        _identity(seen, expected, values),
        _steady(seen, values),
    )


def singer_among(
    tracks: Sequence[int], seen: Seen, expected: Expected, values: Mapping[str, float]
) -> int | None:
    """Which of some tracks is the singer's face; None where the pictures do not tell.

    Parameters
    ----------
    tracks : places in `seen.tracks`

    Returns
    -------
    place in `tracks`
    """
    pictures = expected.cast.get(expected.singer)
    if pictures is None or not len(pictures) or not tracks:
        return None
    far = [distances(seen.portraits[k].faces, pictures) for k in tracks]
    order = sorted(range(len(tracks)), key=lambda k: far[k])
    best = order[0]
    alone = len(order) == 1 or far[order[1]] - far[best] >= NEARER
    return best if far[best] <= values["same_face"] and alone else None


def names_of(seen: Seen, expected: Expected, values: Mapping[str, float]) -> dict[int, str]:
    """Place in `seen.tracks` -> the cast member it is, of those that are sure."""
    found = {}
    for k, portraits in enumerate(seen.portraits):
        near = {name: distances(portraits.faces, pictures) for name, pictures in expected.cast.items()}
        name = min(near, key=lambda one: near[one], default="")
        if name and near[name] <= values["same_face"]:
            found[k] = name
    return found


def moving(track: Track, seen: Seen, shown: range | None = None) -> NDArray[np.float64]:
    """How much a mouth moves in each second of the time it is seen; one value a hop, shape (n,).

    Parameters
    ----------
    shown : frames of the take that count; None for all
    """
    lips = paced(mouth_curves(track, seen.times)[:1])[0]
    first, last = int(track.frames[0]), int(track.frames[-1])
    if shown is not None:
        first, last = max(first, shown.start), min(last, shown.stop - 1)
    if last <= first:
        return np.zeros(1)
    lips = lips[int(seen.times[first] * HOPS) : int(seen.times[last] * HOPS) + 1]
    if len(lips) <= HOPS:
        return np.array([lips.std()])
    return np.asarray(np.lib.stride_tricks.sliding_window_view(lips, HOPS).std(-1), np.float64)


def _face(seen: Seen, expected: Expected, values: Mapping[str, float]) -> Finding:
    """Whether a singer's face is there, long and large enough to be seen to sing."""
    cover = max((track.coverage for track in seen.tracks), default=0.0)
    if not expected.sings:
        return _finding("face", Outcome.PASS, round(cover, 2), "any", "nobody sings here")
    if cover < values["coverage"]:
        reason = f"the face is seen in {cover:.0%} of the frames only" if cover else "no face is seen"
        return _finding("face", Outcome.CANNOT_JUDGE, round(cover, 2), values["coverage"], reason)
    eyes = max(float(np.median(track.eyes)) for track in seen.tracks if track.coverage >= values["coverage"])
    small = eyes < values["eyes_px"]
    reason = f"{'too small: ' if small else ''}{eyes:.0f} pixels between the eyes"
    outcome = Outcome.CANNOT_JUDGE if small else Outcome.PASS
    return _finding("face", outcome, round(eyes, 1), values["eyes_px"], reason)


def _closed(seen: Seen, expected: Expected, values: Mapping[str, float]) -> Finding:
    """Whether a mouth moves as if it sang or spoke where nobody does: most of the time, or now and then."""
    check, limit = "closed mouth", values["mouth_moves"]
    if not expected.closed:
        return _finding(check, Outcome.PASS, "any", limit, "mouths may move here")
    near = [track for track in seen.tracks if float(np.median(track.eyes)) >= values["eyes_px"]]
    lively = [moving(track, seen, expected.shown) for track in near if len(track.frames) >= MOMENT]
    if not lively:
        return _finding(check, Outcome.PASS, 0, limit, "no face is near enough to be seen to sing")
    mostly, seldom = (max(float(np.percentile(one, share)) for one in lively) for share in (50, 90))
    if mostly > limit:
        return _finding(check, Outcome.FAIL, round(mostly, 4), limit, "a mouth moves where nobody sings")
    if expected.sings:
        return _finding(check, Outcome.PASS, round(mostly, 4), limit, "mouths are still most of the time")
    if seldom > limit:
        reason = "a mouth moves for a while where nobody sings; whether it laughs is for the eye"
        return _finding(check, Outcome.CANNOT_JUDGE, round(seldom, 4), limit, reason)
    return _finding(check, Outcome.PASS, round(seldom, 4), limit, "no mouth moves")


def _identity(seen: Seen, expected: Expected, values: Mapping[str, float]) -> Finding:
    """Whether the singer is there, by the pictures; where nobody is picked, whether anybody of the cast is.

    Who is named on the card may be seen from behind, so a member whose face is not there proves nothing.
    """
    check, limit = "identity", values["same_face"]
    known = {name: pictures for name, pictures in expected.cast.items() if len(pictures)}
    faces = [
        portraits.faces
        for portraits, track in zip(seen.portraits, seen.tracks, strict=True)
        if len(portraits.faces) and float(np.median(track.eyes)) >= values["eyes_px"]
    ]
    if not known or not faces:
        what = "no picture of the cast shows a face" if not known else "no face is large enough to be known"
        return _finding(check, Outcome.PASS, "unknown", limit, f"{what}: not compared")
    far = {name: min(distances(one, pictures) for one in faces) for name, pictures in known.items()}
    name = expected.singer if expected.singer in far else min(far, key=lambda one: far[one])
    value = round(far[name], 2)
    if value <= limit:
        return _finding(check, Outcome.PASS, value, limit, f"{name} is as in the pictures")
    if value >= values["other_face"] and not _strangers(known[name], values):
        return _finding(check, Outcome.FAIL, value, limit, f"another face than {name}'s pictures show")
    return _finding(check, Outcome.CANNOT_JUDGE, value, limit, f"{name} is hardly like the pictures")


def _strangers(pictures: Faces, values: Mapping[str, float]) -> bool:
    """Whether the pictures of one person differ so much that the network does not know such faces."""
    apart = np.linalg.norm(pictures[:, None] - pictures[None], axis=-1)
    return bool(apart.max() > values["same_face"])


def _steady(seen: Seen, values: Mapping[str, float]) -> Finding:
    """Whether every face stays the same from the beginning to the end of the take."""
    check, limit = "identity drift", values["same_face"]
    drift = 0.0
    for portraits, track in zip(seen.portraits, seen.tracks, strict=True):
        early = portraits.faces[portraits.frames < track.total / 3]
        late = portraits.faces[portraits.frames >= 2 * track.total / 3]
        if len(early) and len(late) and float(np.median(track.eyes)) >= values["eyes_px"]:
            drift = max(drift, distances(early, late))
    value = round(drift, 2)
    if value <= limit:
        return _finding(check, Outcome.PASS, value, limit, "every face stays the same")
    outcome = Outcome.FAIL if value >= values["other_face"] else Outcome.CANNOT_JUDGE
    return _finding(check, outcome, value, limit, "a face becomes another in the course of the take")


def _finding(check: str, outcome: Outcome, value: float | str, limit: float | str, reason: str) -> Finding:
    return Finding(check=check, outcome=outcome, value=value, limit=limit, reason=reason)
