"""Pictures are checked, turned upright and made the same PNG every time."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mvpipe.errors import StoryboardError
from mvpipe.render.comfyui.pictures import Still, still, upload_name

ORIENTATION = 0x0112


def gradient(width: int, height: int) -> Image.Image:
    across = np.linspace(0, 255, width, dtype=np.uint8)[None, :, None]
    return Image.fromarray(np.broadcast_to(across, (height, width, 3)).copy())


def prepared(folder: Path, image: Image.Image, name: str = "a.png", **options: Any) -> Still:
    path = folder / name
    image.save(path, **options)
    return still(path, hashlib.sha256(path.read_bytes()).hexdigest())


def pixels(found: Still) -> NDArray[np.uint8]:
    with Image.open(BytesIO(found.png)) as image:
        assert image.format == "PNG"
        assert image.mode == "RGB"
        return np.asarray(image)


def test_a_picture_as_it_is(tmp_path: Path) -> None:
    image = gradient(400, 300)
    found = prepared(tmp_path, image)
    assert found.size == (400, 300)
    assert np.array_equal(pixels(found), np.asarray(image))
    assert found.notes == ()


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    first = prepared(tmp_path, gradient(400, 300))
    still.cache_clear()
    assert prepared(tmp_path, gradient(400, 300)) == first


@pytest.mark.parametrize(("turn", "corner"), [(1, "left"), (3, "right"), (6, "top"), (8, "bottom")])
def test_a_camera_s_orientation_is_turned_upright(tmp_path: Path, turn: int, corner: str) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = turn
    found = pixels(prepared(tmp_path, gradient(400, 300), "a.jpg", exif=exif, quality=95)).astype(int)
    dark = {"left": found[:, :9], "right": found[:, -9:], "top": found[:9], "bottom": found[-9:]}
    assert min(dark, key=lambda side: dark[side].mean()) == corner


def test_the_digest_of_the_director_s_own_file_names_it(tmp_path: Path) -> None:
    found = prepared(tmp_path, gradient(400, 300))
    digest = hashlib.sha256((tmp_path / "a.png").read_bytes()).hexdigest()
    assert found.name == upload_name(digest, ".png") == f"mvpipe/{digest}-v1.png"
    assert upload_name(digest, ".wav") == f"mvpipe/{digest}.wav"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "1", "CMYK", "I;16"])
def test_every_kind_of_pixel_becomes_rgb(tmp_path: Path, mode: str) -> None:
    plain = gradient(400, 300)
    image = plain.convert("L").convert("I;16") if mode == "I;16" else plain.convert(mode)
    found = prepared(tmp_path, image, "a.tif" if mode == "CMYK" else "a.png")
    assert pixels(found).shape == (300, 400, 3)


def test_a_very_large_picture_is_halved(tmp_path: Path) -> None:
    assert prepared(tmp_path, gradient(4200, 4100)).size == (2100, 2050)


@pytest.mark.parametrize(
    ("size", "says"),
    [
        ((200, 300), "200x300: small"),
        ((6000, 2500), "over the 5760 pixels"),
        ((1000, 300), "wider than 2.5 to 1"),
        ((300, 1000), "narrower than 0.4"),
    ],
)
def test_what_the_hosted_service_would_refuse_is_told(
    tmp_path: Path, size: tuple[int, int], says: str
) -> None:
    (note,) = prepared(tmp_path, gradient(*size)).notes
    assert says in note
    assert note.startswith(f"{tmp_path}/a.png: ")


def test_no_picture_at_all(tmp_path: Path) -> None:
    for name, content in (("a.png", b"not a picture"), ("b.png", b""), ("c.png", _png()[:200])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(StoryboardError, match=f"{name}: picture: "):
            still(tmp_path / name, "d" * 64)
    with pytest.raises(StoryboardError, match=r"gone\.png: picture: "):
        still(tmp_path / "gone.png", "d" * 64)


def _png() -> bytes:
    out = BytesIO()
    noise = np.random.default_rng(440).integers(0, 255, (300, 400, 3), np.uint8)
    Image.fromarray(noise).save(out, "PNG")
    return out.getvalue()
