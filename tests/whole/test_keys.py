"""Keys of takes move with every byte that decides a take, and with nothing else.

A row of a table is one change to a film of five shots, and the shots that have to be rendered again for it.
No server is asked: a key is known before anything is sent.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mvpipe import pipeline, takes
from mvpipe.film import Continuity
from mvpipe.pipeline import Watcher
from mvpipe.project import open_project
from mvpipe.render.backend import Asset
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.template import home
from mvpipe.request import Machine
from mvpipe.sound import wav
from tests.render.comfyui import clips
from tests.whole.studio import Studio, build

BOARD = """\
mvpipe: 1
title: Keys
picture: {size: 1344x768}
render: {backend: comfyui, graph: mine/g.json}
look: ink on paper
cast:
  mira: {is: a woman in a red raincoat, pictures: [mira.png], sings: true}
  tomas: {is: a man in denim, pictures: [tomas.png]}
places:
  street: {is: a narrow street, pictures: [street.png]}
sections:
  - name: verse
    start: 0
    shots:
      - {prompt: Mira sings to us, cast: [mira], framing: wide}
      - {kind: b-roll, prompt: rain on a window, place: street, framing: wide}
      - {prompt: Mira and Tomas dance, cast: [mira, tomas], framing: wide}
      - {kind: b-roll, prompt: a tram passes, framing: wide}
      - {prompt: Mira laughs, cast: [mira], framing: wide}
"""
ALL, NONE = {1, 2, 3, 4, 5}, set[int]()
MIRA, QUIET = {1, 3, 5}, {1, 2, 4}
"""Shots she is in, and shots in which nobody sings: in the first the song has not begun to be sung."""

Change = Callable[[Studio], None]


def says(old: str, new: str, *, file: str = "board.yaml") -> Change:
    """Other words in a text file."""

    def change(studio: Studio) -> None:
        path = studio.folder / file
        text = path.read_text("utf-8")
        assert old in text, f"{old} is not in {file}"
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


def looks(name: str) -> Change:
    """One pixel of a picture, a little brighter."""

    def change(studio: Studio) -> None:
        with Image.open(studio.folder / name) as picture:
            pixels = np.array(picture)
        pixels[100, 100, 0] ^= 1
        Image.fromarray(pixels).save(studio.folder / name)

    return change


def sings(shot: int) -> Change:
    """A stretch of voice in the middle of a shot, a little louder; what is cut where stays as it was."""

    def change(studio: Studio) -> None:
        cut = studio.plan()["shots"][shot - 1]["cut"]
        song = studio.plan()["song"]
        samples = wav.read(studio.folder / "vocals.wav", 0, song["samples"], mono=False)
        middle = (cut["start"] + cut["stop"]) * song["sample_rate"] // 48
        samples[middle : middle + 4] += 0.002
        form = {"sample_rate": song["sample_rate"], "channels": samples.shape[1], "samples": len(samples)}
        wav.write(studio.folder / "vocals.wav", [samples], **form)

    return change


def touched(name: str) -> Change:
    """A file written yesterday."""
    return lambda studio: os.utime(studio.folder / name, (1, 1))


def renamed(studio: Studio) -> None:
    """The same picture under another name, written down so."""
    (studio.folder / "mira.png").rename(studio.folder / "mira-front.png")
    studio.edit("mira.png", "mira-front.png")


def graph_renamed(studio: Studio) -> None:
    """One's own graph under another name, written down so."""
    for ending in (".json", ".slots.yaml"):
        (studio.folder / "mine" / f"g{ending}").rename(studio.folder / "mine" / f"the best one{ending}")
    studio.edit("mine/g.json", "mine/the best one.json")


def also(new: str, *, send: bool = False) -> Change:
    """A film or a recording of Mira besides her picture."""

    def change(studio: Studio) -> None:
        clips.filmed(studio.folder / "walk.mp4", seconds=2)
        clips.voiced(studio.folder / "mira.wav")
        studio.edit("[mira.png]", f"[mira.png], {new}")
        if send:
            studio.edit("comfyui,", "comfyui, send_voices: true,")

    return change


