"""Whose face it is: a network that turns a face into 128 numbers, near each other for one person.

The network is Davis King's (dlib's face_recognition_resnet_model_v1, a ResNet with 29 convolutions), whose
weights he gave into the public domain; here as in the package @vladmandic/face-api, rounded to eight bits,
and computed with numpy alone. It was taught so that two pictures of one person are nearer than 0.6, its
author's threshold (99.4 % of the pairs of Labeled Faces in the Wild). Measured through our mesh:

| | distance |
|---|---|
| one man in five photographs; a native H3 speaker in 30 s | 0.18-0.49; 0.21-0.45 |
| any two of five people, men and women, of photographs, H3 and the car | 0.73-1.04 |
| a drawn face and any of them; two drawn faces that differ in their skin | 0.62-0.86; 0.11-0.29 |

So of drawn faces it can say that they are no longer what they were, and not that they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from mvpipe.gate.bundled import FACE_IDENTITY, verified

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]

MEAN = (122.782, 117.001, 104.298)
"""Red, green and blue that are taken off (dlib's input layer)."""

DOWN = ("conv64_down", "conv128_down", "conv256_down", "conv256_down_out")
SAME = {"conv32": 3, "conv64": 3, "conv128": 2, "conv256": 2}
"""Blocks that halve the picture, and how many that do not stand before each: 3, 3, 2, 2."""


def describe(chips: Pixels) -> Floats:
    """128 numbers of each face.

    Parameters
    ----------
    chips : uint8, BGR, shape (n, 150, 150, 3), as `faces.chip` cuts them

    Returns
    -------
    float32, shape (n, 128)

    Raises
    ------
    ToolError : the weights are not the file that belongs here
    """
    weights = _weights()
    out = [_forward(chip[..., ::-1].astype(np.float32), weights) for chip in chips]
    return np.stack(out) if out else np.empty((0, 128), np.float32)


def _forward(chip: Floats, weights: Mapping[str, Floats]) -> Floats:
    x = (chip - np.array(MEAN, np.float32)) / np.float32(256)
    x = _pooled(_layer(x, weights, "conv32_down", step=2))
    for (name, count), down in zip(SAME.items(), DOWN, strict=True):
        for k in range(1, count + 1):
            x = _block(x, weights, f"{name}_{k}")
        x = _halved(x, weights, down)
    return np.asarray(x.mean(axis=(0, 1)) @ weights["fc"], np.float32)


def _block(x: Floats, weights: Mapping[str, Floats], name: str) -> Floats:
    """Two convolutions beside the way past them."""
    inner = _layer(x, weights, f"{name}/conv1", pad=1)
    return np.asarray(np.maximum(_layer(inner, weights, f"{name}/conv2", pad=1, bent=False) + x, 0))


def _halved(x: Floats, weights: Mapping[str, Floats], name: str) -> Floats:
    """The same at half the size; what one way has more than the other, in pixels or planes, is zero there."""
    inner = _layer(x, weights, f"{name}/conv1", step=2)
    inner = _layer(inner, weights, f"{name}/conv2", pad=1, bent=False)
    high, wide = (side // 2 for side in x.shape[:2])
    past = x[: 2 * high, : 2 * wide].reshape(high, 2, wide, 2, -1).mean(axis=(1, 3))
    shape = [max(sides) for sides in zip(inner.shape, past.shape, strict=True)]
    out = np.zeros(shape, np.float32)
    for part in (inner, past):
        out[: part.shape[0], : part.shape[1], : part.shape[2]] += part
    return np.asarray(np.maximum(out, 0))


def _layer(
    x: Floats, weights: Mapping[str, Floats], name: str, *, step: int = 1, pad: int = 0, bent: bool = True
) -> Floats:
    """A convolution and its scale, and what is below zero cut off (`bent`)."""
    filters = weights[f"{name}/conv/filters"]
    side, _, planes, out = filters.shape
    padded = np.pad(x, ((pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))[::step, ::step]
    high, wide = windows.shape[:2]
    columns = windows.transpose(0, 1, 3, 4, 2).reshape(high * wide, side * side * planes)
    y = columns @ filters.reshape(-1, out) + weights[f"{name}/conv/bias"]
    y = y * weights[f"{name}/scale/weights"] + weights[f"{name}/scale/biases"]
    return np.asarray(np.maximum(y, 0) if bent else y, np.float32).reshape(high, wide, out)


def _pooled(x: Floats) -> Floats:
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))[::2, ::2]
    return np.asarray(windows.max(axis=(-1, -2)), np.float32)


@cache
def _weights() -> dict[str, Floats]:
    values, names = verified(FACE_IDENTITY)
    raw, [group] = values.read_bytes(), json.loads(names.read_text("utf-8"))
    out, place = dict[str, Floats](), 0
    for entry in group["weights"]:
        count, rounded = prod(entry["shape"]), entry.get("quantization")
        numbers = np.frombuffer(raw, np.uint8 if rounded else "<f4", count, place).astype(np.float32)
        place += count * (1 if rounded else 4)
        if rounded:
            numbers = numbers * np.float32(rounded["scale"]) + np.float32(rounded["min"])
        out[entry["name"]] = numbers.reshape(entry["shape"])
    return out
