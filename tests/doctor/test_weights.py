"""What a file is, by its header: pruned or full, whose, and how many of a LoRA's keys would load."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.doctor import weights
from mvpipe.doctor.headers import Header, Tensor, read_header
from mvpipe.doctor.known import fits_known, known_bytes
from tests.doctor.files import FOUR, Shapes, dit, lora, models


def header(shapes: Shapes, kind: str = "safetensors") -> Header:
    tensors = {name: Tensor(*tensor) for name, tensor in shapes.items()}
    return Header(kind=kind, tensors=tensors, whole=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("minimax_h3_ref2va_pruned_int8_convrot.safetensors", "ref2va"),
        ("minimax_h3_fl2va_pruned-Q4_K.gguf", "fl2va"),
        (FOUR, "ref2va"),
        ("minimax_h3_fl2v_turbo_8step_v1.0_comfyui_bf16.safetensors", "fl2va"),
        ("omniref.safetensors", ""),
    ],
)
def test_the_task_is_in_the_name(name: str, task: str) -> None:
    assert weights.task_of(name) == task


@pytest.mark.parametrize(("pruned", "width"), [(True, 8), (False, 2688)])
def test_pruned_and_full_weights_differ_in_adaln(pruned: bool, width: int) -> None:
    assert weights.adaln_width(header(dit(pruned=pruned))) == width


def test_whose_weights() -> None:
    assert weights.is_h3(header(dit()))
    assert weights.is_h3(header({f"model.diffusion_model.{name}": t for name, t in dit().items()}))
    assert not weights.is_h3(header(lora()))


@pytest.mark.parametrize(
    ("prefix", "fits"),
    [
        ("diffusion_model.", 208),
        ("", 0),
        ("model.diffusion_model.", 0),
        ("transformer.", 0),
        ("base_model.model.", 0),
    ],
)
def test_the_prefix_decides_whether_a_lora_loads(prefix: str, fits: int) -> None:
    found = weights.match(header(lora(prefix=prefix)), header(dit()))
    assert (len(found.fits), found.count, len(found.misfits)) == (fits, 208, 0)


def test_flat_names_load() -> None:
    flat = {}
    for name, tensor in lora(prefix="").items():
        module, dot, rest = next(
            name.partition(part) for part in (".lora_A", ".lora_B", ".alpha") if part in name
        )
        flat[f"lora_unet_{module.replace('.', '_')}{dot}{rest}"] = tensor
    assert len(weights.match(header(flat), header(dit())).fits) == 208


@pytest.mark.parametrize(
    ("trained", "pruned", "misfits"), [(8, True, 0), (2688, True, 50), (2688, False, 0), (8, False, 50)]
)
def test_adaln_fits_the_weights_it_was_trained_on(trained: int, pruned: bool, misfits: int) -> None:
    found = weights.match(header(lora(adaln=trained)), header(dit(pruned=pruned)))
    assert (len(found.misfits), found.count) == (misfits, 258)
    assert weights.adaln_of_lora(header(lora(adaln=trained))) == trained


def test_a_lora_without_adaln_fits_both() -> None:
    assert weights.adaln_of_lora(header(lora())) is None
    assert weights.ranks(header(lora(rank=32))) == [32]


def test_packed_weights_tell_no_shape() -> None:
    packed = {
        name: ("U8", (shape[0], shape[-1] // 2)) for name, (_, shape) in dit().items() if len(shape) == 2
    }
    assert len(weights.match(header(lora()), header(packed)).fits) == 208


def test_bf16_matters_in_gguf_alone() -> None:
    shapes = {"a.weight": ("BF16", (4,)), "b.weight": ("Q4_K", (256,))}
    assert weights.bf16_tensors(header(shapes, "gguf")) == ["a.weight"]
    assert weights.bf16_tensors(header(shapes)) == []


@pytest.mark.parametrize(
    ("size", "fits"), [(1_956_193_000, True), (1_956_192_999, False), (1_240_000_000, False)]
)
def test_an_exact_size_is_held_exactly(size: int, fits: bool) -> None:
    assert fits_known(FOUR, size) is fits


def test_sizes_in_words_are_taken_in_both_units() -> None:
    name = "minimax_h3_ref2va_pruned_int8_convrot.safetensors"
    assert [fits_known(name, size) for size in (20_970_000_000, 19_530_000_000, 11_200_000_000)] == [
        True,
        True,
        False,
    ]
    assert fits_known("mine.safetensors", 1) is None
    assert known_bytes("minimax_h3_ref2va_pruned-Q4_K_M.gguf") == ()


def test_the_planted_files_are_of_their_published_sizes(tmp_path: Path) -> None:
    folder = models(tmp_path)
    found = [path for path in folder.rglob("*.safetensors")]
    assert len(found) == 5
    assert all(fits_known(path.name, path.stat().st_size) for path in found)
    assert all(read_header(path).whole == path.stat().st_size for path in found)
