"""Graphs of the packs run: each lock freezes what it froze in reality, and what does not lock does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mvpipe.testing.comfyui.settings import LATER, NEW, OLD, PACKS
from mvpipe.testing.comfyui.values import audio_latents
from mvpipe.testing.standin import Standin, standin
from tests.testing import clips
from tests.testing.client import Client, wav
from tests.testing.conftest import furnish
from tests.testing.graphs import Graph, locked
from tests.testing.test_clips import likeness_of_file

SIZE = {"width": 64, "height": 48}
SHRINK = ("--shrink", "1")


@pytest.fixture(scope="module", params=[OLD, NEW, LATER])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    folder = tmp_path_factory.mktemp("comfy")
    with standin(folder, version=request.param) as running:
        furnish(running)
        (running.root / "input" / "vocal.wav").write_bytes(wav(audio_latents(124) * 800))
        yield running


@pytest.fixture
def client(server: Standin) -> Client:
    return Client(server.url)


def filled(client: Client, kind: str, **given: Any) -> dict[str, Any]:
    """A node whose other required constants are its schema's defaults, or the first of its choices."""
    schema = client.get(f"/object_info/{kind}").json()[kind]["input"]["required"]
    inputs = {}
    for name, spec in schema.items():
        options = spec[1] if len(spec) > 1 else {}
        if isinstance(spec[0], list):
            inputs[name] = options.get("default", spec[0][0] if spec[0] else None)
        elif spec[0] == "COMBO":
            inputs[name] = options.get("default", options["options"][0])
        elif spec[0] in ("INT", "FLOAT", "STRING", "BOOLEAN"):
            inputs[name] = options.get("default", options.get("min", ""))
    return {"class_type": kind, "inputs": inputs | given}


def base() -> Graph:
    """A locked shot, to be changed."""
    return locked(length=124, prefix="p/x")


def native(client: Client) -> Graph:
    return base()


def t8(client: Client) -> Graph:
    graph = base()
    for node in ("20", "21", "22", "23"):
        del graph[node]
    more = {"ref_images.ref_image_0": ["7", 0], "drive_audio": ["8", 0], "audio_mode": "lock_source"}
    graph["9"] = filled(
        client, "MiniMaxH3AudioConditioningT8", clip=["4", 0], video_vae=["5", 0], audio_vae=["6", 0],
        prompt="<Audio 1>", length=124, **SIZE, **more,
    )  # fmt: skip
    graph["15"]["inputs"]["latent_image"] = ["9", 1]
    return graph


def vrgdg(client: Client) -> Graph:
    graph = base()
    for node in ("20", "21", "22"):
        del graph[node]
    inputs = {"av_latent": ["9", 1], "source_audio": ["8", 0], "audio_vae": ["6", 0]}
    graph["23"] = filled(client, "VRGDG_MiniMaxH3AudioDrive", **inputs)
    return graph


def song_context(client: Client) -> Graph:
    graph = base()
    for node in ("20", "21", "22"):
        del graph[node]
    inputs = {"latent": ["9", 1], "audio_vae": ["6", 0], "master_audio": ["8", 0], "clip_start_seconds": 0.0}
    graph["23"] = filled(client, "MiniMaxH3SongMaskedAVContext", **inputs)
    return graph


def long_media(client: Client) -> Graph:
    graph = base()
    for node in ("9", "12", "15", "20", "21", "22", "23"):
        del graph[node]
    setup = {"clip": ["4", 0], "vae": ["5", 0], "audio_vae": ["6", 0], "prompt": "p", "manual_duration": 5.0,
             "audio_mode": "lip_sync", "image_1": ["7", 0], "audio_1": ["8", 0]}  # fmt: skip
    graph["9"] = filled(client, "MiniMaxH3LatentLabLongMediaSetup", **SIZE, **setup)
    sampled = {"initial_av": ["9", 1], "long_media_plan": ["9", 2], "guider": ["11", 0], "sampler": ["14", 0],
               "sigmas": ["13", 0], "seed": 5}  # fmt: skip
    graph["15"] = filled(client, "MiniMaxH3LatentLabLongMediaSampler", **sampled)
    decoded = {"final_av": ["15", 0], "long_media_plan": ["9", 2]}
    graph["16"] = filled(client, "MiniMaxH3LatentLabLongMediaDecode", **decoded)
    del graph["17"]
    graph["18"]["inputs"]["audio"] = ["16", 1]
    return graph


