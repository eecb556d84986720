"""What kind of server it is: its version, its packs, its card, and the switches of its command line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from mvpipe.testing.comfyui.faults import Dice

OLD, NEW, LATER = "0.3.64", "0.33.0", "0.38.0"
"""October 2025 and August 2026, both measured; the last is read from source, nobody ran it."""

PACKS = ("core", "kj", "t8", "vrgdg", "longmedia", "multishot", "context", "gguf", "standin")
"""Groups of node classes; `standin` holds StandinBusy, which only takes time."""

USUAL_PACKS = tuple(pack for pack in PACKS if pack != "multishot")
"""H3-Multishot breaks graphs that carry references and audio keyframes (measured), so it is asked for."""

MODELS: dict[str, tuple[str, ...]] = {
    "diffusion_models": (
        "minimax_h3_fl2va_pruned_int8_convrot.safetensors",
        "minimax_h3_ref2va_pruned_int8_convrot.safetensors",
    ),
    "loras": (
        "minimax_h3_fl2v_turbo_8step_v1.0_comfyui_bf16.safetensors",
        "minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors",
        "minimax_h3_ref2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors",
    ),
    "vae": (
        "minimax_h3_audio_vae_fp32.safetensors",
        "minimax_h3_video_vae_fp16.safetensors",
        "minimax_h3_video_vae_int8_convrot.safetensors",
    ),
    "text_encoders": ("qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors",),
    "model_patches": ("minimax_h3_fun_controlnet_union_pruned_int8_convrot.safetensors",),
    "gguf": ("minimax_h3_ref2va_pruned-Q4_K_M.gguf",),
}
"""Folder -> files a server with everything installed has; `gguf` files lie in diffusion_models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """How long a graphics card needs.

    Parameters
    ----------
    title : as /system_stats names it
    memory : bytes of it
    step_s : seconds a sampling step takes at 960x544, 124 frames
    load_s : seconds until the models are loaded
    encode_s : seconds a prompt takes to encode
    decode_s : seconds the picture takes to decode, a frame of 960x544
    """

    title: str
    memory: int
    step_s: float
    load_s: float = 40.0
    encode_s: float = 6.0
    decode_s: float = 0.08


CARDS = {
    # 11.5 to 12.6 s a step, measured by tonyd2wild on a 24 GB card
    "24gb": Card(
        title="cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync", memory=25_757_220_864, step_s=12.0
    ),
    # 18.8 s a step with all weights loaded, joeygambino
    "16gb": Card(title="cuda:0 NVIDIA GeForce RTX 5060 Ti : native", memory=17_094_475_776, step_s=18.8),
    "cpu": Card(title="cpu", memory=25_276_514_304, step_s=3600.0),
}

REFERENCE_ROWS = 18_870 + 414
"""Rows of 960x544, 124 frames: video and audio."""

GROWTH = 1.6
"""Exponent of the rows in the time of a step: 2.9 times the frames took 5.6 times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a server is started with.

    Parameters
    ----------
    root : its folder; holds input, output, temp, log.jsonl and faults.json
    version : OLD, NEW or LATER
    port, control : TCP ports on `host`; 0 picks free ones
    prefix : path that a proxy puts in front, such as `/comfy`
    header : `Name: value` that a proxy demands; without it 401
    packs : groups of node classes it has
    models : folder -> model files it has
    card, step_s : its speed; `step_s` > 0 replaces the card's own
    room : rows of the largest sequence it has memory for; 0: any
    leak_mib : MiB that every run leaves in use, until /free
    speed : how many of its seconds pass in a real one; `inf` never waits
    previews : whether sampling sends preview pictures
    shrink : clips are this many times smaller than asked for
    boot_s : real seconds until the port opens
    assets, cors, compress, cache : flags of the real server
    upload_mib : largest request, MiB
    argv : more of its command line, as /system_stats tells it
    certificate, key : PEM files; with both it speaks https
    windows : whether paths in its answers have backslashes
    dice : random faults
    """

    root: Path
    version: str = NEW
    host: str = "127.0.0.1"
    port: int = 0
    control: int = 0
    prefix: str = ""
    header: str = ""
    packs: tuple[str, ...] = USUAL_PACKS
    models: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(MODELS))
    card: str = "24gb"
    step_s: float = 0.0
    room: int = 0
    leak_mib: int = 0
    speed: float = 1000.0
    previews: bool = True
    shrink: int = 1
    boot_s: float = 0.0
    assets: bool = False
    cors: bool = False
    compress: bool = False
    cache: bool = True
    upload_mib: float = 100
    argv: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""
    windows: bool = False
    dice: Dice | None = None

    def __post_init__(self) -> None:
        if self.version not in (OLD, NEW, LATER):
            raise ValueError(f"no such version: {self.version}")
        if unknown := set(self.packs) - set(PACKS):
            raise ValueError(f"no such packs: {sorted(unknown)}")
        if self.card not in CARDS:
            raise ValueError(f"no such card: {self.card}")
        if self.speed <= 0 or math.isnan(self.speed):
            raise ValueError(f"speed must be positive: {self.speed}")

    def files(self, folder: str) -> list[str]:
        """The model files of a folder, subfolders with the separator of the server's system."""
        separator = "\\" if self.windows else "/"
        return [name.replace("/", separator) for name in self.models.get(folder, ())]

    @property
    def modern(self) -> bool:
        """Whether it has /api/jobs, checks prompt ids and writes create_time."""
        return self.version != OLD

    @property
    def upload_bytes(self) -> int:
        """The largest request body."""
        return int(self.upload_mib * 1024 * 1024)

    def folder(self, kind: str) -> Path | None:
        """The folder of `input`, `output` or `temp`; None for anything else."""
        return self.root / kind if kind in ("input", "output", "temp") else None


def rows(width: int, height: int, frames: int) -> int:
    """Rows of the model's sequence: video and audio of a clip, without references."""
    groups = 2 if frames <= 5 else -(-(frames - 5) // 17) * 5 + 2
    return max(1, groups * (height // 32) * (width // 32)) + 2 * round(frames / 24 * 40)


def step_seconds(settings: Settings, width: int, height: int, frames: int, added: int = 0) -> float:
    """Seconds of one sampling step on the chosen card, with so many rows of references."""
    at_reference = settings.step_s or CARDS[settings.card].step_s
    return float(at_reference * ((rows(width, height, frames) + added) / REFERENCE_ROWS) ** GROWTH)
