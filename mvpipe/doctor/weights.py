"""What a model file is, by the names and shapes in its header.

Rules and shapes: core33, comfy/model_detection.py, comfy/sd.py and comfy/ldm/minimax/model.py; the rule of a
LoRA's keys was run on ComfyUI 0.33.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mvpipe.doctor.headers import Header, Tensor

BASE_PREFIX = re.compile(r"^(?:model\.)?diffusion_model\.")
LORA_KEY = re.compile(r"(?P<target>.+)\.(?P<part>lora_A|lora_B|lora_down|lora_up)\.weight")
LORA_DOWN = ("lora_A", "lora_down")
READ_PREFIX, FLAT_PREFIX = "diffusion_model.", "lora_unet_"

PRUNED, FULL = 8, 2688
"""Width of adaln_proj in the released pruned files, and in full ones."""

PACKED = frozenset({"U8", "F4"})
"""Types in which one element may hold two weights: shapes tell nothing then."""

MUSIC_ENCODER = "model.audio_decoder.projection.weight"
AUDIO_VAE = "pre_block.attn.zero_k_bias"
MUSIC_VAE = ("dec_in_proj.weight", "decoder.model.0.weight_g")
VIDEO_VAE = ("decoder.transformer_blocks.0.scale1", "encoder.down.5.block.0.conv1.weight")
QUANTIZED = re.compile(r"int8|int4|w4a8|fp8|nvfp4|mxfp8|[-_]q\d(?:_|\b)|\.gguf$", re.IGNORECASE)


def task_of(name: str) -> str:
    """What weights are for, by their file's name, which is the only sign; empty where it says nothing."""
    found = re.search(r"(ref2va?|fl2va?)(?![0-9A-Za-z])", name, re.IGNORECASE)
    return {"ref2v": "ref2va", "fl2v": "fl2va"}[found[1].lower().removesuffix("a")] if found else ""


def is_quantized(name: str) -> bool:
    """Whether weights are stored in 8 bits or fewer, by their file's name."""
    return bool(QUANTIZED.search(name))


def modules(header: Header) -> dict[str, Tensor]:
    """The weights of a model's modules by the name ComfyUI knows them by."""
    stripped = ((BASE_PREFIX.sub("", name), tensor) for name, tensor in header.tensors.items())
    return {name.removesuffix(".weight"): tensor for name, tensor in stripped if name.endswith(".weight")}


def is_h3(header: Header) -> bool:
    """Whether it holds H3's diffusion model."""
    return {"video_patch_proj", "audio_patch_proj"} <= modules(header).keys()


def adaln_width(header: Header) -> int | None:
    """Width of the AdaLN projections: 8 in pruned weights, 2688 in full ones; None where there are none."""
    found = next((t for name, t in modules(header).items() if name.endswith("adaln_proj.linear")), None)
    return found.shape[1] if found and len(found.shape) == 2 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a LoRA changes: a module by the LoRA's own name for it, and the shape that must have."""

    name: str
    rank: int
    shape: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How a LoRA meets the weights: module names by what becomes of them.

    Parameters
    ----------
    fits : are changed
    misfits : are there in another shape: said as an error in the log, and left unchanged
    lost : match nothing: said as `lora key not loaded`, and nothing is raised
    """

    fits: tuple[str, ...]
    misfits: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def count(self) -> int:
        """Of all targets."""
        return len(self.fits) + len(self.misfits) + len(self.lost)


def targets(header: Header) -> list[Target]:
    """What a LoRA changes."""
    found: dict[str, dict[str, Tensor]] = {}
    for name, tensor in header.tensors.items():
        if key := LORA_KEY.fullmatch(name):
            found.setdefault(key["target"], {})["down" if key["part"] in LORA_DOWN else "up"] = tensor
    return list(_targets(found))


def _targets(found: Mapping[str, Mapping[str, Tensor]]) -> Iterator[Target]:
    for name, pair in found.items():
        if pair.keys() == {"down", "up"} and all(len(tensor.shape) >= 2 for tensor in pair.values()):
            down, up = pair["down"].shape, pair["up"].shape
            yield Target(name=name, rank=down[0], shape=(up[0], down[1]))


def match(lora: Header, base: Header) -> Match:
    """Which of a LoRA's keys load into these weights."""
    known = modules(base)
    flat = {name.replace(".", "_"): name for name in known}
    fits, misfits, lost = [], [], []
    for target in targets(lora):
        module = _module(target.name, known, flat)
        if module is None:
            lost.append(target.name)
        elif known[module].dtype in PACKED or known[module].shape == target.shape:
            fits.append(target.name)
        else:
            misfits.append(target.name)
    return Match(fits=tuple(fits), misfits=tuple(misfits), lost=tuple(lost))


def _module(name: str, known: Mapping[str, Tensor], flat: Mapping[str, str]) -> str | None:
    if name.startswith(READ_PREFIX):
        module = name.removeprefix(READ_PREFIX)
        return module if module in known else None
    return flat.get(name.removeprefix(FLAT_PREFIX)) if name.startswith(FLAT_PREFIX) else None


def adaln_of_lora(header: Header) -> int | None:
    """Width of the AdaLN projections a LoRA was trained on; None where it changes none."""
    found = next((one for one in targets(header) if "adaln_proj" in one.name), None)
    return found.shape[1] if found else None


def ranks(header: Header) -> list[int]:
    """A LoRA's ranks, the most frequent first."""
    return [rank for rank, _ in Counter(one.rank for one in targets(header)).most_common()]


def bf16_tensors(header: Header) -> list[str]:
    """Names of a GGUF's tensors that a loader must read as BF16."""
    return [name for name, tensor in header.tensors.items() if tensor.dtype == "BF16"] * (
        header.kind == "gguf"
    )
