"""Mouths that should be closed, faces that should be there, and faces that should be somebody's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.film import Finding, Outcome
from mvpipe.gate import identity
from mvpipe.gate.faces import chip
from mvpipe.gate.look import Seen, look
from mvpipe.gate.people import Expected, judge_people, names_of, singer_among
from mvpipe.gate.portraits import EVERY, MANY, Portraits, distances, portrait_of
from mvpipe.gate.rules import figures
from tests.gate.faces_synth import Part, make

SINGS = Expected(sings=True, closed=False)
CLOSED = Expected(sings=False, closed=True)
ANYTHING = Expected(sings=False, closed=False)


def found(seen: Seen, expected: Expected) -> dict[str, Finding]:
    return {one.check: one for one in judge_people(seen, expected, figures())}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    folder = tmp_path_factory.mktemp("people")
    size = (320, 180)
    parts = {
        "sings": Part(seed=61, size=size, seconds=4),
        "closed": Part(seed=61, size=size, seconds=4, mouth="closed", motion=1, noise=6, crf=28),
    }
    for name, part in parts.items():
        make(part, folder / f"{name}.mp4")
    return {name: look(folder / f"{name}.mp4").seen for name in parts}


def test_a_mouth_that_moves_where_nobody_sings_fails(seen: dict[str, Seen]) -> None:
    moves = found(seen["sings"], CLOSED)["closed mouth"]
    assert moves.outcome is Outcome.FAIL
    assert moves.reason == "a mouth moves where nobody sings"
    assert found(seen["sings"], ANYTHING)["closed mouth"].outcome is Outcome.PASS


def test_a_closed_mouth_passes_though_the_head_moves(seen: dict[str, Seen]) -> None:
    still = found(seen["closed"], CLOSED)["closed mouth"]
    assert (still.outcome, still.reason) == (Outcome.PASS, "no mouth moves")
    assert float(still.value) < 0.012


def test_a_mouth_that_moves_for_a_while_is_for_the_eye(seen: dict[str, Seen]) -> None:
    """It laughs, or says a word: the first third of a singing mouth, then a still one."""
    [track] = seen["sings"].tracks
    points = track.points.copy()
    points[32:] = points[32]
    laughs = replace(seen["sings"], tracks=(replace(track, points=points),))
    finding = found(laughs, CLOSED)["closed mouth"]
    assert finding.outcome is Outcome.CANNOT_JUDGE
    assert "for the eye" in finding.reason


def test_who_sings_for_a_moment_may_and_not_most_of_the_time(seen: dict[str, Seen]) -> None:
    moment = replace(CLOSED, sings=True)
    assert found(seen["sings"], moment)["closed mouth"].outcome is Outcome.FAIL
    [track] = seen["sings"].tracks
    points = track.points.copy()
    points[32:] = points[32]
    sung = replace(seen["sings"], tracks=(replace(track, points=points),))
    assert found(sung, moment)["closed mouth"].outcome is Outcome.PASS


def test_who_sings_on_in_the_handles_is_not_seen_to_sing(seen: dict[str, Seen]) -> None:
    [track] = seen["sings"].tracks
    points = track.points.copy()
    points[30:] = points[30]
    handles = replace(seen["sings"], tracks=(replace(track, points=points),))
    assert found(handles, replace(CLOSED, shown=range(36, 90)))["closed mouth"].outcome is Outcome.PASS
    assert found(handles, replace(CLOSED, shown=range(30)))["closed mouth"].outcome is Outcome.FAIL


def test_who_is_too_far_away_is_not_seen_to_sing(seen: dict[str, Seen]) -> None:
    [track] = seen["sings"].tracks
    far = replace(seen["sings"], tracks=(replace(track, points=track.points / np.float32(3)),))
    assert found(far, CLOSED)["closed mouth"].outcome is Outcome.PASS
    assert found(far, SINGS)["face"].outcome is Outcome.CANNOT_JUDGE
    assert "too small" in found(far, SINGS)["face"].reason


def test_a_face_that_is_missing_where_one_sings_is_for_the_eye(seen: dict[str, Seen]) -> None:
    nobody = replace(seen["sings"], tracks=(), portraits=())
    [track] = seen["sings"].tracks
    brief = replace(track, frames=track.frames[:40], points=track.points[:40])
    leaves = replace(seen["sings"], tracks=(brief,))
    for there, reason in ((nobody, "no face is seen"), (leaves, "seen in 42% of the frames only")):
        finding = found(there, SINGS)["face"]
        assert finding.outcome is Outcome.CANNOT_JUDGE
        assert reason in finding.reason
        assert found(there, ANYTHING)["face"].outcome is Outcome.PASS
    assert found(seen["sings"], SINGS)["face"].outcome is Outcome.PASS


def test_portraits_are_kept_of_the_whole_take(seen: dict[str, Seen]) -> None:
    [portraits] = seen["sings"].portraits
    assert portraits.faces.shape == (MANY, 128)
    assert list(portraits.frames) == sorted(portraits.frames)
    assert portraits.frames[0] < 48 <= portraits.frames[-1]
    assert all(frame % EVERY == 0 for frame in portraits.frames)
    assert found(seen["sings"], SINGS)["identity drift"].outcome is Outcome.PASS
    assert distances(portraits.faces, portraits.faces[:1]) < 0.4


def person(seed: int, many: int = 4, spread: float = 0.03) -> NDArray[np.float32]:
    """Portraits of one person: near each other, and about 1.1 from anybody else's."""
    rng = np.random.default_rng(seed)
    middle = rng.standard_normal(128)
    middle *= 0.8 / np.linalg.norm(middle)
    return np.asarray(middle + spread * rng.standard_normal((many, 128)), np.float32)


