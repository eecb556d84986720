"""What is seen in a take, against takes whose numbers we know."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import MediaError
from mvpipe.gate.pictures import Sight, changes
from mvpipe.tools import frames, process
from mvpipe.tools.ffmpeg import file, quiet
from tests.gate import takes


def test_what_is_seen_in_a_take(tmp_path: Path) -> None:
    sight = takes.sight(takes.write(tmp_path / "t.mp4", takes.moving()))
    assert (sight.frames, sight.packets, sight.size, sight.sound) == (124, 124, (320, 192), False)
    assert sight.times == tuple(Fraction(k, 24) for k in range(124))
    assert sight.damage == ()
    base = takes.photo((444, 192))
    # full range, as a viewer sees it: studio black 16 becomes 0
    assert sight.level[0] == pytest.approx((base[:, :320].mean()), abs=1.5)
    assert sight.spread[0] == pytest.approx(base[:, :320].std(), abs=1.5)
    assert sight.change[0] == 0
    assert sight.stir[0] == 0
    assert min(sight.change[1:]) > 0.5
    assert min(sight.stir[1:]) > 3


def test_levels_are_full_range(tmp_path: Path) -> None:
    for value in (0, 128, 255):
        flat = np.full((192, 320), value, np.uint8)
        sight = takes.sight(takes.write(tmp_path / f"{value}.mp4", [flat] * 3))
        assert sight.level[1] == pytest.approx(value, abs=1.2)
        assert sight.spread[1] < 0.5


def test_the_digest_is_of_the_frames_and_not_of_the_file(tmp_path: Path) -> None:
    take = takes.write(tmp_path / "t.mp4", takes.push_in(0.001))
    process.run(quiet("-i", file(take), "-c", "copy", "-metadata", "title=x", file(tmp_path / "t.mkv")))
    other = takes.write(tmp_path / "o.mp4", takes.push_in(0.0011))
    assert takes.sight(take).digest == takes.sight(tmp_path / "t.mkv").digest == frames.digest(take)
    assert takes.sight(take).digest != takes.sight(other).digest


@pytest.mark.parametrize("width", [318, 100])
def test_padding_of_rows_does_not_enter_the_digest(tmp_path: Path, width: int) -> None:
    """Decoders align rows; what stands behind a row's last pixel is not the picture."""
    take = takes.write(tmp_path / "t.mp4", [p[:, :width] for p in takes.push_in(0.001)], crf=23)
    raw = quiet("-i", file(take), "-f", "rawvideo", "-pix_fmt", "yuv420p", file(tmp_path / "raw"))
    process.run(raw)
    import hashlib

    assert takes.sight(take).digest == hashlib.sha256((tmp_path / "raw").read_bytes()).hexdigest()


def test_sound_is_seen_to_be_there(tmp_path: Path) -> None:
    take = takes.write(tmp_path / "t.mp4", takes.push_in(0.001))
    both = quiet("-i", file(take), "-f", "lavfi", "-i", "sine=d=5", "-c:v", "copy", file(tmp_path / "s.mp4"))
    process.run(both)
    assert takes.sight(tmp_path / "s.mp4").sound


def test_a_sight_can_be_written_down(tmp_path: Path) -> None:
    sight = takes.sight(takes.write(tmp_path / "t.mp4", takes.push_in(0.001)))
    assert Sight.from_json(json.loads(json.dumps(sight.as_json()))) == sight


def test_change_is_of_the_picture_and_of_the_square_that_changed_most() -> None:
    before = np.zeros((64, 96), np.float32)
    now = before.copy()
    now[8:16, 16:24] = 3
    now[40, 40] = 64
    change, stir = changes(before, now)
    assert change == pytest.approx((64 * 3 + 64) / (64 * 96))
    assert stir == 3
    assert changes(before, before) == (0, 0)


def test_times_that_do_not_start_at_zero(tmp_path: Path) -> None:
    take = takes.write(tmp_path / "t.mp4", takes.push_in(0.001))
    process.run(quiet("-itsoffset", "0.5", "-i", file(take), "-c", "copy", file(tmp_path / "late.mkv")))
    assert takes.sight(tmp_path / "late.mkv").times[0] == 0


@pytest.mark.parametrize("content", [b"", b"this is a text", None])
def test_a_take_that_is_no_film_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "t.mp4").write_bytes(content)
    with pytest.raises(MediaError, match=r"t\.mp4"):
        takes.sight(tmp_path / "t.mp4")


def test_a_take_without_pictures_is_an_error(tmp_path: Path) -> None:
    process.run(quiet("-f", "lavfi", "-i", "sine=d=1", file(tmp_path / "t.wav")))
    with pytest.raises(MediaError, match="picture: none"):
        takes.sight(tmp_path / "t.wav")