def low_memory(client: Client) -> Graph:
    graph = base()
    graph["30"] = filled(client, "MiniMaxChunkFeedForward", model=["3", 0])
    graph["31"] = filled(client, "MiniMaxLowVRAMAttention", model=["30", 0])
    graph["11"]["inputs"]["model"] = graph["13"]["inputs"]["model"] = ["31", 0]
    return graph


def gguf(client: Client) -> Graph:
    graph = base()
    graph["1"] = filled(client, "UnetLoaderGGUF")
    assert graph["1"]["inputs"]["unet_name"].endswith(".gguf")
    return graph


LOCKS = [native, t8, vrgdg, song_context, long_media, low_memory, gguf]


@pytest.mark.parametrize("build", LOCKS)
def test_a_lock_holds(client: Client, tmp_path: Path, build: Any) -> None:
    entry = client.render(build(client))
    assert entry["status"]["status_str"] == "success", entry["status"]["messages"][-1]
    clip = clips.read(client.fetch(entry, tmp_path / "x.mp4"))
    assert clip.frames.shape == (124, 48, 64)
    lost = 266 if build is long_media else 0  # its own slice is a latent short and loses its head
    assert likeness_of_file(clip, wav(audio_latents(124) * 800), skip=lost) > 0.99


def test_without_its_audio_a_lock_is_refused_when_it_runs(client: Client) -> None:
    graph = t8(client)
    del graph["9"]["inputs"]["drive_audio"]
    facts = client.render(graph)["status"]["messages"][-1][1]
    assert (facts["node_id"], facts["exception_type"]) == ("9", "ValueError")


def multishot(client: Client) -> Graph:
    graph = base()
    for node in ("9", "11", "12", "13", "14", "15", "16", "17", "20", "21", "22", "23"):
        del graph[node]
    given = {"model": ["3", 0], "clip": ["4", 0], "video_vae": ["5", 0], "audio_vae": ["6", 0], "script": "p",
             "shot_count": 1, "frames_per_shot": 124, "seed": 5, "steps": 4, "bank_pinned": 1,
             "continuity": "cut", "memory_frames": 0, "guide_audio": ["8", 0],
             "reference_images": ["7", 0]}  # fmt: skip
    graph["15"] = filled(client, "H3MultishotMemorySampler", **SIZE, **given)
    graph["18"]["inputs"] |= {"images": ["15", 0], "audio": ["15", 1]}
    return graph


def test_the_multishot_pack(tmp_path: Path) -> None:
    """It renders, its sound is close and not equal, and it breaks references beside audio keyframes."""
    with standin(tmp_path / "root", flags=("--packs", ",".join(PACKS))) as server:
        furnish(server)
        vocal = wav(audio_latents(124) * 800)
        (server.root / "input" / "vocal.wav").write_bytes(vocal)
        client = Client(server.url)
        clip = clips.read(client.fetch(client.render(multishot(client)), tmp_path / "x.mp4"))
        assert 0.8 < likeness_of_file(clip, vocal) < 0.999
        assert client.render(native(client))["status"]["status_str"] == "success"
        facts = client.render(long_media(client))["status"]["messages"][-1][1]
        assert facts["exception_type"] == "RuntimeError"
        assert "must match the size of tensor" in facts["exception_message"]


def test_progress_of_other_samplers(server: Standin, client: Client) -> None:
    graph = long_media(client)
    graph["15"]["inputs"]["seed"] = 6
    with client.listen("a") as ear:
        client.queue(graph, client_id="a")
        told = ear.until("executing None")
    words = next(one["payload"] for one in ear.heard if one.get("binary") == {"event": 3})
    assert words[4:8] == (2).to_bytes(4, "big")
    assert words[8:].decode() == "15pass 1 of 1"
    assert [one for one in told if one.startswith("progress 15")] == [
        f"progress 15 {n}/4" for n in (1, 2, 3, 4)
    ]
