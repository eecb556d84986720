"""Model files with true headers and no weights: sparse, so that 20 GB take no room."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from mvpipe.doctor.gguf import TYPES
from mvpipe.doctor.known import known_bytes
from mvpipe.doctor.safetensors import BITS

Shapes = Mapping[str, tuple[str, tuple[int, ...]]]
"""name -> (dtype, shape)"""

NUMBERS = {name: number for number, (name, _, _) in TYPES.items()}


def write_safetensors(
    path: Path, tensors: Shapes, metadata: Mapping[str, str] | None = None, *, short: int = 0
) -> Path:
    """A file with this header; `short` bytes of its data are missing."""
    at, entries = 0, {}
    alphas: dict[str, int] = {}
    for name, (dtype, shape) in tensors.items():
        size = BITS[dtype] // 8
        for side in shape:
            size *= side
        alphas |= {name: at} if name.endswith(".alpha") else {}
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({**({"__metadata__": dict(metadata)} if metadata else {}), **entries}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for place in alphas.values():
            stream.seek(8 + len(text) + place)
            stream.write(struct.pack("<f", 8.0))
        stream.truncate(8 + len(text) + at - short)
    return path


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_bytes(tensors: Shapes, *, words: int = 3, version: int = 3) -> tuple[bytes, int]:
    """(header with a tokenizer of so many words, bytes of data behind it)."""
    parts = [b"GGUF", struct.pack("<IQQ", version, len(tensors), 3)]
    parts += [text("general.architecture"), struct.pack("<I", 8), text("minimax")]
    parts += [text("general.quantization_version"), struct.pack("<II", 4, 2)]
    parts += [
        text("tokenizer.ggml.tokens"),
        struct.pack("<IIQ", 9, 8, words),
        *(text("w") for _ in range(words)),
    ]
    at = 0
    for name, (dtype, shape) in tensors.items():
        _, block, size = TYPES[NUMBERS[dtype]]
        parts += [text(name), struct.pack("<I", len(shape)), struct.pack(f"<{len(shape)}Q", *reversed(shape))]
        parts += [struct.pack("<IQ", NUMBERS[dtype], at)]
        count = 1
        for side in shape:
            count *= side
        at += -(-(count // block * size) // 32) * 32
    head = b"".join(parts)
    return head + bytes(-len(head) % 32), at


def write_gguf(path: Path, tensors: Shapes, *, short: int = 0) -> Path:
    """A file with this header; `short` bytes of its data are missing."""
    head, data = gguf_bytes(tensors)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(len(head) + data - short)
    return path


PROJECTIONS = {
    "attn.qkv_proj": (21504, 5376),
    "attn.out_proj": (5376, 7168),
    "mlp.fc1": (28672, 5376),
    "mlp.fc2": (5376, 14336),
}
"""Of a block of H3; h3.md section 6."""

BLOCKS = [f"blocks.{i}" for i in range(50)] + [f"refiner_blocks.{i}" for i in range(2)]


def dit(
    *, pruned: bool = True, dtype: str = "I8", norm: str = "BF16"
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Tensors of H3's weights."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {
        "video_patch_proj.weight": (norm, (5376, 384)),
        "audio_patch_proj.weight": (norm, (5376, 64)),
    }
    if pruned:
        found["adaln_t_table"] = (norm, (1025, 8))
    for block in BLOCKS:
        for name, shape in PROJECTIONS.items():
            found[f"{block}.{name}.weight"] = (dtype, shape)
        found[f"{block}.attn.q_norm.weight"] = (norm, (128,))
    for i in range(50):
        found[f"blocks.{i}.adaln_proj.linear.weight"] = (norm, (96768, 8 if pruned else 2688))
    return found


def lora(
    *, prefix: str = "diffusion_model.", rank: int = 128, adaln: int = 0, blocks: list[str] | None = None
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Tensors of a Turbo LoRA: 208 modules of 3."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    shapes = {f"{block}.{name}": shape for block in (blocks or BLOCKS) for name, shape in PROJECTIONS.items()}
    if adaln:
        shapes |= {f"blocks.{i}.adaln_proj.linear": (96768, adaln) for i in range(50)}
    for name, (out, inner) in shapes.items():
        found[f"{prefix}{name}.lora_A.weight"] = ("BF16", (rank, inner))
        found[f"{prefix}{name}.lora_B.weight"] = ("BF16", (out, rank))
        found[f"{prefix}{name}.alpha"] = ("F32", ())
    return found


VIDEO_VAE = {
    "decoder.transformer_blocks.0.scale1": ("F16", (512,)),
    "encoder.down.5.block.0.conv1.weight": ("F16", (64, 64, 3, 3)),
}
AUDIO_VAE = {"pre_block.attn.zero_k_bias": ("F32", (64,)), "decoder.conv.weight": ("F32", (64, 64))}
MUSIC_VAE = {
    "dec_in_proj.weight": ("F32", (64, 64)),
    "decoder.model.0.weight_g": ("F32", (64,)),
    "pre_block.attn.zero_k_bias": ("F32", (64,)),
}
ENCODER = {"model.layers.0.self_attn.q_proj.weight": ("U8", (64, 64))}
MUSIC_ENCODER = {**ENCODER, "model.audio_decoder.projection.weight": ("F32", (64, 64))}


def padded(path: Path, tensors: Shapes) -> Path:
    """A file of the size that is published for its name."""
    size = known_bytes(path.name)[-1]
    write_safetensors(path, {**tensors, "pad": ("U8", (0,))})
    left = size - path.stat().st_size
    for _ in range(3):  # the pad's own figures take room in the header
        write_safetensors(path, {**tensors, "pad": ("U8", (left,))})
        left += size - path.stat().st_size
    return path


FOUR = "minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors"


def models(folder: Path) -> Path:
    """A models folder with all that the default graph needs, of their published sizes."""
    padded(folder / "diffusion_models/minimax_h3_ref2va_pruned_int8_convrot.safetensors", dit())
    padded(folder / "loras" / FOUR, lora())
    padded(folder / "vae/minimax_h3_video_vae_int8_convrot.safetensors", VIDEO_VAE)
    padded(folder / "vae/minimax_h3_audio_vae_fp32.safetensors", AUDIO_VAE)
    padded(folder / "text_encoders/qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors", ENCODER)
    return folder
