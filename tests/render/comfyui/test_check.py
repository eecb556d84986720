"""Every fault that a server lets through, or refuses only after minutes, is found before anything is sent."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from mvpipe.errors import GraphRejected
from mvpipe.render.comfyui.check import Fault, check
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.model_files import known_files, missing_files, placed_files, said_missing
from mvpipe.render.comfyui.profiles import known
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.template import names
from tests.render.comfyui.servers import VERSIONS, classes, filled, loaded, object_info

Plant = Callable[[Graph], Any]


def faults(plant: Plant, version: str = VERSIONS[0]) -> list[Fault]:
    graph = filled("native-ref2va", version)
    plant(graph)
    return check(graph, classes(version))


def put(node: str, field: str, value: Any) -> Plant:
    return lambda graph: graph[node]["inputs"].__setitem__(field, value)


def away(node: str, field: str) -> Plant:
    return lambda graph: graph[node]["inputs"].pop(field)


def renamed(node: str, old: str, new: str) -> Plant:
    def plant(graph: Graph) -> None:
        inputs = graph[node]["inputs"]
        inputs[new] = inputs.pop(old)

    return plant


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("lora", [True, False])
@pytest.mark.parametrize("vocals", ["mvpipe/voice.wav", None])
@pytest.mark.parametrize("name", names())
def test_every_template_fits_both_servers(name: str, version: str, lora: bool, vocals: str | None) -> None:
    changes: dict[str, Any] = {"vocals": vocals} | ({} if lora else {"lora": None})
    assert check(filled(name, version, **changes), classes(version)) == []


# What h3.md 0 and 1 and the protocol's section 4 ("what is not refused") say, one each:
# what is planted, the node and input that are named, a word of the reason, the nearest that would do.
PLANTED: dict[str, tuple[Plant, str, str, str, str]] = {
    "picture without its group": (
        renamed("cond", "ref_images.ref_image_0", "ref_image_0"),
        "cond", "ref_image_0", "without its group", "ref_images.ref_image_0",
    ),
    "picture by another name": (
        renamed("cond", "ref_images.ref_image_0", "ref_images.image_1"),
        "cond", "ref_images.image_1", "not one of the group's 9", "ref_images.ref_image_0 .. ",
    ),
    "one-based, past the last": (
        renamed("cond", "ref_images.ref_image_0", "ref_images.ref_image_9"),
        "cond", "ref_images.ref_image_9", "not one of the group's 9", "ref_images.ref_image_8",
    ),
    "fourth audio": (
        renamed("cond", "ref_audios.ref_audio_0", "ref_audios.ref_audio_3"),
        "cond", "ref_audios.ref_audio_3", "not one of the group's 3", "ref_audios.ref_audio_2",
    ),
    "group as an object": (
        put("cond", "ref_images", {"ref_image_0": ["picture", 0]}),
        "cond", "ref_images", "drop it without a word", "ref_images.ref_image_0",
    ),
    "unknown link": (
        renamed("sample", "latent_image", "latent"), "sample", "latent", "after the models", "latent_image",
    ),
    "unknown constant": (put("cond", "lenght", 124), "cond", "lenght", "ignored", "length"),
    "missing": (away("cond", "audio_vae"), "cond", "audio_vae", "missing", ""),
    "missing, with a default": (away("sigmas", "denoise"), "sigmas", "denoise", "missing", "1.0"),
    "unknown class": (
        lambda graph: graph["shift"].__setitem__("class_type", "MiniMaxH3SigmaShft"),
        "shift", "", "no such class", "MiniMaxH3SigmaShift",
    ),
    "text for a whole number": (put("cond", "width", "352"), "cond", "width", "INT is wanted", ""),
    "fraction for a whole number": (put("cond", "length", 39.7), "cond", "length", "INT is wanted", ""),
    "truth for a number": (put("sigmas", "steps", True), "sigmas", "steps", "INT is wanted", ""),
    "number for text": (put("cond", "prompt", 7), "cond", "prompt", "STRING is wanted", ""),
    "too long": (put("cond", "length", 4000), "cond", "length", "too large", "3600"),
    "too small": (put("zero", "value", -0.5), "zero", "value", "too small", "0"),
    "encoder type": (put("clip", "type", "minimax_h3"), "clip", "type", "none of its", "minimax"),
    "sampler": (put("sampler", "sampler_name", "eular"), "sampler", "sampler_name", "none of its", "euler"),
    "absent file": (
        put("unet", "unet_name", "minimax_h3_ref2va_pruned_int8_convort.safetensors"),
        "unet", "unet_name", "none of its", "minimax_h3_ref2va_pruned_int8_convrot.safetensors",
    ),
    "format": (put("save", "format", "nope"), "save", "format", "none of its", "auto, mp4, mkv, webm"),
    "codec": (put("save", "format.codec", "nope"), "save", "format.codec", "none of its", ""),
    "what another choice brings": (
        put("save", "format.codec.encoding.crf", 20), "save", "format.codec.encoding.crf", "ignored", "",
    ),
    "mask for a picture": (
        put("cond", "ref_images.ref_image_0", ["picture", 1]),
        "cond", "ref_images.ref_image_0", "MASK of node picture", "output 0",
    ),
    "sound for a picture": (
        put("cond", "ref_images.ref_image_0", ["vocal", 0]), "cond", "ref_images.ref_image_0", "AUDIO", "",
    ),
    "absent output": (put("guider", "model", ["shift", 1]), "guider", "model", "has 1", "output 0"),
    "negative output": (put("guider", "model", ["shift", -1]), "guider", "model", "has 1", "output 0"),
    "node that is not there": (put("guider", "model", ["shfit", 0]), "guider", "model", "not there", "shift"),
    "node by a number": (put("guider", "model", [5, 0]), "guider", "model", "neither", ""),
    "constant for a link": (put("guider", "model", "shift"), "guider", "model", "a link to MODEL", ""),
    "no output": (
        lambda graph: graph.pop("save"), "", "", "no output node", "",
    ),
    "cycle": (put("lora", "model", ["shift", 0]), "lora", "", "depends on itself", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named(name: str) -> None:
    plant, node, field, reason, nearest = PLANTED[name]
    hit = [fault for fault in faults(plant) if (fault.node, fault.field) == (node, field)]
    assert hit, faults(plant)
    assert hit[0].fatal
    assert reason in hit[0].says
    assert nearest in hit[0].nearest


def test_one_fault_is_one_fault() -> None:
    for name in ("unknown constant", "too long", "format", "missing", "no output"):
        assert len(faults(PLANTED[name][0])) == 1


@pytest.mark.parametrize(
    ("field", "value", "nearest"), [("length", 120, "107 or 124"), ("width", 161, "160 or 192")]
)
def test_what_the_node_would_round_is_said_and_not_fatal(field: str, value: int, nearest: str) -> None:
    (fault,) = faults(put("cond", field, value))
    assert (fault.field, fault.nearest, fault.fatal) == (field, nearest, False)


def test_the_later_core_takes_a_reference_without_vaes() -> None:
    assert faults(away("cond", "audio_vae"), VERSIONS[1]) == []


def test_a_picture_fits_the_later_union() -> None:
    specs = classes(VERSIONS[1])["MiniMaxH3ReferenceToVideo"].inputs({})
    assert specs["ref_images.ref_image_8"].types == {"IMAGE", "MINIMAX_H3_REFERENCE_IMAGE"}
    assert "ref_images.ref_image_9" not in specs


def test_the_old_dialect_reads_the_same() -> None:
    """V1 choices, in which the type is the list, against V3's."""
    info = copy.deepcopy(object_info())
    choice = info["KSamplerSelect"]["input"]["required"]["sampler_name"]
    info["KSamplerSelect"]["input"]["required"]["sampler_name"] = [choice[1]["options"]]
    old = read_schemas(info)["KSamplerSelect"].inputs({})["sampler_name"]
    assert old == classes()["KSamplerSelect"].inputs({})["sampler_name"]


