"""The night as `plan` prints it."""

from __future__ import annotations

from mvpipe.forecast import Forecast
from mvpipe.schedule import Ask, Post, deal


def night() -> Forecast:
    asks = [Ask(name=f"take {k}.1", seconds=60.0 * k, at=100 * k) for k in range(1, 5)]
    posts = (Post(name="http://a:1"), Post(name="http://b:1", speed=0.5))
    return Forecast(
        first=("take 2.1",), servers=posts, schedule=deal(asks, posts, first=["take 2.1"]), learnt=7
    )


def test_it_says_what_comes_first_who_renders_what_and_how_near_the_shortest_night_it_is() -> None:
    lines = night().text().splitlines()
    assert lines[0].startswith("the night, by times of 7 takes: ")
    assert "no order is shorter than 6:40.000" in lines[0], "600 s shared by one and a half servers"
    assert lines[1] == "  seen first: shot 2"
    assert [line.split(",")[0].strip() for line in lines[2:]] == ["http://a:1", "http://b:1"]


def test_scripts_get_every_shot_once() -> None:
    told = night().as_json()
    assert told["preview"] == [2]
    assert sorted(shot for server in told["servers"] for shot in server["shots"]) == [1, 2, 3, 4]
    assert told["seconds"] >= told["bound_s"] == 400.0


def test_where_every_shot_has_its_take_nothing_is_foretold() -> None:
    post = Post(name="http://a:1")
    done = Forecast(first=(), servers=(post,), schedule=deal([], [post]), learnt=7, kept=4)
    assert done.text() == "the night: nothing is left to render"
    assert done.as_json()["seconds"] == 0
