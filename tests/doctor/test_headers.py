"""Headers are read whole and exactly, damaged ones are refused, and nothing makes the reader read much."""

from __future__ import annotations

import json
import resource
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvpipe.doctor import headers
from mvpipe.doctor.headers import BadHeader, Tensor, read_header
from tests.doctor.files import dit, gguf_bytes, lora, write_gguf, write_safetensors

GGUF = {
    "blocks.0.attn.qkv_proj.weight": ("Q4_K", (21504, 5376)),
    "blocks.0.attn.q_norm.weight": ("BF16", (128,)),
}


def raw(tmp_path: Path, content: bytes, name: str = "x.safetensors") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def framed(text: bytes, data: int = 0) -> bytes:
    return struct.pack("<Q", len(text)) + text + bytes(data)


class TestSafetensors:
    def test_names_types_and_shapes(self, tmp_path: Path) -> None:
        path = write_safetensors(tmp_path / "w.safetensors", dit(), {"format": "pt"})
        found = read_header(path)
        assert found.tensors["blocks.0.adaln_proj.linear.weight"] == Tensor("BF16", (96768, 8))
        assert len(found.tensors) == len(dit())
        assert found.metadata == {"format": "pt"}
        assert found.whole == path.stat().st_size

    def test_a_scalar_is_one_element(self, tmp_path: Path) -> None:
        found = read_header(write_safetensors(tmp_path / "l.safetensors", lora()))
        assert found.tensors["diffusion_model.blocks.0.mlp.fc1.alpha"].count == 1

    def test_a_file_that_ends_early_says_how_long_it_should_be(self, tmp_path: Path) -> None:
        path = write_safetensors(tmp_path / "w.safetensors", dit(), short=1000)
        assert read_header(path).whole == path.stat().st_size + 1000

    def test_twenty_gigabytes_are_not_read(self, tmp_path: Path) -> None:
        path = write_safetensors(tmp_path / "w.safetensors", dit(dtype="F32"))
        assert path.stat().st_size > 20e9
        begun = time.process_time()
        read_header(path)
        assert time.process_time() - begun < 1

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\x08",
            b"<!DOCTYPE html><html>" * 10,
            struct.pack("<Q", 2**63) + b"{}",
            struct.pack("<Q", 100) + b"{}",
            framed(b"[]"),
            framed(b"null"),
            framed(b'{"a": 1}'),
            framed(b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}', 8),
            framed(b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}'),
            framed(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}'),
            framed(b'{"a": {"dtype": "F32", "shape": [true], "data_offsets": [0, 4]}}'),
            framed(b'{"a": {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}}'),
            framed(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}}'),
            framed(b'{"a": {"dtype": "F32", "shape": [1e400], "data_offsets": [0, 4]}}'),
            framed(b'{"a": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 4]}}'),
            framed(b'{"a": {}, "a": {}}'),
            framed(b'{"a": ' + b"9" * 10_000 + b"}"),
            framed(b"[" * 90_000),
            framed(b'{"a":' * 40_000),
            framed(b"\xff\xfe{}"),
        ],
        ids=range(21),
    )
    def test_what_is_none_is_refused(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(BadHeader, match=r"x\.safetensors: "):
            read_header(raw(tmp_path, content))

    def test_metadata_of_any_kind_does_no_harm(self, tmp_path: Path) -> None:
        path = raw(tmp_path, framed(json.dumps({"__metadata__": [1, {"a": 2}]}).encode()))
        assert read_header(path).metadata == {}


class TestGGUF:
    def test_names_types_and_shapes_as_pytorch_has_them(self, tmp_path: Path) -> None:
        path = write_gguf(tmp_path / "w.gguf", GGUF)
        found = read_header(path)
        assert found.tensors["blocks.0.attn.qkv_proj.weight"] == Tensor("Q4_K", (21504, 5376))
        assert found.tensors["blocks.0.attn.q_norm.weight"] == Tensor("BF16", (128,))
        assert found.metadata["general.architecture"] == "minimax"
        assert found.whole == path.stat().st_size

    def test_a_file_that_ends_early_says_how_long_it_should_be(self, tmp_path: Path) -> None:
        path = write_gguf(tmp_path / "w.gguf", GGUF, short=1000)
        assert read_header(path).whole == path.stat().st_size + 1000

    def test_a_tokenizer_is_passed_over_quickly(self, tmp_path: Path) -> None:
        head, _ = gguf_bytes(GGUF, words=300_000)
        begun = time.process_time()
        assert len(read_header(raw(tmp_path, head, "t.gguf")).tensors) == 2
        assert time.process_time() - begun < 3

    @pytest.mark.parametrize("version", [0, 1, 4])
    def test_an_unknown_version_is_refused(self, tmp_path: Path, version: int) -> None:
        with pytest.raises(BadHeader, match=f"version {version}"):
            read_header(raw(tmp_path, gguf_bytes(GGUF, version=version)[0], "x.gguf"))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"GGML",
            b"GGUF",
            struct.pack("<4sIQQ", b"GGUF", 3, 2**63, 0),
            struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**63),
            struct.pack("<4sIQQQ", b"GGUF", 3, 0, 1, 2**62),
            struct.pack("<4sIQQQ1sI", b"GGUF", 3, 0, 1, 1, b"a", 99),
            struct.pack("<4sIQQQ1sIIQ", b"GGUF", 3, 0, 1, 1, b"a", 9, 8, 2**60),
            struct.pack("<4sIQQQ1sIIQ", b"GGUF", 3, 0, 1, 1, b"a", 9, 0, 2**60),
            struct.pack("<4sIQQQ1sI", b"GGUF", 3, 1, 0, 1, b"a", 2**31),
        ],
        ids=range(10),
    )
    def test_what_is_none_is_refused(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(BadHeader, match=r"x\.gguf: "):
            read_header(raw(tmp_path, content, "x.gguf"))


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadHeader, match="neither"):
        read_header(raw(tmp_path, b"PK", "x.ckpt"))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadHeader, match="no such file"):
        read_header(tmp_path / "x.gguf")


