"""What a storyboard means, and what is said, word for word, about one that means nothing."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.clock import format_time
from mvpipe.errors import StoryboardError
from mvpipe.storyboard.load import load
from mvpipe.storyboard.problems import Mark
from mvpipe.storyboard.scalars import Size, Stretch
from tests.storyboard.making import HEAD, complaint, loaded, steady

RAIN = """\
mvpipe: 1
title: Neon Rain
picture: {size: 1344x768}
look: 35 mm film, wet neon streets, shallow depth of field
cast:
  mira:
    is: a woman of twenty-five, silver bob, red raincoat
    pictures: [refs/mira.png]
    sings: true
places:
  street: {is: a narrow street of broken neon signs}
sections:                          # in order
  - name: verse 1
    start: 0:12.4
    shots:
      - {prompt: Mira walks towards us and sings, cast: [mira], place: street, framing: medium close-up}
      - {kind: b-roll, prompt: rain on a tram window}
      - {at: 0:31.0, lyric: "no way home#1", prompt: she stops and looks up, cast: [mira]}
cuts:
  keep: [0:41]
  avoid: ["1:02 - 1:03.5"]
  at: {}
render: {backend: comfyui, graph: native-ref2va, profile: ref2va-turbo-8, takes: 3, seed: 7}
gate: {offset_frames: 1, on_fail: retake}
"""


@pytest.fixture
def rain(tmp_path: Path) -> Path:
    (tmp_path / "refs").mkdir()
    (tmp_path / "refs/mira.png").touch()
    (tmp_path / "rain.yaml").write_text(RAIN)
    return tmp_path / "rain.yaml"


def test_the_design_example_means_what_it_says(rain: Path) -> None:
    film = load(rain)
    board = film.storyboard
    assert (board.title, board.file_stem, board.picture.size) == ("Neon Rain", "Neon Rain", Size(1344, 768))
    assert film.cast["mira"].pictures == (rain.parent / "refs/mira.png",)
    assert film.cast["mira"].sings
    assert film.places["street"].description == "a narrow street of broken neon signs"
    verse = board.sections[0]
    assert verse.start == Fraction("12.4")
    assert verse.shots[2].at == 31
    assert film.keep == (Fraction(41),)
    assert film.avoid == (Stretch(Fraction(62), Fraction("63.5")),)
    assert not film.moved
    assert board.render.options == {
        "graph": "native-ref2va",
        "profile": "ref2va-turbo-8",
        "without_voice": "silence",
        "lyrics": "",
    }


def test_what_is_left_out_has_a_default(tmp_path: Path) -> None:
    board = loaded(tmp_path, "").storyboard
    assert (board.render.backend, board.render.takes, board.render.seed) == ("animatic", 3, 7)
    assert board.render.options == {"mouth": "follow", "offset_ms": 0}
    assert (board.sound.separator, board.gate.offset_frames, board.gate.on_fail) == ("auto", 1, "retake")


def test_a_key_with_nothing_behind_it_is_left_out(tmp_path: Path) -> None:
    bare = loaded(tmp_path, "cast:\nplaces:\n  # street: {is: wet}\nsections:\ncuts:\n  keep:\nrender:\n")
    assert bare.storyboard == loaded(tmp_path, "").storyboard


def test_every_value_knows_its_place(rain: Path) -> None:
    film = load(rain)
    assert film.where("sections", 0, "shots", 1) == f"{rain}:17:9: sections[0].shots[1]"
    assert film.origin("sections", 0, "shots", 2) == f"{rain}:18"
    assert film.marks.value(("cuts", "keep", 0)) == Mark(20, 10)
    assert film.marks.key(("cast", "mira")) == Mark(6, 3)
    assert film.marks.value(("render", "animatic", "mouth")) == Mark(23, 9)  # not written: what is around it


def test_the_same_film_is_equal_however_it_is_written(rain: Path) -> None:
    first = load(rain)
    rain.write_text(
        RAIN.replace("0:12.4", '"12.400"').replace("# in order", "# other words").replace("\n", "\r\n")
    )
    assert load(rain) == first
    rain.write_text(RAIN.replace("0:12.4", "0:12.5"))
    assert load(rain) != first


@steady
@given(
    millis=st.integers(0, 7_200_000),
    quote=st.sampled_from(["", "'", '"']),
    place=st.sampled_from(["section", "keep", "at"]),
)
def test_a_time_means_the_same_quoted_or_not(
    tmp_path_factory: pytest.TempPathFactory, millis: int, quote: str, place: str
) -> None:
    seconds = Fraction(millis, 1000)
    folder = tmp_path_factory.getbasetemp()
    for written in (format_time(seconds), f"{float(seconds):.3f}"):
        time = f"{quote}{written}{quote}"
        film = loaded(
            folder, f"sections: [{{name: a, start: {time}}}]\ncuts: {{keep: [{time}], at: {{2: {time}}}}}\n"
        )
        found = {
            "section": film.storyboard.sections[0].start,
            "keep": film.storyboard.cuts.keep[0],
            "at": film.storyboard.cuts.at[2],
        }
        assert found[place] == seconds


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("0:59", 59),
        ("0:59.999", "59.999"),
        ("1:00", 60),
        ("1:01", 61),
        ("59", 59),
        ("60", 60),
        ("61.5", "61.5"),
        ("1:30", 90),
        ("0:12.4", "12.4"),
        ("1:02:03", 3723),
        ("10:00:00", 36000),
        ("0:00", 0),
        ("00:05", 5),
        ("1:5", 65),
    ],
)
def test_sexagesimal_times_on_both_sides_of_a_minute(
    tmp_path: Path, written: str, seconds: str | int
) -> None:
    for time in (written, f'"{written}"', f"'{written}'"):
        film = loaded(
            tmp_path, f"sections:\n  - {{name: a, start: {time}}}\n  - name: b\n    start: {time}\n"
        )
        assert [section.start for section in film.storyboard.sections] == [Fraction(seconds)] * 2


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "NO",
        "on",
        "off",
        "yes",
        "y",
        "true",
        "null",
        "~",
        "1:30",
        "0:12.4",
        "1:02:03",
        "0o7",
        "0x1F",
        "1e3",
        ".5",
        "1999",
        "12_000",
        "2024-01-01",
        ".inf",
        ".nan",
        "=",
        "+1",
        "0777",
    ],
)
def test_words_of_older_yaml_are_text_where_text_belongs(tmp_path: Path, text: str) -> None:
    film = loaded(
        tmp_path,
        f"look: {text}\ncast:\n  {text}: {{is: {text}}}\n"
        f"sections:\n  - name: {text}\n    shots:\n"
        f"      - {{prompt: {text}, lyric: {text}, cast: [{text}]}}\n",
        head=f"mvpipe: 1\ntitle: {text}\n",
    )
    shot = film.storyboard.sections[0].shots[0]
    assert (film.storyboard.title, film.storyboard.look, shot.prompt, shot.lyric) == (text,) * 4
    assert shot.cast == (text,) == tuple(film.cast)


def test_true_and_false_are_what_only_sings_takes(tmp_path: Path) -> None:
    assert loaded(tmp_path, "cast: {a: {is: x, sings: true}}\n").cast["a"].sings
    assert not loaded(tmp_path, 'cast: {a: {is: x, sings: "False"}}\n').cast["a"].sings
    said, hint = complaint(tmp_path, "cast: {a: {is: x, sings: no}}\n")
    assert (said, hint) == ('rain.yaml:3:26: cast.a.sings: not true or false: "no"', "write false")


def test_block_texts_keep_their_colons_and_quotes(tmp_path: Path) -> None:
    film = loaded(tmp_path, 'look: |\n  she says: "come # back"\n  {now}\n')
    assert film.storyboard.look == 'she says: "come # back"\n{now}'
    film = loaded(tmp_path, "look: >\n  wet neon,\n  red: Mira alone\n")
    assert film.storyboard.look == "wet neon, red: Mira alone"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_with_their_mark_and_all_line_ends(tmp_path: Path, encoding: str, end: str) -> None:
    text = f"{HEAD}look: café ☔ 東京\nfoo: 1\n".replace("\n", end)
    said, _ = complaint(tmp_path, text.encode(encoding))
    assert said == 'rain.yaml:4:1: foo: unknown key: "foo"'
    film = loaded(tmp_path, text.replace("foo: 1", "").encode(encoding))
    assert film.storyboard.look == "café ☔ 東京"


def test_line_separators_inside_a_text_do_not_move_the_lines_below(tmp_path: Path) -> None:
    said, _ = complaint(tmp_path, "look: a\u2028b\u2029c\x85d\nfoo: 1\n")
    assert said == 'rain.yaml:4:1: foo: unknown key: "foo"'


def test_names_are_the_same_in_either_unicode_spelling(tmp_path: Path) -> None:
    film = loaded(
        tmp_path, "cast: {Zoe\u0308: {is: x}}\nsections: [{name: a, shots: [{cast: [Zo\u00eb]}]}]\n"
    )
    assert film.storyboard.sections[0].shots[0].cast == ("Zo\u00eb",) == tuple(film.cast)
    assert film.where("cast", "Zo\u00eb") == f"{tmp_path}/rain.yaml:3:14: cast.Zo\u00eb"
    said, _ = complaint(tmp_path, "cast:\n  Zoe\u0308: {is: x}\n  Zo\u00eb: {is: y}\n")
    assert said == "rain.yaml:5:3: cast.Zo\u00eb: a key given twice: first in line 4"


def test_anchors_aliases_and_merges(tmp_path: Path) -> None:
    film = loaded(
        tmp_path,
        "cast:\n"
        "  mira: &girl {is: a girl, sings: true}\n"
        "  twin: *girl\n"
        "  aunt: {<<: *girl, is: an aunt}\n"
        "sections:\n"
        "  - name: a\n"
        "    shots:\n"
        "      - &walk {prompt: she walks, cast: [mira]}\n"
        "      - *walk\n"
        "      - {<<: [*walk, {kind: b-roll, prompt: unused}], framing: wide}\n",
    )
    assert film.cast["twin"].description == "a girl"
    assert (film.cast["aunt"].description, film.cast["aunt"].sings) == ("an aunt", True)
    walk, again, merged = film.storyboard.sections[0].shots
    assert walk == again
    assert (merged.prompt, merged.framing, merged.kind) == ("she walks", "wide", "b-roll")
    assert film.origin("sections", 0, "shots", 1).endswith(":11")
    assert film.origin("sections", 0, "shots", 1, "prompt").endswith(":10")


def test_what_looks_like_a_text_cut_off_by_a_comment_is_noted(tmp_path: Path) -> None:
    film = loaded(tmp_path, "look: room #3 by night   # a real comment\n")
    assert film.storyboard.look == "room"
    assert [str(note).replace(f"{tmp_path}/", "") for note in film.notes] == [
        'rain.yaml:3:12: look: a comment, not part of the text: "#3 by night   # a real comment"; '
        "quote the text if it belongs to it"
    ]
    assert not loaded(tmp_path, 'look: "room #3"   # night\n').notes


def test_five_hundred_shots_and_none(tmp_path: Path) -> None:
    row = "      - {prompt: 'shot %d, a long walk', cast: [mira], at: 0:01, lyric: no way home#2}\n"
    text = "cast: {mira: {is: x, sings: true}}\nsections:\n  - name: a\n    shots:\n"
    film = loaded(tmp_path, text + "".join(row % number for number in range(500)))
    shots = film.storyboard.sections[0].shots
    assert len(shots) == 500
    assert shots[499].prompt == "shot 499, a long walk"
    assert film.origin("sections", 0, "shots", 499) == f"{tmp_path}/rain.yaml:506"
    assert loaded(tmp_path, text).storyboard.sections[0].shots == ()


def test_files_are_found_beside_the_storyboard_in_either_spelling(tmp_path: Path) -> None:
    (tmp_path / "ref s").mkdir()
    for name in ("ref s/Zoe\u0308's 100%.png", "-mira.png"):
        (tmp_path / name).touch()
    film = loaded(
        tmp_path,
        "cast:\n  z:\n    is: x\n    pictures:\n      - ref s/Zo\u00eb's 100%.png\n      - -mira.png\n",
    )
    first, second = film.cast["z"].pictures
    assert first.is_file()
    assert first.is_absolute()
    assert second == tmp_path / "-mira.png"


def test_all_problems_are_said_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    said, hint = complaint(
        tmp_path,
        "render: {takes: 0}\n"
        "picture: {size: 1300x768}\n"
        "cast:\n"
        "  mira: {sings: yes, pictures: refs/a.png}\n"
        "sections:\n"
        "  - name: no\n"
        "    start: 1:75\n"
        "    shots:\n"
        "      - {promt: x, cast: [myra], kind: broll, place: x}\n"
        "gate:\n"
        "gate:\n",
    )
    assert said.splitlines() == [
        "rain.yaml:3:17: render.takes: not in 1..20: 0",
        'rain.yaml:4:17: picture.size: sides are multiples of 32 from 64 to 2048: "1300x768"',
        "rain.yaml:6:9: cast.mira.is: missing: found only sings, pictures",
        'rain.yaml:6:17: cast.mira.sings: not true or false: "yes"',
        'rain.yaml:6:32: cast.mira.pictures: expected a list: found "refs/a.png"',
        'rain.yaml:9:12: sections[0].start: not a time: "1:75"',
        'rain.yaml:11:10: sections[0].shots[0].promt: unknown key: "promt"',
        'rain.yaml:11:27: sections[0].shots[0].cast[0]: not in cast: "myra"',
        'rain.yaml:11:40: sections[0].shots[0].kind: not one of performance, b-roll: "broll"',
        'rain.yaml:11:54: sections[0].shots[0].place: not in places: "x"',
        "rain.yaml:13:1: gate: a key given twice: first in line 12",
    ]
    assert hint.splitlines()[:3] == [
        "line 4: the nearest is 1312x768",
        "line 6: such as is: a woman of twenty-five, silver bob, red raincoat over a white shirt",
        "line 6: write true",
    ]


def test_very_many_problems_are_counted(tmp_path: Path) -> None:
    said, _ = complaint(tmp_path, "".join(f"key{number}: 1\n" for number in range(100)))
    assert len(said.splitlines()) == 41
    assert said.splitlines()[-1] == "rain.yaml: and 60 more"


def test_a_folder_or_nothing_in_place_of_the_storyboard(tmp_path: Path) -> None:
    with pytest.raises(StoryboardError, match="cannot be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "rain.yaml").touch()
    with pytest.raises(StoryboardError, match="no such file") as caught:
        load(tmp_path / "rian.yaml")
    assert caught.value.hint == "did you mean rain.yaml?"


def test_a_file_too_large_to_be_a_storyboard(tmp_path: Path) -> None:
    path = tmp_path / "song.wav"
    path.write_bytes(bytes(2_000_000))
    with pytest.raises(StoryboardError, match="too large: more than 1 MiB"):
        load(path)
