"""What is known of H3's files: their sizes in bytes, and hashes where anybody published them."""

from __future__ import annotations

import re

from mvpipe.render.comfyui.graph import base_name
from mvpipe.render.comfyui.model_files import known_files

EXACT = {"minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors": 1_956_193_000}
"""Bytes; utensils/mold#1371."""

SHA256 = {"minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors": "5b9ab5ad"}
"""How the hash begins; utensils/mold#1371."""

TOLERANCE = 0.006
"""Published sizes have three or four digits."""

POWERS = {"M": 2, "G": 3}


def known_bytes(name: str) -> tuple[int, ...]:
    """The sizes a file may have; empty where none is published.

    Lists write GB both for 10**9 and for 2**30 bytes: `19.53 GB` in ComfyUI's templates is 20.97 * 10**9 in
    other notes, while `577.2 MB` is decimal. Both readings are taken.
    """
    base = base_name(name)
    if base in EXACT:
        return (EXACT[base],)
    return () if "about" in _told(base) else _read(_told(base))


def rough_bytes(name: str) -> int:
    """The size a file is said to have, exactly or about; 0 where none is."""
    about = min(_read(_told(base_name(name))), default=0)
    return max(known_bytes(name), default=about)


def _told(base: str) -> str:
    file = known_files().files.get(base)
    return file.size if file else ""


def _read(size: str) -> tuple[int, ...]:
    found = re.search(r"([\d.]+) ([MG])(i?)B", size)
    if not found:
        return ()
    value, power = float(found[1]), POWERS[found[2]]
    units = (1024**power,) if found[3] else (1000**power, 1024**power)
    return tuple(round(value * unit) for unit in units)


def fits_known(name: str, size: int) -> bool | None:
    """Whether a size is a published one; None where none is published."""
    sizes = known_bytes(name)
    if not sizes:
        return None
    share = 0.0 if base_name(name) in EXACT else TOLERANCE
    return any(abs(size - known) <= share * known for known in sizes)
