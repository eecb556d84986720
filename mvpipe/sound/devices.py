"""Where networks run."""

from __future__ import annotations

import torch

from mvpipe.errors import ToolError


def device(wanted: str) -> torch.device:
    """The device of that name (`cpu`, `cuda`, `cuda:1`, `mps`); `auto` is a GPU if there is one.

    Raises
    ------
    ToolError : torch knows no such device, or this machine has none
    """
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        there = torch.device(wanted)
        torch.zeros(1, device=there)
    except (RuntimeError, AssertionError) as exc:
        raise ToolError(
            f"device: {wanted}: cannot be used: {str(exc).splitlines()[0]}", hint="--device cpu always works"
        ) from exc
    return there
