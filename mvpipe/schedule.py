"""Which take is rendered where and when: the shortest night that can be found, and how short it could be.

Takes that share their text skip its encoding, and takes that share models skip their loading; so work is
dealt to servers by groups of equal text. Dealing is longest-first to whoever ends earliest, then mended by
moving and swapping what the server that ends last holds. Longest-first is at most a third over the optimum on
equal machines (Graham 1969), and the mending brings it near the bound; tests hold it against brute force.

Nothing here asks the clock or a server, so the same asks give the same schedule.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from typing import TypeVar

from mvpipe.render.backend import BARE, Conditioning

K = TypeVar("K")

MENDS = 400
"""Moves and swaps tried at most; 60 takes on four servers settle within 30."""

CLOSE = 1.002
"""A schedule this near the bound is not mended further."""

PREVIEW_COST = 0.03
"""Share of the night that seeing something early may cost: other texts are encoded between."""

CANDIDATES = 120
"""Takes of the last server looked at in one mend, evenly from the longest to the shortest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A take that is wanted.

    Parameters
    ----------
    name : of its node
    seconds : on a server of speed 1, without encoding its text and loading its models
    text : digest of what is encoded before sampling; equal texts are encoded once
    model : digest of what must be in memory
    at : first frame of its shot
    retake : an earlier take of the shot failed
    home : name of the server that has begun it, in an earlier run
    steps : of its sampling
    step_s : seconds of one of them on a server of speed 1; 0 where nobody knows
    profile : name of its sampling profile
    conditioning : what its references add to a step
    bulk : what its need of memory grows with: rows of its sequence, references too; 0 where nobody knows
    only : names of the servers that may render it; empty for all
    """

    name: str
    seconds: float
    text: str = ""
    model: str = ""
    at: int = 0
    retake: bool = False
    home: str = ""
    steps: int = 0
    step_s: float = 0.0
    profile: str = ""
    conditioning: Conditioning = BARE
    bulk: int = 0
    only: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise ValueError(f"{self.name}: a take needs time: {self.seconds}")

    @property
    def group(self) -> tuple[str, str]:
        """Takes of one group follow each other without a pause."""
        return self.model, self.text

    def may_go_to(self, server: str) -> bool:
        """Whether a server may render it."""
        return not self.only or server in self.only


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A server as the schedule sees it.

    Parameters
    ----------
    name : of the server
    speed : against the server whose seconds are meant; above 0
    text_s, load_s : seconds to encode a text, to load models, at speed 1
    busy_s : until what it has now is done
    warm : the group it will have done last
    """

    name: str
    speed: float = 1.0
    text_s: float = 0.0
    load_s: float = 0.0
    busy_s: float = 0.0
    warm: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if not self.speed > 0 or min(self.text_s, self.load_s, self.busy_s) < 0:
            raise ValueError(f"{self.name}: speed above 0, times not below: {self}")

    def setup_s(self, before: tuple[str, str] | None, group: tuple[str, str]) -> float:
        """Seconds between a take of one group and one of another."""
        if before == group:
            return 0.0
        load = 0.0 if before and before[0] == group[0] else self.load_s
        return (load + self.text_s) / self.speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Who renders what, in order.

    Parameters
    ----------
    orders : server -> its takes
    ends : server -> seconds from now until it is done
    bound_s : no schedule is shorter than this
    """

    orders: Mapping[str, tuple[Ask, ...]]
    ends: Mapping[str, float]
    bound_s: float

    @property
    def makespan_s(self) -> float:
        """Seconds from now until all is done."""
        return max(self.ends.values(), default=0.0)


@dataclass
class _Hand:
    """What one server holds while it is dealt."""

    post: Post
    asks: list[Ask] = field(default_factory=list[Ask])
    groups: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    models: dict[str, int] = field(default_factory=dict[str, int])
    seconds: float = 0.0

    def put(self, asks: Sequence[Ask]) -> None:
        self.asks += asks
        self._count(asks, 1)

    def drop(self, asks: Sequence[Ask]) -> None:
        for ask in asks:
            self.asks.remove(ask)
        self._count(asks, -1)

    def end(self) -> float:
        """Seconds until it is done."""
        return self.end_with(())

    def end_with(self, more: Sequence[Ask], less: Sequence[Ask] = ()) -> float:
        """The same with takes more, or less, than it holds."""
        change = Counter[tuple[str, str]]()
        seconds = self.seconds
        for asks, sign in ((more, 1), (less, -1)):
            for ask in asks:
                change[ask.group] += sign
                seconds += sign * ask.seconds
        texts, loads = self._setups(change)
        post = self.post
        return post.busy_s + (seconds + texts * post.text_s + loads * post.load_s) / post.speed

    def _setups(self, change: Mapping[tuple[str, str], int]) -> tuple[int, int]:
        """How many texts are encoded and models loaded, with so many takes of a group more."""
        texts = len(self.groups) + sum(
            bool(self.groups.get(g, 0) + n) - (g in self.groups) for g, n in change.items()
        )
        by_model = Counter[str]()
        for group, n in change.items():
            by_model[group[0]] += n
        loads = len(self.models) + sum(
            bool(self.models.get(m, 0) + n) - (m in self.models) for m, n in by_model.items()
        )
        if warm := self.post.warm:
            texts -= self.groups.get(warm, 0) + change.get(warm, 0) > 0
            loads -= self.models.get(warm[0], 0) + by_model[warm[0]] > 0
        return texts, loads

    def _count(self, asks: Sequence[Ask], sign: int) -> None:
        for ask in asks:
            self.seconds += sign * ask.seconds
            _add(self.groups, ask.group, sign)
            _add(self.models, ask.model, sign)


def _add(counts: dict[K, int], key: K, many: int) -> None:
    counts[key] = counts.get(key, 0) + many
    if not counts[key]:
        del counts[key]


def deal(asks: Sequence[Ask], posts: Sequence[Post], *, first: Collection[str] = ()) -> Schedule:
    """Deal takes to servers.

    Parameters
    ----------
    first : names of takes to be rendered before all others, as `preview` chooses them
    """
    if not posts:
        raise ValueError("no server to deal to")
    asks = sorted(asks, key=lambda ask: (ask.at, ask.name))  # sums do not depend on the order offered
    lowest = bound(asks, posts)
    tries = [_dealt(asks, posts, first, lowest, whole=whole) for whole in (True, False)]
    orders = min(tries, key=lambda made: max(end_of(made[post.name], post) for post in posts))
    ends = {post.name: end_of(orders[post.name], post) for post in posts}
    return Schedule(orders=orders, ends=ends, bound_s=lowest)


def _dealt(
    asks: Sequence[Ask], posts: Sequence[Post], first: Collection[str], lowest: float, *, whole: bool
) -> dict[str, tuple[Ask, ...]]:
    """One try: groups dealt whole, or take by take; then mended."""
    hands = [_Hand(post) for post in posts]
    early = [[ask] for ask in _longest_first([ask for ask in asks if ask.name in first])]
    groups = _groups([ask for ask in asks if ask.name not in first])
    rest = groups if whole else [[ask] for group in groups for ask in group]
    for part in (*early, *rest):
        may = [hand for hand in hands if _may_go(part, hand)]
        min(may, key=lambda hand: hand.end_with(part)).put(part)
    for _ in range(MENDS):
        if max(hand.end() for hand in hands) <= lowest * CLOSE or not _mend(hands, first):
            break
    return {hand.post.name: _ordered(hand, first) for hand in hands}


def bound(asks: Sequence[Ask], posts: Sequence[Post]) -> float:
    """Seconds below which no schedule of these takes can be.

    All servers share the work and every text is encoded once; and the longest take is on the fastest server.
    Takes that only some servers may render are shared by these alone.
    """
    bounds = [_shared(asks, posts)]
    for only in {ask.only for ask in asks if ask.only}:
        some = [ask for ask in asks if ask.only and ask.only <= only]
        bounds.append(_shared(some, [post for post in posts if post.name in only]))
    return max(bounds)


def _shared(asks: Sequence[Ask], posts: Sequence[Post]) -> float:
    """The bound of takes that every one of these servers may render."""
    warm = {post.warm for post in posts}
    models = {post.warm[0] for post in posts if post.warm}
    setup = min(post.text_s for post in posts) * len({ask.group for ask in asks} - warm)
    setup += min(post.load_s for post in posts) * len({ask.model for ask in asks} - models)
    busy = sum(post.busy_s * post.speed for post in posts)
    speed = sum(post.speed for post in posts)
    shared = (fsum(ask.seconds for ask in asks) + setup + busy) / speed
    alone = max((min(p.busy_s + ask.seconds / p.speed for p in posts) for ask in asks), default=0.0)
    return max(shared, alone, *(post.busy_s for post in posts))


def early(asks: Sequence[Ask], posts: Sequence[Post], many: int) -> list[str]:
    """Names of takes to render first: as many as make the night no longer than by `PREVIEW_COST`."""
    most = deal(asks, posts).makespan_s * (1 + PREVIEW_COST)
    for k in range(many, 0, -1):
        names = preview(asks, k)
        if deal(asks, posts, first=names).makespan_s <= most:
            return names
    return []


def preview(asks: Sequence[Ask], many: int) -> list[str]:
    """Names of takes that show the film early: spread over the song, of different groups if that can be."""
    left = sorted(asks, key=lambda ask: (ask.at, ask.name))
    if not left or many < 1:
        return []
    low, high = left[0].at, left[-1].at
    chosen: list[Ask] = []
    for k in range(min(many, len(left))):
        wanted = low + (2 * k + 1) * (high - low) / (2 * many)
        near = sorted(left, key=lambda ask: (abs(ask.at - wanted), ask.at))[:3]
        known = {ask.group for ask in chosen}
        pick = next((ask for ask in near if ask.group not in known), near[0])
        chosen.append(pick)
        left.remove(pick)
    return [ask.name for ask in chosen]


def end_of(order: Sequence[Ask], post: Post) -> float:
    """Seconds until a server has rendered these in this order."""
    at, before = post.busy_s, post.warm
    for ask in order:
        at += post.setup_s(before, ask.group) + ask.seconds / post.speed
        before = ask.group
    return at


def _longest_first(asks: Sequence[Ask]) -> list[Ask]:
    return sorted(asks, key=lambda ask: (-ask.seconds, ask.at, ask.name))


def _groups(asks: Sequence[Ask]) -> list[list[Ask]]:
    """Group after group, within one the longest take first.

    Those come first that fewest servers may render, and of these the longest group.
    """

    def kind(ask: Ask) -> tuple[tuple[str, str], list[str]]:
        return ask.group, sorted(ask.only)

    def rank(group: list[Ask]) -> tuple[object, ...]:
        first = group[0]
        return (not first.only, len(first.only), -sum(ask.seconds for ask in group), *kind(first))

    ordered = sorted(asks, key=lambda ask: (*kind(ask), -ask.seconds, ask.at, ask.name))
    return sorted((list(group) for _, group in groupby(ordered, key=kind)), key=rank)


def _may_go(asks: Sequence[Ask], hand: _Hand) -> bool:
    return all(ask.may_go_to(hand.post.name) for ask in asks)


def _mend(hands: list[_Hand], fixed: Collection[str]) -> bool:
    """Move or swap what the server that ends last holds, where that lets the two end earlier."""
    last = max(hands, key=lambda hand: hand.end())
    best, change = last.end() - 1e-6, None
    for hand in hands:
        if hand is last:
            continue
        for give, back in _changes(last, hand, fixed):
            end = max(last.end_with(back, give), hand.end_with(give, back))
            if end < best:
                best, change = end, (hand, give, back)
    if change is None:
        return False
    hand, give, back = change
    last.drop(give)
    hand.put(give)
    hand.drop(back)
    last.put(back)
    return True


def _changes(
    last: _Hand, hand: _Hand, fixed: Collection[str]
) -> Iterator[tuple[Sequence[Ask], Sequence[Ask]]]:
    """What could go from one to the other, and what could come back."""
    ours, theirs = (
        _some([ask for ask in one.asks if ask.name not in fixed and _may_go([ask], other)])
        for one, other in ((last, hand), (hand, last))
    )
    yield from (([ask], ()) for ask in ours)
    if len(last.asks) > CANDIDATES:
        return
    yield from ((group, ()) for group in _groups(ours))
    yield from (([ask], [other]) for ask in ours for other in theirs if other.seconds < ask.seconds)


def _some(asks: list[Ask]) -> list[Ask]:
    """At most `CANDIDATES` of them, evenly by length."""
    ordered = _longest_first(asks)
    step = max(1, -(-len(ordered) // CANDIDATES))
    return ordered[::step]


def _ordered(hand: _Hand, first: Collection[str]) -> tuple[Ask, ...]:
    """Previews, then what is warm, then models together; retakes before others of their group."""
    early = _longest_first([ask for ask in hand.asks if ask.name in first])
    warm = early[-1].group if early else hand.post.warm
    rest = [ask for ask in hand.asks if ask.name not in first]
    total, models = defaultdict[tuple[str, str], float](float), defaultdict[str, float](float)
    for ask in rest:
        total[ask.group] += ask.seconds
        models[ask.model] += ask.seconds

    def rank(ask: Ask) -> tuple[object, ...]:
        cold = (warm is None or ask.model != warm[0], -models[ask.model], ask.model)
        new = (ask.group != warm, -total[ask.group], ask.group)
        return (*cold, *new, not ask.retake, -ask.seconds, ask.at, ask.name)

    return (*early, *sorted(rest, key=rank))
