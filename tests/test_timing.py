"""The time model: right from known cards, sound from few takes, honest about its error."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mvpipe.render.backend import Conditioning
from mvpipe.render.comfyui.times import LOAD_S, film_rows, predict_s, rows
from mvpipe.timing import Rendered, Times, foresight, learn, rest_s, step_s

SIZE = (1344, 768)


def card(
    host: str, factor: float, growth: float, lengths: list[int], *, jitter: float = 0.0, seed: int = 0
) -> list[Rendered]:
    """Takes of a card whose times follow the law with these figures."""
    r = random.Random(seed)
    takes = []
    for k, frames in enumerate(lengths):
        step = factor * step_s(frames, SIZE, growth) * (1 + r.uniform(-jitter, jitter))
        seconds = 8 * step + 2 * rest_s(frames, SIZE)
        takes.append(
            Rendered(shot=k + 1, host=host, frames=frames, size=SIZE, steps=8, step_s=step, seconds=seconds)
        )
    return takes


def test_without_takes_the_published_figures_hold() -> None:
    from mvpipe.render.comfyui.profiles import default_profile, find_profile

    steps = find_profile(default_profile(SIZE)).steps
    assert Times().predict_s(192, SIZE, steps) == pytest.approx(predict_s(192, SIZE))
    assert learn([]) == Times()


def test_one_take_tells_a_cards_speed() -> None:
    times = learn(card("a", 3.0, 1.6, [141]))
    assert times.steps["a"] == pytest.approx(3.0)
    assert times.predict_s(141, SIZE, 8, "a") == pytest.approx(
        8 * 3 * step_s(141, SIZE) + 2 * rest_s(141, SIZE)
    )


def test_takes_of_several_lengths_tell_the_growth() -> None:
    lengths = [124, 141, 158, 175, 192, 209] * 4
    times = learn(card("a", 1.7, 1.9, lengths, jitter=0.03))
    assert times.growth == pytest.approx(1.9, abs=0.12)
    foreseen = times.predict_s(192, SIZE, 8, "a")
    assert foreseen == pytest.approx(8 * 1.7 * step_s(192, SIZE, 1.9) + 2 * rest_s(192, SIZE), rel=0.05)


def test_takes_of_one_length_tell_nothing_of_the_growth() -> None:
    assert learn(card("a", 1.7, 1.9, [141] * 20)).growth == pytest.approx(1.6)


def test_the_growth_stays_where_a_model_can_be() -> None:
    steep = card("a", 1.0, 3.0, [141, 158, 175, 192] * 6)
    assert learn(steep).growth == 2.2


def test_one_odd_take_moves_nothing() -> None:
    takes = card("a", 2.0, 1.6, [124, 141, 158, 175, 192] * 2, jitter=0.02)
    odd = Rendered(shot=99, host="a", frames=141, size=SIZE, steps=8, step_s=900.0, seconds=8000)
    assert learn([*takes, odd]).steps["a"] == pytest.approx(2.0, rel=0.08)


def test_each_server_has_its_speed_and_a_new_one_the_middle() -> None:
    times = learn(card("a", 1.0, 1.6, [141] * 5) + card("b", 4.0, 1.6, [141] * 5))
    assert times.speed("b", "a") == pytest.approx(0.25)
    assert times.speed("a") == pytest.approx(1.0)
    assert times.speed("c") == pytest.approx(0.5)


def test_the_latest_takes_count() -> None:
    takes = card("a", 4.0, 1.6, [141] * 30) + card("a", 1.0, 1.6, [141] * 30)
    assert learn(takes).steps["a"] == pytest.approx(1.0)


def test_takes_whose_steps_were_not_heard_are_left_out() -> None:
    unheard = Rendered(shot=1, host="a", frames=141, size=SIZE, steps=8, step_s=None, seconds=10)
    assert learn([unheard]) == Times()
    assert unheard.rest_s is None


def test_the_error_is_told() -> None:
    def made(shot: int, foreseen: float | None) -> Rendered:
        return Rendered(
            shot=shot, host="a", frames=141, size=SIZE, steps=8, step_s=10, seconds=100, foreseen_s=foreseen
        )

    told = foresight([made(1, 104), made(2, 90), made(3, 150), made(4, None)])
    assert told
    assert (told.takes, told.worst_shot) == (3, 3)
    assert told.text() == "render times were foreseen within 10% (median of 3); worst: shot 3, 50%"
    assert foresight([made(4, None)]) is None


def test_two_takes_that_contradict_each_other_tell_nothing() -> None:
    odd = [*card("a", 1.0, 1.6, [141]), *card("a", 9.0, 1.6, [175])]
    assert learn(odd).growth == pytest.approx(1.6)


def test_a_profile_has_seconds_of_its_own() -> None:
    plain = [replace(one, profile="turbo") for one in card("a", 1.0, 1.6, [141, 175, 209])]
    guided = [replace(one, profile="base") for one in card("a", 2.0, 1.6, [141, 175, 209])]
    times = learn([*plain, *guided])
    assert times.step_s(141, SIZE, "a", "base") == pytest.approx(2 * times.step_s(141, SIZE, "a", "turbo"))
    assert times.step_s(141, SIZE, "a", "new") == pytest.approx(times.step_s(141, SIZE, "a"))


def test_text_and_models_cost_what_they_took_when_they_were_not_there_yet() -> None:
    takes = card("a", 1.0, 1.6, [141] * 5)
    heard = [(30.0, 50.0), (0.0, 0.1), (26.0, 0.2), (0.1, 0.1), (None, None)]
    times = learn(
        [replace(t, text_s=text, load_s=load) for t, (text, load) in zip(takes, heard, strict=True)]
    )
    assert times.text_s("a") == 28.0
    assert times.load_s("a") == 50.0
    assert times.load_s("b") == LOAD_S


FILM = Conditioning(rows=film_rows(SIZE, 141, 141), filmed=True)
PICTURES = Conditioning(rows=4 * 1008)


def following(takes: list[Rendered], riding: Conditioning, times: float) -> list[Rendered]:
    """The same takes with references, their steps so many times as long."""
    return [
        replace(one, conditioning=riding, step_s=(one.step_s or 0.0) * times, shot=50 + one.shot)
        for one in takes
    ]


def test_a_film_nobody_has_followed_yet_costs_what_its_rows_say() -> None:
    times = Times()
    plain, filmed = times.step_s(141, SIZE), times.step_s(141, SIZE, conditioning=FILM)
    assert filmed / plain == pytest.approx(3.0, abs=0.05)
    pictured = times.step_s(141, SIZE, conditioning=PICTURES)
    assert pictured / plain == pytest.approx(((rows(SIZE, 141) + 4032) / rows(SIZE, 141)) ** 1.6)
    assert times.predict_s(141, SIZE, 8, conditioning=FILM) == pytest.approx(8 * filmed + rest_s(141, SIZE))
    taught = learn(card("a", 2.0, 1.6, [141] * 5))
    assert taught.step_s(141, SIZE, "a", conditioning=FILM) == pytest.approx(2 * filmed)


def test_takes_with_films_tell_what_films_cost_and_nothing_of_the_others() -> None:
    plain = card("a", 2.0, 1.6, [124, 141, 158, 175, 192] * 2)
    times = learn([*plain, *following(card("a", 2.0, 1.6, [141] * 8), FILM, 1.9)])
    alone = learn(plain)
    assert times.growth == alone.growth
    assert times.step_s(141, SIZE, "a") == alone.step_s(141, SIZE, "a")
    assert times.speed("a") == alone.speed("a")
    assert times.step_s(141, SIZE, "a", conditioning=FILM) == pytest.approx(
        1.9 * times.step_s(141, SIZE, "a")
    )


def test_a_server_that_followed_films_alone_is_known_by_them() -> None:
    times = learn(following(card("a", 2.0, 1.6, [141] * 4), FILM, (1 + FILM.rows / rows(SIZE, 141)) ** 1.6))
    assert times.step_s(141, SIZE, "a") == pytest.approx(2 * step_s(141, SIZE))


@pytest.mark.parametrize("wrong", [{"rows": -1}, {"rows": 0, "filmed": True}])
def test_what_references_cannot_add(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="not below 0"):
        Conditioning(**wrong)  # type: ignore[arg-type]
