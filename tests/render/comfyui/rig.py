"""A small order for the stand-in: a locked shot of 22 frames, 64x48, with a vocal of its own."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import struct
import threading
import time
import wave
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.jobs import Job, job_id
from mvpipe.render.comfyui.order import Order
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.steady import Steady
from mvpipe.testing.standin import Standin
from mvpipe.tools import picture

FRAMES, SIZE, STEPS = 22, (64, 48), 4
SAMPLES = round(FRAMES / 24 * 40) * 800

QUICK = Patience(
    connect_s=3, answer_s=2.0, away_s=20, again_s=0.2, quiet_s=3.0, look_s=0.1, look_most_s=0.4,
    settle_s=0.1, start_s=2.5, life_s=4.0, stuck_s=1.2, queue_s=30, free_s=0.3,
)  # fmt: skip
"""For a server on loopback whose time is scaled."""


def sung(seed: int, samples: int = SAMPLES) -> NDArray[np.float32]:
    """Something like a voice: syllables of a gliding harmonic tone at 32 kHz; float32, shape (samples,)."""
    rng = np.random.default_rng(seed)
    at = np.arange(samples) / 32_000
    pitch = 180 + 60 * np.interp(at, np.linspace(0, at[-1], 9), rng.random(9))
    phase = 2 * np.pi * np.cumsum(pitch) / 32_000
    tone = sum(np.sin(k * phase) / k for k in range(1, 9))
    swell = np.clip(np.interp(at, np.linspace(0, at[-1], 14), rng.uniform(-0.6, 1, 14)), 0, 1)
    voice: NDArray[np.float32] = (0.25 * swell * tone).astype(np.float32)
    return voice


def write_wav(path: Path, samples: NDArray[np.float32], channels: int = 2) -> Path:
    """A WAV of 16 bits at 32 kHz, every channel the same."""
    packed = np.repeat((samples * 32767).astype("<i2")[:, None], channels, axis=1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(32_000)
        file.writeframes(packed.tobytes())
    return path


def write_png(path: Path, level: int) -> Path:
    """A grey picture of 8x8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes([level]) * 8 for _ in range(8)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return path


def graph(seed: int, vocal: str, face: str, steps: int = STEPS) -> dict[str, Any]:
    """The graph, in API format."""
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "unet": ("UNETLoader", {"unet_name": "minimax_h3_ref2va_pruned_int8_convrot.safetensors",
                                "weight_dtype": "default"}),
        "clip": ("CLIPLoader", {"clip_name": "qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors",
                                "type": "minimax", "device": "default"}),
        "vae": ("VAELoader", {"vae_name": "minimax_h3_video_vae_int8_convrot.safetensors"}),
        "avae": ("VAELoader", {"vae_name": "minimax_h3_audio_vae_fp32.safetensors"}),
        "shift": ("MiniMaxH3SigmaShift", {"model": ["unet", 0], "shift_video": 12.0, "shift_audio": 3.0}),
        "image": ("LoadImage", {"image": face}),
        "vocal": ("LoadAudio", {"audio": vocal}),
        "cond": ("MiniMaxH3ReferenceToVideo", {
            "clip": ["clip", 0], "vae": ["vae", 0], "audio_vae": ["avae", 0], "prompt": "she sings",
            "width": SIZE[0], "height": SIZE[1], "length": FRAMES, "ref_image_size": "match",
            "ref_images.ref_image_0": ["image", 0], "ref_audios.ref_audio_0": ["vocal", 0]}),
        "coded": ("VAEEncodeAudio", {"audio": ["vocal", 0], "vae": ["avae", 0]}),
        "zero": ("SolidMask", {"value": 0.0, "width": 32, "height": 32}),
        "kept": ("SetLatentNoiseMask", {"samples": ["coded", 0], "mask": ["zero", 0]}),
        "av": ("LTXVConcatAVLatent", {"video_latent": ["cond", 1], "audio_latent": ["kept", 0]}),
        "guider": ("BasicGuider", {"model": ["shift", 0], "conditioning": ["cond", 0]}),
        "euler": ("KSamplerSelect", {"sampler_name": "euler"}),
        "sigmas": ("BasicScheduler", {"model": ["shift", 0], "scheduler": "simple", "steps": steps,
                                      "denoise": 1.0}),
        "noise": ("RandomNoise", {"noise_seed": seed}),
        "sample": ("SamplerCustomAdvanced", {
            "noise": ["noise", 0], "guider": ["guider", 0], "sampler": ["euler", 0],
            "sigmas": ["sigmas", 0], "latent_image": ["av", 0]}),
        "frames": ("VAEDecode", {"samples": ["sample", 0], "vae": ["vae", 0]}),
        "sound": ("VAEDecodeAudio", {"samples": ["sample", 0], "vae": ["avae", 0]}),
        "video": ("CreateVideo", {"images": ["frames", 0], "fps": 24.0, "audio": ["sound", 0]}),
        "save": ("SaveVideo", {"video": ["video", 0], "filename_prefix": "unset", "format": "mp4",
                               "codec": "h264"}),
    }  # fmt: skip
    return {name: {"class_type": kind, "inputs": inputs} for name, (kind, inputs) in nodes.items()}


