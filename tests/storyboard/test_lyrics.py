"""Lyrics files."""

from fractions import Fraction
from pathlib import Path

import pytest

from mvpipe.clock import Span
from mvpipe.errors import StoryboardError
from mvpipe.film import Line
from mvpipe.storyboard.lyrics import holding, line_alone, read_lyrics, sung, time_asked

Heard = tuple[str, Fraction | int | None, Fraction | int | None]


def lines(folder: Path, name: str, text: str, encoding: str = "utf-8") -> list[Heard]:
    (folder / name).write_bytes(text.encode(encoding))
    return [(line.text, line.start, line.stop) for line in read_lyrics(folder / name)]


LRC = """\
[ti:Neon Rain]
[ar:Mira]
[00:12.40]no  way home
[00:15.5]<00:15.50>the <00:16.00>rain
[00:18]
[Chorus]
[01:02.500][00:40:25]lights, lights
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lrc(tmp_path: Path, encoding: str, end: str) -> None:
    assert lines(tmp_path, "a.LRC", LRC.replace("\n", end), encoding) == [
        ("no way home", Fraction("12.4"), Fraction("15.5")),
        ("the rain", Fraction("15.5"), 18),
        ("lights, lights", Fraction("40.25"), Fraction("62.5")),
        ("lights, lights", Fraction("62.5"), None),
    ]


def test_an_lrc_offset_makes_the_lines_earlier_but_not_before_the_song(tmp_path: Path) -> None:
    found = lines(tmp_path, "a.lrc", "[00:00.10]a\n[00:02.00]b\n[offset:+500]\n")
    assert [start for _, start, _ in found] == [0, Fraction("1.5")]
    assert lines(tmp_path, "a.lrc", "[offset: -500]\n[00:02.00]b\n")[0][1] == Fraction("2.5")


def test_srt(tmp_path: Path) -> None:
    text = (
        "1\n00:00:12,400 --> 00:00:15,000\n<i>no way</i>\nhome\n\n"
        "2\n00:01:02,500 --> 00:01:04,000 X1:40\n{\\an8}rain\n"
    )
    assert lines(tmp_path, "a.srt", text) == [
        ("no way home", Fraction("12.4"), 15),
        ("rain", Fraction("62.5"), 64),
    ]


def test_vtt(tmp_path: Path) -> None:
    text = (
        "WEBVTT - rain\n\nNOTE made by hand\nfor this song\n\nSTYLE\n::cue {}\n\nverse\n"
        "00:12.400 --> 00:15.000 align:start\n<v Mira>no <00:13.000>way home\n\n"
        "01:00:02.500 --> 01:00:04.000\nrain\n"
    )
    assert lines(tmp_path, "a.vtt", text) == [
        ("no way home", Fraction("12.4"), 15),
        ("rain", Fraction("3602.5"), 3604),
    ]


def test_txt_has_lines_without_times_and_headings_that_are_not_sung(tmp_path: Path) -> None:
    assert lines(tmp_path, "a.txt", "\ufeff[Verse 1]\r\nno way home\r\n\r\n  (oh)  \r\n") == [
        ("no way home", None, None),
        ("(oh)", None, None),
    ]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "a.lrc",
            b"[00:12.00]a\nno way home\n",
            '2: lyrics: no time stamp such as [01:02.50]: found "no way home"',
        ),
        ("a.lrc", b"[0:75.00]a\n", '1: lyrics: seconds run from 00 to 59: found "[0:75.00]"'),
        (
            "a.lrc",
            b"[00:12.00][0:1x]a\n",
            '1: lyrics: no time stamp such as [01:02.50]: found "[00:12.00][0:1x]a"',
        ),
        ("a.lrc", b"[offset:soon]\n", '1: lyrics: offset: not a number of milliseconds: found "soon"'),
        (
            "a.srt",
            b"1\n00:00:05,000 --> 00:00:04,000\na\n",
            '2: lyrics: ends before it begins: found "00:00:05,000 --> 00:00:04,000"',
        ),
        (
            "a.srt",
            b"\n\n1\n00:00:75,000 --> 00:01:80,000\na\n",
            '4: lyrics: not two times: found "00:00:75,000 --> 00:01:80,000"',
        ),
        (
            "a.srt",
            b"1\n0:01 --> 0:02\na\n\nb\n",
            '5: lyrics: no times such as 00:01:02,500 --> 00:01:05,000: found "b"',
        ),
        ("a.vtt", b"WEBVTT\n\n--> 0:04\na\n", '3: lyrics: not two times: found "--> 0:04"'),
        ("a.txt", b"no way\nhom\xe9\n", "2:4: not UTF-8: byte 0xe9 at offset 10, perhaps Latin-1"),
        ("a.doc", b"x", " lyrics: not a kind of lyrics: .doc"),
        ("lyrics", b"x", " lyrics: not a kind of lyrics: no ending"),
    ],
)
def test_malformed_lyrics_name_their_line(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(StoryboardError) as caught:
        read_lyrics(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}:{said}"


def test_lines_out_of_order_are_sung_in_order(tmp_path: Path) -> None:
    assert lines(tmp_path, "a.lrc", "[00:09]c\n[00:01]a\n[00:05]b\n") == [
        ("a", 1, 5),
        ("b", 5, 9),
        ("c", 9, None),
    ]
    cues = "2\n00:00:05,000 --> 00:00:06,000\nb\n\n1\n00:00:01,000 --> 00:00:02,000\na\n"
    assert lines(tmp_path, "a.srt", cues) == [("a", 1, 2), ("b", 5, 6)]
    assert lines(tmp_path, "a.vtt", f"WEBVTT\n\n{cues.replace(',', '.')}") == [("a", 1, 2), ("b", 5, 6)]


@pytest.mark.parametrize("second", ["latin-1", "utf-16-le"])
def test_two_encodings_in_one_file_are_refused_at_the_line_where_the_second_begins(
    tmp_path: Path, second: str
) -> None:
    path = tmp_path / "mixed.lrc"
    path.write_bytes("[00:01]für immer\n[00:05]".encode() + "déjà vu\n".encode(second))
    with pytest.raises(StoryboardError, match=r"mixed\.lrc:2:\d+: not UTF-8") as caught:
        read_lyrics(path)
    assert "save it as UTF-8" in caught.value.hint


def line(text: str, start: str, stop: str | None = None) -> Line:
    return Line(text, Fraction(start), None if stop is None else Fraction(stop))


def test_what_is_sung_in_a_span() -> None:
    song = (line("one", "1", "3"), line("two", "4", "4.5"), line("long", "10", "18"), line("last", "20"))
    assert sung(song, Span(0, 96)) == "one"
    assert sung(song, Span(0, 98)) == "one", "stamped just before the cut, as people do"
    assert sung(song, Span(98, 110)) == "two"
    assert sung(song, Span(0, 103)) == "one / two"
    assert sung(song, Span(12 * 24, 18 * 24)) == "long"
    assert sung(song, Span(15 * 24, 21 * 24 - 24)) == "long"  # 3 of 5 seconds
    assert sung(song, Span(16 * 24, 20 * 24)) == ""  # half is not most
    assert sung(song, Span(21 * 24, 30 * 24)) == ""  # nobody knows when the last line ends
    assert sung((Line("untimed"),), Span(0, 96)) == ""


def test_a_lyric_is_found_by_its_words() -> None:
    song = (
        line("No way home,", "1"),
        line("Don’t say there's no way home", "5"),
        line("no wayward home", "9"),
        Line("no way home"),
    )
    assert holding(song, "no way home") == holding(song, "NO  WAY, HOME!#2") == (0, 1, 3)
    assert holding(song, "dont say") == holding(song, "don't say") == (1,)
    assert holding(song, "...") == holding(song, "way to home") == ()


def test_the_times_that_are_asked_for() -> None:
    assert [time_asked(text) for text in ("rain", "rain#1", "rain #12", "#2", "room #x")] == [0, 1, 12, 0, 0]


def test_the_counter_is_no_part_of_the_line() -> None:
    assert line_alone("no way home#1") == line_alone("no way home #12") == "no way home"
    assert line_alone("#1") == "#1"
    assert line_alone("room #x") == "room #x"


def words(folder: Path, name: str, text: str) -> list[Heard]:
    (folder / name).write_text(text, "utf-8")
    return [(w.text, w.start, w.stop) for line in read_lyrics(folder / name) for w in line.words]


def test_stamped_words_end_where_the_next_begins(tmp_path: Path) -> None:
    found = words(
        tmp_path, "a.lrc", "[00:10]<00:10.00>the <00:11.00>rain <00:12.5>\n[00:20]<00:20>falls\n[00:21]"
    )
    assert found == [("the", 10, 11), ("rain", 11, Fraction("12.5")), ("falls", 20, 21)]


def test_a_line_that_comes_twice_takes_its_words_along(tmp_path: Path) -> None:
    found = words(tmp_path, "a.lrc", "[00:10][00:30]no <00:11>way\n[offset:1000]")
    assert found == [("no", 9, 10), ("way", 10, 29), ("no", 29, 30), ("way", 30, None)]


def test_stamps_in_square_brackets_between_words_are_the_same(tmp_path: Path) -> None:
    assert words(tmp_path, "a.lrc", "[00:01]no [00:02]way\n[00:03]")[1] == ("way", 2, 3)


def test_a_word_before_the_one_in_front_of_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoryboardError, match=r"a.lrc:1: lyrics: a word before the one in front of it"):
        words(tmp_path, "a.lrc", "[00:01]<00:01>a <00:03>b <00:02>c")


def test_karaoke_cues_have_words(tmp_path: Path) -> None:
    cue = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Mira>no <00:02.500>way <00:03.000><i>home</i>\n"
    assert words(tmp_path, "a.vtt", cue) == [
        ("no", 1, Fraction("2.5")),
        ("way", Fraction("2.5"), 3),
        ("home", 3, 4),
    ]
    with pytest.raises(StoryboardError, match="a word outside its cue"):
        words(tmp_path, "a.vtt", cue.replace("03.000>", "05.000>"))
