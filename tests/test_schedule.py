"""The schedule: near the bound, equal to brute force where that can be had, and the same every time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvpipe.schedule import Ask, Post, bound, deal, early, end_of, preview

FOUR = (1.0, 0.7, 0.5, 0.3)


def night(seed: int, shots: int, texts: int, models: int = 1) -> list[Ask]:
    r = random.Random(seed)
    return [
        Ask(
            name=f"take {k}.1",
            seconds=r.uniform(200, 700),
            text=f"text {r.randrange(texts)}",
            model=f"model {r.randrange(models)}",
            at=150 * k,
        )
        for k in range(shots)
    ]


def posts(speeds: Sequence[float], text_s: float = 60) -> list[Post]:
    return [Post(name=f"server {k}", speed=s, text_s=text_s, load_s=30) for k, s in enumerate(speeds)]


def shortest(asks: Sequence[Ask], servers: Sequence[Post]) -> float:
    """By trying every way to deal, each server's takes ordered by group."""
    best = float("inf")
    for dealt in itertools.product(range(len(servers)), repeat=len(asks)):
        ends = []
        for k, post in enumerate(servers):
            mine = [ask for ask, at in zip(asks, dealt, strict=True) if at == k]
            groups = sorted({ask.group for ask in mine}, key=lambda g: (g != post.warm, g))
            ends.append(end_of(sorted(mine, key=lambda ask: groups.index(ask.group)), post))
        best = min(best, max(ends))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_near_the_optimum_that_brute_force_finds(seed: int) -> None:
    asks, servers = night(seed, 7, 3), posts((1.0, 0.6, 0.4))
    made = deal(asks, servers)
    best = shortest(asks, servers)
    assert bound(asks, servers) <= best + 1e-6
    assert best - 1e-6 <= made.makespan_s <= best * 1.08


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("texts", "models"), [(8, 1), (60, 1), (20, 3)])
def test_sixty_shots_on_four_unequal_servers_end_within_five_percent_of_the_bound(
    seed: int, texts: int, models: int
) -> None:
    asks, four = night(seed, 60, texts, models), posts(FOUR)
    made = deal(asks, four, first=early(asks, four, 6))
    assert made.makespan_s <= made.bound_s * 1.05


def test_one_server_with_equal_texts_is_at_the_bound() -> None:
    made = deal(night(1, 60, 1), posts([1.0]))
    assert made.makespan_s == pytest.approx(made.bound_s)


def test_ten_thousand_takes() -> None:
    made = deal(night(2, 10_000, 300, 2), posts(FOUR))
    assert made.makespan_s <= made.bound_s * 1.01
    assert sum(len(order) for order in made.orders.values()) == 10_000


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(1, 9),
    st.lists(st.floats(0.1, 4), min_size=1, max_size=5),
)
def test_every_take_once_and_never_below_the_bound(
    seed: int, shots: int, texts: int, speeds: list[float]
) -> None:
    asks, servers = night(seed, shots, texts, 2), posts(speeds)
    made = deal(asks, servers, first=preview(asks, 3))
    dealt = [ask for order in made.orders.values() for ask in order]
    assert sorted(dealt, key=lambda a: a.at) == asks
    assert made.makespan_s >= made.bound_s - 1e-6
    assert made == deal(list(reversed(asks)), servers, first=preview(asks, 3))
    for post in servers:
        assert made.ends[post.name] == pytest.approx(end_of(made.orders[post.name], post))


def test_equal_texts_follow_each_other_and_the_warm_one_comes_first() -> None:
    asks = night(3, 12, 3)
    warm = ("model 0", "text 2")
    order = deal(asks, [Post(name="a", text_s=600, warm=warm)]).orders["a"]
    texts = [text for text, _ in itertools.groupby(order, key=lambda ask: ask.text)]
    assert texts[0] == "text 2"
    assert len(texts) == 3


