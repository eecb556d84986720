"""A song for two: the plan shows whoever is heard, and refuses two recordings of one voice."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from mvpipe.cli import tables
from mvpipe.plan import Plan, load_plan
from tests.duets import Duet, Singer, alone, duet
from tests.songbook import RATE
from tests.whole.studio import Studio

BOARD = """\
mvpipe: 1
title: Duet
picture: {size: 192x128}
look: ink on paper
sound: {singers: by-voice}
cast:
  anna:
    is: a woman in a red raincoat
    voice: anna.wav
    sings: true
  ben:
    is: a man in denim
    voice: ben.wav
    sings: true
"""
PLAN = ("plan", "--vocals", "vocals.wav", "--html", "plan.html", "song.wav", "board.yaml")


@pytest.fixture(scope="module")
def made() -> Duet:
    return duet(900, (Singer(57, 1.0), Singer(57, 1.18)), seconds=30.0)


@pytest.fixture
def studio(made: Duet, tmp_path_factory: pytest.TempPathFactory) -> Studio:
    folder = tmp_path_factory.mktemp("duet")
    sounds = {"song": made.song.mix, "vocals": made.song.separated}
    sounds |= dict(zip(("anna", "ben"), made.alone, strict=True))
    for name, sound in sounds.items():
        soundfile.write(folder / f"{name}.wav", sound, RATE, "FLOAT")
    (folder / "board.yaml").write_text(BOARD, "utf-8")
    return Studio(folder)


def test_whoever_is_heard_is_seen(studio: Studio, made: Duet) -> None:
    plan = studio.json(*PLAN)
    told = [one for one in plan["sung_by"] if one["name"]]
    assert len(told) >= 0.8 * len(plan["sung_by"]) > 0
    for one in told:
        middle = (one["start"] + one["stop"]) / 2
        (true,) = [
            who for who, (a, b) in zip(made.who, made.song.truth.phrases, strict=True) if a < middle < b
        ]
        assert one["name"] == ("anna", "ben")[true]
    for shot in (shot for shot in plan["shots"] if shot["kind"] == "performance"):
        start, stop = shot["cut"]["start"] / 24, shot["cut"]["stop"] / 24
        heard = np.zeros(2)
        for who, (a, b) in zip(made.who, made.song.truth.phrases, strict=True):
            heard[who] += max(min(b, stop) - max(a, start), 0)
        if heard.max() > 0.75 * heard.sum():
            assert shot["cast"] == [("anna", "ben")[int(heard.argmax())]]
            assert shot["prompt"] == f"{shot['cast'][0]} sings to us"
    assert {name for shot in plan["shots"] for name in shot["cast"]} == {"anna", "ben"}
    _shows_who_sings(
        load_plan(studio.project / "plan.json"), (studio.folder / "plan.html").read_text("utf-8")
    )


def _shows_who_sings(made: Plan, page: str) -> None:
    """The table and the page say it of every shot; of a film with one singer they do not."""
    sung = [", ".join(one.sings) for one in made.planned]
    head, *rows = tables.plan(made).splitlines()[1 : len(sung) + 2]
    at, until = head.index("sings"), head.index("why this cut")
    assert [row[at:until].strip() for row in rows] == sung
    assert re.findall("<dt>sings</dt><dd>(.*?)</dd>", page) == [names for names in sung if names]
    alone = replace(made, planned=tuple(replace(one, sings=one.sings and ("anna",)) for one in made.planned))
    assert "sings" not in tables.plan(alone).splitlines()[1]


def test_two_recordings_of_one_voice_are_refused_at_their_place(studio: Studio) -> None:
    again = alone(4242, Singer(57, 1.0))
    soundfile.write(studio.folder / "ben.wav", again, RATE, "FLOAT")
    done = studio.run(*PLAN, expect=2)
    assert "board.yaml:13:12: cast.ben.voice: cannot be told from that of anna by its sound" in done.stderr
    assert "longer recordings" in done.stderr