def finish(filled: Mapping[str, Any], prefix: str, names: Mapping[str, str]) -> dict[str, Any]:
    """What `Order.finish` does, for this graph alone."""
    whole = copy.deepcopy(dict(filled))
    whole["save"]["inputs"]["filename_prefix"] = prefix
    for node in whole.values():
        for name, value in node["inputs"].items():
            if isinstance(value, str):
                node["inputs"][name] = names.get(value, value)
    return whole


def is_whole(path: Path) -> bool:
    """Whether it is a film."""
    try:
        picture.facts(path)
    except MediaError:
        return False
    return True


def assets(folder: Path) -> tuple[Path, Path]:
    """The vocal and the picture; whole at once, since other processes may read them."""
    if not folder.exists():
        scratch = folder.with_name(f"{folder.name}.{os.getpid()}.{threading.get_ident()}")
        scratch.mkdir(parents=True)
        write_wav(scratch / "vocal.wav", sung(7))
        write_png(scratch / "face.png", 90)
        with suppress(OSError):  # another was faster
            scratch.rename(folder)
    return folder / "vocal.wav", folder / "face.png"


def order(folder: Path, name: str, seed: int, **changes: Any) -> Order:
    """An order; another name is another key."""
    vocal, face = assets(folder)
    names = {f"mvpipe/{hashlib.sha256(p.read_bytes()).hexdigest()}{p.suffix}": p for p in (vocal, face)}
    sound, still = names
    made = Order(
        key=hashlib.sha256(name.encode()).hexdigest(),
        title=name,
        graph=graph(seed, sound, still),
        outputs=("save",),
        steps=STEPS,
        uploads=names,
        finish=finish,
        whole=is_whole,
    )
    return replace(made, **changes)


class Rig:
    """A client of a stand-in, with a folder to render into."""

    def __init__(self, server: Standin, folder: Path, patience: Patience = QUICK) -> None:
        self.server, self.folder = server, folder
        self.patience = patience
        self.told: list[tuple[int, int]] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.connect(server.url)

    def connect(self, url: str, **more: Any) -> None:
        """Be a client of this address."""
        self.client = Client(address(url, **more), self.folder / "records", self.patience)

    def heard_over_socket(self) -> bool:
        """Whether a WebSocket was open."""
        return bool(self.server.log("socket"))

    def order(self, name: str, seed: int = 1, **changes: Any) -> Order:
        """An order of its own, by name; another seed is another film."""
        return order(self.folder / "assets", name, seed, **changes)

    def make(
        self,
        name: str,
        seed: int = 1,
        *,
        tell: Callable[[int, int], None] | None = None,
        patience: Patience | None = None,
    ) -> Path:
        """The film of an order."""
        into = self.folder / f"{re.sub('[^a-z0-9]+', '-', name)}.mp4"
        if patience:
            self.client = Client(self.client.transport.address, self.folder / "records", patience)
        self.made = self.client.make(self.order(name, seed), into, tell or self.tell)
        return into

    def fault(self, name: str, **figures: Any) -> None:
        """Have a fault; `path` may be the one where a job is looked for."""
        if figures.get("path", "").startswith("where"):
            old = self.client.server.facts().version == "0.3.64"
            figures["path"] = "/history" if old else "/api/jobs/"
        self.server.fault(name, **figures)

    def looks(self) -> list[str]:
        """Requests that ask how a job stands."""
        asked = [*self.server.requests("/queue", "GET"), *self.server.requests("/jobs/", "GET")]
        return [line["path"] for line in asked]

    def tell(self, done: int, of: int) -> None:
        self.told.append((done, of))

    def job(self, name: str) -> Job:
        """The record of an order."""
        return self.client.records.read(self.order(name).key, self.client.server.name)

    def sampled(self, name: str) -> int:
        """How often an order was sampled to its end."""
        ids = {job_id(self.order(name).key, attempt) for attempt in range(1, 20)}
        return sum(len(run["sampled"]) for run in self.server.runs() if run["prompt_id"] in ids)

    def forget_cache(self) -> None:
        """Have the server sample anew what it has sampled before."""
        steady = Steady(self.patience, lambda: None, met=True)  # its door may still be closed
        steady(self.client.server.free)
        time.sleep(0.2)


def misdeeds(server: Standin) -> list[str]:
    """What no client may ever do: stop or delete what is not its own."""
    found = []
    for line in server.requests("", "POST"):
        wish = json.loads(line["body"]) if line["body"].startswith("{") else {}
        path = line["path"].removeprefix("/api")
        if path == "/interrupt" and not wish.get("prompt_id"):
            found.append("interrupt of whatever runs")
        if path in ("/queue", "/history") and (wish.get("clear") or path == "/history"):
            found.append(f"{path} {line['body']}")
        if "origin" in line["headers"]:
            found.append("an Origin")
        if path == "/prompt" and ("number" in wish or "front" in wish):
            found.append("out of turn")
    return found


def essence(path: Path) -> str:
    """Digest of a film's coded picture, whatever stands in its metadata."""
    with av.open(str(path)) as container:
        packets = [bytes(packet) for packet in container.demux(container.streams.video[0])]
    return hashlib.sha256(b"".join(packets)).hexdigest()


def frames_of(path: Path) -> int:
    """Pictures of a film."""
    return len(picture.times(path))
