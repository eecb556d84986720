"""A graph fits a server, or everything that is in the way is said at once."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from mvpipe.errors import GraphRejected
from mvpipe.render.comfyui.filling import fill
from mvpipe.render.comfyui.fitting import fitted
from mvpipe.render.comfyui.judge import Setting, setting_of
from mvpipe.render.comfyui.schema import read_schemas
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import load
from tests.render.comfyui.servers import VALUES, classes, object_info

ADA = "cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync"


def values(**changes: Fill) -> dict[str, Fill]:
    return {**VALUES, **changes}


def setting(name: str, **changes: Fill) -> Setting:
    return setting_of(load(name), values(**changes), device=ADA)


def test_what_fits_is_handed_on() -> None:
    template, wanted = load("native-ref2va"), values()
    found = fitted(template, fill(template, wanted), classes(), setting("native-ref2va"))
    assert found.graph == fill(template, wanted)
    assert found.notes == ()


def test_what_may_be_wrong_is_noted() -> None:
    template, wanted = load("native-ref2va"), values(scheduler="beta", length=107)
    found = fitted(template, fill(template, wanted), classes(), setting("native-ref2va"))
    assert [note.partition(" (")[0] for note in found.notes] == [
        "node cond: 107 frames: shorter than H3 was trained at; right: 124 at least",
        "node sample: scheduler beta: not known to work here; right: simple",
    ]


def test_everything_in_the_way_is_said_at_once() -> None:
    info = copy.deepcopy(object_info())
    info["UNETLoader"]["input"]["required"]["unet_name"][0] = []
    template = load("native-ref2va")
    graph = fill(template, values(sampler="res_multistep", scheduler="simpel", width=1376, height=768))
    with pytest.raises(GraphRejected) as caught:
        fitted(template, graph, read_schemas(info), setting("native-ref2va"))
    said = str(caught.value)
    for one in (
        "graph native-ref2va: ",
        "minimax_h3_ref2va_pruned_int8_convrot.safetensors: not on this server: goes to models/diffusion",
        "scheduler: 'simpel' is none of its 9 values; nearest: simple",
        "res_multistep: flickers with a Turbo LoRA; right: euler",
        "1376x768: 1.06 megapixels",
    ):
        assert one in said
    assert said.count("minimax_h3_ref2va_pruned_int8_convrot") == 1


def test_a_missing_pack_is_named() -> None:
    template = load("t8-lock-source")
    schemas = {name: known for name, known in classes().items() if "T8" not in name}
    with pytest.raises(GraphRejected, match="MiniMaxH3AudioConditioningT8") as caught:
        fitted(template, fill(template, VALUES), schemas, setting("t8-lock-source"))
    assert "install comfyui-minimax-h3-audio-T8 (T8mars/" in caught.value.hint


def test_too_old_a_core_is_named() -> None:
    template = load("native-ref2va")
    schemas = {name: known for name, known in classes().items() if "MiniMax" not in name}
    with pytest.raises(GraphRejected, match=r"MiniMaxH3ReferenceToVideo.*no such class") as caught:
        fitted(template, fill(template, VALUES), schemas, setting("native-ref2va"))
    assert caught.value.hint == "ComfyUI 0.33.0 or later has these nodes"


def test_a_pack_that_breaks_it_is_refused() -> None:
    template = load("longmedia-lip-sync")
    with pytest.raises(GraphRejected, match="H3MultishotMemorySampler is installed"):
        fitted(template, fill(template, VALUES), classes(), setting("longmedia-lip-sync"))


def test_a_slots_file_that_promises_too_much_is_refused() -> None:
    template = load("reference-only")
    boast = replace(template, slots=template.slots.model_copy(update={"lock": "exact"}))
    with pytest.raises(
        GraphRejected, match="lock: said to be exact, but MiniMaxH3ReferenceToVideo gives an empty"
    ):
        fitted(boast, fill(boast, VALUES), classes(), setting_of(boast, VALUES, device=ADA))
