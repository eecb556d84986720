"""Words become characters, places, framings and movements; the same words always the same ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvpipe.errors import MediaError
from mvpipe.render.animatic import camera, motion, paths, pixels, puppet, voice
from mvpipe.render.animatic.backdrop import backdrop, scene_of
from mvpipe.render.animatic.clock import clockface
from mvpipe.render.animatic.face import EYES_APART
from mvpipe.render.animatic.look import look_of
from mvpipe.render.animatic.palette import PALETTES, palette_of
from mvpipe.render.animatic.pixels import Pixels
from mvpipe.render.animatic.portrait import draw_place, draw_portrait
from mvpipe.render.animatic.scenes import PAINTERS
from mvpipe.render.animatic.strip import film_strip, strip
from mvpipe.render.animatic.words import COLOURS, HAIR_COLOURS, SKINS
from tests.render.animatic import stage
from tests.synth import song

RATE = Fraction(24)


class TestLooks:
    """What a description asks for is drawn."""

    def test_the_design_pages_own_example(self) -> None:
        look = look_of("mira", "a woman of twenty-five, silver bob, red raincoat")
        assert (look.hair, look.cut, look.cloth, look.garment) == (
            COLOURS["silver"], "bob", COLOURS["red"], "coat",
        )  # fmt: skip
        assert look.jaw < 0.5

    @pytest.mark.parametrize(
        ("words", "wanted"),
        [
            ("a man with short black hair", {"cut": "crop", "hair": HAIR_COLOURS["black"]}),
            ("someone in a navy suit", {"garment": "jacket", "cloth": COLOURS["navy"]}),
            ("old man, grey beard, hat", {"age": 1.0, "beard": "full", "hat": "hat"}),
            ("red-haired girl, freckles", {"hair": HAIR_COLOURS["red"], "freckles": True}),
            ("girl, green t-shirt", {"garment": "tee", "cloth": COLOURS["green"]}),
            ("a black leather jacket", {"garment": "jacket", "cloth": COLOURS["black"]}),
            ("a leather jacket", {"garment": "jacket", "cloth": COLOURS["leather"]}),
            ("dark-skinned, afro, sunglasses", {"skin": SKINS[5], "cut": "afro", "glasses": "dark"}),
            ("a green mohawk, a jacket", {"cut": "mohawk", "hair": COLOURS["green"]}),
            ("blonde woman, bun", {"hair": HAIR_COLOURS["blonde"], "cut": "bun"}),
            ("woman, white blouse", {"garment": "shirt", "cloth": COLOURS["white"]}),
        ],
        ids=str,
    )
    def test_words_are_taken_at_their_word(self, words: str, wanted: dict[str, object]) -> None:
        look = look_of("x", words)
        assert {name: getattr(look, name) for name in wanted} == wanted

    def test_a_colour_belongs_to_its_own_phrase(self) -> None:
        assert look_of("x", "red scarf, long hair").hair != COLOURS["red"]

    def test_the_same_words_give_the_same_look_and_other_names_another(self) -> None:
        assert look_of("a", "a singer") == look_of("a", "a singer")
        assert len({look_of(name, "") for name in "abcdefghij"}) >= 9

    @pytest.mark.parametrize("words", ["", "una mujer con abrigo rojo", "紅い服の女", "💃", "x" * 5000])
    def test_any_words_give_a_look(self, words: str) -> None:
        assert look_of("", words).cut


class TestSheets:
    """What is redrawn fits what was drawn."""

    def dress(self, words: str = "a pale woman, silver bob", **changes: object) -> puppet.Dress:
        p = PALETTES["neon"]
        plain = puppet.Dress(look=look_of("x", words), ink=p.ink, rim=p.accent, air=p.air, scale=60, bottom=3)
        return replace(plain, **changes)  # type: ignore[arg-type]

    @pytest.mark.parametrize("scale", [34.7, 60, 151.3])
    def test_a_patch_at_rest_is_the_sheet_itself(self, scale: float) -> None:
        sheet = puppet.sheet(self.dress(scale=scale, blur=0.0))
        for x, y, part in (sheet.mouth(0.0, 0.5), sheet.eyes(0.0)):
            h, w = part.y.shape
            for whole, piece, step in (
                (sheet.base.y, part.y, 1),
                (sheet.base.a, part.a, 1),
                (sheet.base.uva, part.uva, 2),
            ):
                below = whole[y // step : (y + h) // step, x // step : (x + w) // step].astype(int)
                assert np.abs(below - piece).max() <= 6

    def test_an_open_mouth_is_darker_and_the_jaw_lower(self) -> None:
        sheet = puppet.sheet(self.dress())
        lips = np.s_[15:42, 57:87]  # of a patch that begins 0.34 below the eyes and 1.2 left of them
        dark = [int((sheet.mouth(o, 0.5)[2].y[lips] < 60).sum()) for o in (0.0, 0.3, 0.6, 1.0)]
        assert dark == sorted(dark)
        assert dark[3] > dark[0] + 100

    def test_patches_are_drawn_once(self) -> None:
        sheet = puppet.sheet(self.dress())
        assert sheet.mouth(0.51, 0.5)[2] is sheet.mouth(0.52, 0.5)[2]
        assert puppet.sheet(self.dress()) is sheet

    @pytest.mark.parametrize(
        "words",
        [
            "bald man, full beard, hoodie",
            "woman, long hair, dress, hat",
            "boy, curly hair, t-shirt, glasses",
            "man, beanie, moustache, shirt",
            "old woman, buzz cut, turtleneck",
            "punk, mohawk, jacket",
            "girl, ponytail, coat",
            "woman, wavy hair, suit",
            "man, quiff, vest",
        ],
    )
    def test_every_cut_garment_and_hat_can_be_drawn(self, words: str) -> None:
        sheet = puppet.sheet(self.dress(words, scale=24))
        assert sheet.base.a.mean() > 60
        assert sheet.reach < -puppet.LEFT


class TestPlaces:
    """Painted places."""

    @pytest.mark.parametrize("scene", sorted(PAINTERS))
    def test_every_scene_can_be_painted_and_is_not_plain(self, scene: str) -> None:
        rgb = backdrop(scene, PALETTES["dusk"], (160, 90), 3)
        assert rgb.shape == (90, 160, 3)
        assert rgb.std() > 8
        assert (rgb == backdrop.__wrapped__(scene, PALETTES["dusk"], (160, 90), 3)).all()

    def test_words_choose_scene_and_light(self) -> None:
        assert scene_of(["a narrow street of neon signs"]) == "city"
        assert scene_of(["", "rain on a tram window"]) == "room"
        assert scene_of(["a beach", "a forest"]) == "sea"
        assert scene_of(["", "nothing told"]) == "lights"
        assert palette_of(["at sunset"], "x") is PALETTES["dusk"]
        assert palette_of(["", "golden-hour"], "x") is PALETTES["dusk"]
        assert palette_of([], "verse") is palette_of([], "verse")


class TestCamera:
    """Framings and moves."""

    @pytest.mark.parametrize(
        ("words", "framing"),
        [
            ("close-up", "close-up"),
            ("Medium Close Up", "medium close-up"),
            ("extreme close-up", "extreme close-up"),
            ("wide shot", "wide"),
            ("medium", "medium"),
            ("cowboy", "medium wide"),
            ("MCU, three-quarter", "medium close-up"),
            ("close-up, three-quarter from the left", "close-up"),
            ("three-quarter from the right", "medium close-up"),
            ("", "medium close-up"),
            ("wobbly", "medium close-up"),
            ("full shot", "wide"),
            ("two-shot", "medium"),
        ],
    )
    def test_the_usual_words_are_known(self, words: str, framing: str) -> None:
        assert camera.framing_of(words) == framing

    @pytest.mark.parametrize("count", [1, 2, 3])
    @pytest.mark.parametrize("framing", sorted(camera.FRAMINGS))
    def test_the_singers_eyes_are_far_enough_apart_to_be_measured(self, count: int, framing: str) -> None:
        for seed in range(4):
            for size in ((672, 384), (1344, 768), (1344, 576)):
                singer, *others = camera.marks(count, framing, size, seed)
                assert singer.unit * EYES_APART >= 24
                assert 0.2 * size[0] < singer.x < 0.8 * size[0]
                assert singer.y + 0.95 * singer.unit < 0.80 * size[1], "the lower third hides the mouth"
                assert all(other.unit < 0.8 * singer.unit and other.behind for other in others)

    def test_framings_grow_towards_the_close_up(self) -> None:
        order = ["wide", "medium wide", "medium", "medium close-up", "close-up", "extreme close-up"]
        units = [camera.marks(1, framing, (672, 384), 1)[0].unit for framing in order]
        assert units == sorted(units)

    @pytest.mark.parametrize("move", [*camera.MOVES, "hold"])
    def test_a_move_is_slow_and_never_leaves_the_ground(self, move: str) -> None:
        shot = camera.Camera(move=move, frames=192, size=(672, 384))
        views = np.array([shot.view(i) for i in range(192)])
        assert (np.abs(np.diff(views, axis=0)) < (0.002, 0.6, 0.4)).all()
        assert (views[:, 0] >= 1).all()
        slack = views[:, :1] * 1.17 - 1
        assert (np.abs(views[:, 1:]) <= slack * (336, 192)).all()
        assert (np.ptp(views, axis=0).max() > 0.01) == (move != "hold")


class TestVoice:
    """From sound to lips."""

    def test_lips_open_at_vowels_and_close_between_phrases(self) -> None:
        sung = song(30.0, a_cappella=True, breaths=False, sample_rate=voice.SAMPLE_RATE)
        low = sung.vocals.mean(1)
        opening, spread = voice.articulation(low)
        at = np.arange(len(opening)) / voice.HOPS
        vowels = [s for s in sung.truth.syllables if s.stop - s.vowel_at > 0.15]
        held = [opening[(at > s.vowel_at + 0.06) & (at < s.stop - 0.04)].mean() for s in vowels]
        rests = [opening[(at > a + 0.4) & (at < b - 0.15)] for a, b in sung.truth.gaps]
        assert np.median(held) > 0.5
        assert np.concatenate(rests).mean() < 0.08
        assert (opening >= 0).all()
        assert max(opening.max(), spread.max()) <= 1

    def test_loudness_does_not_matter_but_silence_and_noise_floor_do(self, tmp_path: Path) -> None:
        sung = stage.sing(tmp_path / "v.wav")
        from mvpipe.tools import encode

        loud = encode.read_mono(sung.asset.path, voice.SAMPLE_RATE)
        opening, _ = voice.articulation(loud)
        quiet, _ = voice.articulation((loud * 0.05).astype(np.float32))
        assert np.abs(opening - quiet).max() < 0.02
        hiss = (np.random.default_rng(1).normal(0, 2e-5, 40_000)).astype(np.float32)
        for nobody in (np.zeros(40_000, np.float32), hiss):
            assert voice.articulation(nobody)[0].max() == 0

    @pytest.mark.parametrize("samples", [0, 1, 159, 160, 5000])
    def test_the_shortest_sounds_have_lips_too(self, samples: int) -> None:
        opening, spread = voice.articulation(np.zeros(samples, np.float32))
        assert len(opening) == len(spread) == samples // 160 + 1

    def test_a_late_curve_is_the_curve_later(self) -> None:
        curve = np.sin(np.arange(600) / 7)
        now = voice.at_frames(curve, 100, RATE)
        late = voice.at_frames(curve, 100, RATE, late_s=0.25)
        assert np.allclose(late[6:], now[:-6])


def test_a_figure_blinks_and_keeps_its_head() -> None:
    held = motion.carriage(480, RATE, 5, facing=0.2, effort=np.zeros(480))
    again = motion.carriage(480, RATE, 5, facing=0.2, effort=np.zeros(480))
    other = motion.carriage(480, RATE, 6, facing=0.2, effort=np.zeros(480))
    assert (held.turn == again.turn).all()
    assert (held.turn != other.turn).any()
    blinks = int((np.diff((held.lid > 0.5).astype(int)) == 1).sum())
    assert 3 <= blinks <= 9
    assert np.abs(held.roll).max() < 0.12
    assert np.abs(np.diff(held.turn)).max() < 0.02


def test_the_clock_shows_the_frame_of_the_film() -> None:
    face = clockface((672, 384))
    assert face is not None

    def shown(frame: int, *, seen: bool = True) -> Pixels:
        planes = np.full((384, 672), 30, np.uint8), *(np.full((192, 336), 128, np.uint8) for _ in "uv")
        face.show(planes, frame, RATE, seen=seen)  # type: ignore[arg-type]
        return planes[0]

    assert (shown(1000) == shown(1000)).all()
    changed = np.nonzero((shown(1000) != shown(1001)).any(0))[0]
    whole = np.nonzero((shown(1000) != 30).any(0))[0]
    assert changed.min() > whole.min() + 0.8 * np.ptp(whole), "only the last digits"
    assert shown(1000).max() > shown(1000, seen=False).max() + 40
    assert clockface((64, 64)) is None


def test_colours_survive_the_way_to_planes() -> None:
    for colour, planes in (
        ((255, 255, 255), (235, 128, 128)),
        ((0, 0, 0), (16, 128, 128)),
        ((255, 0, 0), (63, 102, 240)),
        ((0, 0, 255), (32, 240, 118)),
    ):
        rgb = np.full((4, 4, 3), colour, np.uint8)
        found = pixels.luma(rgb)[0, 0], *(int(plane[0, 0]) for plane in pixels.chroma(rgb))
        assert np.abs(np.array(found, int) - planes).max() <= 1


def test_a_path_written_as_text_keeps_its_corners() -> None:
    assert paths.spots("0,1 .5,-.25!") == [(0, 1), (0.5, -0.25), (0.5, -0.25)]
    square = paths.curve("0,0! 1,0! 1,1! 0,1!")
    assert square.min() >= 0
    assert square.max() <= 1


class TestStills:
    """Portraits, places and strips."""

    def test_a_portrait_is_the_same_every_time(self, tmp_path: Path) -> None:
        data = draw_portrait("mira", stage.MIRA.description, (120, 160))
        assert data == draw_portrait("mira", stage.MIRA.description, (120, 160))
        (tmp_path / "a.png").write_bytes(data)
        rgb = np.asarray(Image.open(tmp_path / "a.png"))
        assert rgb.shape == (160, 120, 3)
        red = (rgb[..., 0] > 120) & (rgb[..., 1] < 70)
        assert red[120:].mean() > 0.15, "the raincoat"

    def test_a_place_can_be_drawn_alone(self) -> None:
        assert draw_place("street", "neon signs", (160, 90)).startswith(b"\x89PNG")

    def test_a_strip_shows_frames_spread_over_the_film(self, tmp_path: Path) -> None:
        voice = stage.sing(tmp_path / "v.wav")
        stage.shoot(stage.setup(voice.asset), tmp_path / "take.mp4")
        (tmp_path / "strip.png").write_bytes(film_strip(tmp_path / "take.mp4", frames=4, height=90))
        sheet = np.asarray(Image.open(tmp_path / "strip.png"))
        edge, gap = round(90 * 0.17), 2
        assert sheet.shape == (90 + 2 * edge, 4 * (160 + gap) + gap, 3)
        first, third = (
            sheet[edge : edge + 90, gap + n * 162 : gap + n * 162 + 160].astype(int) for n in (0, 2)
        )
        assert np.abs(first - third).mean() > 1
        assert (sheet[edge // 2].max(1) > 200).mean() > 0.3, "perforations"
        with pytest.raises(MediaError, match="film strip: 200 frames wanted of a film of 124"):
            film_strip(tmp_path / "take.mp4", frames=200)

    def test_one_frame_is_a_strip(self) -> None:
        assert strip([np.zeros((40, 60, 3), np.uint8)]).startswith(b"\x89PNG")
