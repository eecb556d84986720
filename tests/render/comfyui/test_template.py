"""Templates are found, read and filled; what is wrong with one is said with file and field."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from mvpipe.errors import GraphRejected, SettingsError
from mvpipe.render.comfyui import graph as graphs
from mvpipe.render.comfyui import template as templates
from mvpipe.render.comfyui.check import check
from mvpipe.render.comfyui.filling import fill, finished, put, with_loaders
from mvpipe.render.comfyui.graph import bypass, renamed_files
from mvpipe.render.comfyui.judge import judge, setting_of
from mvpipe.render.comfyui.template import SLOTS, clashes, load, names
from mvpipe.tools import shipped
from tests.render.comfyui.golden import HERE, golden_graph, golden_references, written
from tests.render.comfyui.servers import VALUES, VERSIONS, classes, filled

SMALL = {
    "load": {"class_type": "LoadAudio", "inputs": {"audio": "a.wav"}, "_meta": {"title": "The voice"}},
    "save": {"class_type": "SaveAudio", "inputs": {"audio": ["load", 0], "filename_prefix": "x"}},
    "stray": {"class_type": "PreviewAudio", "inputs": {"audio": ["load", 0]}},
}
SMALL_SLOTS = """\
mvpipe-template: 1
title: Small
lock: none
outputs: [save]
slots:
  vocals: {is: sound, at: [[load, audio]]}
