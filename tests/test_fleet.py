"""The fleet: on a clock of its own, with servers that are slow, vanish, and refuse."""

from __future__ import annotations

import itertools
import random
import statistics
import time

import pytest

from mvpipe import fleet as module
from mvpipe.berth import Berth
from mvpipe.build.lane import Ready
from mvpipe.errors import (
    BackendError,
    GraphRejected,
    Misconfigured,
    RenderFailed,
    RenderTimeout,
    Unreachable,
)
from mvpipe.fleet import Fleet
from mvpipe.render.backend import Ran
from mvpipe.schedule import Ask, Post, bound, end_of, preview
from tests.night import Night, song, unequal_night


class OutOfMemory(RenderFailed):
    elsewhere = True
    grows = True


class DiskFull(RenderFailed):
    """As a client says that a server cannot write what it makes."""

    elsewhere = True
    whole = True


@pytest.mark.parametrize("seed", range(5))
def test_one_server_is_never_idle(seed: int) -> None:
    night = Night([1.0], text_s=60).run(song(seed, 60))
    assert night.idle() < 0.001
    assert sorted(night.names()) == sorted(ask.name for ask in song(seed, 60))


def test_four_unequal_servers_with_retakes_are_hardly_idle() -> None:
    nights = [unequal_night(seed) for seed in range(3)]
    assert {len(night.done) for night in nights} == {69}
    idle = [night.idle() for night in nights]
    assert statistics.mean(idle) <= 0.02
    assert max(idle) <= 0.03  # where the very last take fails, three servers watch the fourth


