"""What a shot promises: who sings, who must not, and which frames are seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from mvpipe import casting
from mvpipe.clock import Span
from mvpipe.errors import MediaError
from mvpipe.film import Card, Continuity, Outcome, Shot, ShotKind, Slate
from mvpipe.gate.look import Look, Seen
from mvpipe.gate.rules import figures
from mvpipe.render.backend import Asset, CastMember
from mvpipe.tools.audible import measure
from mvpipe.tools.heard import Heard
from tests.gate import takes
from tests.tools.sounds import VOICE, dulled, heard, sung

MIRA = CastMember(name="mira", description="a singer", sings=True)
JON = CastMember(name="jon", description="a drummer")
CAST = {"mira": MIRA, "jon": JON}
SHOT = Shot(
    number=4,
    cut=Span(106, 214),
    window=Span(100, 224),
    card=Card(prompt="she sings", cast=("mira", "jon")),
    voice=0.6,
)


def wanted(shot: Shot) -> tuple[bool, bool, str]:
    found = casting.expected(shot, CAST, like_pictures=True)
    return found.sings, found.closed, found.singer


def test_who_sings_and_whose_mouth_is_closed() -> None:
    b_roll = replace(SHOT, card=replace(SHOT.card, kind=ShotKind.B_ROLL))
    drummer = replace(SHOT, card=replace(SHOT.card, cast=("jon",)))
    nobody = replace(SHOT, card=replace(SHOT.card, cast=()))
    assert wanted(SHOT) == (True, False, "mira")
    assert wanted(b_roll) == (False, True, "")
    assert wanted(drummer) == (False, True, "")
    assert wanted(replace(SHOT, voice=0.0)) == (False, True, "")
    assert wanted(replace(SHOT, voice=0.02)) == (True, True, "mira"), "as the plan notes: mouths stay closed"
    assert wanted(nobody) == (True, False, "")
    assert wanted(replace(nobody, voice=0.0)) == (False, False, "")


def test_of_a_duet_nobody_is_the_singer() -> None:
    cast = {"mira": MIRA, "jon": replace(JON, sings=True)}
    assert casting.expected(SHOT, cast, like_pictures=True).singer == ""


def test_the_handles_are_not_shown_but_for_a_slip() -> None:
    assert casting.shown(SHOT) == range(4, 116)
    assert casting.shown(replace(SHOT, cut=Span(100, 224))) == range(126)


def test_pictures_are_compared_only_where_takes_look_like_them(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "wall.png"), np.full((120, 120, 3), 90, np.uint8))
    mira = replace(MIRA, pictures=(Asset(path=tmp_path / "wall.png", digest="a"),))
    cast = {"mira": mira, "jon": JON}
    like = casting.expected(SHOT, cast, like_pictures=True)
    assert {name: faces.shape for name, faces in like.cast.items()} == {"mira": (0, 128)}
    assert casting.expected(SHOT, cast, like_pictures=False).cast == {}
    lost = replace(mira, pictures=(Asset(path=tmp_path / "lost.png", digest="b"),))
    with pytest.raises(MediaError, match=r"lost\.png"):
        casting.expected(SHOT, {**cast, "mira": lost}, like_pictures=True)


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    sight = takes.sight(takes.write(tmp_path_factory.mktemp("casting") / "t.mp4", takes.moving()))
    return Look(sight=sight, seen=Seen(tracks=(), times=sight.times), faces=True)


def test_people_are_judged_where_faces_were_looked_for(look: Look) -> None:
    expected = casting.expected(SHOT, CAST, like_pictures=True)
    found = casting.people(look, expected, figures())
    assert [one.check for one in found if one.outcome is not Outcome.PASS] == ["face"]
    assert casting.people(replace(look, faces=False), expected, figures()) == ()
    assert casting.singer(look, expected, figures()) is None


@dataclass(frozen=True)
class Locks:
    """As much of a backend as is asked: it locks the voice where the slate's seed is 1."""

    name: str = "locks/1"
    slots: int = 1

    def locks(self, slate: Slate) -> bool:
        return slate.seed == 1

    def locked(self, slate: Slate, assets: Mapping[str, Path]) -> Heard | None:
        return heard(VOICE) if self.locks(slate) else None


def slate_of(seed: int) -> Slate:
    return Slate(
        shot=4, take=1, seed=seed, backend="locks/1", frames=124, size=takes.SIZE, graph={}, inputs={}
    )


def test_a_take_is_held_against_all_that_its_shot_and_its_backend_promise(look: Look) -> None:
    casting_of = casting.Casting(cast=CAST, backend=Locks(), drawn=False, lips=True, rules=figures())  # type: ignore[arg-type]
    assert casting_of.wants_faces(SHOT)
    assert casting_of.wants_sound(slate_of(1))
    assert not casting_of.wants_sound(slate_of(2))
    deaf = casting_of.judge(SHOT, slate_of(1), {}, look)
    assert [one.check for one in deaf if one.outcome is Outcome.FAIL] == ["sound"]
    heard_it = replace(look, sound=measure(heard(VOICE)))
    good = casting_of.judge(SHOT, slate_of(1), {}, heard_it)
    assert [one.check for one in good if one.outcome is not Outcome.PASS] == ["face"]
    unasked = replace(casting_of, lips=False).judge(SHOT, slate_of(1), {}, heard_it)
    assert {one.outcome for one in unasked} == {Outcome.PASS}
    free = casting_of.judge(SHOT, slate_of(2), {}, look)
    assert "sound" not in {one.check for one in free}
    drawn = replace(casting_of, drawn=True)
    assert not drawn.wants_faces(SHOT)
    assert drawn.judge(SHOT, slate_of(2), {}, look) == ()
    assert drawn.singer(SHOT, look) is casting_of.singer(SHOT, look) is None


def test_a_chained_shot_is_held_against_the_brightness_of_its_voice(look: Look) -> None:
    sent = measure(heard(VOICE))
    chained = replace(SHOT, card=replace(SHOT.card, continuity=Continuity.CHAIN))
    dull = replace(look, sound=measure(heard(dulled(VOICE, 0.1))))
    assert [one.check for one in casting.sound(dull, sent, SHOT)] == ["sound", "locked sound"]
    *_, last = casting.sound(dull, sent, chained)
    assert (last.check, last.outcome) == ("brightness", Outcome.FAIL)
    assert "in shot 4 of a chain" in last.reason
    other = casting.sound(replace(look, sound=measure(heard(sung(2)))), sent, SHOT)
    assert other[-1].outcome is Outcome.FAIL
