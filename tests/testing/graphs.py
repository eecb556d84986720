"""The graph that was recorded, its node ids included, and the wrong ones made from it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Graph = dict[str, dict[str, Any]]

DIT = "minimax_h3_ref2va_pruned_int8_convrot.safetensors"
LORA = "minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors"


def usual(
    *, seed: int = 1, prefix: str = "x", image: str = "rec/face.png", audio: str = "rec/vocal.wav"
) -> Graph:
    """A Ref2VA shot of 39 frames with an audio keyframe, in the order in which it was recorded."""
    nodes: list[tuple[str, str, dict[str, Any]]] = [
        ("1", "UNETLoader", {"unet_name": DIT, "weight_dtype": "default"}),
        ("2", "LoraLoaderModelOnly", {"model": ["1", 0], "lora_name": LORA, "strength_model": 1.0}),
        ("3", "MiniMaxH3SigmaShift", {"model": ["2", 0], "shift_video": 12.0, "shift_audio": 3.0}),
        ("4", "CLIPLoader", {"clip_name": "qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors",
                             "type": "minimax", "device": "default"}),
        ("5", "VAELoader", {"vae_name": "minimax_h3_video_vae_int8_convrot.safetensors"}),
        ("6", "VAELoader", {"vae_name": "minimax_h3_audio_vae_fp32.safetensors"}),
        ("7", "LoadImage", {"image": image}),
        ("8", "LoadAudio", {"audio": audio}),
        ("9", "MiniMaxH3ReferenceToVideo", {
            "clip": ["4", 0], "vae": ["5", 0], "audio_vae": ["6", 0],
            "prompt": "<Picture 1> sings <Audio 1>.",
            "width": 352, "height": 224, "length": 39, "ref_image_size": "match",
            "ref_images.ref_image_0": ["7", 0], "ref_audios.ref_audio_0": ["8", 0]}),
        ("11", "BasicGuider", {"model": ["3", 0], "conditioning": ["10", 0]}),
        ("12", "RandomNoise", {"noise_seed": seed}),
        ("13", "BasicScheduler", {"model": ["3", 0], "scheduler": "simple", "steps": 4, "denoise": 1.0}),
        ("14", "KSamplerSelect", {"sampler_name": "res_multistep"}),
        ("15", "SamplerCustomAdvanced", {"noise": ["12", 0], "guider": ["11", 0], "sampler": ["14", 0],
                                         "sigmas": ["13", 0], "latent_image": ["9", 1]}),
        ("16", "VAEDecode", {"samples": ["15", 0], "vae": ["5", 0]}),
        ("17", "VAEDecodeAudio", {"samples": ["15", 0], "vae": ["6", 0]}),
        ("18", "CreateVideo", {"images": ["16", 0], "fps": 24.0, "audio": ["17", 0]}),
        ("19", "SaveVideo", {"video": ["18", 0], "filename_prefix": prefix, "format": "auto",
                             "codec": "auto"}),
        ("10", "MiniMaxH3AddGuide", {"positive": ["9", 0], "latent": ["9", 1], "audio_vae": ["6", 0],
                                     "audio": ["8", 0], "frame_idx": 0}),
    ]  # fmt: skip
    return {name: {"class_type": kind, "inputs": copy.deepcopy(inputs)} for name, kind, inputs in nodes}


def locked(*, seed: int = 1, prefix: str = "x", image: str = "face.png", audio: str = "vocal.wav",
           size: tuple[int, int] = (64, 48), length: int = 22, lora: float = 1.0) -> Graph:  # fmt: skip
    """A locked shot whose file carries the decoded sound: the encoded vocal under a zero mask."""
    graph = usual(seed=seed, prefix=prefix, image=image, audio=audio)
    del graph["10"]
    graph["2"]["inputs"]["strength_model"] = lora
    graph["9"]["inputs"] |= {"width": size[0], "height": size[1], "length": length}
    graph["11"]["inputs"]["conditioning"] = ["9", 0]
    graph["20"] = {"class_type": "VAEEncodeAudio", "inputs": {"audio": ["8", 0], "vae": ["6", 0]}}
    graph["21"] = {"class_type": "SolidMask", "inputs": {"value": 0.0, "width": 32, "height": 32}}
    graph["22"] = {"class_type": "SetLatentNoiseMask", "inputs": {"samples": ["20", 0], "mask": ["21", 0]}}
    joined = {"video_latent": ["9", 1], "audio_latent": ["22", 0]}
    graph["23"] = {"class_type": "LTXVConcatAVLatent", "inputs": joined}
    graph["15"]["inputs"]["latent_image"] = ["23", 0]
    return graph


def busy(seconds: float = 0.1, *, steps: int = 1, nonce: int = 0, hold: str = "sleep") -> Graph:
    """A graph that only takes time."""
    inputs = {"seconds": seconds, "hold": hold, "steps": steps, "nonce": nonce}
    return {"1": {"class_type": "StandinBusy", "inputs": inputs}}


def _set(node: str, **inputs: Any) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        graph[node]["inputs"] |= {name.replace("__", "."): value for name, value in inputs.items()}

    return change


def _lose(node: str, name: str) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        del graph[node]["inputs"][name]

    return change


def _class(node: str, name: str | None, **meta: str) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        del graph[node]["class_type"]
        if name is not None:
            graph[node]["class_type"] = name
        if meta:
            graph[node]["_meta"] = meta

    return change


def _no_sink(graph: Graph) -> None:
    del graph["19"]


def _second_sink(graph: Graph) -> None:
    graph["20"] = {"class_type": "SaveAudio", "inputs": {"audio": ["17", 0]}}


def _rename(node: str, old: str, new: str | None, **more: Any) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        value = graph[node]["inputs"].pop(old)
        if new is not None:
            graph[node]["inputs"][new] = value
        graph[node]["inputs"] |= more

    return change


CHANGES: dict[str, Callable[[Graph], None]] = {
    "unknown class": _class("9", "MiniMaxH3NoSuch"),
    "no class_type": _class("9", None),
    "unknown class with title": _class("9", "MiniMaxH3NoSuch", title="Ref to Video"),
    "required input missing": _lose("9", "prompt"),
    "text where an INT is wanted": _set("9", width="wide"),
    '"352" and 39.7 for INT: converted silently': _set("9", width="352", length=39.7),
    "null for an INT": _set("9", width=None),
    "below min": _set("9", width=16),
    "above max": _set("9", width=20000),
    "off the step of 32: accepted": _set("9", width=350),
    "file not in list": _set("1", unet_name="nope.safetensors"),
    "value not in a long list": _set("14", sampler_name="nope"),
    "LoadImage: no such file": _set("7", image="rec/none.png"),
    "LoadAudio: no such file": _set("8", audio="rec/none.wav"),
    "link to an output index that does not exist": _set("16", samples=["15", 7]),
    "link to a node that does not exist": _set("16", samples=["99", 0]),
    "link of the wrong type": _set("16", samples=["5", 0]),
    "malformed link": _set("16", samples=["15"]),
    "node id as a number in a link": _set("16", samples=[15, 0]),
    "no output node": _no_sink,
    "cycle 2 -> 3 -> 2": _set("2", model=["3", 0]),
    "two output nodes, one of them invalid: ACCEPTED (200) with node_errors, only the good one runs":
        _second_sink,
    "SaveVideo format=nope (a COMBO of a V3 node): not checked by validation, fails when it runs":
        _set("19", format="nope"),
    "SaveVideo codec=nope": _set("19", codec="nope"),
    "unknown constant input: ignored": _set("9", bogus=1),
    "unknown linked input: accepted, fails when the node runs": _set("9", bogus_link=["7", 0]),
    "growable slot as a nested object: accepted and silently lost (the image node does not even run)":
        _rename("9", "ref_images.ref_image_0", None, ref_images={"ref_image_0": ["7", 0]}),
    "growable slot without its group name": _rename("9", "ref_images.ref_image_0", "ref_image_0"),
    "growable slot past its maximum (ref_audio_3 of 0..2)": _set("9", ref_audios__ref_audio_3=["8", 0]),
    "3 MB prompt text": _set("9", prompt="la " * 1_000_000),
    "CreateVideo bit_depth=8 (unknown to 0.3.64, known later)": _set("18", bit_depth=8),
}  # fmt: skip
"""What was recorded -> how the graph differs from the usual one."""


def changed(what: str) -> Graph:
    """The usual graph, made wrong as it was recorded."""
    graph = usual()
    CHANGES[what](graph)
    return graph
