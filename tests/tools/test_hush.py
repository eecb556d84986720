"""What a film tells besides its picture and sound is taken out, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.errors import MediaError
from mvpipe.tools import ffmpeg, frames, picture, process, sound
from mvpipe.tools.hush import hush

SECRET = "a woman in a red raincoat"


def film(path: Path, *options: str) -> Path:
    sources = ("-f", "lavfi", "-i", "testsrc2=size=64x64:rate=24", "-f", "lavfi", "-i", "sine=440:r=32000")
    told = (
        "-metadata",
        f"prompt={SECRET}",
        "-metadata",
        f"title={SECRET}",
        "-metadata:s:v",
        f"title={SECRET}",
    )
    process.run(ffmpeg.quiet(*sources, "-t", "1", *told, *options, ffmpeg.file(path)))
    assert SECRET.encode() in path.read_bytes()
    return path


def told(path: Path) -> tuple[str, int, bytes]:
    return frames.digest(path), len(picture.times(path)), b"".join(sound.decode(path, "f32"))


@pytest.mark.parametrize(
    "options", [(), ("-movflags", "use_metadata_tags"), ("-movflags", "use_metadata_tags+faststart")]
)
def test_an_mp4_keeps_every_byte_of_picture_and_sound(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = film(tmp_path / "take.mp4", *options)
    before, size, times = told(path), path.stat().st_size, picture.times(path)
    hush(path)
    assert SECRET.encode() not in path.read_bytes()
    assert told(path) == before
    assert picture.times(path) == times
    assert path.stat().st_size == size
    hush(path)
    assert told(path) == before


@pytest.mark.parametrize("name", ["take.mkv", "take.webm"])
def test_other_containers_are_written_anew(tmp_path: Path, name: str) -> None:
    path = film(tmp_path / name, *(("-c:a", "libopus") if name.endswith("webm") else ()))
    before = frames.digest(path), len(picture.times(path))
    hush(path)
    assert SECRET.encode() not in path.read_bytes()
    assert (frames.digest(path), len(picture.times(path))) == before
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_torn_mp4_is_an_error(tmp_path: Path) -> None:
    path = film(tmp_path / "take.mp4")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(MediaError, match="runs out of the file"):
        hush(path)
