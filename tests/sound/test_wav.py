"""WAV files that are exact, reproducible, and complete or not there."""

from __future__ import annotations

from contextlib import chdir, suppress
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from mvpipe.errors import MediaError, VaultError
from mvpipe.sound import wav

AWKWARD = [
    "song.wav",
    "ein Lied.wav",
    "ne\u0301e.wav",
    "歌.wav",
    "100%d.wav",
    "-y.wav",
    'it\'s "it".wav',
    "a\nb.wav",
]


@pytest.fixture
def noise() -> NDArray[np.float32]:
    return np.random.default_rng(440).uniform(-2, 2, (10_007, 2)).astype(np.float32)


@pytest.mark.parametrize("name", AWKWARD)
def test_samples_come_back_bit_for_bit(tmp_path: Path, noise: NDArray[np.float32], name: str) -> None:
    wav.write(tmp_path / name, np.array_split(noise, 7), sample_rate=48_000, channels=2, samples=10_007)
    assert wav.shape(tmp_path / name) == wav.Shape(sample_rate=48_000, channels=2, samples=10_007)
    np.testing.assert_array_equal(wav.read(tmp_path / name), noise)
    np.testing.assert_array_equal(np.concatenate(list(wav.blocks(tmp_path / name, block=999))), noise)


def test_a_file_called_dash_is_a_file(tmp_path: Path) -> None:
    with chdir(tmp_path):
        wav.write(Path("-"), [np.ones(5, np.float32)], sample_rate=8000, channels=1, samples=5)
        assert wav.length(Path("-")) == 5


def test_the_same_samples_are_the_same_bytes_however_they_arrive(
    tmp_path: Path, noise: NDArray[np.float32]
) -> None:
    for name, pieces in {"a.wav": [noise], "b.wav": np.array_split(noise, 100)}.items():
        wav.write(tmp_path / name, pieces, sample_rate=44_100, channels=2, samples=len(noise))
    first, second = ((tmp_path / name).read_bytes() for name in ("a.wav", "b.wav"))
    assert first == second
    assert b"PEAK" not in first  # libsndfile's own writer would put the time of day there


def test_reading_outside_the_file_gives_silence_and_inside_it_the_neighbours(tmp_path: Path) -> None:
    ramp = np.arange(1, 101, dtype=np.float32)
    wav.write(tmp_path / "ramp.wav", [ramp], sample_rate=8000, channels=1, samples=100)
    got = wav.read(tmp_path / "ramp.wav", -3, 105, mono=True)
    np.testing.assert_array_equal(got, np.concatenate([np.zeros(3), ramp, np.zeros(5)]).astype(np.float32))
    np.testing.assert_array_equal(wav.read(tmp_path / "ramp.wav", 10, 13, mono=True), ramp[10:13])
    for outside in ((-20, -10), (100, 110), (5, 5)):
        assert not wav.read(tmp_path / "ramp.wav", *outside).any()
    with pytest.raises(ValueError, match="run backwards"):
        wav.read(tmp_path / "ramp.wav", 5, 4)


def test_mono_is_the_mean_of_the_channels(tmp_path: Path) -> None:
    pair = np.array([[1.0, 0.0], [-1.0, 1.0], [0.5, 0.5]], np.float32)
    wav.write(tmp_path / "pair.wav", [pair], sample_rate=8000, channels=2, samples=3)
    assert wav.read(tmp_path / "pair.wav", mono=True).tolist() == [0.5, 0.0, 0.5]
    assert [piece.tolist() for piece in wav.blocks(tmp_path / "pair.wav", mono=True)] == [[0.5, 0.0, 0.5]]


def test_a_large_file_is_an_rf64_that_others_read(
    tmp_path: Path, noise: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wav, "LARGEST_WAV", 1000)
    wav.write(tmp_path / "large.wav", [noise], sample_rate=44_100, channels=2, samples=len(noise))
    assert soundfile.info(str(tmp_path / "large.wav")).format == "RF64"
    np.testing.assert_array_equal(wav.read(tmp_path / "large.wav"), noise)


def test_rf64_sizes_are_those_of_a_file_beyond_four_gigabytes(tmp_path: Path) -> None:
    samples = 600_000_000  # 4.8 GB; only the header is real, the rest is a hole in the file
    path = tmp_path / "huge.wav"
    head = wav._header(48_000, 2, samples)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + samples * 8)
    assert wav.length(path) == samples
    assert not wav.read(path, samples - 3, samples + 3).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_is_refused_and_nothing_is_left(tmp_path: Path, bad: float) -> None:
    piece = np.zeros(10, np.float32)
    piece[7] = bad
    with pytest.raises(MediaError, match=r"x\.wav: sample 17: not a finite number"):
        wav.write(
            tmp_path / "x.wav", [np.zeros(10, np.float32), piece], sample_rate=8000, channels=1, samples=20
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("samples", [9, 11])
def test_another_number_of_samples_than_announced_is_our_mistake(tmp_path: Path, samples: int) -> None:
    with pytest.raises(ValueError, match="samples"):
        wav.write(tmp_path / "x.wav", [np.zeros(10, np.float32)], sample_rate=8, channels=1, samples=samples)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "piece", [np.zeros(4), np.zeros((4, 3), np.float32), np.zeros((1, 2, 2), np.float32)]
)
def test_another_shape_or_type_is_our_mistake(tmp_path: Path, piece: NDArray[np.float32]) -> None:
    with pytest.raises(ValueError, match="want float32"):
        wav.write(tmp_path / "x.wav", [piece], sample_rate=8, channels=2, samples=4)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="cannot be written: No such file or directory"):
        wav.write(tmp_path / "no" / "x.wav", [], sample_rate=8, channels=1, samples=0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said() -> None:
    writer = wav.Writer(Path("/dev/full"), sample_rate=8000, channels=1, samples=1 << 20)
    with pytest.raises(VaultError, match="No space left on device") as caught:
        writer.write(np.zeros(1 << 20, np.float32))
    with suppress(OSError):  # the header is still in its buffer; and no `with`, which would remove the device
        writer._file.close()
    assert caught.value.exit_code == 8


def test_what_is_not_sound_is_named(tmp_path: Path) -> None:
    (tmp_path / "words.wav").write_text("la la la")
    with pytest.raises(MediaError, match=r"words\.wav: not a sound file"):
        wav.length(tmp_path / "words.wav")
    with pytest.raises(MediaError, match=r"gone\.wav: no such file"):
        wav.length(tmp_path / "gone.wav")


def test_a_file_that_lost_its_end_is_shorter_than_it_was(tmp_path: Path, noise: NDArray[np.float32]) -> None:
    path = tmp_path / "cut.wav"
    wav.write(path, [noise], sample_rate=44_100, channels=2, samples=len(noise))
    path.write_bytes(path.read_bytes()[:-800])
    assert wav.length(path) == len(noise) - 100  # a stem's length is checked against its song's