def shown(seen: Seen, *people: NDArray[np.float32]) -> Seen:
    """The take with these people in it, side by side."""
    [track] = seen.tracks
    frames = np.linspace(0, track.total - 1, 4).astype(np.int64)
    portraits = tuple(Portraits(frames=frames, faces=faces) for faces in people)
    return replace(seen, tracks=(track,) * len(people), portraits=portraits)


MIRA, JON = person(1), person(2)
CAST = Expected(sings=True, closed=False, cast={"mira": MIRA[:2], "jon": JON[:2]}, singer="mira")
ALONE = replace(CAST, cast={"mira": MIRA[:2]})


def test_a_face_like_its_pictures_passes_and_another_fails(seen: dict[str, Seen]) -> None:
    good = found(shown(seen["sings"], person(1, spread=0.02)), ALONE)["identity"]
    assert (good.outcome, good.reason) == (Outcome.PASS, "mira is as in the pictures")
    bad = found(shown(seen["sings"], JON), ALONE)["identity"]
    assert (bad.outcome, bad.reason) == (Outcome.FAIL, "another face than mira's pictures show")


def test_who_is_seen_from_behind_proves_nothing_but_the_singer(seen: dict[str, Seen]) -> None:
    only_jon = shown(seen["sings"], JON)
    assert found(only_jon, replace(CAST, singer=""))["identity"].outcome is Outcome.PASS
    assert found(only_jon, CAST)["identity"].outcome is Outcome.FAIL
    stranger = shown(seen["sings"], person(3))
    assert found(stranger, replace(CAST, singer=""))["identity"].outcome is Outcome.FAIL


def test_a_face_between_the_two_is_for_the_eye(seen: dict[str, Seen]) -> None:
    aside = np.vstack([MIRA[:2]] * 2) + np.float32(0.65 / np.sqrt(128))
    finding = found(shown(seen["sings"], aside), ALONE)["identity"]
    assert finding.outcome is Outcome.CANNOT_JUDGE
    assert 0.6 < float(finding.value) < 0.7


def test_pictures_that_are_not_like_each_other_cannot_fail_a_face(seen: dict[str, Seen]) -> None:
    unknown = replace(ALONE, cast={"mira": np.vstack([MIRA[:1], person(5)[:1]])})
    assert found(shown(seen["sings"], JON), unknown)["identity"].outcome is Outcome.CANNOT_JUDGE


