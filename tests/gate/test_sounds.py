"""A take's sound is held against what was promised, and against nothing where nothing was."""

from __future__ import annotations

import numpy as np
import pytest

from mvpipe.film import Outcome
from mvpipe.gate.rules import figures
from mvpipe.gate.sounds import Link, judge_chain, judge_sound
from mvpipe.tools import audible
from mvpipe.tools.audible import measure
from tests.tools.sounds import SILENCE, VOICE, Samples, dulled, heard, sung

SENT = measure(heard(VOICE))


def said(mono: Samples | None) -> dict[str, tuple[Outcome, object]]:
    sound = None if mono is None else measure(heard(np.asarray(mono, np.float32)))
    return {one.check: (one.outcome, one.value) for one in judge_sound(sound, SENT, 5.2)}


def test_the_vocal_that_was_sent_passes() -> None:
    found = judge_sound(measure(heard(0.3 * VOICE)), SENT, 5.2)
    assert [(one.check, one.outcome) for one in found] == [
        ("sound", Outcome.PASS),
        ("locked sound", Outcome.PASS),
    ]
    assert all(one.reason for one in found)


@pytest.mark.parametrize(
    ("mono", "kind"),
    [
        (None, "none"),
        (np.where(np.arange(len(VOICE)) == 7, np.nan, VOICE), "not finite"),
        (VOICE[: len(VOICE) // 2], "cut short"),
        (SILENCE + 0.25, "constant"),
        (SILENCE, "silent"),
        (0.1 * np.random.default_rng(4).standard_normal(len(VOICE)), "noise"),
        (np.clip(9 * VOICE, -1, 1), "clipped"),
    ],
)
def test_each_fault_fails_and_what_follows_from_it_is_not_said(mono: Samples | None, kind: str) -> None:
    found = said(mono)
    assert found["sound"] == (Outcome.FAIL, kind)
    assert found.get("locked sound", (Outcome.PASS, 1))[0] is Outcome.PASS


def test_a_storyboard_may_ask_for_less_and_for_more() -> None:
    loud = measure(heard(np.clip(9 * VOICE, -1, 1).astype(np.float32)))
    assert judge_sound(loud, SENT, 5.2, figures({"clipped_share": 1}))[0].outcome is Outcome.PASS
    hiss = measure(heard((0.1 * np.random.default_rng(4).standard_normal(len(VOICE))).astype(np.float32)))
    assert judge_sound(hiss, SENT, 5.2, figures({"steady_db": 0}))[0].outcome is Outcome.PASS
    lost = judge_sound(measure(heard(sung(2))), SENT, 5.2, figures({"alike": 0.95}))[-1]
    assert (lost.outcome, lost.limit) == (Outcome.FAIL, 0.95)
    assert judge_chain(chain([0.5]), figures({"bright_lost": 0.3}))[0].outcome is Outcome.FAIL


def test_rules_and_renderer_hold_sounds_against_the_same_figures() -> None:
    values = figures()
    same = {"alike": "ALIKE", "sound_share": "SHORT", "steady_db": "STEADY", "clipped_share": "CLIPPED"}
    assert {rule: values[rule] for rule in same} == {rule: getattr(audible, n) for rule, n in same.items()}


def test_another_voice_is_not_the_vocal() -> None:
    found = said(sung(2))
    assert found["sound"][0] is Outcome.PASS
    assert found["locked sound"][0] is Outcome.FAIL


def test_silence_is_promised_where_silence_was_sent() -> None:
    sent = measure(heard(SILENCE))
    quiet, loud = (judge_sound(measure(heard(mono)), sent, 5.2) for mono in (SILENCE, VOICE))
    assert {one.outcome for one in quiet} == {Outcome.PASS}
    assert [one.check for one in loud if one.outcome is Outcome.FAIL] == ["locked sound"]


@pytest.mark.parametrize("mono", [None, SILENCE, sung(2)], ids=["none", "silence", "another"])
def test_a_backend_that_promises_no_sound_cannot_fail_by_it(mono: Samples | None) -> None:
    sound = None if mono is None else measure(heard(mono))
    [finding] = judge_sound(sound, None, 5.2)
    assert (finding.outcome, finding.check) == (Outcome.PASS, "sound")


def chain(kept: list[float], *, other: bool = False) -> list[Link]:
    links = []
    for seed, share in enumerate(kept, 20):
        voice = sung(seed)
        made = sung(seed + 100) if other else voice
        links.append(
            Link(shot=seed - 19, sound=measure(heard(dulled(made, share))), voice=measure(heard(voice)))
        )
    return links


def test_a_chain_that_feeds_on_its_own_sound_fails_where_it_is_dull() -> None:
    """As an unpinned chain was measured: 84 to 92 % gone by the eighth shot."""
    found = judge_chain(chain([1, 0.8, 0.62, 0.5, 0.38, 0.28, 0.2, 0.12]))
    assert [one.outcome for one in found] == [Outcome.PASS] * 5 + [Outcome.FAIL] * 3
    assert found[-1].value == pytest.approx(0.88, abs=0.01)
    assert found[-1].reason == "87% of 4-10 kHz is gone in shot 8 of a chain"
    assert found[0].limit == figures()["bright_lost"]


def test_a_pinned_chain_and_shots_without_a_chain_are_left_alone() -> None:
    for kept in ([1.0] * 8, [0.95] * 8, [1, 0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.5]):
        assert {one.outcome for one in judge_chain(chain(kept))} == {Outcome.PASS}


def test_another_sound_that_is_dull_is_for_the_ear() -> None:
    found = judge_chain(chain([0.05], other=True))
    assert [one.outcome for one in found] == [Outcome.CANNOT_JUDGE]


def test_nothing_can_be_lost_where_nothing_was_sent() -> None:
    dull = measure(heard(dulled(VOICE, 0.01)))
    silent = measure(heard(SILENCE))
    pairs = ((dull, dull), (None, SENT), (SENT, silent))
    links = [Link(shot=k, sound=sound, voice=voice) for k, (sound, voice) in enumerate(pairs)]
    assert {one.outcome for one in judge_chain(links)} == {Outcome.PASS}
