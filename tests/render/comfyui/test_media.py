"""Reference films and voices: checked before anything is rendered, and sent as H3 takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mvpipe.errors import StoryboardError
from mvpipe.render.backend import Asset
from mvpipe.render.comfyui import media, videos, voices
from mvpipe.render.comfyui.times import film_rows, slowed, sound_rows, still_rows
from mvpipe.render.comfyui.videos import canvas
from mvpipe.tools import frames, picture
from mvpipe.tools.heard import hear
from tests.render.comfyui.clips import asset, filmed, voiced


def written(folder: Path, content: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


class TestVideos:
    @pytest.mark.parametrize(
        ("size", "seen"),
        [
            ((1920, 1080), (1344, 768)),
            ((1344, 768), (1344, 768)),
            ((3840, 1600), (1568, 640)),
            ((1080, 1920), (768, 1344)),
            ((1000, 1000), (768, 768)),
            ((640, 360), (640, 352)),
            ((64, 64), (64, 64)),
        ],
    )
    def test_are_sent_no_larger_than_h3_looks_at(self, size: tuple[int, int], seen: tuple[int, int]) -> None:
        assert canvas(*size) == seen

    def test_are_silent_h3_s_rate_and_the_right_length(self, tmp_path: Path) -> None:
        source = filmed(tmp_path / "a.mp4", seconds=3, rate=30, size="400x300")
        path = written(tmp_path, videos.sent(source.path, source.digest), "sent.mp4")
        facts, times = picture.facts(path), picture.times(path)
        assert (facts.pictures, facts.sounds, facts.others) == (1, 0, 0)
        assert (facts.size, facts.codec, len(times)) == ((384, 288), "h264", 72)
        assert times.farthest(picture.facts(path).rate) == 0
        assert facts.rate == 24
        said = f"{source.path}: 30 pictures a second: brought to 24, the rate H3 counts in"
        assert videos.motion(source.path, source.digest).notes == (said,)

    def test_a_picture_is_shown_at_its_own_time(self, tmp_path: Path) -> None:
        """At twice the rate every other picture is left out, and none is blended with another."""
        source = filmed(tmp_path / "a.mp4", seconds=2, rate=48, size="128x128")
        path = written(tmp_path, videos.sent(source.path, source.digest), "sent.mp4")
        for number in (0, 20, 47):
            was, now = (
                frames.still(one, at).astype(int) for one, at in ((source.path, 2 * number), (path, number))
            )
            assert np.abs(was - now).mean() < 6

    @pytest.mark.parametrize("colour", ["red", "0x2040c0"])
    def test_colours_stay_for_a_decoder_that_asks_nothing(self, tmp_path: Path, colour: str) -> None:
        source = filmed(tmp_path / "a.mp4", seconds=2, size="128x128", colour=colour)
        path = written(tmp_path, videos.sent(source.path, source.digest), "sent.mp4")
        was, now = (frames.still(one, 5).reshape(-1, 3).mean(axis=0) for one in (source.path, path))
        assert np.abs(was - now).max() < 4

    @pytest.mark.parametrize(
        ("more", "size"),
        [({"turned": 90}, (192, 320)), ({"turned": 180}, (320, 192)), ({"shape": "2"}, (640, 192))],
    )
    def test_are_the_right_way_up_with_square_pixels(
        self, tmp_path: Path, more: dict[str, str], size: tuple[int, int]
    ) -> None:
        source = filmed(tmp_path / "a.mp4", seconds=2, **more)  # type: ignore[arg-type]
        found = videos.motion(source.path, source.digest)
        assert found.size == size
        assert picture.facts(written(tmp_path, videos.sent(source.path, source.digest), "b.mp4")).size == size

    def test_fifteen_seconds_are_kept(self, tmp_path: Path) -> None:
        source = filmed(tmp_path / "a.mp4", seconds=16, size="64x64")
        found = videos.motion(source.path, source.digest)
        assert found.seconds == 15
        assert found.notes == (f"{source.path}: 16.0 s: H3 looks at the first 15 s",)
        path = written(tmp_path, videos.sent(source.path, source.digest), "sent.mp4")
        assert len(picture.times(path)) == 360

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"seconds": 1.5}, "video: 1.5 s: H3 takes references of 2 to 15 s"),
            ({"size": "48x64"}, "video: too small: 48x64"),
        ],
    )
    def test_what_h3_cannot_use_is_refused(self, tmp_path: Path, more: dict[str, str], said: str) -> None:
        source = filmed(tmp_path / "a.mp4", **more)  # type: ignore[arg-type]
        with pytest.raises(StoryboardError, match=said) as caught:
            videos.motion(source.path, source.digest)
        assert caught.value.hint

    def test_what_is_no_film_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, b"not a film at all", "a.mp4")
        with pytest.raises(StoryboardError, match=r"a\.mp4: video: cannot be read"):
            videos.motion(path, "0" * 64)
        sound = voiced(tmp_path / "b.wav")
        with pytest.raises(StoryboardError, match=r"b\.wav: video: picture: none in this file"):
            videos.motion(sound.path, sound.digest)

    def test_damage_behind_the_first_picture_is_found_when_it_is_made_ready(self, tmp_path: Path) -> None:
        source = filmed(tmp_path / "a.mp4", seconds=4, size="640x480")
        content = bytearray(source.path.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 4000] = bytes(4000)
        torn = asset(written(tmp_path, bytes(content), "torn.mp4"))
        assert videos.motion(torn.path, torn.digest).seconds == 4
        with pytest.raises(StoryboardError, match=r"torn\.mp4: video: cannot be decoded whole"):
            videos.sent(torn.path, torn.digest)

    def test_a_film_as_large_as_the_shot_makes_a_step_three_times_as_long(self) -> None:
        size = (1344, 768)
        assert slowed(size, 124, 0) == 1
        assert slowed(size, 124, film_rows(size, 124, 124)) == pytest.approx(2**1.6, rel=0.02)
        assert film_rows(size, 360, 124) == film_rows(size, 124, 124) == 37 * 42 * 24
        assert film_rows(size, 123, 124) == film_rows(size, 107, 124)

    def test_pictures_and_voices_ride_with_the_rows_that_h3_makes_of_them(self) -> None:
        """h3.md 1.1 and 4: no picture above the shot's area, unless its full detail is asked for."""
        size = (960, 544)
        assert still_rows((320, 320), size) == still_rows((320, 320), size, "max") == 100
        assert still_rows((1920, 1088), size) == 30 * 17
        assert still_rows((1920, 1088), size, "max") == 60 * 34
        assert still_rows((4096, 4096), size, "max") == 64 * 64
        assert sound_rows(15) == 1200


