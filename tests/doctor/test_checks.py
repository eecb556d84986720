"""Every check fails on its planted fault, is quiet on the twin without it, and says what it cannot see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mvpipe.doctor.check import LOOKS, Case, Level, about, abouts, examine
from mvpipe.doctor.facts import ELSEWHERE, GIB, MIB, Battery, Damaged, Device, Facts, ModelFile, Unseen
from mvpipe.doctor.flags import known_flags
from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.template import names
from mvpipe.testing.comfyui.settings import PACKS
from tests.doctor.cases import (
    ADA,
    BASE,
    BLACKWELL,
    RADEON,
    ROCM,
    canary,
    case,
    edited,
    file,
    found,
    level,
    machine,
    models,
    server,
    wanted,
)  # fmt: skip
from tests.doctor.files import (
    AUDIO_VAE,
    BLOCKS,
    FOUR,
    MUSIC_ENCODER,
    MUSIC_VAE,
    VIDEO_VAE,
    dit,
    lora,
)  # fmt: skip
from tests.render.comfyui.golden import HERE as GOLDEN
from tests.render.comfyui.servers import object_info

GGUF = "minimax_h3_ref2va_pruned-Q4_K_M.gguf"
ENCODER = "qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors"


def with_nodes(**changed: Any) -> dict[str, Any]:
    nodes = dict(server().nodes)
    for name, schema in changed.items():
        nodes.pop(name, None)
        if schema is not None:
            nodes[name] = schema
    return nodes


def w4a8() -> Any:
    name = "minimax_h3_ref2va_pruned_w4a8_mixed.safetensors"
    return edited(wanted(), "unet", unet_name=name).graph


def summed(sha256: str) -> ModelFile:
    return file(f"loras/{FOUR}", lora(), alpha=8.0, sha256=sha256)


def sigma(**changed: Any) -> dict[str, Any]:
    told = {**server().nodes["MiniMaxH3SigmaShift"], **changed}
    return with_nodes(MiniMaxH3SigmaShift=told)


def device(kind: str) -> tuple[Device, ...]:
    return (Device(name="cpu", kind=kind, memory=64 * GIB, free=GIB),)


def old(release: tuple[int, ...], *, guide: bool = True) -> Any:
    nodes = with_nodes() if guide else with_nodes(MiniMaxH3AddGuide=None)
    return server(version=".".join(map(str, release)), release=release, nodes=nodes)


def argv(*flags: str, name: str = ADA) -> Any:
    return server(name, argv=("main.py", *flags))


def multi(graph: Any = None) -> Case:
    return case(of=graph, server=server(nodes=with_nodes(H3MultishotMemorySampler={})))


def guided() -> Any:
    return edited(
        wanted(), "guide", class_type="MiniMaxH3AddGuide", positive=["cond", 0], latent=["cond", 1],
        audio=["vocal", 0],
    )  # fmt: skip


def card(**changed: Any) -> Any:
    (one,) = machine().cards  # type: ignore[misc]
    return machine(cards=(replace(one, **changed),))


def radeon(name: str = RADEON, memory: float = 8, **others: Any) -> Any:
    return server(name, memory, **others)


def gguf(*, norm: str = "BF16", loader: str = "UnetLoaderGGUF", **facts: Any) -> Case:
    of = wanted("native-ref2va-gguf")
    of = edited(of, "unet", class_type=loader)
    shapes = {
        name: (dtype if dtype != "BF16" else norm, shape)
        for name, (dtype, shape) in dit(dtype="Q4_K").items()
    }
    return case(of=of, models=models(file(f"diffusion_models/{GGUF}", shapes, size=10_600_000_000)), **facts)


PROMPT = (GOLDEN / "prompt-b-roll.txt").read_text("utf-8")
WIRED = {"pictures": 1, "videos": 0, "audios": 1}

PLANTED: list[tuple[str, Case, str, str]] = [
    ("server-answers", case(server=Unseen("http://h:1: connection refused")), "fail", "refused"),
    ("core-version", case(server=old((0, 3, 64))), "warn", "older than 0.33.0"),
    ("core-version", case(server=old((0, 36, 0))), "warn", "#16387"),
    ("core-version", case(server=server(version="nightly", release=())), "unseen", "nightly"),
    (
        "audio-clock",
        case(server=server(nodes=with_nodes(MiniMaxH3SigmaShift=None))),
        "fail",
        "no MiniMaxH3SigmaShift",
    ),
    (
        "audio-clock",
        case(server=server(nodes=sigma(input={"required": {"shift_video": []}}))),
        "fail",
        "without",
    ),
    ("audio-clock", case(server=server(nodes=sigma(display_name="Other"))), "warn", "Other"),
    ("audio-masks", case(server=old((0, 33, 0), guide=False)), "fail", "not obeyed"),
    (
        "audio-masks",
        case(server=old((0, 33, 0), guide=False), of=wanted("reference-only")),
        "warn",
        "not obeyed",
    ),
    ("nodes-present", case(server=server(nodes=with_nodes(SolidMask=None))), "fail", "SolidMask"),
    (
        "nodes-present",
        case(
            server=server(nodes=with_nodes(UnetLoaderGGUF=None, LoaderGGUF=None, GGUFLoaderKJ=None)),
            of=wanted("native-ref2va-gguf"),
        ),
        "fail",
        "GGUF",
    ),
    ("graph-fits", case(of=edited(wanted(), "sigmas", steps=0)), "fail", "too small"),
    ("graph-fits", case(of=edited(wanted(), "cond", length=123)), "warn", "off its grid"),
    (
        "files-on-server",
        case(of=edited(wanted(), "unet", unet_name="mine.safetensors")),
        "fail",
        "mine.safetensors",
    ),
    ("pack-multishot", multi(guided()), "fail", "keyframe"),
    (
        "pack-kj-core",
        case(of=wanted("native-ref2va-lowvram"), server=server(nodes=with_nodes(BlockSparseAttention={}))),
        "warn",
        "008eed9",
    ),
    ("upload-limit", case(server=server(upload_bytes=1 * MIB)), "fail", "1 MiB"),
    ("upload-limit", case(server=server(upload_bytes=16 * MIB)), "warn", "16 MiB"),
    ("upload-limit", case(server=server(upload_bytes=Unseen("silent"))), "unseen", "silent"),
    ("render-device", case(server=server(devices=device("cpu"))), "warn", "CPU"),
    ("render-device", case(server=server(devices=())), "unseen", "no device"),
    ("torch-cuda", case(server=server(BLACKWELL, system={"pytorch_version": "2.6.0+cu124"})), "fail", "12.8"),
    ("torch-cuda", case(server=server(BLACKWELL, system={"pytorch_version": "2.9.1"})), "unseen", "CUDA"),
    ("flags-pinned", case(machine=machine(kernel=("oom-kill: python",))), "warn", "disputed"),
    ("flags-pinned", case(server=server(argv=())), "unseen", "command line"),
    ("flags-noop", case(server=argv("--lowvram")), "warn", "--lowvram"),
    ("flags-noop", case(server=replace(argv("--lowvram"), devices=server(RADEON, 8).devices)), "ok", "none"),
    ("files-hash", case(models=models(summed("0" * 64))), "fail", "not 5b9ab5ad"),
    ("files-hash", case(models=models(summed("5b9ab5ad" + "0" * 56))), "ok", "as published"),
    (
        "flags-noop",
        case(of=edited(wanted(), "frames", class_type="VAEDecodeTiled")),
        "warn",
        "VAEDecodeTiled",
    ),
    ("flags-harmful", case(server=argv("--reserve-vram", "1.0", "--cache-lru=2")), "warn", "--cache-lru"),
    ("flags-attention", case(server=argv("--use-sage-attention", name=BLACKWELL)), "fail", "cold start"),
    ("flags-attention", case(server=server(argv=("m", "--use-ck-attention"), devices=())), "warn", "ck"),
    ("flags-workaround", case(server=argv("--disable-cuda-graphs")), "warn", "Music 3"),
    (
        "flags-workaround",
        case(of=edited(wanted(), "sparse", class_type="BlockSparseAttention")),
        "warn",
        "sparse",
    ),
    ("graph-caches", case(of=edited(wanted(), "x", class_type="EasyCache")), "fail", "EasyCache"),
    (
        "graph-attention",
        case(
            of=edited(wanted(), "x", class_type="PathchSageAttentionKJ", sage_attention="auto"),
            server=server(BLACKWELL),
        ),
        "fail",
        "quantized",
    ),
    (
        "graph-families",
        case(
            of=edited(wanted("native-ref2va-lowvram"), "x", class_type="MiniMaxH3LowVRAMAttentionT8Advanced")
        ),
        "fail",
        "same modules",
    ),
    ("graph-nodes", case(of=edited(wanted(), "clip", type="sdxl")), "fail", "sdxl"),
    (
        "graph-weights",
        case(of=edited(wanted(), "unet", unet_name="minimax_h3_fl2va_bf16.safetensors")),
        "fail",
        "fl2va",
    ),
    (
        "graph-sampling",
        case(of=edited(wanted(), "sampler", sampler_name="res_multistep")),
        "fail",
        "flickers",
    ),
    ("graph-size", case(of=edited(wanted(), "cond", width=970)), "fail", "970"),
    ("graph-order", case(of=edited(wanted(), "sigmas", model=["lora", 0])), "fail", "another shift"),
    ("graph-lock", case(of=edited(wanted(), "zero", value=1.0)), "fail", "said to be exact"),
    ("graph-bypass", case(canary=Unseen("none")), "warn", "folded"),
    (
        "graph-vaes",
        case(
            of=edited(
                edited(wanted(), "video_vae", vae_name="h3_audio.safetensors"),
                "audio_vae",
                vae_name="h3_video.safetensors",
            )
        ),
        "fail",
        "exchanged",
    ),
    (
        "graph-vaes",
        case(of=edited(wanted(), "audio_vae", vae_name="minimax_h3_video_vae_int8_convrot.safetensors")),
        "fail",
        "exchanged",
    ),
    ("graph-sound", case(of=edited(wanted(), "video", audio=None)), "fail", "without a word"),
    ("graph-prompt", case(), "unseen", "storyboard"),
    (
        "graph-prompt",
        case(of=replace(wanted(), prompts=(("verse, shot 1", PROMPT + "as in <Picture 2>", WIRED),))),
        "fail",
        "verse, shot 1: <Picture 2>: nothing is wired for it",
    ),
    (
        "files-whole",
        case(models=models(file(f"loras/{FOUR}", lora(), size=1000, whole=2000))),
        "fail",
        "cut short",
    ),
    (
        "files-whole",
        case(models=(*models(), file("loras/other.safetensors", lora(), size=1, whole=2))),
        "warn",
        "other",
    ),
    (
        "files-whole",
        case(models=models(ModelFile(path=f"diffusion_models/{BASE}", size=9, header=Damaged("not JSON")))),
        "fail",
        "not JSON",
    ),
    (
        "files-leftovers",
        case(models=(*models(), ModelFile(path="vae/x.safetensors.part", size=9))),
        "warn",
        ".part",
    ),
    (
        "files-size",
        case(models=models(file(f"loras/{FOUR}", lora(), size=1_240_000_000))),
        "warn",
        "1956193000",
    ),
    ("weights-h3", case(models=models(file(f"diffusion_models/{BASE}", lora()))), "fail", "not H3"),
    ("weights-h3", case(models=()), "unseen", "not below the models folder"),
    ("weights-task", case(of=edited(wanted(), "unet", unet_name="h3_fl2va.safetensors")), "fail", "fl2va"),
    ("weights-task", case(of=edited(wanted(), "unet", unet_name="h3.safetensors")), "unseen", "neither"),
    (
        "weights-adaln",
        case(
            models=models(
                file(
                    f"diffusion_models/{BASE}",
                    {
                        **dit(),
                        **{f"blocks.{i}.adaln_proj.linear.weight": ("BF16", (96768, 16)) for i in range(50)},
                    },
                )
            )
        ),
        "warn",
        "16",
    ),
    ("lora-keys", case(models=models(file(f"loras/{FOUR}", lora(prefix="")))), "fail", "0 of 208"),
    (
        "lora-keys",
        case(models=models(file(f"loras/{FOUR}", lora(blocks=[*BLOCKS, "blocks.50"])))),
        "warn",
        "208 of 212",
    ),
    ("lora-adaln", case(models=models(file(f"loras/{FOUR}", lora(adaln=2688)))), "fail", "2688"),
    ("lora-rank", case(models=models(file(f"loras/{FOUR}", dit()))), "fail", "no pairs"),
    ("lora-rank", case(models=models(file(f"loras/{FOUR}", lora(), alpha=0.0))), "fail", "does nothing"),
    (
        "audio-vae",
        case(models=models(file("vae/minimax_h3_audio_vae_fp32.safetensors", MUSIC_VAE))),
        "fail",
        "Music",
    ),
    (
        "audio-vae",
        case(models=models(file("vae/minimax_h3_audio_vae_fp32.safetensors", VIDEO_VAE))),
        "fail",
        "not H3",
    ),
    (
        "video-vae",
        case(models=models(file("vae/minimax_h3_video_vae_int8_convrot.safetensors", AUDIO_VAE))),
        "fail",
        "not H3",
    ),
    ("text-encoder", case(models=models(file(f"text_encoders/{ENCODER}", MUSIC_ENCODER))), "fail", "Music"),
    ("text-encoder", case(server=radeon()), "warn", "no Radeon takes: render: {text_device: cpu}"),
    ("text-encoder", case(server=radeon(), models=Unseen("none")), "warn", "text_device: cpu"),
    ("gguf-bf16", gguf(loader="LoaderGGUF"), "warn", "read them as bytes"),
    ("card-memory", case(server=server(memory=8)), "warn", "w4a8"),
    ("card-memory", case(server=server(memory=6)), "warn", "smallest"),
    ("card-memory", case(server=server(memory=16)), "warn", "do not fit whole"),
    ("card-memory", case(of=replace(wanted(), graph=w4a8()), server=server(memory=16)), "ok", "of 11.2 GB"),
    ("host-memory", case(server=server(memory=24), machine=machine()), "ok", "64"),
    (
        "host-memory",
        case(server=replace(server(), memory=16 * GIB)),
        "warn",
        "16 GiB: weights and text encoder",
    ),
    ("swap", case(machine=machine(memory=32 * GIB, swap=0)), "warn", "8 are advised"),
    ("disk", case(machine=machine(disk=1 * GIB)), "fail", "1 GiB"),
    ("disk", case(machine=machine(disk=10 * GIB)), "warn", "10 GiB"),
    (
        "power-limit",
        case(machine=card(name="NVIDIA GeForce RTX 5060 Ti", power_limit=180.0, power_default=180.0)),
        "warn",
        "-pl 144",
    ),
    (
        "driver",
        case(machine=machine(cards=Unseen("neither nvidia-smi nor rocm-smi"))),
        "unseen",
        "nvidia-smi",
    ),
    ("card-alive", case(machine=card(busy=0.96, power_draw=20.0)), "fail", "circles"),
    ("kernel-log", case(machine=machine(kernel=("NVRM: Xid 79",))), "warn", "Xid 79"),
    ("battery", case(machine=machine(battery=Battery(present=True, discharging=True))), "warn", "battery"),
    ("amd-capability", case(server=radeon()), "warn", "pretends"),
    (
        "amd-allocator",
        case(server=radeon("cuda:0 AMD Radeon RX 6650 XT [ZLUDA] : cudaMallocAsync")),
        "fail",
        "Async",
    ),
    ("amd-weights", case(server=radeon()), "fail", "Q4_K"),
    ("amd-proof", case(server=radeon(), canary=Unseen("none")), "warn", "416x256"),
    ("canary", case(canary=canary(faults=("no sound",))), "fail", "no sound"),
    ("canary", case(canary=canary(version="0.33.0")), "warn", "of ComfyUI 0.33.0"),
    ("canary", case(canary=canary(recipe="other")), "warn", "other files"),
    ("canary", case(canary=Unseen("none was rendered")), "unseen", "none"),
    ("canary-lora", case(canary=canary(lora=False)), "fail", "same take"),
    ("headroom", case(canary=canary(peak=24 * GIB - 100 * MIB)), "warn", "100 MiB"),
    ("headroom", case(canary=canary(version="0.33.0")), "unseen", "stale"),
]


@pytest.mark.parametrize(
    ("name", "planted", "wanted_level", "words"), PLANTED, ids=[f"{p[0]}-{i}" for i, p in enumerate(PLANTED)]
)
def test_it_fails_on_its_planted_fault(name: str, planted: Case, wanted_level: str, words: str) -> None:
    finding = found(name, planted)
    assert finding is not None
    assert finding.level.name.lower() == wanted_level, finding.says
    assert words in finding.says


TWINS: dict[str, Case] = {
    "torch-cuda": case(server=server(BLACKWELL)),
    "pack-kj-core": case(of=wanted("native-ref2va-lowvram")),
    "pack-multishot": multi(),
    "graph-prompt": case(of=replace(wanted(), prompts=(("verse", PROMPT, WIRED),))),
    "graph-bypass": case(
        of=edited(wanted(), "lora", class_type="LoraLoaderBypassModelOnly"), canary=Unseen("none")
    ),
    "gguf-bf16": gguf(),
    "flags-workaround": case(
        of=edited(wanted(), "sparse", class_type="BlockSparseAttention"),
        server=argv("--disable-comfy-compiler"),
    ),
    "flags-noop": case(server=argv("--lowvram", "--disable-dynamic-vram")),
    "flags-attention": case(server=argv("--use-sage-attention")),
    "graph-attention": case(
        of=edited(wanted(), "x", class_type="PathchSageAttentionKJ", sage_attention="auto")
    ),
    "lora-adaln": case(models=models(file(f"loras/{FOUR}", lora(adaln=8)))),
    "files-hash": case(models=models(summed("5b9ab5ad" + "0" * 56))),
    "power-limit": case(
        machine=card(name="NVIDIA GeForce RTX 5060 Ti", power_limit=144.0, power_default=180.0)
    ),
    "card-alive": case(machine=card(busy=0.96, power_draw=400.0)),
    "battery": case(machine=machine(battery=Battery(present=True, discharging=False))),
    "amd-allocator": case(server=radeon()),
    "text-encoder": case(of=edited(wanted(), "clip", device="cpu"), server=radeon()),
    "amd-weights": gguf(server=radeon()),
    "amd-proof": case(server=radeon()),
}
"""Cases near a fault that are well; for the other checks the healthy case is the twin."""


@pytest.mark.parametrize("name", sorted(abouts().keys() - {"amd-capability"}))
def test_it_is_quiet_on_its_twin(name: str) -> None:
    finding = found(name, TWINS.get(name, case()))
    assert finding is not None
    assert finding.level is Level.OK, finding.says


@pytest.mark.parametrize("name", ["amd-capability", "amd-allocator", "amd-weights", "amd-proof", "torch-cuda",
                                  "pack-kj-core", "gguf-bf16"])  # fmt: skip
def test_what_does_not_concern_a_machine_is_not_asked(name: str) -> None:
    assert level(name, case()) == "nothing to ask"


def test_rocm_is_no_translation_layer() -> None:
    of = case(server=server(ROCM, 24, system={"pytorch_version": "2.9.1+rocm6.4"}))
    assert level("amd-allocator", of) == "nothing to ask"
    assert level("amd-weights", of) == "ok"


def test_every_check_has_a_planted_fault() -> None:
    planted = {name for name, _, wanted_level, _ in PLANTED if wanted_level in ("warn", "fail")}
    silent = {"pack-families", "driver"}  # they inform, and leave judging to others
    assert planted | silent == abouts().keys()


def test_every_check_is_told_of_and_every_text_has_its_check() -> None:
    examine(case(), areas=frozenset())
    assert LOOKS.keys() == abouts().keys()


def test_nothing_seen_is_nothing_claimed() -> None:
    rows = examine(Case(facts=Facts(), wanted=wanted()))
    by_id = {row.id: row for row in rows}
    for name in ("server-answers", "core-version", "nodes-present", "files-whole", "host-memory", "canary"):
        assert by_id[name].level is Level.UNSEEN
    assert all(row.level is not Level.FAIL for row in rows)


def test_another_machines_inside_is_not_visible() -> None:
    rows = {row.id: row for row in examine(case(server=server(local=False)))}
    for name in ("power-limit", "kernel-log", "swap", "driver", "card-alive"):
        assert (rows[name].level, rows[name].says) == (Level.UNSEEN, ELSEWHERE.why)
    assert rows["card-memory"].level is Level.OK
    assert rows["host-memory"].level is Level.OK


@pytest.mark.parametrize("name", names())
def test_none_of_our_graphs_is_refused_on_a_server_that_has_all(name: str) -> None:
    packs = tuple(pack for pack in PACKS if pack != "multishot" or name == "multishot-pinned")
    of = wanted(name)
    rows = examine(case(of=of, server=server(nodes=object_info("0.33.0", packs))))
    assert [f"{row.id}: {row.says}" for row in rows if row.level is Level.FAIL] == []


def test_areas_choose() -> None:
    assert {row.area for row in examine(case(), areas=frozenset({"flags"}))} == {"flags"}


def test_an_unknown_check_has_a_neighbour() -> None:
    with pytest.raises(SettingsError) as failed:
        about("lora-key")
    assert failed.value.hint == "did you mean lora-keys?"


def test_flags_name_their_source() -> None:
    assert {
        "--disable-pinned-memory",
        "--lowvram",
        "--reserve-vram",
        "--vram-headroom",
        "--cache-lru",
        "--high-ram",
        "--disable-smart-memory",
        "--use-sage-attention",
        "--use-ck-attention",
        "--disable-comfy-compiler",
        "--disable-cuda-graphs",
    } <= known_flags().keys()


def test_no_source_is_cut_short() -> None:
    """An unquoted ` #15263` is a comment to YAML, and takes the rest of its line with it."""
    from mvpipe.doctor.faults import known_faults
    from mvpipe.doctor.recipes import known_recipes

    sources = [one.source for told in (abouts(), known_flags(), known_recipes()) for one in told.values()]
    sources += [source for fault in known_faults().values() for source in fault.sources]
    assert not [source for source in sources if source.rstrip().endswith((",", ";", ":"))]