def test_without_pictures_or_faces_nothing_is_compared(seen: dict[str, Seen]) -> None:
    none = np.empty((0, 128), np.float32)
    for take, expected in (
        (seen["sings"], SINGS),
        (seen["sings"], replace(ALONE, cast={"mira": none})),
        (replace(seen["sings"], tracks=(), portraits=()), ALONE),
    ):
        finding = found(take, expected)["identity"]
        assert finding.outcome is Outcome.PASS
        assert "not compared" in finding.reason


def test_a_face_that_becomes_another_fails(seen: dict[str, Seen]) -> None:
    changed = shown(seen["sings"], np.vstack([MIRA[:2], JON[:2]]))
    finding = found(changed, SINGS)["identity drift"]
    assert (finding.outcome, finding.check) == (Outcome.FAIL, "identity drift")
    assert found(shown(seen["sings"], MIRA), SINGS)["identity drift"].outcome is Outcome.PASS


def test_the_singer_is_found_by_the_pictures_among_several(seen: dict[str, Seen]) -> None:
    both = shown(seen["sings"], JON, MIRA, person(3))
    assert singer_among([0, 1, 2], both, CAST, figures()) == 1
    assert singer_among([1, 2], both, CAST, figures()) == 0
    assert singer_among([0, 2], both, CAST, figures()) is None, "she is not there"
    twins = shown(seen["sings"], MIRA, MIRA)
    assert singer_among([0, 1], twins, CAST, figures()) is None
    assert singer_among([0, 1], both, SINGS, figures()) is None
    assert names_of(both, CAST, figures()) == {0: "jon", 1: "mira"}


class TestNetwork:
    def test_it_computes_what_it_did_when_it_was_measured(self) -> None:
        """A pattern that anybody can make: the sum, and the first numbers of its description."""
        y, x = np.mgrid[0:150, 0:150]
        pattern = np.stack([x % 251, y % 241, (x * y) % 239], axis=-1).astype(np.uint8)
        [numbers] = identity.describe(pattern[None])
        assert numbers.shape == (128,)
        assert numbers[:4] == pytest.approx([-0.0483, 0.0868, 0.08, -0.0262], abs=2e-3)

    def test_no_faces_are_no_descriptions(self) -> None:
        assert identity.describe(np.empty((0, 150, 150, 3), np.uint8)).shape == (0, 128)

    def test_a_chip_is_upright_whatever_the_picture_is(self) -> None:
        """A face turned by a quarter gives the same chip as the face itself."""
        rng = np.random.default_rng(4)
        noise = rng.integers(0, 256, (300, 300, 3)).astype(np.uint8)
        image = np.asarray(cv2.GaussianBlur(noise, (0, 0), 4), np.uint8)
        points = np.full((468, 2), 150, np.float32)
        for point, at in {33: (110, 120), 133: (135, 120), 362: (165, 120), 263: (190, 120)}.items():
            points[point] = at
        for point, at in {61: (130, 190), 291: (170, 190), 0: (150, 182), 17: (150, 198)}.items():
            points[point] = at
        turned = np.stack([299 - points[:, 1], points[:, 0]], axis=-1)
        one = chip(image, points)
        other = chip(np.rot90(image, -1).copy(), turned.astype(np.float32))
        assert np.abs(one.astype(int) - other.astype(int)).mean() < 2


def test_a_picture_of_the_cast_is_described(tmp_path: Path, seen: dict[str, Seen]) -> None:
    make(Part(seed=61, size=(480, 270), seconds=1), tmp_path / "a.mp4")
    import av

    with av.open(str(tmp_path / "a.mp4")) as box:
        frame = next(box.decode(video=0)).to_ndarray(format="bgr24")
    cv2.imwrite(str(tmp_path / "mira.png"), frame)
    portrait = portrait_of(tmp_path / "mira.png")
    assert portrait.shape == (1, 128)
    assert distances(seen["sings"].portraits[0].faces, portrait) < 0.5
    cv2.imwrite(str(tmp_path / "wall.png"), np.full((200, 300, 3), 90, np.uint8))
    assert portrait_of(tmp_path / "wall.png").shape == (0, 128)
    (tmp_path / "text.png").write_bytes(b"no picture")
    for name in ("text.png", "missing.png"):
        with pytest.raises(MediaError, match=name):
            portrait_of(tmp_path / name)
