"""The encoder's arguments, names that are hard on them, and what is read back."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from mvpipe.errors import MediaError, ToolError
from mvpipe.tools import encode, picture
from tests.render.animatic import stage


def test_the_arguments_leave_nothing_to_the_machine() -> None:
    argv = encode.take_argv(
        Path("a b/take.mp4"), size=(672, 384), rate=Fraction(24), sound=Path("v.wav"), comment="drawn"
    )
    text = " ".join(argv)
    for wanted in (
        "-f rawvideo -pix_fmt yuv420p -s 672x384 -framerate 24",
        "-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709",
        "-map 0:v:0 -map 1:a:0",
        "-threads 2",
        "-map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact",
        "-metadata comment=drawn",
    ):
        assert wanted in text
    assert argv[-1] == "file:a b/take.mp4"
    assert "file:v.wav" in argv
    assert not {"-shortest", "-frames:v", "-t"} & set(argv)


@pytest.mark.parametrize("name", ["-dash", "100%d", 'it\'s "so"', "a:b", "雨 é", "spa ce", "back\\slash"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    voice = stage.sing(folder / f"{name}.wav")
    stage.shoot(stage.setup(voice.asset, size=(64, 64)), folder / f"{name}.mp4")
    assert len(picture.times(folder / f"{name}.mp4")) == stage.FRAMES


@pytest.mark.parametrize(("sample_rate", "channels"), [(44_100, 1), (48_000, 2), (96_000, 6), (8_000, 1)])
def test_sound_is_mixed_to_one_channel_and_stays_in_its_place(
    tmp_path: Path, sample_rate: int, channels: int
) -> None:
    sound = np.zeros((sample_rate, channels), np.float32)
    sound[sample_rate // 2 :] = 0.25
    sf.write(tmp_path / "a.wav", sound, sample_rate, subtype="FLOAT")
    mono = encode.read_mono(tmp_path / "a.wav", 16_000)
    assert mono.dtype == np.float32
    assert abs(len(mono) - 16_000) <= 1
    step = int(np.argmax(mono > mono[-4000:].mean() / 2))
    assert abs(step - 8000) <= 2


def test_frames_come_by_number_and_in_the_order_wanted(tmp_path: Path) -> None:
    grey = [np.full(64 * 64 * 3 // 2, 128, np.uint8) for _ in range(30)]
    for n, frame in enumerate(grey):
        frame[: 64 * 64] = 40 + 6 * n
    sf.write(tmp_path / "v.wav", np.zeros(44_100 * 30 // 24, np.float32), 44_100)
    argv = encode.take_argv(
        tmp_path / "a.mp4", size=(64, 64), rate=Fraction(24), sound=tmp_path / "v.wav", comment=""
    )
    with encode.take_writer(argv) as pipe:
        for frame in grey:
            pipe.write(frame.data)
    found = encode.read_frames(tmp_path / "a.mp4", (64, 64), [29, 0, 12])
    for frame, n in zip(found, (29, 0, 12), strict=True):
        assert abs(frame.mean() - (40 + 6 * n - 16) * 255 / 219) < 2
    with pytest.raises(MediaError, match="frame 30: wanted of a film of 30"):
        encode.read_frames(tmp_path / "a.mp4", (64, 64), [30])


def test_what_is_no_sound_or_film_is_the_tools_failure(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("no")
    with pytest.raises(ToolError):
        encode.read_mono(tmp_path / "a.wav", 16_000)
    with pytest.raises(ToolError):
        encode.read_frames(tmp_path / "a.wav", (64, 64), [0])
