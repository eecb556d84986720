"""Settings are taken as their own examples write them."""

from __future__ import annotations

from typing import Any

import pytest

from mvpipe.storyboard.part import Part
from mvpipe.storyboard.settings import Render, Sampling

EXAMPLES = [
    (model, name, example)
    for model in (Render, Sampling)
    for name, field in model.model_fields.items()
    for example in field.examples or ()
]


@pytest.mark.parametrize(("model", "name", "example"), EXAMPLES)
def test_every_example_can_be_written(model: type[Part], name: str, example: Any) -> None:
    found = getattr(model.model_validate({field_key(model, name): example}), name)
    assert found is not None


def field_key(model: type[Part], name: str) -> str:
    """The key as it is written."""
    return model.model_fields[name].alias or name


def test_a_lora_has_the_name_its_file_has() -> None:
    file = "h3/minimax_h3_ref2v_turbo_8step_768p_v0.2_comfyui_bf16_rank64.safetensors"
    assert Sampling.model_validate({"lora": file}).lora == file


def test_figures_reach_the_backend_as_they_are_written() -> None:
    render = Render.model_validate({
        "backend": "comfyui", "graph": "graphs/mine.mvpipe.json", "sampling": {"shift": "12/3"},
    })  # fmt: skip
    assert render.options["graph"] == "graphs/mine.mvpipe.json"
    assert render.options["sampling"] == {"shift": "12/3"}
