"""How long takes need, learnt from the takes a project has made; published figures until there are any.

A step's time grows with a power of the rows of the model's sequence, those of references among them. The
power is shared by all servers and read off the user's own takes once these differ in length; the rest is one
factor a server, and where its own takes tell, one a profile, with films to follow and without. Cutting never
asks this: its price of a frame is the published one, or a plan would change with every take.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, log

from mvpipe.render.backend import BARE, Conditioning
from mvpipe.render.comfyui.times import FRAME_S, GROWTH, LOAD_S, OTHER_S, REFERENCE, STEP_S, TEXT_S, rows

GROWTH_SPREAD, STEP_SPREAD = 0.3, 0.1
"""How sure the published growth is, and how much a step's time scatters (natural logarithm): published
exponents lie between 1.3 and 1.9 (h3.md), steps of one card within a tenth."""

GROWTHS = 1.0, 2.2
"""No model is faster than linear in its rows, nor slower than attention alone."""

ODD = 0.5
"""A step this far (natural logarithm: 1.6 times) off its server's usual one says nothing of the growth."""

DONE_ANEW = 0.25
"""A text or a model that took less than this share of the longest was there already."""

LATEST = 24
"""Takes of a server its factors are read from: a driver update is noticed within a night."""


Kind = tuple[str, str, bool]
"""Server, profile, and whether a film is followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A take that was made, as far as its times are known.

    Parameters
    ----------
    shot : number of the shot
    host : name of the server
    frames, size : of the take
    steps : of the sampler
    step_s : seconds of one; None where nobody heard them
    seconds : in all, from its turn to its file
    foreseen_s : what was foreseen when it began; None where nothing was
    profile : name of the sampling profile
    text_s, load_s : seconds the server spent on the prompt, and on all else before the first step; None where
        nobody heard, next to nothing where it was there already
    conditioning : what its references added to a step
    """

    shot: int
    host: str
    frames: int
    size: tuple[int, int]
    steps: int
    step_s: float | None
    seconds: float
    foreseen_s: float | None = None
    profile: str = ""
    text_s: float | None = None
    load_s: float | None = None
    conditioning: Conditioning = BARE

    @property
    def factor_of(self) -> Kind:
        """Whose factor its seconds tell."""
        return self.host, self.profile, self.conditioning.filmed

    def factor(self, growth: float) -> float:
        """Its seconds of a step, as a multiple of the published; above 0 where they were heard."""
        return (self.step_s or 0.0) / step_s(self.frames, self.size, growth, self.conditioning.rows)

    @property
    def rest_s(self) -> float | None:
        """Seconds beside the steps, as far as every take needs them: models are loaded once."""
        if self.step_s is None:
            return None
        return max(0.0, self.seconds - self.steps * self.step_s - (self.load_s or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """A model of render times.

    Parameters
    ----------
    growth : exponent of the rows
    steps, rests : server -> factor on the published seconds of a step, and of all else
    kinds : kind -> factor on a step's seconds that takes of this kind have told
    texts, loads : server -> seconds to encode a text, to load models, where they were heard
    learnt : takes it was learnt from
    """

    growth: float = GROWTH
    steps: Mapping[str, float] = field(default_factory=dict[str, float])
    rests: Mapping[str, float] = field(default_factory=dict[str, float])
    kinds: Mapping[Kind, float] = field(default_factory=dict[Kind, float])
    texts: Mapping[str, float] = field(default_factory=dict[str, float])
    loads: Mapping[str, float] = field(default_factory=dict[str, float])
    learnt: int = 0

    def predict_s(
        self,
        frames: int,
        size: tuple[int, int],
        steps: int,
        host: str = "",
        profile: str = "",
        conditioning: Conditioning = BARE,
    ) -> float:
        """Seconds of a take; of a server nobody knows, as of the median of those that are known."""
        step = self.step_s(frames, size, host, profile, conditioning)
        return steps * step + _of(self.rests, host) * rest_s(frames, size)

    def step_s(
        self,
        frames: int,
        size: tuple[int, int],
        host: str = "",
        profile: str = "",
        conditioning: Conditioning = BARE,
    ) -> float:
        """Seconds of a step; of a film nobody has followed yet, as of takes without, but for its rows."""
        kinds = [(host, profile, filmed) for filmed in (conditioning.filmed, False)]
        factor = next((self.kinds[kind] for kind in kinds if kind in self.kinds), _of(self.steps, host))
        return factor * step_s(frames, size, self.growth, conditioning.rows)

    def text_s(self, host: str = "") -> float:
        """Seconds of a take that are for its prompt."""
        return self.texts.get(host) or TEXT_S * _of(self.rests, host)

    def load_s(self, host: str = "") -> float:
        """Seconds to load models."""
        return self.loads.get(host, LOAD_S)

    def speed(self, host: str, reference: str = "") -> float:
        """How fast a server is against another, or against the published card."""
        return (_of(self.steps, reference) if reference else 1.0) / _of(self.steps, host)


def step_s(frames: int, size: tuple[int, int], growth: float = GROWTH, added: int = 0) -> float:
    """Published seconds of a step, with so many rows of references."""
    return float(STEP_S * ((rows(size, frames) + added) / rows(*REFERENCE)) ** growth)


def rest_s(frames: int, size: tuple[int, int]) -> float:
    """Published seconds beside the steps."""
    area = size[0] * size[1] / (REFERENCE[0][0] * REFERENCE[0][1])
    return OTHER_S + FRAME_S * frames * area


def learn(rendered: Sequence[Rendered]) -> Times:
    """Fit the model to what was rendered, in order; the latest takes of each server count."""
    by_host = defaultdict[str, list[Rendered]](list)
    for one in rendered:
        if one.step_s and one.step_s > 0 and one.steps > 0:
            by_host[one.host].append(one)
    latest = {host: takes[-LATEST:] for host, takes in by_host.items()}
    growth = _growth(latest)
    steps = {
        host: statistics.median(take.factor(growth) for take in _plain(takes))
        for host, takes in latest.items()
    }
    rests = {
        host: statistics.median((t.rest_s or 0.0) / rest_s(t.frames, t.size) for t in takes)
        for host, takes in latest.items()
    }
    kinds = defaultdict[Kind, list[float]](list)
    for take in (take for takes in latest.values() for take in takes):
        kinds[take.factor_of].append(take.factor(growth))
    return Times(
        growth=growth,
        steps=steps,
        rests=rests,
        kinds={kind: statistics.median(factors) for kind, factors in kinds.items()},
        texts=_spent({host: [take.text_s for take in takes] for host, takes in latest.items()}),
        loads=_spent({host: [take.load_s for take in takes] for host, takes in latest.items()}),
        learnt=sum(map(len, latest.values())),
    )


def _plain(takes: Sequence[Rendered]) -> Sequence[Rendered]:
    """Those that follow no film; all, where every one does."""
    return [take for take in takes if not take.conditioning.filmed] or takes


def _spent(heard: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Server -> seconds where it had to be done: of what was there already, next to nothing was heard."""
    found = {}
    for host, seconds in heard.items():
        told = [one for one in seconds if one is not None]
        if told and (most := max(told)) > 0:
            found[host] = statistics.median(one for one in told if one >= most * DONE_ANEW)
    return found


def _growth(latest: Mapping[str, Sequence[Rendered]]) -> float:
    """The exponent: least squares within servers, drawn towards the published one as far as data are few.

    Takes with films would tell what films cost, not how a step grows: they count where there are no others.
    """
    over, under = GROWTH / GROWTH_SPREAD**2, 1 / GROWTH_SPREAD**2
    for takes in latest.values():
        seen = [(_log_rows(t), log((t.step_s or 1.0) / STEP_S)) for t in _plain(takes)]
        middle = statistics.median(y - GROWTH * x for x, y in seen)
        usual = [(x, y) for x, y in seen if abs(y - GROWTH * x - middle) < ODD]
        if not usual:  # of two takes far apart, neither is near the middle
            continue
        xs, ys = [x for x, _ in usual], [y for _, y in usual]
        x0, y0 = statistics.median(xs), statistics.median(ys)
        over += fsum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / STEP_SPREAD**2
        under += fsum((x - x0) ** 2 for x in xs) / STEP_SPREAD**2
    low, high = GROWTHS
    return min(max(over / under, low), high)


def _log_rows(take: Rendered) -> float:
    return log((rows(take.size, take.frames) + take.conditioning.rows) / rows(*REFERENCE))


def _of(factors: Mapping[str, float], host: str) -> float:
    """A server's factor; of one nobody knows, the geometric middle of the others, or the published."""
    if host in factors or not factors:
        return factors.get(host, 1.0)
    return exp(statistics.median(log(max(factor, 1e-6)) for factor in factors.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """How well times were foreseen in a run.

    Parameters
    ----------
    takes : so many
    median : of the relative errors, without sign
    worst, worst_shot : the largest, and whose
    """

    takes: int
    median: float
    worst: float
    worst_shot: int

    def text(self) -> str:
        """For people."""
        return (
            f"render times were foreseen within {self.median:.0%} (median of {self.takes}); "
            f"worst: shot {self.worst_shot}, {self.worst:.0%}"
        )


def foresight(rendered: Sequence[Rendered]) -> Foresight | None:
    """The error of what was foreseen; None where nothing was."""
    errors = [(abs(t.foreseen_s / t.seconds - 1), t.shot) for t in rendered if t.foreseen_s and t.seconds > 0]
    if not errors:
        return None
    worst, shot = max(errors)
    middle = statistics.median(error for error, _ in errors)
    return Foresight(takes=len(errors), median=middle, worst=worst, worst_shot=shot)
