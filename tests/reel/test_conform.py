"""Mezzanines hold exactly the frames that are seen."""

from __future__ import annotations

import sys
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from subprocess import PIPE

import av
import numpy as np
import pytest

from mvpipe import film
from mvpipe.clock import NTSC_FILM_RATE, Span
from mvpipe.errors import MediaError, ToolError
from mvpipe.reel.card import draw
from mvpipe.reel.conform import conform, conform_argv, slug, slug_argv
from mvpipe.tools import frames, picture, process
from mvpipe.tools.ffmpeg import file, quiet
from tests.reel import indexed
from tests.reel.boxes import edits

NAMES = [
    "it's 100 % [a:b].mp4",
    "-dash, comma; and\\back.mp4",
    "nfd e\u0301.mp4",
    "two\nlines.mp4",
    "concat:a|b.mp4",
    "雨の街 🌧.mp4",
]


def missing(frames_: int = 20, *, reason: str = "no take passed", rate: Fraction = indexed.RATE) -> film.Slug:
    shot = film.Shot(
        number=12,
        cut=Span(48, 48 + frames_, rate),
        window=Span(48, 48 + film.window_length(frames_), rate),
        card=film.Card(prompt="rain"),
    )
    return film.Slug(shot=shot, reason=reason)


@pytest.mark.parametrize(("start", "slip", "first"), [(0, 0, 0), (30, 0, 12), (30, -12, 0), (30, 52, 64)])
def test_the_frames_that_are_seen_are_in_it_and_no_others(
    take: Path, tmp_path: Path, start: int, slip: int, first: int
) -> None:
    clip = indexed.clip(take, start=start, slip=slip)
    assert clip.first == first
    conform(clip, tmp_path / "m.mp4", size=indexed.SIZE)
    assert indexed.addresses(tmp_path / "m.mp4") == [(7, first + k) for k in range(60)]


def test_a_shot_of_one_frame(take: Path, tmp_path: Path) -> None:
    conform(indexed.clip(take, frames=1), tmp_path / "m.mp4", size=indexed.SIZE)
    assert indexed.addresses(tmp_path / "m.mp4") == [(7, 12)]


def test_a_mezzanine_is_silent_bare_and_needs_no_edit_list(take: Path, tmp_path: Path) -> None:
    conform(indexed.clip(take), tmp_path / "m.mp4", size=indexed.SIZE)
    facts = picture.facts(tmp_path / "m.mp4")
    assert (facts.pictures, facts.sounds, facts.others) == (1, 0, 0)
    assert not {"comment", "encoder", "creation_time"} & set(facts.tags)
    assert facts.base == Fraction(1, 24_000)
    assert edits(tmp_path / "m.mp4") == [(60_000, 0)], "60 frames from the first on, which is no edit at all"
    with av.open(str(tmp_path / "m.mp4")) as container:
        context = container.streams.video[0].codec_context
        assert (context.colorspace, context.color_primaries, context.color_trc, context.color_range) == (
            (1, 1, 1, 1)
        )
        assert all(packet.pts == packet.dts for packet in container.demux(video=0) if packet.size)


@pytest.mark.parametrize("rate", [NTSC_FILM_RATE, Fraction(25), Fraction(24)])
def test_every_rate_has_its_exact_times(tmp_path: Path, rate: Fraction) -> None:
    indexed.write(tmp_path / "t.mp4", 3, 124, rate=rate)
    shot = film.Shot(number=1, cut=Span(5, 95, rate), window=Span(0, 124, rate), card=film.Card(prompt="x"))
    clip = film.Clip(shot=shot, take=indexed.take(tmp_path / "t.mp4", 124, rate=rate))
    conform(clip, tmp_path / "m.mp4", size=indexed.SIZE)
    times = picture.times(tmp_path / "m.mp4")
    assert [times[k] for k in range(len(times))] == [k / rate for k in range(90)]
    assert indexed.addresses(tmp_path / "m.mp4")[0] == (3, 5)


def test_frames_are_counted_where_times_are_uneven(take: Path, tmp_path: Path) -> None:
    uneven = tmp_path / "vfr.mp4"
    argv = quiet(
        "-i", file(take), "-an", "-vf", "setpts='(N+gt(N,20)*3)/(24*TB)'", "-fps_mode", "passthrough"
    )
    process.run([*argv, "-c:v", "libx264", file(uneven)])
    assert picture.times(uneven).farthest(indexed.RATE) > 0
    conform(indexed.clip(uneven), tmp_path / "m.mp4", size=indexed.SIZE)
    assert indexed.addresses(tmp_path / "m.mp4") == [(7, 12 + k) for k in range(60)]


