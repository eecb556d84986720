"""Cases for the checks: a healthy one, and what may be planted in it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from mvpipe.doctor.canary import recipe_of
from mvpipe.doctor.check import LOOKS, Case, Finding, Level, NotVisible, examine
from mvpipe.doctor.facts import (
    GIB,
    Battery,
    Canary,
    Card,
    Device,
    Facts,
    Machine,
    ModelFile,
    Server,
)
from mvpipe.doctor.gather import MARKS
from mvpipe.doctor.headers import Header, Tensor
from mvpipe.doctor.known import known_bytes
from mvpipe.doctor.wanted import Wanted, want
from tests.doctor import files
from tests.render.comfyui.servers import object_info

ADA = "cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync"
BLACKWELL = "cuda:0 NVIDIA GeForce RTX 5060 Ti : native"
RADEON = "cuda:0 AMD Radeon RX 6650 XT [ZLUDA] : native"
ROCM = "cuda:0 AMD Radeon RX 7900 XTX : native"
BASE = "minimax_h3_ref2va_pruned_int8_convrot.safetensors"
SIZE = (960, 544)


@cache
def wanted(graph: str = "native-ref2va", **others: Any) -> Wanted:
    return want(graph, **{"size": SIZE, **others})


def server(name: str = ADA, memory: float = 24, **others: Any) -> Server:
    schemas = object_info("0.33.0", ("core", "kj", "t8", "gguf"))
    asked = frozenset({*MARKS, *schemas})
    told: dict[str, Any] = {
        "url": "http://127.0.0.1:8188",
        "local": True,
        "version": "0.34.2",
        "release": (0, 34, 2),
        "argv": ("main.py", "--listen"),
        "system": {"pytorch_version": "2.9.1+cu128", "os": "linux"},
        "memory": 64 * GIB,
        "free": 50 * GIB,
        "devices": (Device(name=name, kind="cuda", memory=int(memory * GIB), free=int(memory * GIB)),),
        "upload_bytes": 100 * 1024**2,
        "nodes": schemas,
        "asked": asked,
    }
    return Server(**{**told, **others})


def machine(**others: Any) -> Machine:
    card = Card(
        name="NVIDIA GeForce RTX 4090", driver="580.95", capability="8.9", memory=24 * GIB, free=23 * GIB,
        power_limit=450.0, power_default=450.0, power_draw=30.0, busy=0.02,
    )  # fmt: skip
    told: dict[str, Any] = {
        "system": "Linux",
        "memory": 64 * GIB,
        "available": 50 * GIB,
        "swap": 16 * GIB,
        "disk": 500 * GIB,
        "cards": (card,),
        "kernel": (),
        "battery": Battery(present=False, discharging=False),
    }
    return Machine(**{**told, **others})


def header(shapes: files.Shapes, kind: str = "safetensors", **others: Any) -> Header:
    tensors = {name: Tensor(*tensor) for name, tensor in shapes.items()}
    return Header(kind=kind, tensors=tensors, **{"whole": 0, **others})  # type: ignore[arg-type]


def file(
    path: str, shapes: files.Shapes, *, size: int | None = None, sha256: str = "", **others: Any
) -> ModelFile:
    name = path.rpartition("/")[2]
    size = size if size is not None else max(known_bytes(name), default=1000)
    kind = "gguf" if name.endswith(".gguf") else "safetensors"
    return ModelFile(
        path=path, size=size, sha256=sha256, header=header(shapes, kind, **{"whole": size, **others})
    )


@cache
def _whole() -> tuple[ModelFile, ...]:
    return (
        file(f"diffusion_models/{BASE}", files.dit()),
        file(f"loras/{files.FOUR}", files.lora(), alpha=8.0),
        file("text_encoders/qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors", files.ENCODER),
        file("vae/minimax_h3_audio_vae_fp32.safetensors", files.AUDIO_VAE),
        file("vae/minimax_h3_video_vae_int8_convrot.safetensors", files.VIDEO_VAE),
    )


def models(*changed: ModelFile) -> tuple[ModelFile, ...]:
    """Every file of the default graph, some of them changed."""
    names = {one.name for one in changed}
    return (*(one for one in _whole() if one.name not in names), *changed)


def canary(of: Wanted | None = None, **others: Any) -> Canary:
    told: dict[str, Any] = {
        "version": "0.34.2", "recipe": recipe_of(of or wanted()), "at": 0.0, "step_s": 2.0,
        "peak": 20 * GIB, "total": 24 * GIB, "lora": True,
    }  # fmt: skip
    return Canary(**{**told, **others})


def case(*, of: Wanted | None = None, **facts: Any) -> Case:
    told: dict[str, Any] = {
        "server": server(), "machine": machine(), "models": models(), "canary": canary(of),
    }  # fmt: skip
    return Case(facts=Facts(**{**told, **facts}), wanted=of or wanted())


def edited(of: Wanted, node: str, **inputs: Any) -> Wanted:
    """The same with other inputs of a node; None takes one away."""
    graph = {name: {**one, "inputs": dict(one["inputs"])} for name, one in of.graph.items()}
    kind = inputs.pop("class_type", None)
    graph.setdefault(node, {"class_type": kind, "inputs": {}})
    if kind:
        graph[node]["class_type"] = kind
    for name, value in inputs.items():
        graph[node]["inputs"][name] = value
        if value is None:
            del graph[node]["inputs"][name]
    return replace(of, graph=graph)


def found(name: str, of: Case) -> Finding | None:
    """What one check comes to."""
    examine(of, areas=frozenset())  # registers them all
    try:
        return LOOKS[name](of)
    except NotVisible as exc:
        return Finding(Level.UNSEEN, str(exc))


def level(name: str, of: Case) -> str:
    one = found(name, of)
    return "nothing to ask" if one is None else one.level.name.lower()
