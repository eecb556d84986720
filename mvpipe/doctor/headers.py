"""Headers of model files: names, types and shapes of the tensors, without reading a single weight.

Bounded: no more than `MOST_BYTES` are read of any file, whatever it claims of itself, and every length it
claims is held against the size of the file before it is believed. Formats: safetensors (huggingface's
`safetensors` README, "Format") and GGUF 2 and 3 (ggml's `docs/gguf.md`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Literal

from mvpipe.errors import MediaError

MOST_BYTES = 48 * 1024 * 1024
"""Of a header. H3's own are below 1 MiB; a GGUF with a tokenizer in it has some 10 MiB."""

MOST_TENSORS = 50_000
MOST_DIMENSIONS = 8


class BadHeader(MediaError):
    """A model file whose header is none."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor by its header: `dtype` as the format writes it, `shape` as PyTorch has it."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a file says of itself.

    Parameters
    ----------
    kind : its format
    tensors : by name
    metadata : short texts and numbers
    whole : bytes the file has to have
    alpha : the first module's, of a LoRA that has any; the one figure that is read from behind the header
    """

    kind: Literal["safetensors", "gguf"]
    tensors: Mapping[str, Tensor] = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    whole: int
    alpha: float | None = None

    def summary(self) -> dict[str, Any]:
        """Few words, for a bundle."""
        dtypes = Counter(tensor.dtype for tensor in self.tensors.values())
        first = sorted(self.tensors)[:3]
        told = {"kind": self.kind, "tensors": len(self.tensors), "whole": self.whole, "first": first}
        return told | {"dtypes": dict(sorted(dtypes.items()))}


def read_header(path: Path) -> Header:
    """The header of a .safetensors or .gguf file.

    Raises
    ------
    BadHeader : it is not such a file, or its header is damaged
    """
    from mvpipe.doctor import gguf, safetensors

    readers = {".safetensors": safetensors.read, ".sft": safetensors.read, ".gguf": gguf.read}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BadHeader(f"{path.name}: neither safetensors nor GGUF by its name")
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            return reader(Bounded(stream, size, path.name))
    except OSError as exc:
        raise BadHeader(f"{path.name}: {(exc.strerror or str(exc)).lower()}") from exc


class Bounded:
    """The beginning of a file: reads what is there, and no more than `MOST_BYTES` in all."""

    def __init__(self, stream: BinaryIO, size: int, name: str) -> None:
        self.size, self.name, self.at = size, name, 0
        self._stream = stream

    def bad(self, what: str) -> BadHeader:
        """What is wrong with it."""
        return BadHeader(f"{self.name}: {what}")

    def claim(self, count: int) -> None:
        """Whether so many more bytes may be in a header.

        Raises
        ------
        BadHeader : the file ends before, or it is too much
        """
        if count > self.size - self.at:
            raise self.bad(f"ends at byte {self.size}, inside its header")
        if self.at + count > MOST_BYTES:
            raise self.bad(f"its header claims more than {MOST_BYTES} bytes")

    def take(self, count: int) -> bytes:
        """So many bytes; raises as `claim`."""
        self.claim(count)
        found = self._stream.read(count)
        self.at += len(found)
        if len(found) < count:
            raise self.bad(f"ends at byte {self.at}, inside its header")
        return found

    def peek(self, at: int, count: int) -> bytes:
        """A few bytes from anywhere in the file; fewer where it ends before."""
        self._stream.seek(at)
        found = self._stream.read(count)
        self._stream.seek(self.at)
        return found

    def skip(self, count: int) -> None:
        """Pass so many bytes over; raises as `claim`."""
        self.claim(count)
        self._stream.seek(count, 1)
        self.at += count
