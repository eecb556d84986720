"""What a server tells about itself: /system_stats, /features, /models, /object_info."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui.http import Answer, Request, as_json, nothing
from mvpipe.testing.comfyui.settings import CARDS, LATER

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.server import Comfy

RAM = 25_276_514_304

FOLDERS = (
    "checkpoints", "configs", "loras", "vae", "text_encoders", "diffusion_models", "clip_vision",
    "style_models", "embeddings", "diffusers", "vae_approx", "controlnet", "gligen", "upscale_models",
    "custom_nodes", "hypernetworks", "photomaker", "classifiers", "model_patches", "audio_encoders",
)  # fmt: skip


def system_stats(comfy: Comfy, request: Request) -> Answer:
    """The only place with the version."""
    settings = comfy.settings
    system: dict[str, Any] = {
        "os": _system(settings.modern, settings.windows),
        "ram_total": RAM,
        "ram_free": RAM * 4 // 5,
        "comfyui_version": settings.version,
        "required_frontend_version": "1.49.6" if settings.modern else "1.27.10",
        "installed_templates_version": None,
        "required_templates_version": "0.11.44" if settings.modern else "0.1.95",
        "python_version": "3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0]",
        "pytorch_version": "2.9.1+cu128",
        "embedded_python": False,
        "argv": ["main.py", "--listen", settings.host, "--port", str(comfy.port), *settings.argv],
    }
    if settings.modern:
        system["comfy_package_versions"] = [
            {"name": "comfyui-frontend-package", "installed": "1.49.6", "required": "1.49.6"}
        ]
        system["deploy_environment"] = "local-git"
    return as_json({"system": system, "devices": [_device(comfy)]})


def _system(modern: bool, windows: bool) -> str:
    if windows:
        return "win32" if modern else "nt"
    return "linux" if modern else "posix"


def _device(comfy: Comfy) -> dict[str, Any]:
    card = CARDS[comfy.settings.card]
    bare = card.title == "cpu"
    free = max(0, (card.memory if not comfy.loaded else card.memory // 2) - comfy.leaked)
    return {
        "name": card.title,
        "type": "cpu" if bare else "cuda",
        "index": None if bare else 0,
        "vram_total": card.memory,
        "vram_free": free,
        "torch_vram_total": card.memory if bare else card.memory - free,
        "torch_vram_free": card.memory if bare else 0,
    }


def feature_flags(comfy: Comfy) -> dict[str, Any]:
    """What the server can do; also its answer to a client's flags over the WebSocket."""
    settings = comfy.settings
    size: float = settings.upload_bytes if settings.upload_mib == 100 else float(settings.upload_bytes)
    flags: dict[str, Any] = {"supports_preview_metadata": True}
    if settings.modern:
        flags["supports_model_type_tags"] = True
    flags["max_upload_size"] = size
    if settings.modern:
        flags |= {"extension": {"manager": {"supports_v4": True}}, "node_replacements": True}
        flags["assets"] = settings.assets or settings.version == LATER
    return flags


def features(comfy: Comfy, request: Request) -> Answer:
    """The flags over HTTP."""
    return as_json(feature_flags(comfy))


def models(comfy: Comfy, request: Request) -> Answer:
    """The model folders."""
    return as_json(list(FOLDERS))


def model_files(comfy: Comfy, request: Request) -> Answer:
    """The files of one folder, relative to it; 404 for a folder that is none."""
    folder = request.path.rpartition("/")[2]
    if folder not in FOLDERS:
        return nothing(404)
    return as_json(comfy.settings.files(folder))


def object_info(comfy: Comfy, request: Request) -> Answer:
    """Every class."""
    return as_json({name: comfy.schemas.info(name) for name in comfy.schemas})


def object_info_of(comfy: Comfy, request: Request) -> Answer:
    """One class; an unknown one is 200 and an empty object."""
    name = request.path.rpartition("/")[2]
    return as_json({name: comfy.schemas.info(name)} if name in comfy.schemas else {})


def empty_list(comfy: Comfy, request: Request) -> Answer:
    """Embeddings and extensions, of which there are none."""
    return as_json([])


def users(comfy: Comfy, request: Request) -> Answer:
    """Of no use to a render client."""
    return as_json({"storage": "server", "migrated": True})


def settings_of_user(comfy: Comfy, request: Request) -> Answer:
    """Of no use to a render client."""
    return as_json({})
