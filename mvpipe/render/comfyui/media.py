"""What the bank pins, by its role in the slate: its uploaded name, its bytes, what is odd about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mvpipe.render.backend import Asset
from mvpipe.render.comfyui import pictures, videos, voices
from mvpipe.render.comfyui.vocal import VOCAL_RATE

VIDEOS = ("video:", "place-video:")
VOICES = "voice:"


def upload_name(role: str, digest: str) -> str:
    """The name of an uploaded reference, from the digest (sha256, hex) of the director's file."""
    if role.startswith(VIDEOS):
        return videos.upload_name(digest)
    return voices.upload_name(digest) if role.startswith(VOICES) else pictures.upload_name(digest, ".png")


def content(role: str, asset: Asset) -> bytes:
    """The bytes that are uploaded.

    Raises
    ------
    StoryboardError : a file that cannot be used
    """
    if role.startswith(VIDEOS):
        return videos.sent(asset.path, asset.digest)
    if role.startswith(VOICES):
        return voices.sent(asset.path, asset.digest)
    return pictures.still(asset.path, asset.digest).png


def as_sent(role: str, asset: Asset) -> Mapping[str, Any]:
    """How it is sent, as JSON values: `size` in pixels, `seconds`; as `content`."""
    if role.startswith(VIDEOS):
        found = videos.motion(asset.path, asset.digest)
        return {"size": list(found.size), "seconds": round(float(found.seconds), 3)}
    if role.startswith(VOICES):
        samples = voices.voice(asset.path, asset.digest)
        return {"seconds": round(len(samples) / VOCAL_RATE, 3)}
    return {"size": list(pictures.still(asset.path, asset.digest).size)}


def remarks(role: str, asset: Asset) -> tuple[str, ...]:
    """What the user should know of it; as `content`."""
    if role.startswith(VIDEOS):
        return videos.motion(asset.path, asset.digest).notes
    if role.startswith(VOICES):
        voices.voice(asset.path, asset.digest)
        return ()
    return pictures.still(asset.path, asset.digest).notes