def test_what_is_dealt_early_is_not_how_a_night_ends_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: the last takes go where they were dealt long before."""
    monkeypatch.setattr(module, "LAST", 0)
    assert max(unequal_night(seed).idle() for seed in (7, 9)) > 0.03


def test_the_wrong_guess_of_a_speed_is_found_out() -> None:
    real = {"server 0": 1.0, "server 1": 0.25}
    asks = song(1, 60, 1)
    night = Night([1.0, 1.0], takes_s=lambda name, ask: ask.seconds / real[name]).run(asks)
    posts = [Post(name=name, speed=speed) for name, speed in real.items()]
    assert max(end for *_, end in night.done) <= bound(asks, posts) * 1.08


def test_equal_texts_stay_on_their_server() -> None:
    night = Night([1.0, 1.0], text_s=600).run(song(2, 40, 4))
    order = [ask.text for name in night.names("server 0") for ask in song(2, 40, 4) if ask.name == name]
    assert sum(a != b for a, b in itertools.pairwise(order)) <= 3


def test_early_takes_come_first_and_are_spread() -> None:
    asks = song(3, 40, 1)
    night = Night([1.0], first=preview(asks, 4)).run(asks)
    at = sorted(int(name.split()[1].split(".")[0]) for name in night.names()[:4])
    assert at[0] < 12
    assert at[-1] > 27


def test_the_order_is_the_same_every_time() -> None:
    assert (
        Night([1.0, 0.5], text_s=60).run(song(4, 30)).done
        == Night([1.0, 0.5], text_s=60).run(song(4, 30)).done
    )


def test_a_take_that_lost_its_server_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night(
        [1.0, 1.0], fails=lambda name, _ask, _now: Unreachable("gone") if name == "server 1" else None
    )
    night.hosts[1].answers = False
    night.run(song(5, 12))
    assert not night.lost
    assert [name for name in night.names("server 1") if not name.startswith("!")] == []
    assert len(night.names("server 0")) == 12
    assert night.said[0] == "server 1: away: gone"


def test_a_server_that_returns_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night(
        [1.0, 1.0],
        fails=lambda name, _ask, now: Unreachable("gone") if name == "server 1" and now < 1500 else None,
    )
    night.run(song(6, 30))
    assert not night.lost
    assert "server 1: back" in night.said
    assert [name for name in night.names("server 1") if not name.startswith("!")]


def test_nobody_left_for_half_an_hour_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night([1.0], fails=lambda *_: Unreachable("gone"))
    night.hosts[0].answers = False
    for ask in song(7, 3):
        night.fleet.offer(Ready(name=ask.name, key=ask.name, hint=ask))
    while not night.done:
        night._begin()
        night._step()
    night.now += module.FORSAKEN_S + 1
    night._begin()
    assert "nobody has answered for 30 minutes" in str(night.lost["take 2.1"])


def test_what_only_a_server_could_do_that_stays_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)

    def fails(name: str, ask: Ask, now: float) -> BaseException | None:
        return Unreachable("gone") if name == "server 1" else GraphRejected("no such node")

    night = Night([1.0, 1.0], fails=fails)
    night.hosts[1].answers = False
    night.run(song(5, 4))
    assert len(night.lost) == 4, "it does not wait for ever"
    assert {str(error) for error in night.lost.values()} == {"no such node"}
    assert night.now > module.FORSAKEN_S


class Stalled(RenderTimeout):
    """As a client says that nothing has moved since it gave a server up."""

    retryable = False
    pending = False


def test_a_server_that_hangs_leaves_its_takes_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night([1.0, 1.0], fails=lambda name, *_: Stalled("hangs") if name == "server 1" else None)
    night.hosts[1].answers = False
    night.run(song(5, 12))
    assert not night.lost
    assert len(night.names("server 0")) == 12


def test_the_only_server_that_hangs_ends_the_run_at_once() -> None:
    night = Night([1.0], fails=lambda *_: Stalled("hangs")).run(song(5, 3))
    assert len(night.lost) == 3
    assert night.now < module.FORSAKEN_S


def test_a_slow_server_is_marked_and_gets_no_more_while_others_are_there() -> None:
    def takes(name: str, ask: Ask) -> float:
        return ask.seconds * (3 if name == "server 1" and night.free_at[name] > 4000 else 1)

    night = Night([1.0, 1.0], takes_s=takes)
    night.run(song(8, 40, 1))
    slow = [word for word in night.said if "slower" in word]
    assert len(slow) == 1
    assert slow[0].startswith("server 1: 3.0 times slower than its takes before")
    known = night.said_at[night.said.index(slow[0])]
    assert [begun for *_, at, begun, _ in night.done if at == "server 1" and begun > known] == []
    assert len(night.names("server 0")) > len(night.names("server 1")) + 8


def test_who_is_ill_is_better_than_who_cannot() -> None:
    """The disk of the only server that is well is full: the other goes on, however slow it has become."""

    def fails(name: str, _ask: Ask, _now: float) -> BaseException | None:
        full = name == "server 0" and any("slower" in word for word in night.said)
        return DiskFull("no space left") if full else None

    def takes(name: str, ask: Ask) -> float:
        return ask.seconds * (3 if name == "server 1" and night.free_at[name] > 4000 else 1)

    night = Night([1.0, 1.0], takes_s=takes, fails=fails)
    night.run(song(8, 40, 1))
    assert any("slower" in word for word in night.said)
    assert not night.lost
    assert len({name for name in night.names() if not name.startswith("!")}) == 40


def test_even_pace_is_not_ill() -> None:
    r = random.Random(9)
    night = Night([1.0, 0.5], takes_s=lambda _name, ask: ask.seconds * r.uniform(0.7, 1.4)).run(song(9, 40))
    assert not [word for word in night.said if "slower" in word]


def test_a_graph_that_one_server_refuses_goes_to_another_and_is_not_tried_there_again() -> None:
    night = Night(
        [1.0, 1.0], fails=lambda name, *_: GraphRejected("no such node") if name == "server 1" else None
    ).run(song(10, 12, 1))
    assert not night.lost
    assert len(night.names("server 1")) <= module.DEPTH
    assert len([name for name in night.names("server 0") if not name.startswith("!")]) == 12


def test_a_graph_that_every_server_refuses_is_tried_once_a_place_not_once_a_shot() -> None:
    night = Night([1.0, 1.0], fails=lambda *_: GraphRejected("no such node")).run(song(11, 46, 1))
    assert len(night.done) <= 2 * module.DEPTH
    assert len(night.lost) == 46
    assert {str(error) for error in night.lost.values()} == {"no such node"}


def test_out_of_memory_goes_to_another_server_and_fails_where_there_is_none() -> None:
    big = {"take 3.1"}
    night = Night(
        [1.0, 1.0],
        fails=lambda name, ask, _: OutOfMemory("full") if ask.name in big and name == "server 0" else None,
    ).run(song(12, 12))
    assert not night.lost
    assert ("take 3.1" in night.names("server 1")) or "take 3.1" in night.names("server 0")
    alone = Night([1.0], fails=lambda _name, ask, _: OutOfMemory("full") if ask.name in big else None)
    alone.run(song(12, 12))
    assert list(alone.lost) == ["take 3.1"]
    assert alone.names().count("! take 3.1") == 1


def test_what_no_server_can_mend_is_not_moved() -> None:
    night = Night(
        [1.0, 1.0], fails=lambda _n, ask, _: RenderFailed("bad") if ask.name == "take 1.1" else None
    )
    night.run(song(13, 6))
    assert list(night.lost) == ["take 1.1"]
    assert night.names().count("! take 1.1") == 1


def test_what_a_server_has_begun_stays_with_it() -> None:
    asks = [Ask(name=f"take {k}.1", seconds=100, at=k, home="server 1") for k in range(6)]
    night = Night([1.0, 0.1]).run(asks)
    assert night.names("server 0") == []


def test_what_a_lost_server_has_begun_waits_for_it_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night([1.0, 1.0], fails=lambda name, *_: Unreachable("gone") if name == "server 1" else None)
    night.hosts[1].answers = False
    begun = Ask(name="take 9.1", seconds=100, home="server 1")
    night.run([begun, *(Ask(name=f"take {k}.1", seconds=100, at=k) for k in range(8))])
    ended = next(end for name, at, _, end in night.done if name == "take 9.1")
    assert ended >= module.HOLD_S


@pytest.mark.parametrize("error", [Unreachable("gone"), RenderTimeout("no answer in time")])
def test_what_a_server_may_have_made_is_asked_of_it_before_another_begins(
    monkeypatch: pytest.MonkeyPatch, error: BackendError
) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    fails = lambda name, _ask, now: error if name == "server 1" and now < 60 else None  # noqa: E731
    night = Night([1.0, 1.0], fails=fails)
    night.run([Ask(name=f"take {k}.1", seconds=50, at=k) for k in range(8)])
    begun = {name.removeprefix("! ") for name in night.names("server 1") if name.startswith("!")}
    assert begun
    assert begun <= set(night.names("server 1"))
    assert not begun & set(night.names("server 0"))


def test_what_a_server_was_seen_not_to_make_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.0)
    night = Night([1.0, 1.0], fails=lambda name, *_: Stalled("hangs") if name == "server 1" else None)
    night.hosts[1].answers = False
    night.run(song(5, 4))
    assert not night.lost
    assert night.now < module.HOLD_S + sum(ask.seconds for ask in song(5, 4))


def test_times_are_remembered_for_the_report() -> None:
    night = Night([1.0], takes_s=lambda _n, ask: ask.seconds * 1.1).run(song(14, 9, 1))
    ratios = [timed.seconds / timed.ask.seconds for timed in night.fleet.timed.values()]
    assert statistics.median(ratios) == pytest.approx(1.1)


def test_a_schedule_foretells_the_rest() -> None:
    asks = song(15, 20, 1)
    night = Night([1.0, 0.5])
    for ask in asks:
        night.fleet.offer(Ready(name=ask.name, key=ask.name, hint=ask))
    made = night.fleet.schedule()
    assert made.makespan_s <= made.bound_s * 1.05
    one = Post(name="server 0")
    assert made.ends["server 0"] == pytest.approx(end_of(made.orders["server 0"], one))


def test_a_fleet_without_servers_is_none() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Fleet([])


def test_an_error_of_ours_is_not_hidden() -> None:
    night = Night([1.0])
    night.fleet.offer(Ready(name="a", key="a", hint=Ask(name="a", seconds=1)))
    ready = night.fleet.next()
    assert ready
    assert not night.fleet.end(ready, ValueError("ours"))
    assert isinstance(BackendError("x").elsewhere, bool)


def sized(many: int) -> list[Ask]:
    """Takes of one model, the later the larger."""
    return [Ask(name=f"take {k}.1", seconds=100, model="m", bulk=1000 + k, at=k) for k in range(many)]


def test_what_is_larger_than_what_had_no_room_is_not_tried_there() -> None:
    def fails(server: str, ask: Ask, _now: float) -> BaseException | None:
        return OutOfMemory("too large") if server == "server 1" and ask.bulk >= 1010 else None

    night = Night([1.0, 1.0], fails=fails).run(sized(40))
    assert not night.lost
    tried = [name for name in night.names("server 1") if name.startswith("!")]
    assert len(tried) <= 4, "the smallest that failed is the ceiling"
    assert all(
        int(name.split()[-1].partition(".")[0]) < 10 for name in set(night.names("server 1")) - {*tried}
    )


def test_alone_a_server_without_room_is_asked_for_nothing_larger() -> None:
    night = Night([1.0], fails=lambda _s, ask, _n: OutOfMemory("no") if ask.bulk >= 1010 else None)
    night.run(sized(40))
    assert sorted(night.names()) == sorted([f"take {k}.1" for k in range(10)] + night_failed(night))
    assert len(night_failed(night)) <= 3
    assert len(night.lost) == 30


def night_failed(night: Night) -> list[str]:
    return [name for name in night.names() if name.startswith("!")]


def test_the_same_failure_take_after_take_is_no_chance() -> None:
    broken = lambda *_: RenderFailed("take: node 7 failed at 12 GB", sign="node # failed", enough=2)  # noqa: E731
    night = Night([1.0], fails=broken).run([Ask(name=f"take {k}.1", seconds=9, model="m") for k in range(46)])
    assert len(night_failed(night)) <= 3, "46 shots are not burnt"
    assert isinstance(night.lost["take 45.1"], Misconfigured)
    assert "2 takes in a row" in str(night.lost["take 45.1"])


def test_another_server_goes_on_where_one_fails_all_alike() -> None:
    def fails(server: str, _ask: Ask, _now: float) -> BaseException | None:
        return RenderFailed("broken", sign="broken", enough=2) if server == "server 0" else None

    night = Night([1.0, 1.0], fails=fails).run(
        [Ask(name=f"take {k}.1", seconds=9, model="m") for k in range(20)]
    )
    assert len(night_failed(night)) <= 3
    assert len(night.lost) <= 1, "the first may have been chance: its shot gets another seed"


def test_failures_that_differ_are_bad_luck() -> None:
    signs = itertools.count()
    night = Night([1.0], fails=lambda *_: RenderFailed("odd", sign=f"odd {next(signs)}", enough=2))
    night.run([Ask(name=f"take {k}.1", seconds=9, model="m") for k in range(10)])
    assert len(night_failed(night)) == 10


def steps(*used: int, step_s: float = 1.0) -> list[Ran]:
    return [Ran(step_s=step_s, used={"graphics": one}, whole={"graphics": 100}) for one in used]


def test_memory_that_grows_take_after_take_is_a_leak_and_what_is_cached_is_none() -> None:
    ask = Ask(name="take 1.1", seconds=10, model="m")
    berth = Berth(host=Night([1.0]).hosts[0])
    assert [berth.weigh(ask, ran) for ran in steps(50, 60, 60, 61, 60, 61, 61, 60)] == [""] * 8
    berth = Berth(host=Night([1.0]).hosts[0])
    assert [bool(berth.weigh(ask, ran)) for ran in steps(50, 52, 53, 54, 56)] == [False] * 4 + [True]


def test_a_leak_is_freed_first_and_then_asks_for_a_restart() -> None:
    night = Night([1.0, 1.0])
    fleet, ask = night.fleet, Ask(name="take 1.1", seconds=10, model="m")
    berth = next(iter(fleet._berths.values()))
    for ran in steps(50, 52, 54, 56, 58):
        fleet._learn(berth, ask, 10, ran)
    until = time.monotonic() + 5
    while not night.hosts[0].frees and time.monotonic() < until:
        time.sleep(0.01)
    assert night.hosts[0].frees == 1
    assert night.said[-1].endswith("ComfyUI is asked to free it")
    assert not berth.ill
    for ran in steps(50, 52, 54, 56, 58):
        fleet._learn(berth, ask, 10, ran)
    assert "though it was freed" in berth.ill
    assert "restart ComfyUI" in night.said[-1]
    berth.welcome()
    assert not berth.ill
    assert not berth.freed


def test_it_is_the_steps_that_say_whether_a_server_is_slow() -> None:
    berth = Berth(host=Night([1.0]).hosts[0])
    ask = Ask(name="take 1.1", seconds=10, steps=8, step_s=1.0)
    for ran in steps(*[50] * 4):
        berth.time(ask, 10, ran)
    berth.time(ask, 30, *steps(50))
    assert not berth.ill, "the take was long in the queue; its steps were as ever"
    berth.time(ask, 20, *steps(50, step_s=1.9))
    assert berth.ill.startswith("1.9 times slower")
    berth.time(ask, 10, *steps(50))
    assert not berth.ill
