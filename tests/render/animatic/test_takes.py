"""What a take is: its codec, its length, its bytes, and what is wrong with one that was ordered so."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile as sf

from mvpipe.errors import Cancelled, MediaError, RenderFailed, ToolError
from mvpipe.render.animatic import furniture, ground
from mvpipe.render.animatic.backend import Animatic
from mvpipe.render.animatic.board import Board
from mvpipe.render.backend import Asset, Backend
from mvpipe.tools import encode, picture, process
from tests.render.animatic import stage
from tests.render.animatic.stage import FRAMES, SIZE


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> stage.Voice:
    return stage.sing(tmp_path_factory.mktemp("voice") / "vocals.wav")


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory, voice: stage.Voice) -> Path:
    path = tmp_path_factory.mktemp("take") / "take.mp4"
    stage.shoot(stage.setup(voice.asset), path)
    return path


@pytest.fixture
def started_again() -> Iterator[None]:
    yield
    process.allow()


def test_a_take_is_h264_at_24_with_the_vocal_as_aac(take: Path) -> None:
    with av.open(str(take)) as container:
        video, sound = container.streams.video[0], container.streams.audio[0]
        assert (video.codec_context.name, video.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (video.codec_context.color_range, video.codec_context.colorspace) == (1, 1)  # tv, bt709
        assert (video.codec_context.color_primaries, video.codec_context.color_trc) == (1, 1)
        assert video.average_rate == Fraction(24)
        assert (video.codec_context.width, video.codec_context.height) == SIZE
        assert sound.codec_context.name == "aac"
        heard = sum(frame.samples for frame in container.decode(sound))
    assert abs(heard / 44_100 - FRAMES / 24) < 0.05
    times = picture.times(take)
    assert len(times) == FRAMES
    assert times.farthest(Fraction(24)) == 0


def test_a_take_says_in_its_metadata_what_it_is_and_nothing_of_the_hour(take: Path) -> None:
    tags = picture.facts(take).tags
    assert "animatic" in tags["comment"]
    assert not {"creation_time", "encoder"} & set(tags)


def test_the_sound_is_the_vocal_and_not_late(take: Path, voice: stage.Voice) -> None:
    heard = encode.read_mono(take, 16_000).astype(float)
    sung = encode.read_mono(voice.asset.path, 16_000).astype(float)
    n = min(len(heard), len(sung))
    spectrum = np.fft.rfft(heard[:n], 2 * n) * np.conj(np.fft.rfft(sung[:n], 2 * n))
    lag = int(np.argmax(np.fft.irfft(spectrum)))
    assert lag == 0
    assert np.corrcoef(heard[:n], sung[:n])[0, 1] > 0.98


def test_the_same_slate_gives_the_same_bytes_also_beside_others(
    take: Path, voice: stage.Voice, tmp_path: Path
) -> None:
    given = stage.setup(voice.asset)
    paths = [tmp_path / f"{n}.mp4" for n in range(3)]
    jobs = [
        threading.Thread(target=stage.shoot, args=(given, path), kwargs={"seed": n or 1})
        for n, path in enumerate(paths)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert stage.digest(paths[0]) == stage.digest(paths[1]) == stage.digest(take)
    assert stage.digest(paths[2]) != stage.digest(take)


@pytest.mark.parametrize("size", [(64, 64), (66, 130), (2048, 64), (96, 2048), (254, 146)], ids=str)
def test_any_even_size_can_be_asked_for(voice: stage.Voice, tmp_path: Path, size: tuple[int, int]) -> None:
    stage.shoot(stage.setup(voice.asset, size=size), tmp_path / "take.mp4")
    assert picture.facts(tmp_path / "take.mp4").size == size
    assert len(picture.times(tmp_path / "take.mp4")) == FRAMES
    (frame,) = encode.read_frames(tmp_path / "take.mp4", size, [60])
    assert frame.std() > 8


def test_the_line_at_the_foot_has_the_palettes_colour_and_the_length_of_what_is_seen(
    take: Path, voice: stage.Voice
) -> None:
    board = Board.read(Animatic().slate(stage.setup(voice.asset), take=1, seed=1).graph)
    first, last = board.seen
    frames = stage.frames_of(take)
    accent = ground.palette_for(board).accent
    assert np.abs(frames[last - 1, -1, 8:-8].mean(0) - accent).max() < 9
    for i in (first, 60, last - 1):
        red = np.abs(frames[i, -1].astype(int) - accent).max(1) < 60
        wanted = (i + 1 - first) / (last - first)
        assert abs(red.sum() / SIZE[0] - wanted) < 0.04, i
    assert np.abs(frames[0, -1].astype(int) - accent).max(1).min() > 60


def test_every_frame_differs_from_the_one_before(take: Path) -> None:
    frames = stage.frames_of(take).astype(int)
    assert np.abs(np.diff(frames, axis=0)).mean((1, 2, 3)).min() > 0.01


def test_progress_ends_with_all_frames(voice: stage.Voice, tmp_path: Path) -> None:
    backend: Backend = Animatic()
    given = stage.setup(voice.asset, size=(64, 64))
    slate = backend.slate(given, take=1, seed=1)
    said: list[tuple[int, int]] = []
    backend.render(
        slate, {"vocals": voice.asset.path}, tmp_path / "a.mp4", lambda done, of: said.append((done, of))
    )
    assert said[0] == (12, FRAMES)
    assert said[-1] == (FRAMES, FRAMES)
    assert [done for done, _ in said] == sorted(done for done, _ in said)


@pytest.mark.usefixtures("started_again")
def test_a_stopped_run_ends_the_take(voice: stage.Voice, tmp_path: Path) -> None:
    backend, given = Animatic(), stage.setup(voice.asset, size=(64, 64))
    slate = backend.slate(given, take=1, seed=1)
    with pytest.raises(Cancelled):
        backend.render(
            slate, {"vocals": voice.asset.path}, tmp_path / "a.mp4", lambda done, of: process.stop_all()
        )


def test_a_vocal_of_another_length_is_refused(voice: stage.Voice, tmp_path: Path) -> None:
    given = stage.setup(voice.asset, frames=141)
    with pytest.raises(RenderFailed, match=r"shot 7: vocals: 5\.167 s of sound for 5\.875 s of picture"):
        stage.shoot(given, tmp_path / "take.mp4")
    assert not (tmp_path / "take.mp4").exists()


def test_a_vocal_that_is_no_sound_is_the_backends_failure(tmp_path: Path) -> None:
    (tmp_path / "v.wav").write_text("not sound")
    asset = Asset(path=tmp_path / "v.wav", digest="0" * 64)
    with pytest.raises(RenderFailed, match="shot 7: animatic: "):
        stage.shoot(stage.setup(asset), tmp_path / "take.mp4")


def test_a_folder_that_is_not_there_is_the_backends_failure(voice: stage.Voice, tmp_path: Path) -> None:
    with pytest.raises(RenderFailed, match="shot 7: animatic: "):
        stage.shoot(stage.setup(voice.asset, size=(64, 64)), tmp_path / "nowhere" / "take.mp4")


def test_silence_keeps_the_mouth_shut_and_is_a_take_like_others(tmp_path: Path) -> None:
    sf.write(tmp_path / "v.wav", np.zeros(FRAMES * 44_100 // 24, np.float32), 44_100, subtype="FLOAT")
    asset = Asset(path=tmp_path / "v.wav", digest=stage.digest(tmp_path / "v.wav"))
    slate = stage.shoot(stage.setup(asset), tmp_path / "take.mp4")
    assert stage.openness(stage.frames_of(tmp_path / "take.mp4"), slate).std() < 0.02


class TestFaults:
    """What was ordered to be wrong is wrong, and only where it was ordered."""

    def made(self, voice: stage.Voice, path: Path, fault: str, *, take: int = 1, **changes: object) -> Path:
        options = {"fault": fault, **changes.pop("options", {})}  # type: ignore[dict-item]
        stage.shoot(stage.setup(voice.asset, options=options, **changes), path, take=take)
        return path

    def test_black(self, voice: stage.Voice, tmp_path: Path) -> None:
        assert stage.frames_of(self.made(voice, tmp_path / "a.mp4", "black")).max() < 8

    def test_frozen(self, voice: stage.Voice, tmp_path: Path) -> None:
        frames = stage.frames_of(self.made(voice, tmp_path / "a.mp4", "frozen")).astype(int)
        assert np.abs(frames - frames[:1]).mean() < 0.5

    def test_short(self, voice: stage.Voice, tmp_path: Path) -> None:
        assert len(picture.times(self.made(voice, tmp_path / "a.mp4", "short"))) == FRAMES - 12

    def test_size(self, voice: stage.Voice, tmp_path: Path) -> None:
        assert picture.facts(self.made(voice, tmp_path / "a.mp4", "size")).size == (160, 90)

    def test_rate(self, voice: stage.Voice, tmp_path: Path) -> None:
        assert picture.facts(self.made(voice, tmp_path / "a.mp4", "rate")).rate == 25

    def test_damaged(self, voice: stage.Voice, tmp_path: Path) -> None:
        path = self.made(voice, tmp_path / "a.mp4", "damaged")
        with pytest.raises((MediaError, ToolError)):
            encode.read_frames(path, SIZE, [FRAMES - 1])

    def test_duplicate(self, voice: stage.Voice, tmp_path: Path) -> None:
        one = self.made(voice, tmp_path / "a.mp4", "duplicate", number=3, prompt="she sings", size=(64, 64))
        two = self.made(voice, tmp_path / "b.mp4", "duplicate", number=9, start=700, size=(64, 64))
        assert (stage.frames_of(one, (64, 64)) == stage.frames_of(two, (64, 64))).all()

    def test_only_in_the_shots_and_takes_that_were_named(self, voice: stage.Voice, tmp_path: Path) -> None:
        def made(name: str, options: dict[str, object], take: int = 1) -> Path:
            path = tmp_path / f"{name}.mp4"
            return self.made(voice, path, "black", take=take, options=options, size=(64, 64))

        black = made("a", {"fault_takes": 1})
        assert stage.frames_of(black, (64, 64)).max() < 8
        good = made("b", {"fault_takes": 1}, take=2)
        assert stage.frames_of(good, (64, 64)).max() > 100
        other = made("c", {"fault_shots": [8]})
        assert stage.frames_of(other, (64, 64)).max() > 100


def test_a_slate_read_back_from_json_gives_the_same_take(
    voice: stage.Voice, take: Path, tmp_path: Path
) -> None:
    slate = Animatic().slate(stage.setup(voice.asset), take=1, seed=1)
    read = replace(slate, graph=json.loads(json.dumps(slate.graph)))
    Animatic().render(read, {"vocals": voice.asset.path}, tmp_path / "a.mp4", lambda done, of: None)
    assert hashlib.sha256((tmp_path / "a.mp4").read_bytes()).hexdigest() == stage.digest(take)


def test_letters_stay_out_of_pictures_too_small_for_them() -> None:
    assert 4.3 * furniture.unit((64, 64)) < furniture.SMALLEST_LETTERS < 4.3 * furniture.unit((320, 180)) + 1