@given(
    cut=st.integers(0, 400), flips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6)
)
@pytest.mark.parametrize("kind", ["gguf", "safetensors"])
def test_no_damage_does_more_than_be_refused(
    tmp_path_factory: pytest.TempPathFactory, kind: str, cut: int, flips: list[tuple[int, int]]
) -> None:
    content = bytearray(_whole(kind)[: len(_whole(kind)) - cut])
    for at, value in flips:
        if at < len(content):
            content[at] = value
    path = raw(tmp_path_factory.mktemp("fuzz"), bytes(content), f"x.{kind}")
    try:
        found = read_header(path)
    except BadHeader:
        return
    assert all(tensor.count >= 0 for tensor in found.tensors.values())


def _whole(kind: str) -> bytes:
    if kind == "gguf":
        return gguf_bytes(GGUF)[0]
    text = json.dumps({"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
    return framed(text, 16)


@pytest.mark.parametrize(
    "content",
    [
        framed(b'{"a":[' + b"[]," * 2_600_000 + b"[]]}"),
        framed(b"{" + b'"a":{},' * 1_000_000 + b'"b":{}}'),
        framed(b'{"a":[' + b"1," * 4_000_000 + b"1]}"),
    ],
    ids=["lists", "objects", "numbers"],
)
def test_hostile_json_takes_little_memory(tmp_path: Path, content: bytes) -> None:
    path = raw(tmp_path, content)
    tracemalloc.start()
    try:
        with pytest.raises(BadHeader):
            read_header(path)
        assert tracemalloc.get_traced_memory()[1] < 150 * 1024**2
    finally:
        tracemalloc.stop()


def test_a_gguf_that_claims_much_is_left_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "MOST_BYTES", 100_000)
    head, _ = gguf_bytes(GGUF, words=50_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadHeader, match="claims more than"):
        read_header(raw(tmp_path, head, "x.gguf"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
