"""Tiny Demucs models with random weights, saved as Demucs saves its own; torch is imported late."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

SOURCES = ["drums", "bass", "other", "vocals"]


def model(seed: int = 440, *, segment: Fraction = Fraction(39, 10), sources: list[str] | None = None) -> Any:
    """An HTDemucs of 81 thousand parameters."""
    import torch
    from demucs.htdemucs import HTDemucs

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return HTDemucs(
            sources or SOURCES, channels=4, growth=2, nfft=4096, depth=4, bottom_channels=0, t_layers=1,
            t_heads=2, t_hidden_scale=1.0, dconv_mode=1, dconv_comp=4, dconv_depth=1, segment=segment,
        ).eval()  # fmt: skip


def older_model(seed: int = 440, *, segment: int = 2) -> Any:
    """An HDemucs, which has no length it insists on."""
    import torch
    from demucs.hdemucs import HDemucs

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return HDemucs(SOURCES, channels=4, growth=2, nfft=4096, depth=6, segment=segment).eval()


def save_th(net: Any, folder: Path, signature: str) -> Path:
    """`SIGNATURE-CHECKSUM.th`, by Demucs' own writer."""
    from demucs import states

    demucs: Any = states  # py.typed, but few types
    args, kwargs = net._init_args_kwargs
    state = demucs.get_state(net, None, half=True)
    demucs.save_with_checksum(
        {"klass": type(net), "args": args, "kwargs": kwargs, "state": state, "training_args": {"lr": 3e-4}},
        folder / f"{signature}.th",
    )
    return next(folder.glob(f"{signature}-*.th"))


def save_safetensors(net: Any, folder: Path, signature: str, **metadata: str) -> Path:
    """`SIGNATURE.safetensors` with the metadata that `demucs.hf` reads."""
    from safetensors.torch import save_file

    args, kwargs = net._init_args_kwargs
    about = {
        "klass": f"{type(net).__module__}.{type(net).__qualname__}",
        "args": json.dumps(args),
        "kwargs": json.dumps(kwargs, default=_fraction),
    }
    path = folder / f"{signature}.safetensors"
    state = {name: value.half().contiguous() for name, value in net.state_dict().items()}
    save_file(state, path, metadata=about | metadata)
    return path


def _fraction(value: Fraction) -> dict[str, Any]:
    return {"_type": "fraction", "numerator": value.numerator, "denominator": value.denominator}


def bag(folder: Path, name: str, *signatures: str, rest: str = "") -> Path:
    """`NAME.yaml`."""
    path = folder / f"{name}.yaml"
    path.write_text(f"models: [{', '.join(repr(s) for s in signatures)}]\n{rest}")
    return path
