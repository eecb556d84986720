"""Headers of safetensors files: eight bytes of length, then JSON that names every tensor and its place."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, TypeGuard

from mvpipe.doctor.headers import MOST_DIMENSIONS, MOST_TENSORS, Bounded, Header, Tensor

BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32,
    "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""dtype -> bits of an element."""

SCALARS = {"F16": "<e", "BF16": "<f", "F32": "<f", "F64": "<d"}

MOST_JSON = 8 * 1024 * 1024
"""Bytes; parsed, JSON takes some ten times its size."""


def read(file: Bounded) -> Header:
    """The header of a safetensors file.

    Raises
    ------
    BadHeader : it is none
    """
    length = int.from_bytes(file.take(8), "little")
    if length > MOST_JSON:
        raise file.bad(f"not safetensors: claims a header of {length} bytes")
    text = file.take(length)
    if text.count(b"{") > MOST_TENSORS + 2 or text.count(b"[") > 2 * MOST_TENSORS:
        raise file.bad("not safetensors: its header is not an object of tensors")
    try:
        told = json.loads(text, object_pairs_hook=_unique, parse_constant=_none)
    except (ValueError, RecursionError) as exc:
        raise file.bad("not safetensors: its header is not JSON") from exc
    if not isinstance(told, dict) or len(told) > MOST_TENSORS:
        raise file.bad("not safetensors: its header is not an object of tensors")
    metadata = told.pop("__metadata__", {})
    tensors, ends = {}, [0]
    for name, entry in told.items():
        tensors[name], end = _tensor(file, name, entry)
        ends.append(end)
    known = metadata if isinstance(metadata, dict) else {}
    return Header(
        kind="safetensors",
        tensors=tensors,
        metadata={str(name): str(value)[:2000] for name, value in known.items()},
        whole=file.at + max(ends),
        alpha=_alpha(file, told),
    )


def _alpha(file: Bounded, told: Mapping[str, Any]) -> float | None:
    """The first alpha of a LoRA: one number."""
    for name, entry in told.items():
        if name.endswith(".alpha") and entry["dtype"] in SCALARS and entry["shape"] in ([], [1]):
            raw = file.peek(file.at + entry["data_offsets"][0], BITS[entry["dtype"]] // 8)
            return _number(raw, entry["dtype"])
    return None


def _number(raw: bytes, dtype: str) -> float | None:
    form = SCALARS[dtype]
    padded = b"\0\0" + raw if dtype == "BF16" else raw  # the upper half of a float
    return float(struct.unpack(form, padded)[0]) if len(padded) == struct.calcsize(form) else None


def _tensor(file: Bounded, name: str, entry: Any) -> tuple[Tensor, int]:
    told: dict[str, Any] = entry if isinstance(entry, dict) else {}
    dtype, shape, offsets = told.get("dtype"), told.get("shape"), told.get("data_offsets")
    if not (isinstance(dtype, str) and _are_sizes(shape) and _are_sizes(offsets) and len(offsets) == 2):
        raise file.bad(f"not safetensors: tensor {name[:80]!r} without type, shape or place")
    if len(shape) > MOST_DIMENSIONS or offsets[0] > offsets[1]:
        raise file.bad(f"tensor {name[:80]!r}: an impossible shape or place")
    tensor = Tensor(dtype, tuple(shape))
    if dtype in BITS and (tensor.count * BITS[dtype] + 7) // 8 != offsets[1] - offsets[0]:
        raise file.bad(f"tensor {name[:80]!r}: {offsets[1] - offsets[0]} bytes are not its shape's")
    return tensor, offsets[1]


def _are_sizes(value: Any) -> TypeGuard[list[int]]:
    """Whether it is a list of sizes that a file on earth may have."""
    return isinstance(value, list) and all(type(one) is int and 0 <= one < 2**53 for one in value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _none(text: str) -> Any:
    raise ValueError(text)
