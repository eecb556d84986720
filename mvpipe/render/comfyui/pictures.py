"""Reference pictures as they are uploaded: checked, the right way up, PNG, named by what they were made from.

The name comes from the digest of the director's own file, not of the PNG: another Pillow may pack the same
pixels into other bytes, and a shot is not rendered anew for that. `VERSION` is raised when the pixels would
differ, and stands in the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mvpipe.render.comfyui.ends import FOLDER

VERSION = 1

LARGEST_USED = 2_048
"""Pixels of the short edge that H3 looks at, at most (ref_image_size `max`); larger pictures are halved."""

SIDES = (256, 5_760)
ASPECTS = (0.4, 2.5)
"""Pixels a side and width / height that the hosted service takes (h3_spec.json); the open weights have no
such limit, so a picture outside them is only told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A picture ready to be sent.

    Parameters
    ----------
    name : under which it is uploaded, with its subfolder
    png : the file
    size : (width, height) in pixels
    notes : what the user should know
    """

    name: str
    png: bytes
    size: tuple[int, int]
    notes: tuple[str, ...] = ()


def upload_name(digest: str, suffix: str) -> str:
    """The name of an uploaded file: plain ASCII, from its content; the same file is the same name for ever.

    Parameters
    ----------
    digest : sha256 (hex) of the file it was made from
    suffix : `.png`, `.wav`
    """
    kind = f"-v{VERSION}" if suffix == ".png" else ""
    return f"{FOLDER}/{digest}{kind}{suffix}"


@lru_cache(maxsize=32)
def still(path: Path, digest: str) -> Still:
    """A picture as it is uploaded.

    Parameters
    ----------
    digest : sha256 (hex) of the file

    Raises
    ------
    StoryboardError : missing, no picture, damaged, under 64 or over 16,384 pixels a side
    """
    from mvpipe.render.animatic import pillow

    pixels = pillow.open_picture(path, (LARGEST_USED, LARGEST_USED))
    height, width = pixels.shape[:2]
    return Still(
        name=upload_name(digest, ".png"),
        png=pillow.png(pixels),
        size=(width, height),
        notes=tuple(f"{path}: {says}" for says in _odd(width, height)),
    )


def _odd(width: int, height: int) -> list[str]:
    """What is unusual about a picture of this size."""
    found = []
    if min(width, height) < SIDES[0]:
        found.append(f"{width}x{height}: small: under {SIDES[0]} pixels a face has no detail to keep")
    if max(width, height) > SIDES[1]:
        found.append(f"{width}x{height}: over the {SIDES[1]} pixels that the hosted service takes")
    if not ASPECTS[0] <= width / height <= ASPECTS[1]:
        found.append(f"{width}x{height}: narrower than {ASPECTS[0]} or wider than {ASPECTS[1]} to 1: crop it")
    return found