def test_a_retake_comes_before_others_of_its_text() -> None:
    asks = [*night(4, 6, 1), Ask(name="take 2.2", seconds=1, text="text 0", model="model 0", retake=True)]
    assert deal(asks, posts([1.0])).orders["server 0"][0].name == "take 2.2"


def test_the_longest_of_a_text_comes_first() -> None:
    order = deal(night(5, 9, 1), posts([1.0])).orders["server 0"]
    assert [ask.seconds for ask in order] == sorted((ask.seconds for ask in order), reverse=True)


def test_a_preview_is_spread_over_the_song_and_over_the_texts() -> None:
    asks = [Ask(name=f"take {k}.1", seconds=9, text=f"text {k // 10}", at=100 * k) for k in range(40)]
    names = preview(asks, 4)
    at = [int(name.split()[1].split(".")[0]) for name in names]
    assert len({k // 10 for k in at}) == 4
    assert at == sorted(at)
    assert min(b - a for a, b in itertools.pairwise(at)) >= 7
    assert preview(asks, 0) == []
    assert len(preview(asks[:2], 6)) == 2


def test_previews_come_first() -> None:
    asks = night(6, 60, 8)
    early = set(preview(asks, 4))
    made = deal(asks, posts(FOUR), first=early)
    for order in made.orders.values():
        known = [ask.name in early for ask in order]
        assert known == sorted(known, reverse=True)


def test_a_preview_that_costs_too_much_gets_smaller() -> None:
    asks, servers = night(7, 12, 6), posts([1.0, 0.3], text_s=3000)
    plain, made = deal(asks, servers), deal(asks, servers, first=early(asks, servers, 6))
    assert made.makespan_s <= plain.makespan_s * 1.03


def test_a_busy_server_gets_less() -> None:
    asks = night(8, 20, 1)
    free, busy = Post(name="free"), Post(name="busy", busy_s=3000)
    made = deal(asks, [free, busy])
    assert made.ends["free"] == pytest.approx(made.ends["busy"], rel=0.1)
    assert len(made.orders["free"]) > len(made.orders["busy"])


def test_nothing_to_do_and_nobody_to_do_it() -> None:
    assert deal([], posts([1.0])).makespan_s == 0
    with pytest.raises(ValueError, match="no server"):
        deal(night(1, 3, 1), [])


@pytest.mark.parametrize("wrong", [0.0, -1.0])
def test_times_and_speeds_are_checked(wrong: float) -> None:
    with pytest.raises(ValueError, match="needs time"):
        Ask(name="take", seconds=wrong)
    with pytest.raises(ValueError, match="speed above 0"):
        Post(name="a", speed=wrong)


@pytest.mark.parametrize("seed", range(8))
def test_takes_that_only_some_may_render_stay_there_and_the_others_make_room(seed: int) -> None:
    r = random.Random(seed)
    posts = [Post(name="big", speed=1.0), Post(name="small", speed=0.7), Post(name="old", speed=0.5)]
    asks = [
        Ask(
            name=f"take {k}.1",
            seconds=r.uniform(100, 500),
            text=f"text {k % 5}",
            only=frozenset({"big"} if k % 4 == 0 else {"big", "small"} if k % 4 == 1 else ()),
        )
        for k in range(40)
    ]
    made = deal(asks, posts, first=["take 4.1"])
    assert sorted(ask.name for order in made.orders.values() for ask in order) == sorted(a.name for a in asks)
    assert all(ask.may_go_to(server) for server, order in made.orders.items() for ask in order)
    assert made.makespan_s <= made.bound_s * 1.05


def test_the_bound_knows_that_one_server_has_to_do_it_alone() -> None:
    posts = [Post(name="big"), Post(name="small")]
    asks = [Ask(name=f"take {k}.1", seconds=100, only=frozenset({"big"})) for k in range(6)]
    assert bound(asks, posts) == 600
    assert deal(asks, posts).makespan_s == 600