def test_the_same_bytes_every_time(take: Path, tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        conform(indexed.clip(take), tmp_path / name, size=indexed.SIZE)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_takes_and_slugs_have_the_same_parameter_sets(take: Path, tmp_path: Path) -> None:
    conform(indexed.clip(take), tmp_path / "m.mp4", size=indexed.SIZE)
    slug(missing(), tmp_path / "s.mp4", size=indexed.SIZE)
    assert picture.facts(tmp_path / "m.mp4").head == picture.facts(tmp_path / "s.mp4").head


def test_progress_counts_up_to_all(take: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    conform(
        indexed.clip(take), tmp_path / "m.mp4", size=indexed.SIZE, progress=lambda *call: calls.append(call)
    )
    assert calls[-1] == (60, 60)
    assert calls == sorted(calls)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(sys.platform == "win32", reason="these are no file names there")
def test_names_are_only_names(take: Path, tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.write_bytes(take.read_bytes())
    conform(indexed.clip(source, frames=5), tmp_path / f"m {name}", size=indexed.SIZE)
    assert indexed.addresses(tmp_path / f"m {name}") == [(7, 12 + k) for k in range(5)]


def test_a_relative_name_that_begins_with_a_dash(take: Path, tmp_path: Path) -> None:
    with chdir(tmp_path):
        Path("-i.mp4").write_bytes(take.read_bytes())
        conform(indexed.clip(Path("-i.mp4"), frames=5), Path("-o.mp4"), size=indexed.SIZE)
        assert len(indexed.addresses(Path("-o.mp4"))) == 5


def test_a_take_of_another_size_covers_the_picture_unstretched(tmp_path: Path) -> None:
    """A circle stays round, and nothing is left black."""
    _write_gray(tmp_path / "t.mp4", _circle(320, 160), 124)
    conform(indexed.clip(tmp_path / "t.mp4", frames=3), tmp_path / "m.mp4", size=(160, 120))
    seen: list[indexed.Gray] = []
    frames.read(tmp_path / "m.mp4", see=seen.append)
    assert seen[0].shape == (120, 160)
    rows, columns = np.nonzero(seen[0] > 200)
    assert abs(np.ptp(rows) - np.ptp(columns)) <= 1
    assert seen[0].min() > 50


def test_untagged_takes_keep_their_colours(tmp_path: Path) -> None:
    """ComfyUI writes BT.601 without saying so; a film that says BT.709 must hold other numbers."""
    red = np.full((64, 104, 3), (200, 40, 30), np.uint8)
    with av.open(str(tmp_path / "t.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=24, options={"crf": "5"})
        stream.width, stream.height, stream.pix_fmt = 104, 64, "yuv420p"
        for _ in range(124):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(red, format="rgb24")))
        container.mux(stream.encode())
    conform(indexed.clip(tmp_path / "t.mp4", frames=3), tmp_path / "m.mp4", size=indexed.SIZE)
    shown = quiet("-i", file(tmp_path / "m.mp4"), "-frames:v", "1", "-vf", "scale=in_color_matrix=bt709")
    with process.start([*shown, "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"], stdout=PIPE) as child:
        assert child.stdout is not None
        colour = np.frombuffer(child.stdout.read(), np.uint8).reshape(64, 104, 3)[32, 52]
    assert np.abs(colour.astype(int) - (200, 40, 30)).max() <= 4


def test_a_take_that_is_too_short_is_named(tmp_path: Path) -> None:
    indexed.write(tmp_path / "t.mp4", 1, 50)
    with pytest.raises(MediaError, match="shot 4: frames: 38 where 60 are wanted"):
        conform(indexed.clip(tmp_path / "t.mp4", number=4), tmp_path / "m.mp4", size=indexed.SIZE)


def test_a_damaged_take_stops_the_run_instead_of_moving_frames(take: Path, tmp_path: Path) -> None:
    data = bytearray(take.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 600] = bytes(600)
    (tmp_path / "t.mp4").write_bytes(data)
    assert frames.read(tmp_path / "t.mp4").damage
    with pytest.raises((ToolError, MediaError)):
        conform(indexed.clip(tmp_path / "t.mp4"), tmp_path / "m.mp4", size=indexed.SIZE)


def test_a_slug_lasts_as_long_as_the_shot(tmp_path: Path) -> None:
    slug(missing(33), tmp_path / "s.mp4", size=(320, 180))
    seen: list[indexed.Gray] = []
    reading = frames.read(tmp_path / "s.mp4", see=seen.append)
    assert reading.frames == len(reading.times) == 33
    assert 80 < np.median(seen[0]) < 100, "grey"
    assert (seen[0] > 180).sum() > 100, "with words on it"
    assert np.abs(seen[0].astype(int) - seen[-1]).mean() < 1


def test_a_slug_says_which_shot_and_why() -> None:
    cards = {
        draw(missing(20), (320, 180)),
        draw(missing(20, reason="black in 40 % of frames"), (320, 180)),
        draw(missing(24), (320, 180)),
    }
    assert len(cards) == 3
    assert draw(missing(20), (320, 180)) in cards, "and the same one twice"


@pytest.mark.parametrize("size", [(16, 16), (64, 36), (180, 320), (1920, 1088)])
def test_a_card_fits_any_picture(size: tuple[int, int]) -> None:
    card = draw(missing(20, reason="the same reason again and again " * 30 + "w" * 200 + " 雨"), size)
    assert len(card) == size[0] * size[1] * 3
    pixels = np.frombuffer(card, np.uint8).reshape(size[1], size[0], 3)
    assert (pixels[:, -1] == pixels[0, 0]).all(), "no words run out of the picture"


def test_golden_argument_list_of_a_mezzanine() -> None:
    argv = conform_argv(
        Path("/v/it's 1%.mp4"), Path("/w/m.mp4"), first=12, frames=144, rate=NTSC_FILM_RATE, size=(1344, 768)
    )
    assert argv[1:] == [
        *("-nostdin", "-hide_banner", "-v", "error", "-err_detect", "explode", "-i", "file:/v/it's 1%.mp4"),
        "-filter_complex",
        "[0:V:0]trim=end_frame=156:start_frame=12[s0];[s0]settb=expr=1001/24000[s1];[s1]setpts=expr=N[s2];"
        "[s2]fps=fps=24000/1001[s3];[s3]scale=flags=bicubic+accurate_rnd+full_chroma_int+bitexact:"
        "force_original_aspect_ratio=increase:h=768:out_color_matrix=bt709:out_range=tv:w=1344[s4];"
        "[s4]crop=h=768:w=1344[s5];[s5]format=pix_fmts=yuv420p[s6];[s6]setsar=sar=1[s7];"
        "[s7]setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv[s8]",
        *("-map", "[s8]", "-f", "mp4", "-bf", "0", "-c:v", "libx264", "-crf", "14"),
        *("-fflags", "+bitexact", "-flags:v", "+bitexact", "-g", "24", "-map_chapters", "-1"),
        *(
            "-map_metadata",
            "-1",
            "-movie_timescale",
            "24000",
            "-preset",
            "veryfast",
            "-progress",
            "pipe:1",
            "-threads",
            "4",
        ),
        *("-video_track_timescale", "24000", "-x264-params", "open-gop=0:sync-lookahead=0", "-xerror"),
        *("file:/w/m.mp4", "-y"),
    ]


def test_golden_argument_list_of_a_slug() -> None:
    argv = slug_argv(Path("s.mp4"), frames=97, rate=Fraction(24), size=(672, 384))
    assert argv[5:17] == [
        *("-f", "rawvideo", "-framerate", "24", "-pixel_format", "rgb24", "-s", "672x384", "-i", "pipe:0"),
        "-filter_complex",
        argv[16],
    ]
    assert argv[16].startswith("[0:V:0]loop=loop=96:size=1[s0];[s0]settb=expr=1/24[s1];")
    assert (
        argv[17:]
        == conform_argv(Path("x"), Path("s.mp4"), first=0, frames=1, rate=Fraction(24), size=(672, 384))[11:]
    )


def test_cutting_by_time_is_never_done() -> None:
    argv = conform_argv(Path("a"), Path("b"), first=0, frames=9, rate=Fraction(24), size=(64, 64))
    assert not {"-ss", "-t", "-to", "-shortest", "-frames:v", "-r"} & set(argv)


def _circle(width: int, height: int) -> indexed.Gray:
    y, x = np.mgrid[0:height, 0:width]
    inside = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 4) ** 2
    return np.where(inside, 240, 90).astype(np.uint8)


def _write_gray(path: Path, still: indexed.Gray, count: int) -> None:
    height, width = still.shape
    raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{width}x{height}", "-r", "24", "-i", "pipe:0"]
    argv = quiet(*raw, "-c:v", "libx264", "-pix_fmt", "yuv420p", file(path))
    with process.start(argv, stdin=PIPE) as child:
        assert child.stdin is not None
        for _ in range(count):
            child.stdin.write(still.tobytes())
