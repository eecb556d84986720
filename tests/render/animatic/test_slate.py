"""Slates: what is in them, what moves them and what does not, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mvpipe.errors import StoryboardError
from mvpipe.film import ShotKind, Slate
from mvpipe.render.animatic import board, camera, fonts, pillow
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.animatic.options import Options, read_options
from mvpipe.render.backend import Asset, Setup
from tests.render.animatic import stage

VOCALS = Asset(path=Path("vocals.wav"), digest="ab" * 32)


def slate_of(seed: int = 1, take: int = 1, **changes: Any) -> Slate:
    return Animatic().slate(stage.setup(VOCALS, **changes), take=take, seed=seed)


def moved(**changes: Any) -> set[str]:
    """The fields of the graph that a change moves."""
    before, after = slate_of().graph, slate_of(**changes).graph
    return {name for name in before if before[name] != after[name]}


def test_the_same_setup_gives_the_same_slate() -> None:
    assert slate_of() == slate_of()


def test_the_graph_is_canonical_json_and_reads_back() -> None:
    graph = slate_of(cast=(stage.MIRA, stage.JON)).graph
    again = json.loads(json.dumps(graph, sort_keys=True))
    assert again == graph
    assert board.Board.read(again).graph() == graph


def test_a_slate_says_what_was_asked_for() -> None:
    slate = slate_of(seed=5, take=2)
    assert (slate.backend, slate.shot, slate.take, slate.seed) == ("animatic/2", 7, 2, 5)
    assert (slate.frames, slate.size) == (stage.FRAMES, stage.SIZE)
    assert slate.inputs == {"vocals": VOCALS.digest}
    for name, value in {
        "number": 7, "title": "Neon Rain", "look": "35 mm film", "section": "verse 1", "lyric": "no way home",
        "prompt": "static shot: she sings", "framing": "close-up", "kind": "performance", "place": "street",
        "start": 240, "seen": [6, 120], "rate": "24", "camera": "hold", "mouth": "follow", "offset_ms": 0,
    }.items():  # fmt: skip
        assert slate.graph[name] == value, name


def test_a_graph_is_pinned_for_ever() -> None:
    # keys of every take made so far rest on these names and values
    assert slate_of(cast=(stage.JON,), place=None, lyric="").graph == {
        "number": 7, "title": "Neon Rain", "look": "35 mm film", "section": "verse 1",
        "prompt": "static shot: she sings", "lyric": "", "framing": "close-up", "kind": "performance",
        "place": "", "place_description": "", "place_picture": "",
        "cast": [{"name": "jon", "description": stage.JON.description, "sings": True, "picture": ""}],
        "start": 240, "rate": "24", "seen": [6, 120], "camera": "hold", "mouth": "follow", "offset_ms": 0,
        "fault": "none", "fault_takes": 0, "fonts": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"prompt": "static: she turns away"}, {"prompt"}),
        ({"lyric": "no way"}, {"lyric"}),
        ({"number": 8}, {"number"}),
        ({"start": 300}, {"start"}),
        ({"framing": "wide"}, {"framing"}),
        ({"options": {"mouth": "closed"}}, {"mouth"}),
        ({"options": {"offset_ms": 120}}, {"offset_ms"}),
        ({"origin": "elsewhere.yaml:9"}, set()),
        ({"seed": 99}, set()),
        ({"take": 3}, set()),
    ],
    ids=str,
)
def test_a_change_moves_its_own_field_alone(change: Mapping[str, Any], fields: set[str]) -> None:
    assert moved(**change) == fields


def test_a_prompt_may_ask_for_a_move_else_the_seed_chooses() -> None:
    assert slate_of(prompt="slow push in on her face").graph["camera"] == "push in"
    assert slate_of(prompt="she sings").graph["camera"] == ""
    assert slate_of(prompt="she sings", framing="wide, locked off").graph["camera"] == "hold"
    assert slate_of(prompt="Light moves. The camera does not move.").graph["camera"] == "hold"
    assert {camera.move_of("", seed) for seed in range(50)} == set(camera.MOVES)
    assert camera.move_of("pan left", 3) == "pan left"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mouht": "follow"}, r"render\.mouht: unknown option"),
        ({"mouth": "open"}, r"render\.mouth: not one of follow, closed, frozen, unrelated: 'open'"),
        ({"mouth": True}, r"render\.mouth: not one of"),
        ({"offset_ms": 1.5}, r"render\.offset_ms: not a whole number from -2000 to 2000: 1\.5"),
        ({"offset_ms": True}, r"render\.offset_ms: not a whole number"),
        ({"offset_ms": 9000}, r"render\.offset_ms: not a whole number"),
        ({"fault": "slow"}, r"render\.fault: not one of none, black"),
        ({"fault_shots": 3}, r"render\.fault_shots: not a list: 3"),
        ({"fault_shots": [0]}, r"render\.fault_shots: not a whole number from 1"),
        ({"fault_takes": -1}, r"render\.fault_takes: not a whole number from 0"),
    ],
    ids=str,
)
def test_an_option_it_does_not_know_is_refused(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(StoryboardError, match=message):
        slate_of(options=options)


def test_no_options_are_the_usual_ones() -> None:
    assert read_options({}) == Options()


class TestPictures:
    """Which pictures are used, and which cannot be."""

    def saved(self, path: Path, size: tuple[int, int] = (96, 64), **how: Any) -> Path:
        Image.linear_gradient("L").resize(size).convert("RGB").save(path, **how)
        return path

    def performance(self, folder: Path) -> Setup:
        front, left = self.saved(folder / "a.png"), self.saved(folder / "b.png", (64, 96))
        mira = replace(stage.MIRA, pictures=stage.assets(front, left))
        street = replace(stage.STREET, pictures=stage.assets(self.saved(folder / "s.png")))
        return stage.setup(VOCALS, cast=(mira,), place=street)

    def test_assets_and_inputs_are_the_pictures_that_are_shown(self, tmp_path: Path) -> None:
        given = self.performance(tmp_path)
        slate = Animatic().slate(given, take=1, seed=1)
        assets = Animatic().assets(given)
        assert set(slate.inputs) == {"vocals", "place:street/0", "picture:mira/0"} == set(assets)
        assert all(assets[role].digest == digest for role, digest in slate.inputs.items())

    def test_shots_take_turns_with_several_pictures(self, tmp_path: Path) -> None:
        given = self.performance(tmp_path)
        eighth = replace(given, shot=replace(given.shot, number=8))
        assert "picture:mira/1" in Animatic().assets(eighth)

    def test_b_roll_shows_the_place_else_somebody(self, tmp_path: Path) -> None:
        given = self.performance(tmp_path)
        card = replace(given.shot.card, kind=ShotKind.B_ROLL)
        b_roll = replace(given, shot=replace(given.shot, card=card))
        assert set(Animatic().assets(b_roll)) == {"vocals", "place:street/0"}
        assert set(Animatic().assets(replace(b_roll, place=None))) == {"vocals", "picture:mira/0"}
        assert board.drawn(board.board_of(b_roll)) == ()

    def test_a_changed_picture_moves_the_slate(self, tmp_path: Path) -> None:
        given = self.performance(tmp_path)
        before = Animatic().slate(given, take=1, seed=1)
        self.saved(tmp_path / "a.png", (128, 65))
        mira = replace(stage.MIRA, pictures=stage.assets(tmp_path / "a.png", tmp_path / "b.png"))
        after = Animatic().slate(replace(given, cast=(mira,)), take=1, seed=1)
        assert before.inputs["picture:mira/0"] != after.inputs["picture:mira/0"]
        assert before.graph == after.graph

    def refused(self, path: Path) -> str:
        member = replace(stage.MIRA, pictures=(Asset(path=path, digest=f"{path.name:>064}"),))
        with pytest.raises(StoryboardError) as caught:
            Animatic().slate(stage.setup(VOCALS, cast=(member,)), take=1, seed=1)
        assert str(path) in str(caught.value)
        return str(caught.value)

    def test_what_is_no_picture_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.png").write_text("hello")
        assert "not a picture" in self.refused(tmp_path / "a.png")
        (tmp_path / "b.png").write_bytes(b"")
        assert "not a picture" in self.refused(tmp_path / "b.png")
        assert "No such file" in self.refused(tmp_path / "gone.png")

    @pytest.mark.parametrize("kind", ["png", "jpg", "webp"])
    def test_half_a_picture_is_damaged(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / f"a.{kind}"
        noise = np.random.default_rng(1).integers(0, 255, (200, 200, 3), np.uint8)
        Image.fromarray(noise).save(path)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        assert "picture: " in self.refused(path)

    def test_sizes_have_bounds(self, tmp_path: Path) -> None:
        assert "too small: 63x80" in self.refused(self.saved(tmp_path / "a.png", (63, 80)))
        assert "too large: 16385x64" in self.refused(self.saved(tmp_path / "b.png", (16_385, 64)))

    def test_it_is_turned_as_the_camera_was_held(self, tmp_path: Path) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        self.saved(tmp_path / "a.jpg", (96, 64), exif=exif)
        turned = pillow.open_picture(tmp_path / "a.jpg", (10, 10))
        assert turned.shape[0] > turned.shape[1]

    @pytest.mark.parametrize(
        ("mode", "kind"),
        [
            ("L", "png"),
            ("LA", "png"),
            ("RGBA", "png"),
            ("P", "gif"),
            ("1", "png"),
            ("CMYK", "jpg"),
            ("I;16", "png"),
            ("RGB", "bmp"),
        ],
    )
    def test_every_usual_kind_becomes_rgb(self, tmp_path: Path, mode: str, kind: str) -> None:
        path = tmp_path / f"a.{kind}"
        grey = Image.linear_gradient("L")
        picture = Image.fromarray(np.asarray(grey, np.uint16) * 256) if mode == "I;16" else grey.convert(mode)
        picture.save(path)
        rgb = pillow.open_picture(path, (256, 256))
        assert rgb.shape == (256, 256, 3)
        assert rgb.dtype == np.uint8
        assert rgb[-1].mean() - rgb[0].mean() > 100

    def test_a_large_one_is_opened_smaller(self, tmp_path: Path) -> None:
        self.saved(tmp_path / "a.png", (1600, 900))
        assert pillow.open_picture(tmp_path / "a.png", (300, 200)).shape == (225, 400, 3)

    def test_takes_with_pictures_can_be_made(self, tmp_path: Path) -> None:
        voice = stage.sing(tmp_path / "v.wav")
        given = replace(self.performance(tmp_path), vocals=voice.asset)
        plain = stage.shoot(stage.setup(voice.asset), tmp_path / "a.mp4")
        shown = stage.shoot(given, tmp_path / "b.mp4")
        assert plain.graph["cast"] != shown.graph["cast"]
        a, b = (stage.frames_of(tmp_path / f"{name}.mp4").astype(int) for name in "ab")
        corner = np.s_[:, 30:60, 10:40]  # where the print is pinned
        assert np.abs(a[corner] - b[corner]).mean() > 20


def test_letters_that_no_font_has_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "folders", lambda: [])
    for known in (fonts._installed, fonts._elsewhere):
        known.cache_clear()
    try:
        notes = Animatic().notes(stage.setup(VOCALS, prompt="霓虹 rain"))
        assert notes == ("shot 7: no font here has 霓 (U+9713) 虹 (U+8679): drawn as boxes",)
        assert Animatic().notes(stage.setup(VOCALS, prompt="Łódź, Ωμέγα, Ночь")) == ()
    finally:
        for known in (fonts._installed, fonts._elsewhere):
            known.cache_clear()


def test_a_take_costs_more_the_longer_and_the_larger_it_is() -> None:
    predict = Animatic().predict_s
    assert 0 < predict(124, (672, 384)) < predict(192, (672, 384)) < predict(192, (1344, 768))
    assert 1 <= Animatic().slots <= 4


def test_the_assets_of_a_slate_never_carry_paths() -> None:
    assert "vocals.wav" not in json.dumps(asdict(slate_of()))
