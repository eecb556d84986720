"""Headers of GGUF files, versions 2 and 3: metadata, then name, shape, type and place of every tensor."""

from __future__ import annotations

import struct
from typing import Any

from mvpipe.doctor.headers import MOST_DIMENSIONS, MOST_TENSORS, Bounded, Header, Tensor

MOST_ITEMS = 1_000_000
"""Of all arrays of texts together; a tokenizer has some 300,000."""

LONGEST_TEXT = 1 << 20
LONGEST_NAME = 1024

SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
TEXT, ARRAY = 8, 9

TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8),
    28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2),
}  # fmt: skip
"""Number of a type -> (name, elements of a block, bytes of a block)."""


def read(file: Bounded) -> Header:
    """The header of a GGUF file.

    Raises
    ------
    BadHeader : it is none
    """
    if file.take(4) != b"GGUF":
        raise file.bad("not GGUF: does not begin so")
    (version,) = _numbers(file, "<I")
    if version not in (2, 3):
        raise file.bad(f"GGUF of version {version}: 2 or 3 is known")
    tensor_count, pair_count = _numbers(file, "<QQ")
    if tensor_count > MOST_TENSORS or pair_count > MOST_TENSORS:
        raise file.bad(f"claims {tensor_count} tensors and {pair_count} facts")
    metadata = _metadata(file, pair_count)
    tensors, ends = {}, [0]
    for _ in range(tensor_count):
        name, tensor, end = _tensor(file)
        tensors[name] = tensor
        ends.append(end)
    alignment = _alignment(file, metadata)
    start = -(-file.at // alignment) * alignment
    return Header(kind="gguf", tensors=tensors, metadata=metadata, whole=start + max(ends))


def _numbers(file: Bounded, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, file.take(struct.calcsize(form)))


def _text(file: Bounded, longest: int) -> str:
    (length,) = _numbers(file, "<Q")
    if length > longest:
        raise file.bad(f"a text of {length} bytes in its header")
    return file.take(length).decode("utf-8", "replace")


def _metadata(file: Bounded, count: int) -> dict[str, str]:
    found: dict[str, str] = {}
    left = [MOST_ITEMS]
    for _ in range(count):
        name = _text(file, LONGEST_NAME)
        (kind,) = _numbers(file, "<I")
        value = _value(file, kind, left)
        if value is not None:
            found[name] = str(value)[:2000]
    return found


def _value(file: Bounded, kind: int, left: list[int], depth: int = 0) -> Any:
    """A value; arrays are skipped and are None."""
    if kind in SCALARS:
        return _numbers(file, SCALARS[kind])[0]
    if kind == TEXT:
        return _text(file, LONGEST_TEXT)
    if kind != ARRAY or depth > 3:
        raise file.bad(f"a fact of an unknown kind: {kind}")
    inner, count = _numbers(file, "<IQ")
    if inner in SCALARS:
        file.skip(count * struct.calcsize(SCALARS[inner]))
        return None
    left[0] -= count
    if left[0] < 0:
        raise file.bad(f"an array of {count} in its header")
    for _ in range(count):
        if inner == TEXT:
            file.skip(_numbers(file, "<Q")[0])
        else:
            _value(file, inner, left, depth + 1)
    return None


def _tensor(file: Bounded) -> tuple[str, Tensor, int]:
    """(name, tensor, where its bytes end after the data's start)."""
    name = _text(file, LONGEST_NAME)
    (dimensions,) = _numbers(file, "<I")
    if dimensions > MOST_DIMENSIONS:
        raise file.bad(f"tensor {name[:80]!r}: {dimensions} dimensions")
    shape = _numbers(file, f"<{dimensions}Q")
    kind, offset = _numbers(file, "<IQ")
    dtype, block, size = TYPES.get(kind, (f"type {kind}", 1, 0))
    tensor = Tensor(dtype, tuple(reversed(shape)))
    if tensor.count >= 2**53 or offset >= 2**53:
        raise file.bad(f"tensor {name[:80]!r}: an impossible shape or place")
    return name, tensor, offset + -(-tensor.count // block) * size


def _alignment(file: Bounded, metadata: dict[str, str]) -> int:
    text = metadata.get("general.alignment", "32")
    if not text.isdecimal() or not 1 <= int(text) <= 1 << 20:
        raise file.bad(f"an alignment of {text[:20]}")
    return int(text)