class TestVoices:
    def test_are_what_the_audio_vae_takes_whole(self, tmp_path: Path) -> None:
        source = voiced(tmp_path / "mira.wav", seconds=3.0101)
        heard = hear(written(tmp_path, voices.sent(source.path, source.digest), "sent.wav"))
        assert (heard.sample_rate, heard.samples.shape) == (32_000, (96_000 // 800 * 800, 2))
        assert np.array_equal(heard.samples[:, 0], heard.samples[:, 1])
        assert heard.peak == pytest.approx(0.4, abs=0.02)

    def test_fifteen_seconds_are_kept(self, tmp_path: Path) -> None:
        source = voiced(tmp_path / "mira.wav", seconds=17)
        assert media.as_sent("voice:mira", source) == {"seconds": 15.0}

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"seconds": 1}, "voice: 1.0 s: H3 takes references of 2 to 15 s"),
            ({"level": 0}, "voice: silent for its first 3 s"),
        ],
    )
    def test_what_says_nothing_is_refused(self, tmp_path: Path, more: dict[str, float], said: str) -> None:
        source = voiced(tmp_path / "mira.wav", **more)  # type: ignore[arg-type]
        with pytest.raises(StoryboardError, match=said) as caught:
            voices.voice(source.path, source.digest)
        assert caught.value.hint

    def test_what_is_no_sound_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path, b"not a sound at all", "mira.wav")
        with pytest.raises(StoryboardError, match=r"mira\.wav: voice: not a sound or video file"):
            voices.voice(path, "0" * 64)


def test_names_tell_content_kind_and_version(tmp_path: Path) -> None:
    digest = "ab" * 32
    roles = ("picture:mira/0", "place:street/0", "video:mira/0", "place-video:street/1", "voice:mira")
    assert [media.upload_name(role, digest) for role in roles] == [
        f"mvpipe/{digest}-v1.png", f"mvpipe/{digest}-v1.png", f"mvpipe/{digest}-v1.mp4",
        f"mvpipe/{digest}-v1.mp4", f"mvpipe/{digest}-voice-v1.wav",
    ]  # fmt: skip


def test_what_is_sent_is_the_same_every_time(tmp_path: Path) -> None:
    for role, source in (
        ("video:a/0", filmed(tmp_path / "a.mp4", seconds=2)),
        ("voice:a", voiced(tmp_path / "a.wav")),
    ):
        first = media.content(role, source)
        videos.sent.cache_clear()
        voices.voice.cache_clear()
        assert media.content(role, Asset(path=source.path, digest=source.digest)) == first
