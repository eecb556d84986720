"""Flashes, cuts and noise are found where they were planted, and not in lights, pans, shakes and grain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.film import Outcome
from mvpipe.gate import structure
from mvpipe.gate.breaks import cuts, flashes, judge_cuts, judge_flashes
from mvpipe.gate.judge import judge
from mvpipe.gate.pictures import Sight
from tests.gate import takes

Pictures = Callable[[], Iterator[takes.Gray]]


def seen(tmp_path: Path, pictures: Iterator[takes.Gray], *, crf: int = 20) -> Sight:
    return takes.sight(takes.write(tmp_path / "t.mp4", pictures, crf=crf))


def noisy(sight: Sight) -> bool:
    found = judge(sight, frames=124, rate=Fraction(24), size=takes.SIZE, others={})
    return next(one for one in found.findings if one.check == "noise").outcome is Outcome.FAIL


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("what", [takes.mirrored, takes.white, takes.dark, takes.garbage])
def test_a_flash_is_found_where_it_was_planted(
    tmp_path: Path, what: Callable[[takes.Gray, int], takes.Gray], length: int
) -> None:
    sight = seen(tmp_path, takes.broken(60, length, what))
    assert [(one.start, one.stop) for one in flashes(sight)] == [(60, 60 + length)]
    assert cuts(sight) == []
    finding = judge_flashes(sight)
    assert (finding.outcome, finding.reason) == (Outcome.FAIL, "a single picture breaks in at frame 60")


@pytest.mark.parametrize("what", [takes.mirrored, takes.nearer])
@pytest.mark.parametrize("start", [7, 60, 115])
def test_a_cut_is_found_where_it_was_planted(
    tmp_path: Path, what: Callable[[takes.Gray, int], takes.Gray], start: int
) -> None:
    sight = seen(tmp_path, takes.broken(start, 124, what))
    assert cuts(sight) == [start]
    assert judge_flashes(sight).outcome is Outcome.PASS
    finding = judge_cuts(sight)
    assert (finding.outcome, finding.reason) == (Outcome.FAIL, f"cuts inside the shot at frame {start}")


def test_a_thing_that_jumps_is_no_cut(tmp_path: Path) -> None:
    """As the stand-in server's takes have it: a block on a plain ground, from the right to the left."""

    def jumping() -> Iterator[takes.Gray]:
        ground = np.linspace(60, 160, 192).astype(np.uint8)[:, None].repeat(320, 1)
        for k in range(124):
            picture = ground.copy()
            left = 7 * k % 285
            picture[60:95, left : left + 35] = 235
            yield picture

    sight = seen(tmp_path, jumping())
    assert max(sight.strange) > 0.25
    assert judge_cuts(sight).outcome is judge_flashes(sight).outcome is Outcome.PASS


def test_what_breaks_in_beside_what_is_shown_is_left_alone(tmp_path: Path) -> None:
    flash = seen(tmp_path, takes.broken(6, 1, takes.mirrored))
    cut = seen(tmp_path, takes.broken(116, 124, takes.nearer))
    shown = range(10, 114)
    assert judge_flashes(flash, shown).outcome is judge_cuts(cut, shown).outcome is Outcome.PASS
    assert judge_flashes(flash, range(6, 114)).outcome is Outcome.FAIL
    assert judge_cuts(cut, range(10, 117)).outcome is Outcome.FAIL


def shake(frame: int) -> tuple[int, int]:
    down, right = np.random.default_rng(frame).integers(-6, 7, 2)
    return int(down), int(right)


def jolt(frame: int) -> tuple[int, int]:
    return shake(frame) if 60 <= frame < 63 else (0, 0)


