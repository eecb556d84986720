"""`mvpipe init`: a song becomes a storyboard that lints clean, plans at once, and can be filmed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvpipe.sound import wav
from mvpipe.storyboard.check import check, lint
from mvpipe.storyboard.load import load
from mvpipe.storyboard.styles import names
from tests.whole.studio import Studio, build

LYRICS = "[00:01.00]no way home\n[00:09.00]the rain \U0001f327 \u05d2\u05e9\u05dd\n[00:16.00]no way home\n"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """A song in a folder with a hard name; no storyboard."""
    folder = tmp_path_factory.mktemp("a b") / "Größe & (1) 歌"
    folder.mkdir()
    made = build(folder, song="neon_rain's  №5.wav")
    (folder / "board.yaml").unlink()
    (folder / "words.lrc").write_text(LYRICS, "utf-8")
    Image.new("RGB", (128, 128), "teal").save(folder / "m i.png")
    return made


def init(studio: Studio, out: str, *words: str, expect: int = 0) -> str:
    ran = studio.run("init", "--vocals", "vocals.wav", "--out", out, *words, "--", studio.song, expect=expect)
    return ran.stdout + ran.stderr


def test_it_writes_what_lints_clean_and_plans_at_once(studio: Studio) -> None:
    ran = studio.run("init", studio.song, "--vocals", "vocals.wav", "--lyrics", "words.lrc",
                     "--cast", "mira=m i.png")  # fmt: skip
    path = studio.folder / "neon_rain's  №5.yaml"
    loaded = load(path)
    check(loaded)
    assert lint(loaded) == []
    board = loaded.storyboard
    assert board.title == "Neon Rain's №5"
    assert (board.cast["mira"].pictures, board.cast["mira"].sings) == (("m i.png",), True)
    assert {name for part in board.sections for shot in part.shots for name in shot.cast} == {"mira"}
    text = path.read_text("utf-8")
    assert "the rain \U0001f327 \u05d2\u05e9\u05dd" in text
    assert "film it:     mvpipe render" in ran.stderr
    assert re.search(r"this machine: .*mvpipe recipe (show \S+|list)", ran.stderr)
    assert board.sound.vocals == "vocals.wav", "or the next command would cut by another voice"
    plan = studio.json("plan", studio.song, path.name)
    assert plan["separator"] == "given"
    assert [note for note in plan["notes"] if note.startswith(path.name)] == []
    described = [shot for part in board.sections for shot in part.shots]
    assert [shot["prompt"] for shot in plan["shots"]] == [shot.prompt for shot in described]
    for shot in plan["shots"]:
        assert (shot["kind"] == "performance") == (shot["voice"] >= 0.15)
    editor = path.with_suffix(".mvpipe") / "storyboard.schema.json"
    assert editor.is_file()


def test_it_never_overwrites(studio: Studio) -> None:
    (studio.folder / "mine.yaml").write_text("mine")
    assert "is there already" in init(studio, "mine.yaml", expect=2)
    assert (studio.folder / "mine.yaml").read_text() == "mine"
    assert not (studio.folder / "mine.mvpipe").exists()
    (studio.folder / "link.yaml").symlink_to("nowhere.yaml")
    assert "is there already" in init(studio, "link.yaml", expect=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cast", "a/b"], "a name cannot hold /"),
        (["--cast", "mira=gone.png"], "no such picture"),
        (["--cast", "mira=words.lrc"], "words.lrc: picture: not a picture that can be read"),
        (["--cast", "mira", "--cast", "mira"], "named twice"),
        (["--style", "balad"], "did you mean ballad?"),
        (["--lyrics", "gone.lrc"], "no such file"),
        (["--lyrics", "vocals.wav"], "not a kind of lyrics"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_done(studio: Studio, words: list[str], said: str) -> None:
    assert said in init(studio, "no.yaml", *words, expect=2)
    assert not (studio.folder / "no.mvpipe").exists()


def test_a_song_that_is_not_there_leaves_no_project_behind(studio: Studio) -> None:
    said = studio.run("init", "neon_rains №5.wav", expect=3).stderr
    assert f"no such file\n hint: did you mean {studio.song}?" in said
    assert not (studio.folder / "neon_rains №5.mvpipe").exists()
    exchanged = studio.run("plan", "board.yaml", studio.song, expect=2).stderr
    assert "board.yaml: a storyboard, and no song\n hint: first SONG, then STORYBOARD" in exchanged


def silent(folder: Path, seconds: float) -> Studio:
    samples = int(seconds * 16_000)
    quiet = np.zeros((samples, 1), np.float32)
    wav.write(folder / "song.wav", [quiet], sample_rate=16_000, channels=1, samples=samples)
    return Studio(folder)


@pytest.mark.parametrize("seconds", [0.2, 20.0])
def test_a_song_with_no_voice_is_b_roll(tmp_path: Path, seconds: float) -> None:
    studio = silent(tmp_path, seconds)
    ran = studio.run("init", "--separator", "spleeter", "--out", "quiet.yaml", "--", studio.song)
    assert "mvpipe render --separator spleeter" in ran.stderr
    loaded = load(tmp_path / "quiet.yaml")
    assert lint(loaded) == []
    assert {part.name.split()[0] for part in loaded.storyboard.sections} == {"part"}
    assert {shot.kind for part in loaded.storyboard.sections for shot in part.shots} == {"b-roll"}


@pytest.mark.parametrize("more", [0, 2000])
def test_words_without_times_are_a_guess_or_stand_at_the_top(studio: Studio, more: int) -> None:
    words = studio.folder / "words.txt"
    words.write_text("[Chorus]\nno way home: # the rain\n\u202ereversed\n" + "la la\n" * more, "utf-8")
    (studio.folder / "plain.yaml").unlink(missing_ok=True)
    init(studio, "plain.yaml", "--lyrics", "words.txt")
    text = (studio.folder / "plain.yaml").read_text("utf-8")
    assert "a guess by the lengths" in text or "Nobody can say when" in text
    assert re.search(r"# (\||  ) ?no way home: # the rain\n", text)
    assert re.search(r"# (\||  ) ?reversed\n", text)
    assert "\u202e" not in text
    assert lint(load(studio.folder / "plain.yaml")) == []


@pytest.mark.slow
@pytest.mark.parametrize("style", names())
def test_every_style_is_loaded_planned_and_filmed_small(tmp_path: Path, style: str) -> None:
    studio = build(tmp_path, seconds=13.0)
    studio.edit("Small", "Other")  # the storyboard of the studio is not used
    init(studio, "styled.yaml", "--style", style, "--cast", "zoe")
    path = tmp_path / "styled.yaml"
    loaded = load(path)
    assert lint(loaded) == []
    text = path.read_text("utf-8")
    size = str(loaded.storyboard.picture.size)
    path.write_text(text.replace(f"size: {size}", "size: 192x128"), "utf-8")
    studio.run("render", "--vocals", "vocals.wav", studio.song, "styled.yaml")
    assert list((tmp_path / "styled.mvpipe" / "film").glob("*.mkv"))


def test_a_picture_is_the_only_truth_about_a_face(studio: Studio) -> None:
    words = ["--style", "band", "--cast", "zoe=m i.png", "--cast", "yan"]
    init(studio, "pictured.yaml", *words)
    text = (studio.folder / "pictured.yaml").read_text("utf-8")
    cast = load(studio.folder / "pictured.yaml").storyboard.cast
    assert (cast["zoe"].description, cast["zoe"].pictures) == ("exactly as in the picture", ("m i.png",))
    assert "bleached crop" not in text, "the style's own singer"
    assert "red beard" in cast["yan"].description, "of whom there is no picture"


@pytest.mark.parametrize("style", names())
def test_a_style_lends_its_look_and_its_people_take_new_names(studio: Studio, style: str) -> None:
    init(studio, f"{style}.yaml", "--style", style, "--cast", "zoe", "--cast", "yan")
    loaded = load(studio.folder / f"{style}.yaml")
    assert lint(loaded) == []
    board = loaded.storyboard
    assert list(board.cast) == ["zoe", "yan"]
    assert len(board.look) > 60
    sung = [shot for part in board.sections for shot in part.shots if shot.kind == "performance"]
    assert bool(sung) == (style != "lyric-video")
    assert all(len(shot.cast) == 1 for shot in sung), "one singer a shot"
