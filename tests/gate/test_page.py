from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvpipe.errors import MediaError
from mvpipe.film import Outcome
from mvpipe.gate import charts, checklist, page
from mvpipe.gate.charts import AMBER, GREEN, MOUTH, PANEL, RED, odds
from mvpipe.gate.look import Seen
from mvpipe.gate.opinions import syncnet_opinion
from mvpipe.gate.pairs import match
from mvpipe.gate.recall import recall
from mvpipe.gate.rules import figures
from mvpipe.gate.strips import PICTURES, Strip, strips
from mvpipe.gate.sync import Samples, SyncVerdict, judge_sync
from mvpipe.gate.tracks import Track
from tests.gate import takes
from tests.gate.faces_synth import LEAD, SAMPLE_RATE, mouth_at, speak
from tests.gate.test_mouth import face
from tests.gate.test_pairs import alike

SECONDS, RATE = 7, 24
TIMES = tuple(Fraction(k, RATE) for k in range(SECONDS * RATE))
GREY = Strip(pictures=(np.full((40, 40, 3), 120, np.uint8),) * PICTURES)


def sung(seed: int = 3, *, late: float = 0.0, x: float = 0.0) -> tuple[Track, Samples]:
    """A mesh that sings, and its voice."""
    voice, phones = speak(np.random.default_rng(seed), SECONDS, sings=True)
    opening, _ = mouth_at(phones, np.arange(len(TIMES)) / RATE + LEAD - late)
    track = face(30 * opening)
    points = np.asarray(track.points + np.array([x, 0]), np.float32)
    return replace(track, points=points), voice.astype(np.float32)


def drawn(seen: Seen, voice: Samples, into: Path, strips: int = 1) -> tuple[SyncVerdict, Image.Image]:
    verdict = judge_sync(seen, voice, SAMPLE_RATE)
    page.draw(verdict, seen, voice, SAMPLE_RATE, [GREY] * strips, title="shot 3, take 2", into=into)
    return verdict, opened(into)


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        return picture.copy()


def badge(picture: Image.Image) -> object:
    return picture.getpixel((page.MARGIN + 8, 50))


@pytest.mark.parametrize(
    ("late", "outcome", "colour", "words"),
    [
        (0.0, Outcome.PASS, GREEN, "Lips and voice are together."),
        (0.2, Outcome.FAIL, RED, "ms late: lips follow the voice."),
        (-0.2, Outcome.FAIL, RED, "ms early: lips run ahead of the voice."),
    ],
)
def test_the_picture_says_the_verdict_in_colour_and_words(
    tmp_path: Path, late: float, outcome: Outcome, colour: tuple[int, ...], words: str
) -> None:
    track, voice = sung(late=late)
    verdict, picture = drawn(Seen(tracks=(track,), times=TIMES), voice, tmp_path / "a.png")
    assert verdict.outcome is outcome, verdict.reason
    assert page.headline(verdict).endswith(words)
    assert badge(picture) == colour
    assert picture.size[0] == page.WIDTH


def test_without_a_face_it_says_so_and_shows_whole_frames(tmp_path: Path) -> None:
    _, voice = sung()
    verdict, picture = drawn(Seen(tracks=(), times=TIMES), voice, tmp_path / "a.png")
    assert badge(picture) == AMBER
    assert page.headline(verdict) == "No face is seen."
    assert page.judged_faces(Seen(tracks=(), times=TIMES), verdict) == ()
    assert [held for *_, held in checklist.checks(verdict)][:3] == [None, None, None]


def test_of_several_faces_each_has_a_row_from_the_left(tmp_path: Path) -> None:
    (singer, voice), (other, _) = sung(3, x=500), sung(4)
    seen = Seen(tracks=(singer, other), times=TIMES)
    verdict, picture = drawn(seen, voice, tmp_path / "a.png", strips=2)
    assert verdict.track == 0
    alone = page.HEAD + page.CHARTS + page.FOOT
    assert picture.size[1] == alone + 2 * (picture.size[1] - alone) // 2
    rows = page._rows(verdict, seen)
    assert [row.track for row in rows] == [1, 0]
    assert [row.name for row in rows] == ["left face", "right face, which is judged"]
    known = judge_sync(seen, voice, SAMPLE_RATE, names={0: "mira"})
    assert [row.name for row in page._rows(known, seen)] == ["left face", "right face, mira, which is judged"]
    assert rows[1].colour == checklist.COLOURS[verdict.outcome]


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.0004, "1 in 2500"), (0.002, "1 in 500"), (0.05, "1 in 20"), (0.722, "7 in 10"), (1, "10 in 10")],
)
def test_chances_are_said_in_words(p: float, words: str) -> None:
    assert odds(p) == words


@pytest.mark.parametrize(("aside", "left"), [(-9.0, True), (-389.0, False)])
def test_the_name_of_a_line_is_not_written_over_a_peak(aside: float, left: bool) -> None:
    chart = charts._Chart("", charts.Box(400, 200), figures(), (0, 1))
    chart.level(0.5, "here", aside=aside)
    above = np.asarray(chart.done(()))[66:84]  # the broken line
    inked = (above != PANEL).any(-1).any(0)
    assert inked[:60].any() == left
    assert inked[-60:].any() != left