def reordered(studio: Studio) -> None:
    """The same storyboard, its parts in another order, as an editor's formatter may leave it."""
    text = (studio.folder / "board.yaml").read_text("utf-8")
    head, rest = text.split("cast:\n")
    cast, sections = rest.split("sections:\n")
    swapped = "sections:\n" + sections + "cast:\n" + cast + "".join(reversed(head.splitlines(keepends=True)))
    (studio.folder / "board.yaml").write_text(swapped, "utf-8")


MOVES: Mapping[str, tuple[Change, set[int]]] = {
    "a pixel of somebody in three shots": (looks("mira.png"), MIRA),
    "a pixel of somebody in one": (looks("tomas.png"), {3}),
    "a pixel of a place": (looks("street.png"), {2}),
    "a film of somebody": (also("videos: [walk.mp4]"), MIRA),
    "a voice that is sent": (also("voice: mira.wav", send=True), {3, 5}),
    "where the seed goes in one's own graph": (
        says("[[noise, noise_seed]]", "[[sigmas, steps]]", file="mine/g.slots.yaml"), ALL,
    ),
    "how somebody is described": (says("in denim", "in leather"), {3}),
    "how a place is described": (says("a narrow street", "a wide street"), {2}),
    "a word of a prompt": (says("rain on", "snow on"), {2}),
    "the look": (says("ink on", "oil on"), ALL),
    "a framing": (says("dance, cast: [mira, tomas], framing: wide", "dance, cast: [mira, tomas]"), {3}),
    "who is named first": (says("[mira, tomas]", "[tomas, mira]"), {3}),
    "a place of its own": (says("a tram passes", "a tram passes, place: street"), {4}),
    "the voice of a shot": (sings(3), {3}),
    "the size": (says("1344x768", "1280x768"), ALL),
    "the seed": (says("backend: comfyui", "backend: comfyui, seed: 8"), ALL),
    "a figure of the sampling": (says("comfyui,", "comfyui, sampling: {shift: 12/3},"), ALL),
    "no LoRA": (says("comfyui,", "comfyui, sampling: {lora: none, steps: 25},"), ALL),
    "the profile": (says("comfyui,", "comfyui, profile: ref2va-base,"), ALL),
    "a figure of one's own graph": (says('dtype": "default"', 'dtype": "x"', file="mine/g.json"), ALL),
    "another template": (says("mine/g.json", "reference-only"), ALL),
    "no sound where nobody sings": (says("comfyui,", "comfyui, without_voice: none,"), QUIET),
    "the band where nobody sings": (says("comfyui,", "comfyui, without_voice: accompaniment,"), QUIET),
    "the band in one shot": (says("a tram passes", "a tram passes, without_voice: accompaniment"), {4}),
    "nobody sings in a shot": (says("{prompt: Mira laughs", "{kind: b-roll, prompt: Mira laughs"), {5}),
}  # fmt: skip

