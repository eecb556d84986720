"""Whether a take's pictures can be used, as a Verdict: what was measured, against what, in words.

Whether a picture stands still was measured (320 pixels wide, luma 0-255; 5th percentile over 192 frames):

| x264 veryfast, crf 14 to 28 | change | stir |
|---|---|---|
| a photograph repeated; an animatic's card repeated | 0.000; 0.004 | 0.00-0.06; 0.52 (95th: 0.56) |
| push-in of 0.01 % a frame: two pixels in eight seconds | 0.028-0.074 | 0.63-1.4 |
| push-in of 0.1 % a frame | 0.50-0.54 | 3.4 |
| a photograph under film grain of sigma 3 at crf 18 / 8 | 0.039 / 0.34-1.25 | 0.38 / 1.1-2.0 |
| real H3 speech; the same nearly black | 0.39; 0.13 | 12; 4.3 |
| the animatic's shots, the mouth closed, and b-roll | 0.08-0.19 | 2.1-8.2 |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from mvpipe.film import Finding, Outcome, Verdict
from mvpipe.gate.breaks import judge_cuts, judge_flashes
from mvpipe.gate.pictures import Sight
from mvpipe.gate.rules import figures
from mvpipe.wording import counted

STILL, CALM = 0.02, 1.0
"""A frame that changed less than this, and no square of it more than that, is the one before coded again."""

BESIDE = 6
"""A lone change with this many still frames on either side, or the end behind it, is a codec's key frame."""

DARK, PLAIN = 6.0, 2.0
"""A frame is black below this level and three times this spread, and plain below this spread."""

TOLD, EVEN = 0.3, 0.6
"""A plane is noise less coherent and more even than this: measured in `structure`."""

TINTED = 8.0
"""Standard deviation of colour from which colour alone may be noise; a drawn or grey picture has less."""


def judge(
    sight: Sight,
    *,
    frames: int,
    rate: Fraction,
    size: tuple[int, int],
    others: Mapping[str, str],
    shown: range | None = None,
    rules: Mapping[str, float] | None = None,
) -> Verdict:
    """Hold what was seen against what was asked for.

    Parameters
    ----------
    frames, rate, size : what the slate asked for
    others : digest of decoded frames -> name, of the takes of other slates
    shown : frames that the film may show: a cut or a flash in the handles beside them is never seen
    rules : every figure to judge by, of `figures`; None for those that nobody changed
    """
    values = rules or figures()
    return Verdict(
        findings=(
            _decodable(sight),
            _count(sight, frames),
            _rate(sight, rate),
            _size(sight, size),
            _black(sight, values),
            _plain(sight, values),
            _noise(sight, values),
            _frozen(sight, values),
            _tail(sight, values),
            judge_flashes(sight, shown, values),
            judge_cuts(sight, shown, values),
            _duplicate(sight, others),
        )
    )


def still_frames(sight: Sight) -> tuple[bool, ...]:
    """Which frames show what the frame before showed; a key frame, which looks anew, counts as still."""
    both = zip(sight.change, sight.stir, strict=True)
    still = [k > 0 and change < STILL and stir < CALM for k, (change, stir) in enumerate(both)]
    return tuple(
        one or (k > BESIDE and all(still[k - BESIDE : k]) and all(still[k + 1 : k + 1 + BESIDE]))
        for k, one in enumerate(still)
    )


def _finding(
    check: str, good: bool, value: float | int | str, limit: float | int | str, reason: str
) -> Finding:
    outcome = Outcome.PASS if good else Outcome.FAIL
    return Finding(check=check, outcome=outcome, value=value, limit=limit, reason=reason)


def _decodable(sight: Sight) -> Finding:
    lost, said = sight.packets - sight.frames, "; ".join(sight.damage[:3])
    reason = f"{sight.frames} of {counted(sight.packets, 'frame')} can be decoded" + (
        f": {said}" if said else ""
    )
    return _finding("decodable", not lost and not sight.damage and sight.frames > 0, lost, 0, reason)


def _count(sight: Sight, frames: int) -> Finding:
    reason = f"{counted(sight.frames, 'frame')} where {frames} were asked for"
    return _finding("frame count", sight.frames == frames, sight.frames, frames, reason)


