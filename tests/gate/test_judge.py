"""Each check fires on the fault planted for it, alone, and stays quiet on takes that come near to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.clock import NTSC_FILM_RATE
from mvpipe.film import Finding, Outcome, Verdict
from mvpipe.gate.judge import judge, still_frames
from mvpipe.gate.pictures import Sight
from mvpipe.gate.rules import figures
from tests.gate import takes

LONGEST_STILL, LONGEST_TAIL = (round(figures()[name]) for name in ("still_frames", "still_tail"))

CHECKS = [
    "decodable", "frame count", "rate", "size", "black", "plain", "noise", "frozen", "frozen tail",
    "flash", "cut in the shot", "duplicate",
]  # fmt: skip


def judged(path: Path, **asked: object) -> Verdict:
    wanted = {"frames": 124, "rate": Fraction(24), "size": takes.SIZE, "others": {}, **asked}
    return judge(takes.sight(path), **wanted)  # type: ignore[arg-type]


def failed(verdict: Verdict) -> list[str]:
    return [finding.check for finding in verdict.findings if finding.outcome is Outcome.FAIL]


def finding(verdict: Verdict, check: str) -> Finding:
    return next(one for one in verdict.findings if one.check == check)


def dim(picture: takes.Gray, frame: int) -> np.ndarray:
    """Night: the mean is near black, a few things are not."""
    return picture * 0.10


def fade(picture: takes.Gray, frame: int) -> np.ndarray:
    return picture * min(1.0, frame / 14)


def test_every_check_is_made_once_and_says_why(tmp_path: Path) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving()))
    assert [one.check for one in verdict.findings] == CHECKS
    assert verdict.outcome is Outcome.PASS
    assert all(one.reason for one in verdict.findings)


@pytest.mark.parametrize("crf", [14, 18, 28])
@pytest.mark.parametrize(
    "pictures",
    [
        lambda: takes.push_in(0.0001),
        lambda: takes.push_in(0.001),
        lambda: takes.grainy(8),
        takes.talking,
        lambda: takes.moving(dim),
        lambda: takes.moving(fade),
        lambda: takes.frozen_from(105),
    ],
    ids=["slow push-in", "push-in", "grain", "a mouth alone", "dark", "fade in", "a short rest at the end"],
)
def test_takes_that_only_come_near_to_a_fault_pass(
    tmp_path: Path, pictures: Callable[[], Iterator[takes.Gray]], crf: int
) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", pictures(), crf=crf))
    assert verdict.outcome is Outcome.PASS, verdict.reason


@pytest.mark.parametrize("crf", [14, 18, 28])
@pytest.mark.parametrize("more", [(), ("-g", "12")], ids=["one group", "a key frame every half second"])
def test_a_frozen_take(tmp_path: Path, crf: int, more: tuple[str, ...]) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.still(), crf=crf, more=more))
    assert failed(verdict) == ["frozen", "frozen tail"]
    assert finding(verdict, "frozen").value >= 105  # type: ignore[operator]


def test_a_take_that_freezes_in_the_middle(tmp_path: Path) -> None:
    pictures = list(takes.moving())
    middle = pictures[:40] + [pictures[40]] * 60 + pictures[41:65]
    verdict = judged(takes.write(tmp_path / "t.mp4", middle))
    assert failed(verdict) == ["frozen"]
    assert "frames from frame 4" in finding(verdict, "frozen").reason


def test_a_take_that_freezes_at_the_end(tmp_path: Path) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.frozen_from(90)))
    assert failed(verdict) == ["frozen tail"]
    assert verdict.reason.startswith("stands still for the last 33 frames")


def test_a_black_take(tmp_path: Path) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving(lambda p, k: p * (k < 60))))
    assert failed(verdict) == ["black", "frozen", "frozen tail"]
    assert finding(verdict, "black").reason == "black in 52% of frames"


def test_a_take_that_blinks_black(tmp_path: Path) -> None:
    """Nothing stands still for long, but a fifth of it is black."""
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving(lambda p, k: p * (k % 5 > 0))))
    assert failed(verdict) == ["black"]
    assert finding(verdict, "black").value == pytest.approx(0.2, abs=0.01)


def test_black_with_noise_in_it_is_black(tmp_path: Path) -> None:
    noise = np.random.default_rng(440)
    dark = (noise.integers(0, 5, (192, 320)).astype(np.uint8) for _ in range(124))
    assert "black" in failed(judged(takes.write(tmp_path / "t.mp4", dark)))


def test_a_take_of_one_colour(tmp_path: Path) -> None:
    levels = (np.full((192, 320), 60 + k, np.uint8) for k in range(124))
    assert failed(judged(takes.write(tmp_path / "t.mp4", levels))) == ["plain"]


@pytest.mark.parametrize("asked", [123, 125, 141])
def test_another_count_of_frames(tmp_path: Path, asked: int) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving()), frames=asked)
    assert failed(verdict) == ["frame count"]
    assert verdict.reason == f"124 frames where {asked} were asked for"


@pytest.mark.parametrize("rate", ["25", "24000/1001", "23"])
def test_another_rate(tmp_path: Path, rate: str) -> None:
    """The smallest of these is 5 ms off at the end of the take."""
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving(), rate=rate))
    assert failed(verdict) == ["rate"]
    assert finding(verdict, "rate").value == f"{float(Fraction(rate)):.3f}"


def test_the_rate_that_was_asked_for(tmp_path: Path) -> None:
    take = takes.write(tmp_path / "t.mp4", takes.moving(), rate="24000/1001")
    assert judged(take, rate=NTSC_FILM_RATE).outcome is Outcome.PASS


def test_a_take_whose_frames_do_not_last_alike(tmp_path: Path) -> None:
    uneven = ("-vf", "settb=1/96,setpts=4*N+mod(N\\,2)", "-fps_mode", "passthrough", "-enc_time_base", "1/96")
    assert failed(judged(takes.write(tmp_path / "t.mp4", takes.moving(), more=uneven))) == ["rate"]


def test_the_millisecond_of_matroska_is_no_fault(tmp_path: Path) -> None:
    from mvpipe.tools import process
    from mvpipe.tools.ffmpeg import file, quiet

    take = takes.write(tmp_path / "t.mp4", takes.moving())
    process.run(quiet("-i", file(take), "-c", "copy", file(tmp_path / "t.mkv")))
    assert judged(tmp_path / "t.mkv").outcome is Outcome.PASS


def test_another_size(tmp_path: Path) -> None:
    verdict = judged(takes.write(tmp_path / "t.mp4", takes.moving()), size=(672, 384))
    assert failed(verdict) == ["size"]
    assert verdict.reason == "320x192 pixels where 672x384 were asked for"


def test_a_take_seen_before(tmp_path: Path) -> None:
    take = takes.write(tmp_path / "t.mp4", takes.moving())
    others = {takes.sight(take).digest: "shot 3, take 1", "0" * 64: "shot 4, take 1"}
    verdict = judged(take, others=others)
    assert failed(verdict) == ["duplicate"]
    assert verdict.reason == "the same frames as shot 3, take 1"


def test_a_damaged_take(tmp_path: Path) -> None:
    data = bytearray(takes.write(tmp_path / "t.mp4", takes.moving()).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 500] = bytes(500)
    (tmp_path / "t.mp4").write_bytes(data)
    verdict = judged(tmp_path / "t.mp4")
    assert "decodable" in failed(verdict)
    assert "cannot be decoded" in finding(verdict, "decodable").reason


def test_a_take_without_frames_fails_and_does_not_crash() -> None:
    nothing = Sight(
        frames=0,
        packets=0,
        times=(),
        tick=Fraction(1, 24000),
        size=takes.SIZE,
        digest="",
        sound=False,
        damage=("packet 0: cannot be read",),
        level=(),
        spread=(),
        change=(),
        stir=(),
        **takes.unremarkable(0),
    )
    verdict = judge(nothing, frames=124, rate=Fraction(24), size=takes.SIZE, others={})
    assert failed(verdict) == ["decodable", "frame count"]


def test_the_limits_themselves() -> None:
    good = Sight(
        frames=124,
        packets=124,
        times=tuple(Fraction(k, 24) for k in range(124)),
        tick=Fraction(1, 24000),
        size=takes.SIZE,
        digest="d",
        sound=True,
        damage=(),
        level=(100.0,) * 124,
        spread=(40.0,) * 124,
        change=(0.0, *(0.03,) * 123),
        stir=(0.0, *(2.0,) * 123),
        **takes.unremarkable(124),
    )

    def outcome(**changes: object) -> list[str]:
        sight = replace(good, **changes)  # type: ignore[arg-type]
        return failed(judge(sight, frames=124, rate=Fraction(24), size=takes.SIZE, others={}))

    def held(first: int, count: int) -> tuple[float, ...]:
        return tuple(0.01 if first <= k < first + count else 0.03 for k in range(124))

    assert outcome() == []
    assert outcome(stir=(0.5,) * 124) == [], "a slow move everywhere"
    assert outcome(change=(0.01,) * 124) == [], "a mouth that moves alone"
    calm = {"stir": (0.5,) * 124}
    assert outcome(**calm, change=held(20, LONGEST_STILL)) == []
    assert outcome(**calm, change=held(20, LONGEST_STILL + 1)) == ["frozen"]
    assert outcome(**calm, change=held(124 - LONGEST_TAIL, LONGEST_TAIL)) == []
    assert outcome(**calm, change=held(123 - LONGEST_TAIL, LONGEST_TAIL + 1)) == ["frozen tail"]
    assert outcome(level=(1.0,) * 12 + (100.0,) * 112, spread=(1.0,) * 12 + (40.0,) * 112) == []
    assert outcome(level=(1.0,) * 13 + (100.0,) * 111, spread=(1.0,) * 13 + (40.0,) * 111) == ["black"]


def test_a_storyboard_may_allow_more_and_what_it_allows_is_recorded(tmp_path: Path) -> None:
    pictures = [*list(takes.moving())[:64], *list(takes.moving(lambda p, k: p[:, ::-1]))[64:]]
    pictures[30] = pictures[30][:, ::-1]
    pictures[80:110] = [pictures[80]] * 30
    take = takes.write(tmp_path / "t.mp4", pictures)
    found = judged(take, rules=figures({"still_frames": 20}))
    assert failed(found) == ["frozen", "flash", "cut in the shot"]
    assert finding(found, "frozen").limit == 20
    found = judged(take, rules=figures({"flashes": 1, "cuts": 1}))
    assert found.outcome is Outcome.PASS
    assert finding(found, "flash").reason == "breaks in at frame 30, as it may"
    assert (finding(found, "cut in the shot").value, finding(found, "cut in the shot").limit) == (1, 1)


def test_a_key_frame_that_looks_coded_anew_is_still() -> None:
    pop = (0.0, *([0.01] * 10), 2.0, *([0.01] * 10))
    assert still_frames(changing(pop)) == (False, *([True] * 21))


def test_pictures_on_twos_are_not_still() -> None:
    """Drawn animation shows each picture twice."""
    assert sum(still_frames(changing((0.0, *([0.0, 5.0] * 30))))) == 30


def changing(change: tuple[float, ...]) -> Sight:
    """A Sight of which only the changes matter."""
    empty = Sight(
        frames=0,
        packets=0,
        times=(),
        tick=Fraction(1, 1000),
        size=takes.SIZE,
        digest="",
        sound=False,
        damage=(),
        level=(),
        spread=(),
        change=change,
        stir=tuple(10 * value for value in change),
        **takes.unremarkable(0),
    )
    return empty
