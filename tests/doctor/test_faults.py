"""Every known failure is recognised in its own words and in a realistic log, and not in an innocent one."""

from __future__ import annotations

import time

import pytest

from mvpipe.doctor.faults import explain, known_faults, nearest
from tests.doctor import wild

KNOWN = [(name, text) for name, fault in known_faults().items() for text in fault.known]
NEAR = [(name, text) for name, fault in known_faults().items() for text in fault.near]

INNOCENT = """\
[START] Security scan
** ComfyUI startup time: 2026-11-01 21:04:11.152
** Platform: Linux
** Python version: 3.13.14
Checkpoint files will always be loaded safely.
Total VRAM 24564 MB, total RAM 64214 MB
pytorch version: 2.9.1+cu128
Set vram state to: NORMAL_VRAM
Device: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync
Enabled pinned memory 57792.0
Using pytorch attention
comfy-aimdo 0.5.2 inited for GPU: NVIDIA GeForce RTX 4090
ComfyUI version: 0.34.0
Import times for custom nodes:
   0.0 seconds: /home/mira/ComfyUI/custom_nodes/ComfyUI-GGUF
   0.4 seconds: /home/mira/ComfyUI/custom_nodes/ComfyUI-KJNodes
To see the GUI go to: http://127.0.0.1:8188
got prompt
Requested to load MiniMaxH3TEModel_
loaded completely; 14961.00 MB usable, 14302.14 MB loaded, full load: True
Requested to load MiniMaxH3
loaded partially; 16412.11 MB usable, 15980.02 MB loaded, 4011.30 MB offloaded, lowvram patches: 0
100%|##########| 8/8 [01:36<00:00, 12.05s/it]
Requested to load MiniMaxH3AudioVAE
Prompt executed in 131.92 seconds
shot 3: attempt 1 fails: the mouth trails the voice by 5 frames
500 frames written, 403 skipped, 413 kept
Stopped server
"""

INSIDE = INNOCENT.replace("Prompt executed in 131.92 seconds", "!!! Exception during processing !!!\n{}")


@pytest.mark.parametrize(("name", "text"), KNOWN, ids=[f"{n}-{i}" for i, (n, _) in enumerate(KNOWN)])
def test_it_is_recognised(name: str, text: str) -> None:
    assert name in [one.name for one in explain(text)]


@pytest.mark.parametrize(("name", "text"), KNOWN, ids=[f"{n}-{i}" for i, (n, _) in enumerate(KNOWN)])
def test_it_is_said_first_of_a_whole_log(name: str, text: str) -> None:
    found = explain(INSIDE.format(text))
    assert found
    assert found[0].name == name


@pytest.mark.parametrize(("name", "text"), NEAR, ids=[f"{n}-{i}" for i, (n, _) in enumerate(NEAR)])
def test_what_is_alike_is_not_recognised(name: str, text: str) -> None:
    assert name not in [one.name for one in explain(text)]
    assert name not in [one.name for one in explain(INNOCENT + text)]


WILD = [(name, text) for name, texts in wild.TOLD.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), WILD, ids=[f"{n}-{i}" for i, (n, _) in enumerate(WILD)])
def test_it_is_recognised_in_other_words_than_its_own(name: str, text: str) -> None:
    assert name in [one.name for one in explain(INSIDE.format(text))]


def test_an_innocent_log_is_left_alone() -> None:
    assert explain(INNOCENT) == []


@pytest.mark.parametrize("line", wild.INNOCENT)
def test_an_innocent_line_is_left_alone(line: str) -> None:
    assert explain(INNOCENT + line) == []


def test_the_line_is_shown() -> None:
    (found,) = explain(INSIDE.format("lora key not loaded: transformer.blocks.0.x"))
    assert found.line == "lora key not loaded: transformer.blocks.0.x"
    assert "confirmed" in found.text()
    assert "mvpipe explain lora-keys" in found.brief


def test_a_name_asks_for_its_entry() -> None:
    assert [one.name for one in explain("gpu-lost")] == ["gpu-lost"]


def test_unknown_text_has_neighbours_and_no_explanation() -> None:
    text = "RuntimeError: the sparse compiler lost its graph of memory"
    assert explain(text) == []
    assert "aimdo" in nearest(text)
    assert nearest("qqqq zzzz") == []


def test_a_hostile_log_takes_little_time() -> None:
    begun = time.process_time()
    explain("noise " * 2_000_000)
    explain(("interrupted " * 150 + "\n") * 1000)
    explain("some words of a log line, 12.5 it/s\n" * 40_000)
    assert time.process_time() - begun < 20


def test_every_failure_the_issue_names_is_known() -> None:
    named = {
        "graph-capture", "music-noise", "aimdo", "allocator", "operation-not-supported", "driver-library",
        "out-of-memory", "gguf-bf16", "adaln-shape", "lora-foreign", "lora-keys", "audio-scale",
        "tokenizer-contract", "missing-node", "sage-version", "sage-assert", "mem-efficient", "sage-noise",
        "nan-sound", "reference-shape", "killed", "gpu-lost", "xid", "livelock", "request-too-large",
        "origin", "queued-500", "interrupted-memory",
    }  # fmt: skip
    assert named <= known_faults().keys()


def test_sources_name_a_project() -> None:
    for name, fault in known_faults().items():
        assert all(len(source) > 5 for source in fault.sources), name