def test_a_bare_type_and_named_slots_can_be_read() -> None:
    group = {
        "template": {"input": {"required": {"text": ["STRING", {}]}}, "names": ["title", "body"], "min": 1}
    }
    record = {
        "input": {"required": {"any": "*", "texts": ["COMFY_AUTOGROW_V3", group]}, "optional": None},
        "output": ["*"],
        "output_node": True,
    }
    specs = read_schemas({"Odd": record})["Odd"].inputs({})
    assert list(specs) == ["any", "texts.title", "texts.body"]
    assert [spec.required for spec in specs.values()] == [True, True, False]


@pytest.mark.parametrize(
    "record", [[], {}, {"input": 3, "output": []}, {"input": {"required": {"a": []}}, "output": []}]
)
def test_what_is_no_schema_is_refused(record: Any) -> None:
    with pytest.raises(GraphRejected, match="object_info: Odd"):
        read_schemas({"Odd": record})


def test_what_the_editor_leaves_behind_is_no_fault() -> None:
    assert faults(put("vocal", "audioUI", "")) == faults(put("picture", "upload", "image")) == []
    assert faults(put("save", "videopreview", {"hidden": False})) == []


def odd(graph: Graph, **inputs: Any) -> list[Fault]:
    """A node of some pack, with a choice of many and a widget of the pack's own."""
    required = {
        "many": ["COMBO", {"options": ["a", "b", "c"], "multiselect": True}],
        "curve": ["SOMEBODYS_CURVE", {}],
        "wired": ["STRING", {"forceInput": True}],
    }
    record = {"input": {"required": required}, "output": ["IMAGE"], "output_node": False}
    schemas = {**classes(), **read_schemas({"Odd": record})}
    values = {"many": ["a", "c"], "curve": {"points": [1, 2]}, "wired": ["text", 0], **inputs}
    text = {"class_type": "PrimitiveStringMultiline", "inputs": {"value": "x"}}
    return check({**graph, "text": text, "odd": {"class_type": "Odd", "inputs": values}}, schemas)


