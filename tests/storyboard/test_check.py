"""What only shows with the song's length, and what is noted."""

from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.check import check, lint
from mvpipe.storyboard.load import load
from tests.storyboard.making import SAMPLES, loaded

CAST = "cast: {mira: {is: x, sings: true}, tomas: {is: y}}\n"


def refused(folder: Path, text: str, seconds: Fraction | None = Fraction(100)) -> list[str]:
    with pytest.raises(StoryboardError) as caught:
        check(loaded(folder, text), seconds)
    return [line.replace(f"{folder}/rain.yaml:", "") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cuts: {keep: [1:40]}", "3:15: cuts.keep[0]: outside the song of 1:40.000: 1:40.000"),
        ("cuts: {keep: [0]}", "3:15: cuts.keep[0]: outside the song of 1:40.000: 0:00.000"),
        ("cuts: {at: {3: 2:00}}", '3:16: cuts.at["3"]: outside the song of 1:40.000: 2:00.000'),
        (
            "cuts: {avoid: ['1:50 - 2:00']}",
            "3:16: cuts.avoid[0]: outside the song of 1:40.000: 1:50.000 to 2:00.000",
        ),
        (
            "sections: [{name: a, start: 1:40}]",
            "3:29: sections[0].start: outside the song of 1:40.000: 1:40.000",
        ),
        (
            "sections: [{name: a, shots: [{at: 101}]}]",
            "3:35: sections[0].shots[0].at: outside the song of 1:40.000: 1:41.000",
        ),
        (
            "sections: [{name: a, start: 20}, {name: b}, {name: c, start: 20}]",
            "3:62: sections[2].start: begins no later than a before it, at 0:20.000: 0:20.000",
        ),
        (
            "sections: [{name: a, start: 10, shots: [{at: 9}]}, {name: b, start: 20}]",
            "3:46: sections[0].shots[0].at: outside its section, 0:10.000 to 0:20.000: 0:09.000",
        ),
        (
            "sections: [{name: a, start: 10, shots: [{at: 20}]}, {name: b}, {name: c, start: 20}]",
            "3:46: sections[0].shots[0].at: outside its section, 0:10.000 to 0:20.000: 0:20.000",
        ),
        (
            "sections: [{name: a, start: 10}, {name: b, shots: [{at: 9}]}]",
            "3:57: sections[1].shots[0].at: outside its section, 0:10.000 to the end: 0:09.000",
        ),
        ("cuts: {keep: [10, 10.5]}", "3:19: cuts.keep[1]: closer than 1 s to the cut at 0:10.000: 0:10.500"),
        (
            "cuts: {keep: [10], at: {2: 10}}",
            '3:28: cuts.at["2"]: closer than 1 s to the cut at 0:10.000: 0:10.000',
        ),
        ("cuts: {at: {5: 20, 4: 30}}", '3:16: cuts.at["5"]: shot 5 would begin before shot 4: 0:20.000'),
        (
            "cuts: {keep: [10], avoid: ['9 - 11']}",
            "3:15: cuts.keep[0]: inside a stretch to avoid, 0:09.000 to 0:11.000: 0:10.000",
        ),
        (
            "cuts: {avoid: ['5 - 7', '1 - 5.5']}",
            "3:16: cuts.avoid[0]: overlaps the stretch 0:01.000 to 0:05.500: 0:05.000 to 0:07.000",
        ),
        (
            CAST + "sections: [{name: a, shots: [{cast: [tomas]}]}]",
            "4:37: sections[0].shots[0].cast: nobody in this performance sings: tomas",
        ),
    ],
)
def test_what_cannot_be_filmed(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "cuts: {keep: [11, 6], avoid: ['9 - 11', '7 - 9']}",
        "cuts: {keep: [10, 11], at: {4: 20, 5: 30}}",
        "sections: [{name: a, start: 0, shots: [{at: 0}]}, {name: b, start: 99.99}]",
        CAST + "sections: [{name: a, shots: [{cast: [tomas], kind: b-roll}, {cast: [tomas, mira]}, {}]}]",
    ],
)
def test_what_can(tmp_path: Path, text: str) -> None:
    check(loaded(tmp_path, text), Fraction(100))


def test_without_the_song_only_order_is_checked(tmp_path: Path) -> None:
    check(loaded(tmp_path, "cuts: {keep: [0, 5:00:00]}"), None)
    assert len(refused(tmp_path, "cuts: {keep: [10, 10]}", None)) == 1


def test_how_close_cuts_may_be_is_the_planners_to_say(tmp_path: Path) -> None:
    film = loaded(tmp_path, "cuts: {keep: [10, 12]}")
    check(film, Fraction(100))
    with pytest.raises(StoryboardError, match=r"closer than 4\.5 s"):
        check(film, Fraction(100), closest=Fraction("4.5"))


def test_all_is_said_at_once(tmp_path: Path) -> None:
    assert len(refused(tmp_path, "cuts: {keep: [200, 10, 10], avoid: ['9 - 11', '10 - 12']}")) == 7