"""


def small(folder: Path, slots: str = SMALL_SLOTS, graph: object = SMALL) -> Path:
    path = folder / "small.json"
    path.write_text(graph if isinstance(graph, str) else json.dumps(graph), "utf-8")
    path.with_name(f"small{SLOTS}").write_text(slots, "utf-8")
    return path


class TestFilling:
    @pytest.mark.parametrize("name", names())
    def test_golden(self, name: str) -> None:
        assert written(golden_graph(name)) == (HERE / f"{name}.json").read_text("utf-8")

    def test_is_pure(self) -> None:
        found = load("native-ref2va")
        before = copy.deepcopy(found.graph)
        assert fill(found, VALUES) == fill(found, VALUES)
        assert found.graph == before

    def test_the_order_of_the_values_makes_no_difference(self) -> None:
        found = load("native-ref2va")
        wanted = {**VALUES, "lora": None, "lora_strength": 0.5}
        assert fill(found, wanted) == fill(found, dict(reversed(wanted.items())))

    @pytest.mark.parametrize("many", range(10))
    def test_pictures_grow_from_0_and_leave_nothing_behind(self, many: int) -> None:
        graph = filled("native-ref2va", pictures=[f"p{i}.png" for i in range(many)])
        wired = {k: v for k, v in graph["cond"]["inputs"].items() if k.startswith("ref_images")}
        assert list(wired) == [f"ref_images.ref_image_{i}" for i in range(many)]
        assert [graph[link[0]]["inputs"]["image"] for link in wired.values()] == [
            f"p{i}.png" for i in range(many)
        ]
        assert sum(node["class_type"] == "LoadImage" for node in graph.values()) == many

    @pytest.mark.parametrize("many", range(4))
    def test_films_grow_with_all_that_stands_between(self, many: int) -> None:
        graph = filled("native-ref2va", videos=[f"v{i}.mp4" for i in range(many)])
        wired = {k: v for k, v in graph["cond"]["inputs"].items() if k.startswith("ref_videos")}
        assert list(wired) == [f"ref_videos.ref_video_{i}" for i in range(many)]
        films = [graph[graph[link[0]]["inputs"]["video"][0]]["inputs"]["file"] for link in wired.values()]
        assert films == [f"v{i}.mp4" for i in range(many)]
        assert not any(name.startswith("ref_video_audios") for name in graph["cond"]["inputs"])
        for kind in ("LoadVideo", "GetVideoComponents"):
            assert sum(node["class_type"] == kind for node in graph.values()) == many

    @pytest.mark.parametrize(("name", "first"), [("native-ref2va", 1), ("t8-lock-source", 0)])
    def test_voices_grow_behind_the_vocal(self, name: str, first: int) -> None:
        graph = filled(name, voices=["a.wav", "b.wav"])
        inputs = graph["cond"]["inputs"]
        for number, file in ((first, "a.wav"), (first + 1, "b.wav")):
            node_id = inputs[f"ref_audios.ref_audio_{number}"][0]
            assert graph[node_id] == {"class_type": "LoadAudio", "inputs": {"audio": file}}
        vocal = inputs["ref_audios.ref_audio_0" if first else "drive_audio"]
        assert graph[vocal[0]]["inputs"]["audio"] == VALUES["vocals"]

    def test_all_kinds_together_golden(self) -> None:
        assert written(golden_references()) == (HERE / "references.json").read_text("utf-8")

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("name", [name for name in names() if load(name).takes("videos")])
    def test_all_kinds_together_fit_the_server(self, name: str, version: str) -> None:
        graph = filled(name, version, videos=["a.mp4"] * 3, voices=["b.wav"] * 2, pictures=["c.png"] * 9)
        assert check(graph, classes(version)) == []
        found = load(name)
        said = judge(graph, setting_of(found, VALUES))
        assert [str(one) for one in said if one.level == "refuse"] == []

    def test_longmedia_counts_from_1(self) -> None:
        graph = filled("longmedia-lip-sync", pictures=["a.png", "b.png"])
        assert {k for k in graph["setup"]["inputs"] if re.fullmatch(r"image_\d", k)} == {"image_1", "image_2"}

    @pytest.mark.parametrize(
        ("name", "many"), [("native-ref2va", 10), ("multishot-pinned", 2), ("longmedia-lip-sync", 0)]
    )
    def test_pictures_it_has_no_room_for(self, name: str, many: int) -> None:
        with pytest.raises(SettingsError, match=f"pictures: {many} pictures where it takes"):
            filled(name, pictures=["p.png"] * many)

    @pytest.mark.parametrize(
        ("frames", "seconds", "segment"),
        [(124, 5.0, 5.0), (141, 5.7, 6.0), (192, 7.8, 8.0), (362, 14.9, 15.0)],
    )
    def test_longmedia_is_given_seconds_that_round_up_to_the_frames(
        self, frames: int, seconds: float, segment: float
    ) -> None:
        inputs = filled("longmedia-lip-sync", length=frames)["setup"]["inputs"]
        assert (inputs["manual_duration"], inputs["segment_seconds"]) == (seconds, segment)
        assert frames - 17 < seconds * 24 <= frames

    @pytest.mark.parametrize("name", names())
    def test_without_a_lora_the_base_weights_reach_guider_and_scheduler(self, name: str) -> None:
        graph = filled(name, lora=None)
        assert not any("Lora" in node["class_type"] for node in graph.values())
        assert graph["shift"]["inputs"]["model"] == ["unet", 0]

    @pytest.mark.parametrize("name", names())
    def test_without_a_vocal_nothing_of_it_is_left(self, name: str) -> None:
        graph = filled(name, vocals=None)
        assert not any(
            node["class_type"] in {"LoadAudio", "SolidMask", "VAEEncodeAudio"} for node in graph.values()
        )
        assert load(name).lock({**VALUES, "vocals": None}) == "none"

    def test_the_lock_is_what_the_slots_file_says(self) -> None:
        locks = {name: load(name).lock(VALUES) for name in names()}
        assert {name for name, lock in locks.items() if lock != "exact"} == {
            "reference-only",
            "multishot-pinned",
        }
        assert (locks["reference-only"], locks["multishot-pinned"]) == ("none", "soft")

    def test_the_canary_is_small_by_itself(self) -> None:
        graph = fill(load("canary"), {"prompt": "", "seed": 1, "vocals": "v.wav"})
        inputs = graph["cond"]["inputs"]
        assert (inputs["width"], inputs["height"], inputs["length"]) == (416, 256, 22)
        assert graph["sigmas"]["inputs"]["steps"] == 4

    def test_multishot_is_pinned_and_cuts(self) -> None:
        inputs = filled("multishot-pinned")["sample"]["inputs"]
        pinned = {"bank_pinned": 1, "memory_frames": 0, "continuity": "cut", "shot_count": 1}
        assert pinned.items() <= inputs.items()

    def test_a_prefix_is_put_in_later(self) -> None:
        found, graph = load("native-ref2va"), filled("native-ref2va")
        later = put(found, graph, {"filename_prefix": "mvpipe/job"})
        assert later["save"]["inputs"]["filename_prefix"] == "mvpipe/job"
        assert graph["save"]["inputs"]["filename_prefix"] == "mvpipe/take"

    def test_finished_it_is_what_is_posted(self) -> None:
        found, graph = load("native-ref2va"), filled("native-ref2va")
        posted = finished(found, graph, "mvpipe/job", {"mvpipe/voice.wav": "mvpipe/voice (1).wav"})
        assert posted["save"]["inputs"]["filename_prefix"] == "mvpipe/job"
        assert posted["vocal"]["inputs"]["audio"] == "mvpipe/voice (1).wav"
        assert posted["picture"] == graph["picture"]

    def test_a_file_is_renamed_where_its_name_stands_alone(self) -> None:
        graph = filled("native-ref2va", prompt="mvpipe/ada.png is no file here")
        later = renamed_files(graph, {"mvpipe/ada.png": "mvpipe/ada (1).png"})
        assert later["picture"]["inputs"]["image"] == "mvpipe/ada (1).png"
        assert later["cond"] == graph["cond"]

    @pytest.mark.parametrize(
        ("slot", "value"),
        [("seed", 1.5), ("seed", True), ("seed", None), ("width", "960"), ("prompt", 3), ("sampler", ""),
         ("shift_video", float("nan")), ("pictures", "a.png"), ("pictures", [1]), ("vocals", 3)],
    )  # fmt: skip
    def test_a_value_of_the_wrong_kind(self, slot: str, value: object) -> None:
        with pytest.raises(ValueError, match=slot):
            filled("native-ref2va", **{slot: value})  # type: ignore[arg-type]

    def test_a_slot_it_does_not_have(self) -> None:
        with pytest.raises(SettingsError, match="song: it has no such slot"):
            fill(load("native-ref2va"), {**VALUES, "song": "s.wav"})

    def test_what_it_cannot_do_without(self) -> None:
        with pytest.raises(SettingsError, match="weights: this template cannot do without"):
            filled("native-ref2va", weights=None)

    def test_only_what_the_outputs_need_is_sent(self, tmp_path: Path) -> None:
        graph = fill(load(small(tmp_path)), {"vocals": "b.wav"})
        assert graph == {
            "load": {"class_type": "LoadAudio", "inputs": {"audio": "b.wav"}},
            "save": {"class_type": "SaveAudio", "inputs": {"audio": ["load", 0], "filename_prefix": "x"}},
        }

    def test_a_node_that_hands_nothing_on_is_not_bypassed(self) -> None:
        with pytest.raises(ValueError, match="not a link"):
            bypass(filled("native-ref2va"), "lora", "lora_name")


class TestFinding:
    def test_in_a_checkout_and_inside_a_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checkout = templates.home()
        inside = tmp_path / "mvpipe" / "templates"
        inside.mkdir(parents=True)
        for file in checkout.iterdir():
            (inside / file.name).write_bytes(file.read_bytes())
        monkeypatch.setattr(shipped, "PACKAGE", tmp_path / "mvpipe")
        assert templates.home() == inside
        assert load("canary").path == inside / "canary.json"

    def test_a_stranger_s_templates_are_not_taken(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "templates").mkdir()
        monkeypatch.setattr(shipped, "PACKAGE", tmp_path / "mvpipe")
        with pytest.raises(SettingsError, match="templates are missing"):
            templates.home()

    def test_every_template_has_both_files(self) -> None:
        here = {path.name for path in templates.home().iterdir()}
        assert here == {f"{name}.json" for name in names()} | {f"{name}{SLOTS}" for name in names()}

    def test_a_name_that_is_nearly_one(self) -> None:
        with pytest.raises(SettingsError, match="native-ref2v: no such template") as caught:
            load("native-ref2v")
        assert caught.value.hint == "did you mean native-ref2va?"

    def test_a_path_beside_the_storyboard(self, tmp_path: Path) -> None:
        small(tmp_path)
        assert load("small.json", tmp_path).name == "small"

    def test_a_graph_exported_with_its_envelope(self, tmp_path: Path) -> None:
        assert load(small(tmp_path, graph={"prompt": SMALL})).graph["load"]["inputs"] == {"audio": "a.wav"}


class TestBrokenFiles:
    @pytest.mark.parametrize(
        ("graph", "says"),
        [
            ("{", "small.json:1:2: not JSON"),
            ("[]", "not a graph in ComfyUI's API format"),
            ("{}", "not a graph in ComfyUI's API format"),
            ('{"a": 1, "a": 2}', "'a' stands twice"),
            ('{"a": NaN}', "NaN is no number"),
            ('{"nodes": [], "links": []}', "a workflow in the editor's format"),
            ('{"a": {"inputs": {}}}', "node a: without class_type"),
            ('{"a": {"class_type": "X", "inputs": []}}', "node a: without class_type"),
        ],
    )
    def test_a_graph(self, tmp_path: Path, graph: str, says: str) -> None:
        with pytest.raises(SettingsError, match=re.escape(says)):
            load(small(tmp_path, graph=graph))

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("mvpipe-template: 1", "mvpipe-template: 2", "mvpipe-template: input should be 1"),
            ("lock: none", "lock: perhaps", "lock: input should be 'exact', 'soft' or 'none'"),
            ("lock: none\n", "", "lock: field required"),
            ("title: Small", "title: Small\ntitel: x", "titel: extra inputs are not permitted"),
            ("outputs: [save]", "outputs: [sav]", "outputs: sav: no such node"),
            ("[[load, audio]]", "[[load, audoi]]", "slots.vocals.at: node load has no input audoi"),
            ("[[load, audio]]", "[]", "slots.vocals.at: tuple should have at least 1 item"),
            ("is: sound", "is: pictures", "'into' belongs to pictures"),
            ("is: sound", "is: file", "'folder' belongs to files"),
            ("is: sound", "is: noise", "slots.vocals.is: input should be 'text'"),
            ("slots:", "slots: [", "small.slots.yaml:"),
            ("title: Small", "title: Small\ntitle: Two", "small.slots.yaml:3:1: not YAML"),
        ],
    )
    def test_a_slots_file(self, tmp_path: Path, old: str, new: str, says: str) -> None:
        with pytest.raises(SettingsError, match=re.escape(says)):
            load(small(tmp_path, SMALL_SLOTS.replace(old, new)))

    def test_a_missing_slots_file(self, tmp_path: Path) -> None:
        path = small(tmp_path)
        path.with_name(f"small{SLOTS}").unlink()
        with pytest.raises(SettingsError, match=r"small\.slots\.yaml: missing beside it") as caught:
            load(path)
        assert "graph import" in caught.value.hint

    def test_a_file_that_is_not_text(self, tmp_path: Path) -> None:
        path = small(tmp_path)
        path.write_bytes(b"\xff\xfe{}")
        with pytest.raises(SettingsError, match="not UTF-8 text: byte 0"):
            load(path)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"gone\.json: no such file"):
            load(tmp_path / "gone.json")


class TestLoaders:
    @pytest.mark.parametrize(
        ("present", "field"),
        [("UnetLoaderGGUF", "unet_name"), ("LoaderGGUF", "gguf_name"), ("GGUFLoaderKJ", "model_name")],
    )
    def test_the_server_s_own_gguf_loader_is_taken(self, present: str, field: str) -> None:
        found = load("native-ref2va-gguf")
        graph = fill(found, {**VALUES, "weights": "mine-Q4_K_M.gguf"})
        fitted = with_loaders(
            found, graph, (graphs.classes_of(graph) - {"UnetLoaderGGUF"} | {present}).__contains__
        )
        assert fitted["unet"]["class_type"] == present
        assert fitted["unet"]["inputs"][field] == "mine-Q4_K_M.gguf"
        faults = [
            fault for fault in check(fitted, classes()) if fault.field != field
        ]  # that file is not there
        assert faults == []

    def test_none_of_them(self) -> None:
        found = load("native-ref2va-gguf")
        with pytest.raises(GraphRejected, match="no UnetLoaderGGUF or LoaderGGUF or GGUFLoaderKJ") as caught:
            with_loaders(found, fill(found, VALUES), lambda _: False)
        assert "city96/ComfyUI-GGUF" in caught.value.hint

    def test_what_the_server_is_asked_for(self) -> None:
        asked = load("native-ref2va-gguf").asks()
        assert {"UnetLoaderGGUF", "LoaderGGUF", "GGUFLoaderKJ", "SaveVideo"} <= asked
        assert "H3MultishotMemorySampler" in load("longmedia-lip-sync").asks()

    def test_a_pack_that_breaks_it_is_said(self) -> None:
        (clash,) = clashes(load("longmedia-lip-sync"), classes().__contains__)
        assert clash.startswith("H3MultishotMemorySampler is installed")
        assert clashes(load("native-ref2va"), classes().__contains__) == []


def test_each_template_names_what_it_needs() -> None:
    """A class that is not ComfyUI's own comes from a pack that the slots file names."""
    for name in names():
        found = load(name)
        modules = {classes()[node["class_type"]].module for node in found.graph.values()}
        foreign = {module.rpartition(".")[2] for module in modules if module.startswith("custom_nodes")}
        assert foreign <= {pack.name for pack in found.slots.needs.packs}, name
        assert found.slots.about
