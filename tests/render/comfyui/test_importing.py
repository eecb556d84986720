"""Graphs of one's own: slots are proposed for them, from API format and from what the editor saves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.check import check
from mvpipe.render.comfyui.filling import fill
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.importing import Proposal, propose
from mvpipe.render.comfyui.judge import judge, setting_of
from mvpipe.render.comfyui.template import SLOTS, Template, load, names
from tests.render.comfyui.editor import Workflow, as_written, between, node, saved, socket
from tests.render.comfyui.servers import VALUES, classes, filled, loaded

HERE = Path("mine.json")


def proposed(graph: Any) -> Proposal:
    return propose(graph, HERE, classes())


def imported(found: Proposal, folder: Path) -> Template:
    """As it is once its two files are written."""
    (folder / "mine.json").write_text(json.dumps(found.graph), "utf-8")
    (folder / f"mine{SLOTS}").write_text(found.text, "utf-8")
    return load(folder / "mine.json")


class TestOurOwn:
    """What is proposed for a template is what stands in its slots file."""

    @pytest.mark.parametrize("name", names())
    def test_the_same_slots(self, name: str) -> None:
        ours, found = loaded(name).slots, proposed(loaded(name).graph)
        differ = {slot for slot in ours.slots if ours.slots[slot] != found.slots.slots.get(slot)}
        by_hand = {
            "longmedia-lip-sync": {"pictures", "width"},
            "native-ref2va-gguf": {"weights"},
            "multishot-pinned": {"start_picture"},  # whether shots may be chained is for its user to say
        }
        assert differ == by_hand.get(name, set())
        assert found.slots.lock == ours.lock
        assert found.slots.outputs == ours.outputs

    @pytest.mark.parametrize("vocals", ["mvpipe/voice.wav", None])
    @pytest.mark.parametrize("name", names())
    def test_it_can_be_filled_and_fits_the_server(
        self, name: str, vocals: str | None, tmp_path: Path
    ) -> None:
        found = imported(proposed(loaded(name).graph), tmp_path)
        values = {slot: value for slot, value in VALUES.items() if found.takes(slot)} | {"vocals": vocals}
        graph = fill(found, values)
        assert check(graph, classes()) == []
        assert [one for one in judge(graph, setting_of(found, values)) if one.level == "refuse"] == []

    @pytest.mark.parametrize("name", names())
    def test_from_the_editor_it_is_the_same_graph(self, name: str) -> None:
        graph = loaded(name).graph
        found = proposed(saved(graph, classes()))
        assert as_written(found.graph, graph) == graph
        assert check(found.graph, classes()) == []
        assert found.slots == proposed(graph).slots


Change = Callable[[Graph], Any]


def changed(change: Change, of: str = "native-ref2va") -> Proposal:
    graph = filled(of)
    change(graph)
    return proposed(graph)


class TestOthers:
    def test_ids_are_free_text(self) -> None:
        graph = filled("native-ref2va")
        ids = {old: str(17 + i) for i, old in enumerate(graph)}
        other = {
            ids[old]: {
                "class_type": one["class_type"],
                "inputs": {
                    k: [ids[v[0]], v[1]] if isinstance(v, list) else v for k, v in one["inputs"].items()
                },
                "_meta": {"title": "A title"},
            }
            for old, one in graph.items()
        }
        slots = proposed(other).slots.slots
        assert slots["prompt"].at == ((ids["cond"], "prompt"),)
        assert slots["vocals"].at == ((ids["vocal"], "audio"),)

    def test_a_value_from_a_primitive_is_filled_there(self) -> None:
        def change(graph: Graph) -> None:
            graph["text"] = {"class_type": "PrimitiveStringMultiline", "inputs": {"value": "a prompt"}}
            graph["cond"]["inputs"]["prompt"] = ["text", 0]

        assert changed(change).slots.slots["prompt"].at == (("text", "value"),)

    def test_the_take_gets_the_sampled_sound(self) -> None:
        def change(graph: Graph) -> None:
            del graph["sound"]
            graph["song"] = {"class_type": "LoadAudio", "inputs": {"audio": "song.wav"}}
            graph["video"]["inputs"]["audio"] = ["song", 0]

        found = changed(change)
        assert found.graph["video"]["inputs"]["audio"] == ["sampled_sound", 0]
        assert found.graph["sampled_sound"]["inputs"] == {"samples": ["sample", 0], "vae": ["audio_vae", 0]}
        assert any(note.startswith("sound: changed") for note in found.notes)
        assert check(found.graph, classes()) == []

    def test_a_film_without_sound_gets_it_too(self) -> None:
        found = changed(lambda graph: graph["video"]["inputs"].pop("audio"))
        assert found.graph["video"]["inputs"]["audio"] == ["sampled_sound", 0]

    @pytest.mark.parametrize("many", [0, 1, 3])
    def test_pictures_grow_from_however_many_there_are(self, many: int, tmp_path: Path) -> None:
        found = proposed(filled("native-ref2va", pictures=[f"p{i}.png" for i in range(many)]))
        if not many:
            assert any(note.startswith("pictures: not found") for note in found.notes)
            return
        graph = fill(imported(found, tmp_path), {**VALUES, "pictures": ["a.png", "b.png"]})
        assert [n["inputs"]["image"] for n in graph.values() if n["class_type"] == "LoadImage"] == [
            "a.png",
            "b.png",
        ]

    def test_a_picture_that_is_scaled_on_its_way_is_told_of(self) -> None:
        def change(graph: Graph) -> None:
            graph["scale"] = {"class_type": "ImageScale", "inputs": {"image": ["picture", 0]}}
            graph["cond"]["inputs"]["ref_images.ref_image_0"] = ["scale", 0]

        found = changed(change)
        assert "pictures" not in found.slots.slots
        assert any("comes from node scale (ImageScale)" in note for note in found.notes)

    def test_a_vocal_that_is_trimmed_on_its_way_is_told_of(self) -> None:
        def change(graph: Graph) -> None:
            graph["trim"] = {"class_type": "TrimAudioDuration", "inputs": {"audio": ["vocal", 0]}}
            graph["vocal_latent"]["inputs"]["audio"] = ["trim", 0]

        found = changed(change)
        assert found.slots.slots["vocals"].at == (("vocal", "audio"),)
        assert any("node trim (TrimAudioDuration) changes the sound" in note for note in found.notes)

    def test_a_node_that_cuts_a_whole_song_is_sent_the_window(self) -> None:
        def change(graph: Graph) -> None:
            graph["whole"] = {"class_type": "LoadAudio", "inputs": {"audio": "song.wav"}}
            graph["ctx"] = {
                "class_type": "MiniMaxH3SongMaskedAVContext",
                "inputs": {
                    "latent": ["cond", 1], "master_audio": ["whole", 0], "audio_vae": ["audio_vae", 0],
                    "clip_start_seconds": 10.0, "context_length": 39, "source_fps": 24.0, "crop": "disabled",
                },
            }  # fmt: skip
            graph["sample"]["inputs"]["latent_image"] = ["ctx", 0]

        found = changed(change)
        assert found.graph["ctx"]["inputs"]["clip_start_seconds"] == 0.0
        assert found.slots.slots["vocals"].at == (("whole", "audio"),)
        assert (
            "vocals: changed: node ctx cuts at 0 s, for it is sent the window and not the song" in found.notes
        )
        assert "node vocal (LoadAudio): keeps its file, which the server must have" in found.notes

    @pytest.mark.parametrize("keyframe", [False, True])
    def test_a_guide_is_taken_out_with_the_vocal_unless_it_brings_a_picture(self, keyframe: bool) -> None:
        def change(graph: Graph) -> None:
            picture = {"image": ["picture", 0], "vae": ["video_vae", 0]} if keyframe else {}
            graph["guide"] = {
                "class_type": "MiniMaxH3AddGuide",
                "inputs": {
                    "positive": ["cond", 0], "latent": ["cond", 1], "frame_idx": 0,
                    "audio": ["vocal", 0], "audio_vae": ["audio_vae", 0], **picture,
                },
            }  # fmt: skip
            graph["guider"]["inputs"]["conditioning"] = ["guide", 0]
            graph["sample"]["inputs"]["latent_image"] = ["cond", 1]

        without = changed(change).slots.slots["vocals"].without
        if keyframe:
            assert without is None
        else:
            assert without is not None
            assert without.bypass == (("guide", "positive"),)

    @pytest.mark.parametrize(
        ("of", "link"), [("longmedia-lip-sync", ["frames", 1]), ("multishot-pinned", ["sample", 1])]
    )
    def test_packs_give_the_sampled_sound_themselves(self, of: str, link: list[Any]) -> None:
        def change(graph: Graph) -> None:
            graph["song"] = {"class_type": "LoadAudio", "inputs": {"audio": "song.wav"}}
            graph["video"]["inputs"]["audio"] = ["song", 0]

        assert changed(change, of).graph["video"]["inputs"]["audio"] == link

    def test_two_sounds_are_not_chosen_between(self) -> None:
        def change(graph: Graph) -> None:
            graph["other"] = {"class_type": "LoadAudio", "inputs": {"audio": "b.wav"}}
            graph["both"] = {
                "class_type": "AudioMerge",
                "inputs": {"audio1": ["vocal", 0], "audio2": ["other", 0], "merge_method": "add"},
            }
            graph["vocal_latent"]["inputs"]["audio"] = ["both", 0]

        found = changed(change)
        assert "vocals" not in found.slots.slots
        assert any(note.startswith("vocals: 2 sounds might be") for note in found.notes)

    def test_without_a_lora(self) -> None:
        found = proposed(filled("native-ref2va", lora=None))
        assert "lora" not in found.slots.slots
        assert any(note.startswith("lora: none") for note in found.notes)

    def test_of_two_loras_the_turbo(self) -> None:
        def change(graph: Graph) -> None:
            graph["style"] = {
                "class_type": "LoraLoaderModelOnly",
                "inputs": {"model": ["lora", 0], "lora_name": "rain.safetensors", "strength_model": 0.7},
            }
            graph["shift"]["inputs"]["model"] = ["style", 0]

        found = changed(change)
        assert found.slots.slots["lora"].at == (("lora", "lora_name"),)
        assert any("lora: 2 in the graph: node lora is filled" in note for note in found.notes)

    def test_a_lora_over_the_text_encoder_too_cannot_be_left_out(self) -> None:
        def change(graph: Graph) -> None:
            inputs = {**graph["lora"]["inputs"], "clip": ["clip", 0], "strength_clip": 1.0}
            graph["lora"] = {"class_type": "LoraLoader", "inputs": inputs}
            graph["cond"]["inputs"]["clip"] = ["lora", 1]

        found = changed(change)
        assert found.slots.slots["lora"].without is None
        assert any("it cannot be left out" in note for note in found.notes)

    def test_a_lock_that_is_none_is_not_called_one(self) -> None:
        found = changed(lambda graph: graph["sample"]["inputs"].update(latent_image=["cond", 1]))
        assert found.slots.lock == "none"
        assert "made anew" in found.slots.lock_note

    @pytest.mark.parametrize(
        ("graph", "says"),
        [
            ({"a": {"class_type": "LoadImage", "inputs": {"image": "a.png"}}}, "no node that saves a film"),
            ([], "not a graph"),
            ({"a": 1}, "node a: without class_type"),
        ],
    )
    def test_what_is_no_graph_for_a_film(self, graph: Any, says: str) -> None:
        with pytest.raises(SettingsError, match=f"mine.json: .*{says}"):
            proposed(graph)

    def test_two_films(self) -> None:
        def change(graph: Graph) -> None:
            graph["save_2"] = json.loads(json.dumps(graph["save"]))

        with pytest.raises(SettingsError, match="2 nodes save a film: save, save_2"):
            changed(change)


NATIVE = filled("native-ref2va")


class TestTheEditorsFiles:
    @pytest.fixture
    def flow(self) -> Workflow:
        return saved(filled("native-ref2va"), classes())

    def test_without_a_server_they_cannot_be_read(self, flow: Workflow) -> None:
        with pytest.raises(SettingsError, match="known to a server only") as caught:
            propose(flow, HERE)
        assert "Export (API)" in caught.value.hint

    def test_links_as_objects(self, flow: Workflow) -> None:
        keys = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
        flow["links"] = [dict(zip(keys, link, strict=True)) for link in flow["links"]]
        assert as_written(proposed(flow).graph, NATIVE) == NATIVE

    def test_values_by_name(self, flow: Workflow) -> None:
        node(flow, "sigmas")["widgets_values"] = {
            "scheduler": "simple",
            "steps": 4,
            "denoise": 1.0,
            "button": None,
        }
        assert as_written(proposed(flow).graph, NATIVE) == NATIVE

    def test_reroutes_are_passed(self, flow: Workflow) -> None:
        between(flow, "guider", "model", "Reroute")
        between(flow, "guider", "model", "Reroute")
        assert as_written(proposed(flow).graph, NATIVE) == NATIVE

    def test_a_primitive_is_its_value(self, flow: Workflow) -> None:
        flow["nodes"].append(
            {"id": 77, "type": "PrimitiveNode", "widgets_values": [11, "fixed"], "outputs": []}
        )
        flow["links"].append([500, 77, 0, "sigmas", 9, "INT"])
        node(flow, "sigmas")["inputs"].append({"name": "steps", "type": "INT", "link": 500})
        assert proposed(flow).graph["sigmas"]["inputs"]["steps"] == 11

    def test_a_bypassed_lora_hands_the_model_on(self, flow: Workflow) -> None:
        node(flow, "lora")["mode"] = 4
        graph = proposed(flow).graph
        assert "lora" not in graph
        assert graph["shift"]["inputs"]["model"] == ["unet", 0]

    def test_a_bypassed_loader_hands_nothing_on(self, flow: Workflow) -> None:
        node(flow, "picture")["mode"] = 4
        assert "ref_images.ref_image_0" not in proposed(flow).graph["cond"]["inputs"]

    def test_a_muted_node_is_not_there(self, flow: Workflow) -> None:
        node(flow, "picture")["mode"] = 2
        graph = proposed(flow).graph
        assert "picture" not in graph
        assert "ref_images.ref_image_0" not in graph["cond"]["inputs"]

    def test_notes_and_what_no_output_needs_are_left_out(self, flow: Workflow) -> None:
        flow["nodes"] += [{"id": 1, "type": "Note", "widgets_values": ["hello"]},
                          {"id": 2, "type": "SomebodysNode", "widgets_values": [1, 2]}]  # fmt: skip
        assert as_written(proposed(flow).graph, NATIVE) == NATIVE

    def test_a_seed_without_its_control(self, flow: Workflow) -> None:
        node(flow, "noise")["widgets_values"] = [7]
        assert as_written(proposed(flow).graph, NATIVE) == NATIVE

    def test_a_text_that_reads_like_a_control_is_not_eaten(self, flow: Workflow) -> None:
        node(flow, "cond")["widgets_values"][0] = "fixed"
        assert proposed(flow).graph["cond"]["inputs"]["prompt"] == "fixed"

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda f: f.update(definitions={"subgraphs": [{}]}), "subgraphs: cannot be unfolded"),
            (lambda f: node(f, "unet").update(type="SomebodysLoader"), "the server has no such class"),
            (
                lambda f: node(f, "sigmas")["widgets_values"].append(3),
                "1 values more than its class has here",
            ),
            (lambda f: node(f, "sigmas")["widgets_values"].pop(), "denoise: no value for it"),
            (lambda f: node(f, "sigmas")["widgets_values"].reverse(), "made with another version"),
            (
                lambda f: node(f, "sampler").update(widgets_values=["eular"]),
                "sampler_name: 'eular': made with",
            ),
            (lambda f: f["links"].pop(0), "link 1: not in the file"),
            (lambda f: f["nodes"].remove(node(f, "unet")), "comes from node unet, which is not there"),
            (lambda f: f["nodes"].remove(node(f, "save")), "no output node that this server knows"),
            (lambda f: f["nodes"].append({"type": "Note"}), "a node without id or type"),
            (lambda f: f.update(links=[[1]]), "links that cannot be read"),
        ],
    )
    def test_what_cannot_be_done_soundly_is_refused(
        self, flow: Workflow, change: Callable[[Workflow], Any], says: str
    ) -> None:
        change(flow)
        with pytest.raises(SettingsError, match=re.escape(says)) as caught:
            proposed(flow)
        assert "Export (API)" in caught.value.hint

    def test_a_circle_of_reroutes_ends(self, flow: Workflow) -> None:
        new = between(flow, "guider", "model", "Reroute")
        new["inputs"][0]["link"] = socket(flow, "guider", "model")["link"]
        with pytest.raises(SettingsError, match="which is not there"):
            proposed(flow)