def _rate(sight: Sight, rate: Fraction) -> Finding:
    """Every frame at its time: an average rate would not show a frame that is shown twice as long."""
    many, of = rate.numerator, rate.denominator  # in whole numbers, since nearly all are in their place
    strayed = [(k, at) for k, at in enumerate(sight.times) if at.numerator * many != k * of * at.denominator]
    off = max((abs(at - k / rate) for k, at in strayed), default=Fraction(0))
    span = sight.times[-1] if sight.times else Fraction(0)
    found = (len(sight.times) - 1) / span if span else Fraction(0)
    reason = (
        f"{float(found):.3f} pictures a second, at most {float(off) * 1000:.1f} ms off, at {float(rate):.3f}"
    )
    return _finding("rate", off <= sight.tick, f"{float(found):.3f}", f"{float(rate):.3f}", reason)


def _size(sight: Sight, size: tuple[int, int]) -> Finding:
    found, wanted = (f"{w}x{h}" for w, h in (sight.size, size))
    return _finding("size", found == wanted, found, wanted, f"{found} pixels where {wanted} were asked for")


def _black(sight: Sight, values: Mapping[str, float]) -> Finding:
    share = _share(
        level < DARK and spread < 3 * PLAIN for level, spread in zip(sight.level, sight.spread, strict=True)
    )
    return _share_of("black", share, values, f"black in {share:.0%} of frames")


def _plain(sight: Sight, values: Mapping[str, float]) -> Finding:
    share = _share(
        level >= DARK and spread < PLAIN for level, spread in zip(sight.level, sight.spread, strict=True)
    )
    return _share_of("plain", share, values, f"one flat colour in {share:.0%} of frames")


def _noise(sight: Sight, values: Mapping[str, float]) -> Finding:
    """Noise of an undecoded or broken latent: at any scale, in brightness or in colour alone."""
    grey = (
        spread >= PLAIN and coherent < TOLD and even > EVEN
        for spread, coherent, even in zip(sight.spread, sight.coherence, sight.evenness, strict=True)
    )  # fmt: skip
    tinted = (
        tint >= TINTED and coherent < TOLD and even > EVEN
        for tint, coherent, even in zip(sight.tint, sight.tint_coherence, sight.tint_evenness, strict=True)
    )  # fmt: skip
    share = _share(a or b for a, b in zip(grey, tinted, strict=True))
    return _share_of("noise", share, values, f"noise instead of a picture in {share:.0%} of frames")


def _share_of(check: str, share: float, values: Mapping[str, float], reason: str) -> Finding:
    limit = values[f"{check}_share"]
    return _finding(check, share <= limit, share, limit, reason)


def _share(bad: Iterator[bool]) -> float:
    marks = [*bad]
    return round(sum(marks) / len(marks), 4) if marks else 0.0


def _frozen(sight: Sight, values: Mapping[str, float]) -> Finding:
    start, length = _longest_run(still_frames(sight))
    reason = f"stands still for {counted(length, 'frame')}" + (f" from frame {start} on" if length else "")
    limit = round(values["still_frames"])
    return _finding("frozen", length <= limit, length, limit, reason)


def _tail(sight: Sight, values: Mapping[str, float]) -> Finding:
    still = still_frames(sight)
    length = next((n for n, one in enumerate(reversed(still)) if not one), len(still))
    limit = round(values["still_tail"])
    return _finding(
        "frozen tail", length <= limit, length, limit, f"stands still for the last {counted(length, 'frame')}"
    )


def _longest_run(marks: Sequence[bool]) -> tuple[int, int]:
    """(first, length) of the longest run of True."""
    best, start = (0, 0), 0
    for k, mark in enumerate([*marks, False]):
        if not mark:
            best = max(best, (start, k - start), key=lambda run: run[1])
            start = k + 1
    return best


def _duplicate(sight: Sight, others: Mapping[str, str]) -> Finding:
    twin = others.get(sight.digest, "")
    reason = f"the same frames as {twin}" if twin else "no other take has the same frames"
    return _finding("duplicate", not twin, twin or "none", "none", reason)