def test_a_mouth_that_stays_closed_is_said_to_be(tmp_path: Path) -> None:
    _, voice = sung()
    still = face(2 + 0.3 * np.random.default_rng(4).standard_normal(len(TIMES)))
    verdict, _ = drawn(Seen(tracks=(still,), times=TIMES), voice, tmp_path / "a.png")
    assert verdict.outcome is Outcome.CANNOT_JUDGE
    assert page.headline(verdict) == "The mouth hardly moves while somebody is heard."


def test_each_condition_is_listed_with_what_was_found() -> None:
    track, voice = sung(late=0.2)
    verdict = judge_sync(Seen(tracks=(track,), times=TIMES), voice, SAMPLE_RATE)
    listed = {what: (found, limit, held) for what, found, limit, held in checklist.checks(verdict)}
    assert listed["picture early or late"] == ("+5 frames", "at most 1, of 40 ms", False)
    assert listed["as good by luck"] == ("1 in 500", "at most 1 in 20", True)
    assert listed["between the eyes"] == ("100 px", "at least 24 px", True)
    assert listed["face is seen"] == ("100%", "at least 80%", True)
    assert listed["control, moved by -10"][2] is True


def test_of_a_reading_that_may_be_luck_it_is_not_said_whether_it_is_good() -> None:
    (track, _), (_, voice) = sung(3), sung(53)
    verdict = judge_sync(Seen(tracks=(track,), times=TIMES), voice, SAMPLE_RATE)
    offset, luck, *_ = checklist.checks(verdict)
    assert (offset[0], offset[-1]) == ("picture early or late", None)
    assert (luck[0], luck[-1]) == ("as good by luck", False)


def test_syncnet_has_its_curve_where_it_was_asked(tmp_path: Path, rng: np.random.Generator) -> None:
    track, voice = sung()
    seen = Seen(tracks=(track,), times=TIMES)
    alone = judge_sync(seen, voice, SAMPLE_RATE)
    opinion = syncnet_opinion(match(*alike(rng)), (), figures())
    both = replace(alone, method="syncnet", opinions=((opinion, *alone.opinions[0]),))
    counts = []
    for k, verdict in enumerate((alone, both)):
        path = tmp_path / f"{k}.png"
        page.draw(verdict, seen, voice, SAMPLE_RATE, [GREY], title="", into=path)
        middle = np.asarray(opened(path))[-page.CHARTS :, 600:1000]
        counts.append(int((middle == MOUTH).all(-1).sum()))
    assert counts[0] == 0
    assert counts[1] > 100


def test_a_verdict_that_was_written_down_is_drawn_as_if_it_were_new(tmp_path: Path) -> None:
    track, voice = sung()
    seen = Seen(tracks=(track,), times=TIMES)
    verdict, fresh = drawn(seen, voice, tmp_path / "a.png")
    told = json.loads(json.dumps(verdict.as_json()))
    again = recall(told)
    assert json.loads(json.dumps(again.as_json())) == told
    page.draw(again, seen, voice, SAMPLE_RATE, [GREY], title="shot 3, take 2", into=tmp_path / "b.png")
    same = opened(tmp_path / "b.png").tobytes() == fresh.tobytes()
    assert same
    nothing = judge_sync(Seen(tracks=(), times=TIMES), voice, SAMPLE_RATE)
    assert recall(json.loads(json.dumps(nothing.as_json()))) == nothing


def test_a_picture_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    track, voice = sung()
    with pytest.raises(MediaError, match="cannot be written"):
        drawn(Seen(tracks=(track,), times=TIMES), voice, tmp_path / "nowhere" / "a.png")


def test_strips_are_cut_where_the_mouth_is_and_empty_where_there_is_no_face(tmp_path: Path) -> None:
    """A white spot moves through the picture, and a mesh with it."""
    count = 48

    def spots() -> list[takes.Gray]:
        pictures = np.zeros((count, 192, 320), np.uint8)
        for k in range(count):
            pictures[k, 90:110, 100 + 2 * k : 120 + 2 * k] = 255
        return list(pictures)

    path = takes.write(tmp_path / "a.mp4", spots())
    whole = face(np.full(count, 2.0), scale=0.5)
    middle = whole.points[:, [0, 17, 37, 84, 267, 314]].mean(1)
    spot = np.column_stack([110 + 2 * np.arange(count), np.full(count, 100)])
    points = np.asarray(whole.points + (spot - middle)[:, None], np.float32)
    track = replace(whole, points=points, frames=np.arange(36), total=count)
    seen = Seen(
        tracks=(replace(track, points=points[:36]),), times=tuple(Fraction(k, 24) for k in range(count))
    )
    [strip] = strips(path, seen, (0,))
    shown = [picture for picture in strip.pictures if picture is not None]
    assert len(strip.pictures) == PICTURES
    assert 18 <= len(shown) <= 20
    assert all(picture[picture.shape[0] // 2, picture.shape[1] // 2].min() > 200 for picture in shown)
    [frames] = strips(path, seen, ())
    assert frames.whole
    assert all(picture is not None and picture.shape == (192, 320, 3) for picture in frames.pictures)


def test_a_strip_without_a_picture_leaves_its_place_plain(tmp_path: Path) -> None:
    track, voice = sung()
    seen = Seen(tracks=(track,), times=TIMES)
    verdict = judge_sync(seen, voice, SAMPLE_RATE)
    empty = Strip(pictures=(None,) * PICTURES)
    page.draw(verdict, seen, voice, SAMPLE_RATE, [empty], title="", into=tmp_path / "a.png")
    at = page.MARGIN + 20, page.HEAD + page.LABEL + 20
    assert opened(tmp_path / "a.png").getpixel(at) == PANEL
