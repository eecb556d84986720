"""Combinations known to be wrong are refused, with the reason and the right one; our own are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge import Setting, judge, setting_of
from mvpipe.render.comfyui.profiles import default_profile, find_profile, known
from mvpipe.render.comfyui.remarks import Remark, refused_nodes
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import names
from tests.render.comfyui.servers import VALUES, classes, filled, loaded

FOUR = "minimax_h3_ref2v_turbo_4step_v0.1_comfyui_bf16.safetensors"
EIGHT = "minimax_h3_ref2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors"
FL_EIGHT_768 = "minimax_h3_fl2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors"
BLACKWELL = "cuda:0 NVIDIA GeForce RTX 5060 Ti : native"
ADA = "cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync"

Plant = Callable[[Graph], Any]
BASE = {"lora": None, "steps": 20, "sampler": "res_multistep"}


def put(node: str, field: str, value: Any) -> Plant:
    return lambda graph: graph[node]["inputs"].__setitem__(field, value)


def add(node: str, class_type: str, **inputs: Any) -> Plant:
    """A node between the shift and all that uses it."""

    def plant(graph: Graph) -> None:
        for user in ("guider", "sigmas"):
            graph[user]["inputs"]["model"] = [node, 0]
        graph[node] = {"class_type": class_type, "inputs": {"model": ["shift", 0], **inputs}}

    return plant


def nothing(graph: Graph) -> None:
    """Plant no fault."""


def together(*plants: Plant) -> Plant:
    return lambda graph: [plant(graph) for plant in plants]


def node(node_id: str, class_type: str, **inputs: Any) -> Plant:
    return lambda graph: graph.update({node_id: {"class_type": class_type, "inputs": inputs}})


def said(
    plant: Plant = nothing,
    values: Mapping[str, Fill] | None = None,
    *,
    of: str = "native-ref2va",
    setting: Setting | None = None,
) -> list[Remark]:
    graph, found = filled(of, **(values or {})), loaded(of)
    plant(graph)
    return judge(graph, setting or setting_of(found, {**VALUES, **(values or {})}, device=ADA))


def by_level(remarks: list[Remark], level: str) -> list[str]:
    return [str(remark) for remark in remarks if remark.level == level]


class TestProfiles:
    @pytest.mark.parametrize("name", names())
    @pytest.mark.parametrize("profile", sorted(known().profiles))
    def test_no_template_with_a_profile_is_refused(self, name: str, profile: str) -> None:
        values, _ = find_profile(profile).fitted(loaded(name).takes)
        remarks = said(values=values, of=name)
        assert by_level(remarks, "refuse") == []
        assert by_level(remarks, "warn") == []

    @pytest.mark.parametrize("size", [(960, 544), (1344, 768), (1024, 768), (544, 960)])
    def test_the_default_profile_fits_the_picture(self, size: tuple[int, int]) -> None:
        values, _ = find_profile(default_profile(size)).fitted(loaded("native-ref2va").takes)
        assert by_level(said(values={"width": size[0], "height": size[1], **values}), "warn") == []

    def test_the_default_by_size(self) -> None:
        assert default_profile((960, 544)) == "ref2va-turbo-4"
        assert default_profile((1344, 768)) == "ref2va-turbo-8"

    def test_a_profile_that_is_nearly_one(self) -> None:
        with pytest.raises(SettingsError, match="ref2va-turbo-9: no such profile") as caught:
            find_profile("ref2va-turbo-9")
        assert caught.value.hint.startswith("did you mean ref2va-turbo-")

    def test_what_a_graph_has_no_slot_for_is_named(self) -> None:
        values, left = find_profile("ref2va-turbo-8").fitted({"steps", "sampler"}.__contains__)
        assert values == {"steps": 8, "sampler": "euler"}
        assert "lora" in left

    def test_every_figure_names_a_source_in_full(self) -> None:
        found = known()
        for rules in (*found.weights.values(), *found.loras.values()):
            figures = [rules.shift, rules.calls, rules.sampler, rules.scheduler]
            named = [f.source for f in figures] + [f.source for f in (rules.trained, rules.tested) if f]
            named += [figure.other for figure in figures if figure.disputed]
            assert set(named) <= found.sources.keys()
        assert {f.source for _, f in found.limits if hasattr(f, "source")} <= found.sources.keys()

    def test_every_sampler_of_the_server_has_its_calls(self) -> None:
        specs = classes()["KSamplerSelect"].inputs({})["sampler_name"]
        unknown = {name for name in specs.options or () if known().samplers.calls(name) is None}
        assert unknown == {"dpm_fast", "dpm_adaptive"}  # as many as they like

    @pytest.mark.parametrize(
        ("file", "size"),
        [
            (FOUR, (960, 544)),
            (f"h3/{EIGHT}", (1344, 768)),
            ("minimax_h3_fl2v_turbo_8step_v1.0_comfyui_bf16.safetensors", (960, 544)),
            (FL_EIGHT_768, (1344, 768)),
            ("fl2v_turbo_4step_v1.2_768p.safetensors", (1344, 768)),
            ("ref2v_turbo_4step_v0.1.safetensors", (960, 544)),
        ],
    )
    def test_a_lora_is_known_by_the_longest_name_that_fits(self, file: str, size: tuple[int, int]) -> None:
        found = known().lora(file)
        assert found is not None
        assert found.trained is not None
        assert found.trained.size == size

    @pytest.mark.parametrize(
        "file", ["my_style.safetensors", "ref2v_turbo_4step_v0.12.safetensors", "xref2va.gguf"]
    )
    def test_others_are_not(self, file: str) -> None:
        assert known().lora(file) is None
        assert known().weights_of(file) is None


# What is planted, the node, a word of the reason, a word of what is right.
REFUSED: dict[str, tuple[Plant, dict[str, Fill], str, str, str]] = {
    "768p LoRA at 12/3": (nothing, {"lora": FL_EIGHT_768, "steps": 8}, "shift", "trained at 6/3", "6/3"),
    "544p LoRA at 6/3": (nothing, {"shift_video": 6.0}, "shift", "shift 6/3: trained at 12/3", "12/3"),
    "turbo with res_multistep": (nothing, {"sampler": "res_multistep"}, "sample", "flickers", "euler"),
    "four-step LoRA at 8": (nothing, {"steps": 8}, "sample", "are 8 model calls: distilled", "4 calls"),
    "eight-step LoRA at 4": (nothing, {"lora": EIGHT}, "sample", "4 steps are 4 model calls", "8 calls"),
    "heun doubles": (
        nothing, {"sampler": "heun"}, "sample", "8 model calls, for heun calls the model 2", "4 calls",
    ),
    "turbo's steps without turbo": (nothing, {"lora": None}, "sample", "without a Turbo LoRA", "20 or 50"),
    "diffusers layout": (
        nothing, {"lora": FOUR.replace("_comfyui", "")}, "lora", "loads nothing", "_comfyui_",
    ),
    "weights of the other task": (
        nothing, {"weights": "minimax_h3_fl2va_bf16.safetensors"}, "", "cannot tell", "ref2va in its name",
    ),
    "cfg": (
        lambda g: g["guider"].update(
            class_type="CFGGuider",
            inputs={"model": ["shift", 0], "positive": ["cond", 0], "negative": ["cond", 0], "cfg": 3.5},
        ),
        {}, "sample", "cfg is 3.5: the weights are guidance-distilled", "cfg 1",
    ),
    "1.0 MP": (nothing, {"width": 1376, "height": 768}, "cond", "1.06 megapixels", "1344x768"),
    "off 32": (nothing, {"width": 950, "height": 540}, "cond", "multiples of 32", "960x544"),
    "off 17k+5": (nothing, {"length": 120}, "cond", "not 17k+5", "124"),
    "too long": (nothing, {"length": 379}, "cond", "longer than H3 was trained", "362"),
    "step cache": (add("cache", "EasyCache"), {}, "cache", "a step cache", "leave it out"),
    "another step cache": (add("cache", "MiniMaxH3TeaCache"), {}, "cache", "half its level", "leave it out"),
    "two packs on one module": (
        together(add("a", "MiniMaxChunkFeedForward"), node("b", "MiniMaxH3ActivationChunkT8Advanced")),
        {}, "a", "both patch the same modules", "one pack",
    ),
    "two shifts": (
        add("dual", "MiniMaxH3DualClockSamplerT8", shift_video=12.0, shift_audio=3.0, steps=4), {},
        "shift", "sets the shift itself", "one of them",
    ),
    "one clock": (
        node("shift", "ModelSamplingSD3", model=["lora", 0]), {}, "shift", "one clock", "SigmaShift",
    ),
    "scheduler before the shift": (
        put("sigmas", "model", ["lora", 0]), {}, "sample", "another shift", "node shift",
    ),
    "encoder of another model": (put("clip", "type", "wan"), {}, "clip", "not H3's text encoder", "minimax"),
    "30 a second": (put("video", "fps", 30.0), {}, "video", "30 pictures a second", "24"),
    "video mask": (
        together(
            node("vm", "SetLatentNoiseMask", samples=["cond", 1], mask=["zero", 0]),
            put("av", "video_latent", ["vm", 0]),
        ),
        {}, "vm", "a noise mask on the picture", "leave it out",
    ),
    "LTX's clock": (
        node("ltx", "LTXVAudioVideoMask"), {}, "ltx", "LTX's clock", "SetLatentNoiseMask",
    ),
    "two turbos": (
        together(
            node("two", "LoraLoaderModelOnly", model=["unet", 0], lora_name=EIGHT, strength_model=1.0),
            put("lora", "model", ["two", 0]),
        ),
        {}, "lora", "2 Turbo LoRAs", "one of them",
    ),
    "lock without a mask": (
        put("av", "audio_latent", ["vocal_latent", 0]), {}, "sample", "no mask of zero", "say lock: none",
    ),
    "lock with a mask of one": (put("zero", "value", 1.0), {}, "sample", "its mask is 1", "say lock: none"),
    "lock with half a mask": (put("zero", "value", 0.5), {}, "sample", "its mask is 0.5", "say lock: soft"),
    "lock beside it": (put("sample", "latent_image", ["cond", 1]), {}, "sample", "made anew", "lock: none"),
    "lock to another sound": (
        together(node("song", "LoadAudio", audio="song.wav"), put("vocal_latent", "audio", ["song", 0])),
        {}, "sample", "locked to the sound of node song, not to the vocal of node vocal", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_known_wrong_is_refused(name: str) -> None:
    plant, values, node, reason, right = REFUSED[name]
    refused = [remark for remark in said(plant, values) if remark.level == "refuse"]
    hit = [remark for remark in refused if remark.node == node and reason in remark.says]
    assert hit, [str(remark) for remark in refused]
    assert right in hit[0].instead


@pytest.mark.parametrize(
    ("plant", "values", "says"),
    [
        (nothing, {"width": 1344, "height": 768}, "larger than its LoRA was trained"),
        (nothing, {"scheduler": "beta"}, "scheduler beta: not known to work here"),
        (nothing, {"sampler": "dpmpp_2m"}, "sampler dpmpp_2m: not known to work here"),
        (nothing, {"lora_strength": 0.8}, "strength 0.8 is not known"),
        (nothing, {**BASE, "steps": 12}, "12 steps are 12 model calls: not known"),
        (nothing, {**BASE, "shift_video": 7.0}, "shift 7/3: not known to work here"),
        (nothing, {"lora": "my_style.safetensors", "steps": 20}, "a LoRA that nothing is known of"),
        (nothing, {"weights": "mystery.safetensors"}, "weights that nothing is known of"),
        (nothing, {"lora": FL_EIGHT_768, "steps": 8, "shift_video": 6.0}, "double faces"),
        (nothing, {"length": 107}, "shorter than H3 was trained"),
        (put("sigmas", "denoise", 0.5), {}, "denoise is 0.5"),
        (
            together(put("shift", "model", ["unet", 0]), put("lora", "model", ["shift", 0]),
                     put("guider", "model", ["lora", 0]), put("sigmas", "model", ["lora", 0])),
            {}, "a LoRA comes behind the shift",
        ),
        (
            together(put("guider", "model", ["lora", 0]), put("sigmas", "model", ["lora", 0])), {},
            "no MiniMaxH3SigmaShift",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_warned_of(plant: Plant, values: dict[str, Fill], says: str) -> None:
    remarks = said(plant, values)
    assert by_level(remarks, "refuse") == []
    assert any(says in one for one in by_level(remarks, "warn")), by_level(remarks, "warn")


def test_a_lora_at_strength_0_counts_for_nothing() -> None:
    remarks = said(values={"lora_strength": 0.0})
    assert any("strength 0: it does nothing" in one for one in by_level(remarks, "warn"))
    assert any("without a Turbo LoRA" in one for one in by_level(remarks, "refuse"))


@pytest.mark.parametrize("shift", [6.0, 12.0])
def test_a_disputed_shift_is_a_setting_and_says_so(shift: float) -> None:
    remarks = said(values={"lora": EIGHT, "steps": 8, "shift_video": shift})
    assert by_level(remarks, "refuse") == by_level(remarks, "warn") == []
    (note,) = by_level(remarks, "note")
    assert "disputed: 6/3 (vllm-project" in note
    assert "or 12/3 (dkackman" in note


SAGE = add("sage", "PathchSageAttentionKJ", sage_attention="auto")


class TestQuantizedAttention:
    @pytest.mark.parametrize(("device", "level"), [(BLACKWELL, "refuse"), ("", "warn"), (ADA, "")])
    def test_by_card(self, device: str, level: str) -> None:
        remarks = said(SAGE, setting=Setting(device=device, lock="exact"))
        hit = [remark.level for remark in remarks if "quantized attention" in remark.says]
        assert hit == ([level] if level else [])

    @pytest.mark.parametrize(
        ("class_type", "inputs", "refused"),
        [
            ("PathchSageAttentionKJ", {"sage_attention": "disabled"}, False),
            ("PathchSageAttentionKJ", {"sage_attention": ["somewhere", 0]}, True),
            ("ModelAttentionBackend", {"attention": "pytorch attention"}, False),
            ("ModelAttentionBackend", {"attention": "comfy kitchen attention"}, True),
            ("MiniMaxH3MemoryEfficientSageAttentionPatch", {}, True),
        ],
    )
    def test_by_setting(self, class_type: str, inputs: dict[str, Any], refused: bool) -> None:
        remarks = said(add("patch", class_type, **inputs), setting=Setting(device=BLACKWELL, lock="exact"))
        assert any("quantized" in one for one in by_level(remarks, "refuse")) is refused

    @pytest.mark.parametrize("flag", ["--use-sage-attention", "--use-ck-attention"])
    def test_by_the_server_s_flags(self, flag: str) -> None:
        remarks = said(setting=Setting(device=BLACKWELL, argv=("main.py", flag), lock="exact"))
        (refused,) = by_level(remarks, "refuse")
        assert f"start the server without {flag}" in refused

    @pytest.mark.parametrize(
        ("device", "refused"),
        [
            ("cuda:0 NVIDIA GeForce RTX 5090 : cudaMallocAsync", True),
            ("NVIDIA GeForce RTX 5070 Ti", True),
            ("NVIDIA GeForce RTX 3050", False),
            ("NVIDIA H200", False),
            ("NVIDIA RTX 5000 Ada Generation", False),
        ],
    )
    def test_which_cards(self, device: str, refused: bool) -> None:
        remarks = said(SAGE, setting=Setting(device=device, lock="exact"))
        assert bool(by_level(remarks, "refuse")) is refused

    def test_what_only_sounds_like_a_cache_is_none(self) -> None:
        for innocent in ("MiniMaxH3QwenReferencePrefixCacheT8Advanced", "MiniMaxH3LatentLabVRAMCacheCleanup"):
            assert by_level(said(add("x", innocent)), "refuse") == []
            assert innocent not in refused_nodes().step_caches.classes


class TestPacks:
    @pytest.mark.parametrize(("field", "value"), [("bank_pinned", 0), ("memory_frames", 1)])
    def test_an_unpinned_bank(self, field: str, value: int) -> None:
        remarks = said(put("sample", field, value), of="multishot-pinned")
        assert any("84 to 92 %" in one for one in by_level(remarks, "refuse"))

    def test_a_chain(self) -> None:
        remarks = said(put("sample", "continuity", "seamless"), of="multishot-pinned")
        assert any("chained to the shot before" in one for one in by_level(remarks, "warn"))

    @pytest.mark.parametrize(
        ("field", "value"),
        [("refine_enabled", True), ("latent_hires_enabled", True), ("attention_mode", "auto")],
    )
    def test_longmedia_s_own_ideas(self, field: str, value: Any) -> None:
        assert by_level(said(put("sample", field, value), of="longmedia-lip-sync"), "warn")

    @pytest.mark.parametrize(
        ("of", "node", "field", "value"),
        [("t8-lock-source", "cond", "audio_mode", "reference_only"),
         ("t8-lock-source", "cond", "audio_mode", "remix_source"),
         ("longmedia-lip-sync", "setup", "audio_mode", "reference_only")],
    )  # fmt: skip
    def test_a_mode_that_does_not_lock(self, of: str, node: str, field: str, value: str) -> None:
        refused = by_level(said(put(node, field, value), of=of), "refuse")
        assert any(f"audio_mode is {value}" in one for one in refused)

    @pytest.mark.parametrize(
        ("of", "node", "field"),
        [("t8-lock-source", "cond", "drive_audio"), ("longmedia-lip-sync", "setup", "audio_1"),
         ("multishot-pinned", "sample", "guide_audio"), ("vrgdg-audio-drive", "drive", "source_audio")],
    )  # fmt: skip
    def test_a_lock_without_its_sound(self, of: str, node: str, field: str) -> None:
        refused = by_level(said(lambda g: g[node]["inputs"].pop(field), of=of), "refuse")
        assert any(f"{field} is not linked" in one for one in refused)


class TestAnyGraph:
    def test_the_same_nodes_under_other_ids(self) -> None:
        graph = filled("native-ref2va", sampler="res_multistep")
        ids = {old: str(i) for i, old in enumerate(graph)}
        other = {
            ids[node_id]: {
                "class_type": node["class_type"],
                "inputs": {
                    k: [ids[v[0]], v[1]] if isinstance(v, list) else v for k, v in node["inputs"].items()
                },
            }
            for node_id, node in graph.items()
        }
        remarks = judge(other)
        assert any("flickers" in one for one in by_level(remarks, "refuse"))
        assert any("lock: exact" in one for one in by_level(remarks, "note"))

    def test_values_from_primitives_are_seen(self) -> None:
        def plant(graph: Graph) -> None:
            graph["p"] = {"class_type": "PrimitiveInt", "inputs": {"value": 8}}
            graph["sigmas"]["inputs"]["steps"] = ["p", 0]

        assert any("8 steps are 8 model calls" in one for one in by_level(said(plant), "refuse"))

    def test_values_that_are_computed_are_not_guessed(self) -> None:
        remarks = said(put("sigmas", "steps", ["elsewhere", 0]))
        assert by_level(remarks, "refuse") == by_level(remarks, "warn") == []

    def test_an_inverted_mask(self) -> None:
        def plant(graph: Graph) -> None:
            graph["zero"]["inputs"]["value"] = 1.0
            graph["inverted"] = {"class_type": "InvertMask", "inputs": {"mask": ["zero", 0]}}
            graph["vocal_kept"]["inputs"]["mask"] = ["inverted", 0]

        assert by_level(said(plant), "refuse") == []

    def test_a_lock_that_cannot_be_seen_is_a_warning(self) -> None:
        def plant(graph: Graph) -> None:
            graph["odd"] = {"class_type": "SomeLatent", "inputs": {"latent": ["av", 0]}}
            graph["sample"]["inputs"]["latent_image"] = ["odd", 0]

        (warning,) = by_level(said(plant), "warn")
        assert "SomeLatent: not a node whose latent is known: render a canary" in warning

    def test_a_lock_nobody_claimed_is_noted(self) -> None:
        (note,) = by_level(said(setting=Setting(device=ADA, lock="none")), "note")
        assert "said to be none, and yet the encoded sound under a mask of zero" in note

    def test_a_graph_without_a_sampler(self) -> None:
        (warning,) = by_level(judge({"a": {"class_type": "SaveImage", "inputs": {}}}), "warn")
        assert "no node that samples" in warning

    def test_a_sampler_of_something_else(self) -> None:
        graph: Graph = {"k": {"class_type": "KSampler", "inputs": {"steps": 4, "cfg": 1.0}}}
        assert any("no conditioning of H3" in one for one in by_level(judge(graph), "warn"))

    def test_circles_end(self) -> None:
        def plant(graph: Graph) -> None:
            graph["lora"]["inputs"]["model"] = ["shift", 0]
            graph["count"] = {"class_type": "MiniMaxH3TokenCounter", "inputs": {"samples": ["count", 0]}}
            graph["sample"]["inputs"]["latent_image"] = ["count", 0]
            graph["zero"] = {"class_type": "InvertMask", "inputs": {"mask": ["zero", 0]}}

        assert said(plant)

    def test_song_mask_of_another_pack(self) -> None:
        """The context pack's node, which no template of ours uses."""

        def plant(graph: Graph) -> None:
            graph["ctx"] = {
                "class_type": "MiniMaxH3SongMaskedAVContext",
                "inputs": {
                    "latent": ["cond", 1],
                    "master_audio": ["vocal", 0],
                    "audio_vae": ["audio_vae", 0],
                },
            }
            graph["sample"]["inputs"]["latent_image"] = ["ctx", 0]

        assert by_level(said(plant), "refuse") == []

    def test_add_guide_is_no_lock(self) -> None:
        def plant(graph: Graph) -> None:
            graph["guide"] = {
                "class_type": "MiniMaxH3AddGuide",
                "inputs": {
                    "positive": ["cond", 0],
                    "latent": ["cond", 1],
                    "audio": ["vocal", 0],
                    "frame_idx": 0,
                },
            }
            graph["guider"]["inputs"]["conditioning"] = ["guide", 0]
            graph["sample"]["inputs"]["latent_image"] = ["cond", 1]

        assert any("made anew" in one for one in by_level(said(plant), "refuse"))