STAYS: Mapping[str, Change] = {
    "a comment": says("mvpipe: 1", "# a remark\nmvpipe: 1  # another"),
    "the order of parts": reordered,
    "the title, and so the films' names": says("title: Keys", "title: Doors"),
    "the name of a section": says("name: verse", "name: chorus"),
    "the name of a picture's file": renamed,
    "when a picture was written": touched("mira.png"),
    "a voice that is not sent": also("voice: mira.wav"),
    "the name of one's own graph": graph_renamed,
    "when the graph was written": touched("mine/g.json"),
    "how the graph is laid out": says("{", "\n\n   {", file="mine/g.json"),
    "a title of one of its nodes": says(
        '"class_type": "UNETLoader"', '"_meta": {}, "class_type": "UNETLoader"', file="mine/g.json"
    ),
    "what its slots file tells people": says("title:", "title: Mine, or", file="mine/g.slots.yaml"),
    "the voice where nobody sings": sings(4),
    "the picture of somebody who is not seen": says(
        "cast:\n", "cast:\n  anna: {is: a girl, pictures: [street.png]}\n"
    ),
    "how often a shot is tried": says("comfyui,", "comfyui, takes: 5,"),
    "what the master tells": says("comfyui,", "comfyui, embed: true,"),
    "how takes are judged": says("look:", "gate: {sync: off}\nlook:"),
}  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A film that is planned, with a graph of its own."""
    studio = build(tmp_path_factory.mktemp("keys"), seconds=26.0)
    (studio.folder / "board.yaml").write_text(BOARD, "utf-8")
    for place, name in enumerate(("mira", "tomas", "street")):
        noise = np.random.default_rng(place).integers(0, 255, (320, 320, 3), np.uint8)
        Image.fromarray(noise).save(studio.folder / f"{name}.png")
    (studio.folder / "mine").mkdir()
    for ending in (".json", ".slots.yaml"):
        shutil.copy(home() / f"native-ref2va{ending}", studio.folder / "mine" / f"g{ending}")
    keys(studio)
    return studio


@pytest.fixture
def studio(original: Studio, tmp_path: Path) -> Studio:
    shutil.copytree(original.folder, tmp_path / "film")
    return Studio(tmp_path / "film")


@pytest.fixture(scope="module")
def before(original: Studio) -> dict[int, str]:
    return keys(original)


def keys(
    studio: Studio, url: str = "http://127.0.0.1:9", join: str = "1" * 64, **server: Any
) -> dict[int, str]:
    """The key of each shot's first take; a chained shot goes on from a picture of this digest."""
    request = studio.request(url, machines=(Machine(address=address(url, **server)),))
    with open_project(studio.project) as project:
        ready = pipeline.prepare(project, request, Watcher())
        found = {}
        for one in pipeline.setups(project, ready, Watcher()):
            shot = one.shot
            chained = shot.card.continuity is Continuity.CHAIN
            setup = replace(one, join=Asset(path=Path("join.png"), digest=join) if chained else None)
            (seed,) = takes.attempts(project.journal, shot.cut, storyboard_seed=ready.production.seed, many=1)
            slate = ready.backend.slate(setup, take=1, seed=seed)
            found[shot.number] = takes.take_task(slate).key
    return found


def moved(before: Mapping[int, str], after: Mapping[int, str]) -> set[int]:
    """Numbers of the shots that have another key."""
    assert before.keys() == after.keys() == ALL, "the cuts moved, and so all is another film"
    return {number for number in before if before[number] != after[number]}


@pytest.mark.parametrize("what", MOVES)
def test_what_decides_a_take_moves_its_key(studio: Studio, before: dict[int, str], what: str) -> None:
    change, shots = MOVES[what]
    change(studio)
    assert moved(before, keys(studio)) == shots


@pytest.mark.parametrize("what", STAYS)
def test_what_decides_no_take_moves_none(studio: Studio, before: dict[int, str], what: str) -> None:
    STAYS[what](studio)
    assert moved(before, keys(studio)) == NONE


def test_whose_server_it_is_and_where_the_project_lies_move_none(
    studio: Studio, before: dict[int, str], tmp_path: Path
) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_text("nobody asks")
    secret: dict[str, Any] = {"headers": {"X-Api-Key": "secret"}, "authority": authority}
    assert keys(studio, "https://me:word@elsewhere:99/comfy?token=1", **secret) == before
    studio.folder.rename(tmp_path / "moved")
    assert keys(Studio(tmp_path / "moved")) == before


def test_a_chained_shot_moves_with_the_picture_it_goes_on_from(studio: Studio) -> None:
    studio.edit("mine/g.json", "multishot-pinned")
    studio.edit("[mira, tomas]", "[mira]")
    cut = keys(studio)
    studio.edit("a tram passes", "a tram passes, continuity: chain")
    chained = keys(studio)
    assert moved(cut, chained) == {4}
    assert moved(chained, keys(studio, join="2" * 64)) == {4}


def test_a_lora_by_its_name_alone(studio: Studio) -> None:
    studio.edit("comfyui,", "comfyui, sampling: {lora: none, steps: 20},")
    bare = keys(studio)
    studio.edit("lora: none", "lora: mine/rain.safetensors")
    one = keys(studio)
    assert moved(bare, one) == ALL
    studio.edit("mine/rain", "mine/snow")
    assert moved(one, keys(studio)) == ALL
