from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from mvpipe.gate import faces
from mvpipe.gate.faces import Region
from mvpipe.gate.tracks import Track, Watcher, median
from mvpipe.tools.frames import read
from tests.gate.faces_synth import Image, Part, make

LIPS = (0, 17)


def watch(path: Path, *, pictures: bool = False) -> tuple[list[Track], list[Image]]:
    watcher, images = Watcher(pictures=pictures), list[Image]()

    def show(image: Image) -> None:
        images.append(image)
        watcher.see(image)

    read(path, show=show)
    return watcher.tracks(), images


def watch_images(images: list[Image]) -> list[Track]:
    watcher = Watcher()
    for image in images:
        watcher.see(image)
    return watcher.tracks()


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Track], list[Image]]:
    path = tmp_path_factory.mktemp("faces") / "one.mp4"
    make(Part(seed=1, seconds=1.5, sings=False), path)
    return watch(path, pictures=True)


def test_a_face_is_followed_in_every_frame(one: tuple[list[Track], list[Image]]) -> None:
    [track], images = one
    assert track.coverage == 1
    assert len(images) == track.total == 36
    assert 80 < np.median(track.eyes) < 95  # drawn 36 + 19 to either side of 400, at 1.2 * 272 pixels
    middle = track.points.mean(axis=(0, 1))
    assert abs(middle[0] - 240) < 20


def test_the_lips_are_where_they_were_drawn(tmp_path: Path) -> None:
    part = Part(seed=4, seconds=0.5, motion=0, mouth="frozen")
    make(part, tmp_path / "a.mp4")
    [track], _ = watch(tmp_path / "a.mp4")
    scale = 1.2 * 272 / 400
    upper, lower = track.points[:, LIPS].mean(0)
    gap = 1 + 26 * 0.45
    assert upper[0] == pytest.approx(240, abs=4)
    assert upper[1] == pytest.approx(136 + (60 - 7.5) * scale, abs=6)
    assert lower[1] == pytest.approx(136 + (60 + gap + 7.5) * scale, abs=8)


def test_two_faces_are_two_tracks(tmp_path: Path) -> None:
    make(Part(seed=2, seconds=1, heads=2, size=(640, 272)), tmp_path / "two.mp4")
    tracks, _ = watch(tmp_path / "two.mp4")
    assert [t.coverage for t in tracks] == [1, 1]
    left, right = sorted(float(t.points[..., 0].mean()) for t in tracks)
    assert left == pytest.approx(0.27 * 640, abs=40)
    assert right == pytest.approx(0.73 * 640, abs=40)


def test_a_small_face_is_found_by_looking_closely(tmp_path: Path) -> None:
    make(Part(seed=2, seconds=0.2, head=0.35, size=(640, 360), motion=0.1), tmp_path / "far.mp4")
    [track], _ = watch(tmp_path / "far.mp4")
    assert track.coverage == 1
    assert np.median(track.eyes) == pytest.approx(34, abs=4)


def test_where_there_is_no_face_none_is_found(one: tuple[list[Track], list[Image]]) -> None:
    rng = np.random.default_rng(440)
    noise = [rng.integers(0, 256, (192, 320, 3), dtype=np.uint8) for _ in range(13)]
    assert watch_images(noise) == []
    assert watch_images([np.zeros((192, 320, 3), np.uint8)]) == []


def test_a_face_that_comes_back_is_the_same_track(one: tuple[list[Track], list[Image]]) -> None:
    _, images = one
    hidden = [np.zeros_like(image) if 10 <= k < 20 else image for k, image in enumerate(images)]
    [track] = watch_images(hidden)
    assert set(range(36)) - set(track.frames.tolist()) == set(range(10, 20))
    assert track.coverage == pytest.approx(26 / 36)


def test_patches_hold_the_official_square(one: tuple[list[Track], list[Image]]) -> None:
    """Against the square cut from the whole picture by indexing, grey beyond its edges."""
    [track], images = one
    k = 20
    x, y, half = (median(np.array([faces.box_of(p) for p in track.points])[:, i], 13)[k] for i in range(3))
    pad = 300
    wide = np.pad(images[k].astype(float), ((pad, pad), (pad, pad), (0, 0)), constant_values=110)
    at = (np.arange(224) + 0.5) / 224 * 2.8 * half
    rows, columns = np.round(y - half + at - 0.5), np.round(x - 1.4 * half + at - 0.5)
    plain = wide[np.ix_(rows.astype(int) + pad, columns.astype(int) + pad)]
    [cut] = track.crops([k])
    assert cut.shape == (224, 224, 3)
    assert np.abs(cut - plain).mean() < 6
    assert np.corrcoef(cut.ravel(), plain.ravel())[0, 1] > 0.98


def test_a_missing_frame_shows_the_nearest(one: tuple[list[Track], list[Image]]) -> None:
    [track], _ = one
    gap = Track(
        total=36,
        frames=np.delete(track.frames, range(5, 9)),
        points=np.delete(track.points, range(5, 9), axis=0),
        patches=tuple(np.delete(np.array(track.patches, object), range(5, 9))),
    )
    shown = list(gap.crops([4, 5, 8, 9]))
    np.testing.assert_array_equal(shown[0], shown[1])
    np.testing.assert_array_equal(shown[2], shown[3])


def test_regions_of_one_face_are_near() -> None:
    region = Region(centre=(100, 100), side=80, angle=0)
    assert region.near(Region(centre=(110, 100), side=90, angle=0.1))
    assert not region.near(Region(centre=(160, 100), side=80, angle=0))


def test_a_running_median_keeps_ends() -> None:
    values = np.array([1.0, 9, 1, 1, 1, 5, 5])
    np.testing.assert_array_equal(median(values, 3), [1, 1, 1, 1, 1, 5, 5])


def test_frames_are_shown_as_they_are_blue_first(tmp_path: Path) -> None:
    blue = np.full((64, 96, 3), (200, 40, 20), np.uint8)
    with av.open(str(tmp_path / "blue.mp4"), "w") as out:
        stream = out.add_stream("libx264", 24, options={"crf": "10"})
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for _ in range(3):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(blue, format="bgr24")))
        out.mux(stream.encode(None))
    seen, grey = list[Image](), list[Image]()
    read(tmp_path / "blue.mp4", show=seen.append, see=grey.append, width=32)
    assert [image.shape for image in seen] == [(64, 96, 3)] * 3
    assert [image.shape for image in grey] == [(21, 32)] * 3
    assert np.abs(seen[1].mean((0, 1)) - (200, 40, 20)).max() < 12