QUIET: dict[str, Pictures] = {
    "a pan of a fifteenth of the width a frame": lambda: takes.thrown(lambda k: (0, 2 * k)),
    "a whip pan": lambda: takes.thrown(lambda k: (0, 24 * min(6, max(0, k - 60)))),
    "handheld": lambda: takes.thrown(shake),
    "a jolt": lambda: takes.thrown(jolt),
    "a light that flashes": lambda: takes.lit(lambda k: 2.5 if k % 12 == 0 else 1),
    "a lamp that goes on": lambda: takes.lit(lambda k: 2.5 if k > 60 else 1),
    "a light that goes on and off": lambda: takes.lit(lambda k: 1 if k // 6 % 2 else 0.3),
    "a strobe that burns out": lambda: takes.lit(lambda k: 16 if k % 10 == 0 else 1),
    "a flashlight that dies away": lambda: takes.lit(lambda k: 1 + 15 * 0.35 ** (k - 60) if k >= 60 else 1),
    "lightning": lambda: takes.lit(lambda k: 1 if k in (60, 61, 64) else 0.05),
    "a fade": lambda: takes.lit(lambda k: min(1, k / 14)),
    "grain": lambda: takes.grainy(12),
    "a mouth alone": takes.talking,
    "a push-in": lambda: takes.push_in(0.002),
}


@pytest.mark.parametrize("pictures", QUIET.values(), ids=QUIET.keys())
def test_what_belongs_to_a_shot_is_no_break(tmp_path: Path, pictures: Pictures) -> None:
    sight = seen(tmp_path, pictures())
    assert judge_flashes(sight).outcome is Outcome.PASS, judge_flashes(sight).reason
    assert judge_cuts(sight).outcome is Outcome.PASS, judge_cuts(sight).reason
    assert not noisy(sight)


def test_a_lamp_that_flashes_once_is_for_the_eye(tmp_path: Path) -> None:
    sight = seen(tmp_path, takes.lit(lambda k: 2.5 if k == 60 else 1))
    assert judge_flashes(sight).outcome is Outcome.CANNOT_JUDGE
    assert "a light flashes at frame 60" in judge_flashes(sight).reason


NOISE: dict[str, Pictures] = {
    "pixels": lambda: takes.latent(1, 60),
    "grey": lambda: takes.latent(1, 60, colours=1),
    "latents": lambda: takes.latent(4, 60),
    "colour over half a picture": lambda: takes.latent(4, 50, over=0.5),
}


@pytest.mark.parametrize("crf", [14, 26])
@pytest.mark.parametrize("pictures", NOISE.values(), ids=NOISE.keys())
def test_noise_is_found(tmp_path: Path, pictures: Pictures, crf: int) -> None:
    assert noisy(seen(tmp_path, pictures(), crf=crf))


QUIET_COLOUR: dict[str, Pictures] = {
    "colour": lambda: (takes.tinted(p, (1, 0.9, 0.7)) for p in takes.moving()),
    "grain in every colour": lambda: (takes.tinted(p, (1, 0.9, 0.7), 12) for p in takes.moving()),
    "confetti": lambda: takes.confetti(150),
    "sparks in the night": lambda: (np.where(c > 250, c, c // 40) for c in takes.confetti(150)),
    "night": lambda: (takes.tinted(p // 10, (1, 1, 1), 2) for p in takes.moving()),
}


@pytest.mark.parametrize("pictures", QUIET_COLOUR.values(), ids=QUIET_COLOUR.keys())
def test_colour_and_grain_are_no_noise(tmp_path: Path, pictures: Pictures) -> None:
    sight = seen(tmp_path, pictures())
    assert not noisy(sight)
    assert judge_flashes(sight).outcome is Outcome.PASS
    assert judge_cuts(sight).outcome is Outcome.PASS


def small(picture: np.ndarray) -> structure.Floats:
    return structure.squares(picture.astype(np.float32), structure.SQUARE)


class TestStructure:
    def test_light_does_not_change_an_outline(self) -> None:
        picture = small(takes.photo())
        one, other = structure.outline(picture), structure.outline(picture * np.float32(0.4) + 30)
        assert structure.lift(picture, picture * np.float32(0.4)) == -1
        assert abs(structure.lift(picture, picture[:, ::-1])) < 0.2
        assert structure.strangeness(one, other) == pytest.approx(0, abs=1e-4)

    def test_a_picture_that_moved_a_tenth_is_the_same(self) -> None:
        wide = takes.photo((400, 192))
        parts = (wide[:, :320], wide[:, 32:352], wide[:, 319::-1])
        one, moved, mirrored = (structure.outline(small(part)) for part in parts)
        assert structure.strangeness(one, moved) < 0.25
        assert structure.strangeness(one, mirrored) > 0.6

    def test_nothing_is_strange_to_everything(self) -> None:
        drawn = structure.outline(small(takes.photo()))
        assert structure.strangeness(structure.outline(drawn * 0), drawn) == 1

    def test_pictures_too_small_to_be_told_apart_are_not(self, rng: np.random.Generator) -> None:
        one, other = rng.standard_normal((2, 7, 12)).astype(np.float32)
        assert structure.strangeness(one, other) == 0

    def test_noise_is_even_and_not_coherent(self, rng: np.random.Generator) -> None:
        noise = rng.standard_normal((96, 160)).astype(np.float32)
        picture = structure.squares(takes.photo().astype(np.float32), 2)
        assert structure.coherence(noise) < 0.05
        assert structure.evenness(noise) > 0.9
        assert structure.coherence(picture) > 0.5
        assert (structure.coherence(noise * 0), structure.evenness(noise * 0)) == (0, 0)