def test_a_pack_s_own_widgets_are_let_be() -> None:
    graph = filled("native-ref2va")
    assert odd(graph) == []
    assert odd(graph, curve={"__value__": [1, 2]}) == []
    assert ["many" in str(fault) for fault in odd(graph, many=["a", "x"])] == [True]
    assert ["a link to STRING" in str(fault) for fault in odd(graph, wired="x")] == [True]
    assert ["a link to" in str(fault) for fault in faults(put("guider", "model", {"model": 1}))] == [True]


def test_files_in_subfolders_are_found_by_their_base_name() -> None:
    info = copy.deepcopy(object_info())
    unet = info["UNETLoader"]["input"]["required"]["unet_name"]
    unet[0] = [f"h3\\{name}" for name in unet[0]]
    schemas, graph = read_schemas(info), filled("native-ref2va")
    wanted = graph["unet"]["inputs"]["unet_name"]
    (fault,) = check(graph, schemas)
    assert fault.nearest == f"h3\\{wanted}"
    placed = placed_files(graph, schemas)
    assert placed["unet"]["inputs"]["unet_name"] == f"h3\\{wanted}"
    assert check(placed, schemas) == []
    assert missing_files(graph, schemas) == []


def test_a_file_in_two_folders_is_not_chosen_between() -> None:
    info = copy.deepcopy(object_info())
    unet = info["UNETLoader"]["input"]["required"]["unet_name"]
    graph = filled("native-ref2va")
    name = graph["unet"]["inputs"]["unet_name"]
    unet[0] = [f"a/{name}", f"b/{name}"]
    assert placed_files(graph, read_schemas(info)) == graph
    assert missing_files(graph, read_schemas(info)) == [("unet", "unet_name", name)]


def test_missing_files_are_said_with_folder_and_size() -> None:
    info = copy.deepcopy(object_info())
    info["UNETLoader"]["input"]["required"]["unet_name"][0] = []
    info["VAELoader"]["input"]["required"]["vae_name"][0] = ["h3/minimax_h3_audio_vae_fp32.safetensors"]
    graph = filled("native-ref2va", lora="mine.safetensors")
    assert said_missing(graph, read_schemas(info)) == [
        "minimax_h3_ref2va_pruned_int8_convrot.safetensors: not on this server: goes to "
        "models/diffusion_models, 19.53 GB",
        "minimax_h3_video_vae_int8_convrot.safetensors: not on this server: goes to models/vae, 2.62 GB",
        "mine.safetensors: not on this server: goes to models/loras",
    ]


def test_every_file_our_templates_and_profiles_name_is_known() -> None:
    named = {
        loaded(name).default(slot) for name in names() for slot in FILE_SLOTS if loaded(name).takes(slot)
    }
    named |= {profile.lora for profile in known().profiles.values() if profile.lora}
    assert named <= known_files().files.keys()


FILE_SLOTS = ("weights", "text_encoder", "video_vae", "audio_vae", "lora")


def test_uploads_may_lie_in_folders_and_need_not_be_there_yet() -> None:
    graph = filled("native-ref2va", pictures=["mvpipe/not-yet.png", "there.png [input]"])
    assert check(graph, classes()) == []


def test_a_fault_in_words() -> None:
    (fault,) = faults(put("cond", "length", 4000))
    assert str(fault) == "node cond (MiniMaxH3ReferenceToVideo): length: 4000 is too large; nearest: 3600"
    assert str(faults(lambda graph: graph.pop("save"))[0]) == "graph: no output node: nothing would be run"


def test_a_long_chain_with_a_cycle_at_its_root_names_the_cycle_alone() -> None:
    found = faults(put("lora", "model", ["shift", 0]))
    assert sorted(fault.node for fault in found) == ["lora", "shift"]


def test_the_schemas_are_those_of_the_reference() -> None:
    """A few literal facts, so that the stand-in's data cannot drift from what was measured."""
    specs = classes()["MiniMaxH3ReferenceToVideo"].inputs({})
    assert (specs["length"].least, specs["length"].most, specs["length"].step) == (5, 3600, 17)
    assert json.dumps(sorted(name for name in specs if name.startswith("ref_audios"))) == json.dumps(
        ["ref_audios.ref_audio_0", "ref_audios.ref_audio_1", "ref_audios.ref_audio_2"]
    )