def noted(folder: Path, text: str) -> list[str]:
    return [str(note).replace(f"{folder}/rain.yaml:", "") for note in lint(loaded(folder, text))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: sections: no shots are described: all are made from look and cast"),
        ("sections: [{name: a}]", "3:11: sections: no shots are described: all are made from look and cast"),
        (
            "sections: [{name: a, shots: [{prompt: x, kind: b-roll}]}, {name: b}]",
            "3:59: sections[1]: b describes no shots: they are made from look and cast",
        ),
        (
            "sections: [{name: a, shots: [{kind: b-roll}]}]",
            "3:30: sections[0].shots[0].prompt: empty: only look, cast and place say what is seen",
        ),
        (
            "sections: [{name: a, shots: [{prompt: x}]}]",
            "3:30: sections[0].shots[0]: a performance without cast: nobody is named who sings",
        ),
        (
            "cast: {m: {is: x, sings: true}}\nsections: [{name: a, shots: [{prompt: x, kind: b-roll}]}]",
            "3:11: cast.m: seen in no shot",
        ),
        (
            "places: {s: {is: x}}\nsections: [{name: a, shots: [{prompt: x, kind: b-roll}]}]",
            "3:13: places.s: seen in no shot",
        ),
        (
            "cast: {m: {is: x}}\nsections: [{name: a, shots: [{prompt: x, kind: b-roll, cast: [m, m]}]}]",
            "4:62: sections[0].shots[0].cast: named more than once: m",
        ),
        (
            "lyrics: ABSOLUTE\nsections: [{name: a, shots: [{prompt: x, kind: b-roll}]}]",
            "3:9: lyrics: an absolute path: the storyboard works on this computer alone",
        ),
        (
            "look: x #3\nsections: [{name: a, shots: [{prompt: x, kind: b-roll}]}]",
            '3:9: look: a comment, not part of the text: "#3"; quote the text if it belongs to it',
        ),
    ],
)
def test_what_is_noted(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.lrc").touch()
    assert said in noted(tmp_path, text.replace("ABSOLUTE", str(tmp_path / "a.lrc")))


def touched(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).touch()
    return f"[{', '.join(names)}]"


def test_what_h3_cannot_take_or_would_invent_is_noted(tmp_path: Path) -> None:
    pictures = touched(tmp_path, *(f"{number}.png" for number in range(9)))
    clips = touched(tmp_path, "0.mp4", "1.mp4", "2.mp4")
    text = (
        "render: {backend: comfyui, send_voices: true}\n"
        f"cast:\n  a: {{is: x, sings: true, pictures: {pictures}, videos: {clips}, voice: 0.mp4}}\n"
        "  b: {is: x, sings: true, voice: 1.mp4}\n"
        "  c: {is: x, sings: true, voice: 2.mp4}\n"
        "  d: {is: x, videos: [0.mp4]}\n"
        "places: {s: {is: x, pictures: [0.png]}}\n"
        "sections: [{name: v, shots: [{prompt: x, cast: [a, b, c, d], place: s}]}]\n"
    )
    assert noted(tmp_path, text) == [
        "6:6: cast.b: no pictures: H3 invents the look anew in every shot",
        "7:6: cast.c: no pictures: H3 invents the look anew in every shot",
        "10:30: sections[0].shots[0]: 10 pictures together: H3 takes 9 in one shot",
        "10:30: sections[0].shots[0]: 4 videos together: H3 takes 3 in one shot",
        "10:30: sections[0].shots[0]: 3 voices together: H3 takes 2 beside the song's",
    ]
    assert noted(tmp_path, text.replace("comfyui", "animatic")) == []


@pytest.mark.parametrize(("kind", "most", "ending"), [("pictures", 9, "png"), ("videos", 3, "mp4")])
def test_more_than_h3_takes_at_once_is_refused_and_says_which_to_drop(
    tmp_path: Path, kind: str, most: int, ending: str
) -> None:
    names = [f"{number}.{ending}" for number in range(most + 2)]
    check(loaded(tmp_path, f"cast: {{a: {{is: x, {kind}: {touched(tmp_path, *names[:most])}}}}}"))
    for group in ("cast", "places"):
        text = f"{group}: {{a: {{is: x, {kind}: {touched(tmp_path, *names)}}}}}"
        said = rf"{group}\.a\.{kind}: {most + 2} {kind}: H3 takes {most} in one shot"
        with pytest.raises(StoryboardError, match=said) as caught:
            check(loaded(tmp_path, text))
        assert caught.value.hint == f"drop {names[-2]}, {names[-1]}"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_there_is_nothing_to_say_about_the_samples(sample: Path) -> None:
    film = load(sample)
    assert lint(film) == []
    check(film, Fraction(60))


BY_VOICE = "sound: {singers: by-voice}\ncast:\n  mira: {is: x, sings: true, voice: m.wav}\n"


def test_singers_are_told_by_voice_where_each_has_one(tmp_path: Path) -> None:
    for name in ("m.wav", "t.wav"):
        (tmp_path / name).write_bytes(b"")
    board = BY_VOICE + "  tomas: {is: y, sings: true, voice: t.wav}\n  anna: {is: z}\n"
    film = loaded(tmp_path, board)
    check(film)
    assert list(film.voices) == ["mira", "tomas"]
    assert loaded(tmp_path, board.replace("by-voice", "named")).voices == {}
    assert refused(tmp_path, board.replace(", voice: t.wav", "")) == [
        "6:10: cast.tomas: tomas sings, and who sings is to be told by voice"
    ]
    assert refused(tmp_path, BY_VOICE) == [
        "3:18: sound.singers: by-voice: nobody to tell apart: 1 of the cast sings"
    ]
