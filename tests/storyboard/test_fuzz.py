"""Whatever bytes a file holds, it is a storyboard or the reason why not; never a traceback."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mvpipe.clock import tile
from mvpipe.errors import StoryboardError
from mvpipe.storyboard.check import check, lint
from mvpipe.storyboard.deal import deal
from mvpipe.storyboard.load import load
from mvpipe.storyboard.lyrics import read_lyrics
from tests.storyboard.making import SAMPLES, steady

KEYS = (
    b"mvpipe: 1 title: look: cast: is: pictures: sings: places: sections: name: start: shots: prompt: kind: "
    b"place: framing: at: lyric: cuts: keep: avoid: sound: render: gate: takes: seed: animatic:"
).split()
SCRAPS = [
    *KEYS,
    b"\n",
    b"\n  ",
    b"\n    ",
    b"\n- ",
    b" ",
    b"\t",
    b"{",
    b"}",
    b"[",
    b"]",
    b", ",
    b": ",
    b"? ",
    b"- ",
    b"# ",
    b"'",
    b'"',
    b"|\n",
    b">\n",
    b"&a ",
    b"*a ",
    b"<<: ",
    b"!!str ",
    b"!!python/name:os ",
    b"!",
    b"@",
    b"%",
    b"%YAML 1.1\n",
    b"---\n",
    b"...\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\\",
    b"\\U99999999",
    b"\\ud800",
    b"0:41",
    b"1:75",
    b"1e3",
    b"true",
    b"no",
    b"null",
    b"~",
    b"9" * 40,
    b"5000-1",
]
SMALL = b"""mvpipe: 1
title: Neon Rain
cast: {mira: {is: a woman, sings: true}}
sections:
  - name: verse 1
    start: 0:12.4
    shots:
      - {prompt: "she walks", cast: [mira], at: 0:14}
      - &rain {kind: b-roll, prompt: rain}
      - *rain
      - {<<: *rain, lyric: 'no way home#1'}
cuts: {keep: [0:41], avoid: ["1:02 - 1:03.5"], at: {4: 20}}
"""

pieces = st.lists(st.one_of(st.sampled_from(SCRAPS), st.binary(max_size=4)), max_size=40).map(b"".join)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from([SMALL, *(path.read_bytes() for path in SAMPLES)]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 30)))
        filling = draw(st.one_of(st.sampled_from(SCRAPS), st.binary(max_size=3), st.just(b"")))
        data = data[:start] + filling + data[stop:]
    return data


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "rain.yaml"


@settings(steady, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.one_of(mutated(), mutated(), pieces, st.binary(max_size=200)))
@example(data=b'mvpipe: 1\ntitle: "\\UFFFFFFFF"\n')
@example(data=b"mvpipe: 1\ntitle: &a [*a]\n")
@example(data=b"[" * 5000)
@example(data=b"{a: " * 2000)
@example(data=b"? " * 3000)
@example(data=b"a: 1\n" * 1000)
def test_any_bytes_are_a_storyboard_or_a_complaint(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        loaded = load(path)
        lint(loaded)
        dealt = deal(loaded, tile(range(150, 1500, 150), 1500))
        assert len(dealt.cards) == 10
        check(loaded, None)
    except StoryboardError as exc:
        for line in str(exc).splitlines():
            assert re.match(rf"{re.escape(str(path))}:( and \d+ more|\d+:\d+: .+: .+)", line), line


STAMPS = [
    "[00:12.00]",
    "[0:75]",
    "[offset:+200]",
    "[offset:x]",
    "[ar: X]",
    "1\n",
    "00:00:01,000 --> 00:00:04,000\n",
    "-->",
    "WEBVTT\n\n",
    "NOTE x\n\n",
    "no way home\n",
    "\n\n",
    "<i>",
    "{\\an8}",
    "[Chorus]",
    "99999999999:00.0",
    "\ufeff",
    "\0",
    "٣",
]


@settings(steady, max_examples=150)
@given(
    text=st.lists(st.one_of(st.sampled_from(STAMPS), st.text(max_size=5)), max_size=12).map("".join),
    suffix=st.sampled_from([".lrc", ".srt", ".vtt", ".txt"]),
)
def test_any_text_is_lyrics_or_a_complaint(path: Path, text: str, suffix: str) -> None:
    file = path.with_suffix(suffix)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        lines = read_lyrics(file)
    except StoryboardError as exc:
        said = str(exc)
    else:
        said = f"{file}:1"
        assert all(line.text for line in lines)
        starts = [line.start for line in lines if line.start is not None]
        assert starts == sorted(starts)
    assert re.match(rf"{re.escape(str(file))}:\d+", said)
