"""The server's parts by themselves."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from mvpipe.testing.comfyui import http, websocket
from mvpipe.testing.comfyui.clock import Clock
from mvpipe.testing.comfyui.expand import expanded, known_choice
from mvpipe.testing.comfyui.plan import Plan, is_link
from mvpipe.testing.comfyui.schema import Schemas
from mvpipe.testing.comfyui.settings import LATER, NEW, OLD, PACKS, Settings, rows, step_seconds
from mvpipe.testing.comfyui.upload import upload_image
from mvpipe.testing.comfyui.values import audio_latents, on_grid


def read(data: bytes, limit: int = 1000) -> http.Request | None:
    async def parse() -> http.Request | None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await http.read_request(reader, limit)

    return asyncio.run(parse())


class TestHttp:
    def test_a_request(self) -> None:
        request = read(b"POST /a%20b?x=1&x=2&y= HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
        assert request is not None
        assert (request.method, request.path, request.query) == ("POST", "/a b", {"x": "1", "y": ""})
        assert (request.headers["host"], request.json()) == ("h", {})

    def test_a_chunked_request(self) -> None:
        request = read(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        assert request is not None
        assert request.body == b"{}"

    def test_the_end_of_a_connection(self) -> None:
        assert read(b"") is None

    @pytest.mark.parametrize("data", [b"HELLO\r\n\r\n", b"GET /\r\n\r\n", b"GET / HT"])
    def test_what_is_not_http(self, data: bytes) -> None:
        with pytest.raises(http.Unreadable):
            read(data)

    def test_too_big_a_body_is_thrown_away(self) -> None:
        request = read(b"POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + bytes(5000), limit=100)
        assert request is not None
        assert (request.body, request.size) == (b"", 5000)

    def test_answers(self) -> None:
        whole = http.encode(http.as_json({"a": 1}), "GET")
        assert whole.startswith(b"HTTP/1.1 200 OK\r\n")
        assert whole.endswith(b'\r\n\r\n{"a": 1}')
        assert http.encode(http.as_json({"a": 1}), "HEAD").endswith(b"\r\n\r\n")
        empty = http.encode(http.not_found(), "GET")
        assert b"Transfer-Encoding: chunked" in empty
        assert b"Content-Length" not in empty
        assert empty.endswith(b"\r\n\r\n0\r\n\r\n")
        assert b"Connection: close" in http.encode(http.trouble(), "GET")

    @pytest.mark.parametrize(
        ("accepted", "coding"), [("gzip, deflate", "deflate"), ("gzip", "gzip"), ("", None)]
    )
    def test_compression(self, accepted: str, coding: str | None) -> None:
        answer = http.as_json(["x"] * 100)
        http.compress(answer, accepted)
        assert answer.headers.get("Content-Encoding") == coding

    def test_forms(self) -> None:
        body = (
            b"--B\r\nContent-Disposition: form-data; name=\"image\"; filename*=utf-8''%C3%9F.png\r\n\r\n"
            b'\x00\r\n--\r\n--B\r\nContent-Disposition: form-data; name="type"\r\n\r\ninput\r\n--B--\r\n'
        )
        headers = {"content-type": 'multipart/form-data; boundary="B"'}
        request = http.Request(method="POST", path="/", query={}, headers=headers, body=body)
        fields = http.form(request)
        assert fields == {"image": http.Part(filename="ß.png", content=b"\x00\r\n--"), "type": "input"}
        request.headers = {"content-type": "application/json"}
        assert http.form(request) == {}


class TestWebSocket:
    @pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
    def test_frames_of_every_size(self, size: int) -> None:
        payload = bytes(range(256)) * 256 + b"x"
        frame = websocket.frame(websocket.BINARY, payload[:size])

        async def parse(data: bytes) -> websocket.Frame:
            reader = asyncio.StreamReader()
            reader.feed_data(data)
            return await websocket.read_frame(reader)

        assert asyncio.run(parse(frame)) == websocket.Frame(websocket.BINARY, payload[:size])

    def test_a_masked_text_in_fragments(self) -> None:
        async def parse() -> websocket.Frame:
            reader = asyncio.StreamReader()
            mask = b"\x01\x02\x03\x04"
            for head, text in ((0x01, b"hel"), (0x80, b"lo")):
                masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(text))
                reader.feed_data(bytes([head, 0x80 | len(text)]) + mask + masked)
            return await websocket.read_frame(reader)

        assert asyncio.run(parse()) == websocket.Frame(websocket.TEXT, b"hello")

    def test_the_handshake_of_the_rfc(self) -> None:
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in websocket.accept("dGhlIHNhbXBsZSBub25jZQ==")


class TestClock:
    def test_work_moves_it_on(self) -> None:
        clock = Clock(float("inf"))
        before = clock.now()
        began = time.monotonic()
        clock.spend(3600)
        assert 3600 <= clock.now() - before < 3601
        assert time.monotonic() - began < 0.5

    def test_some_of_it_is_waited_for(self) -> None:
        clock = Clock(10)
        before, began = clock.now(), time.monotonic()
        clock.spend(1.0)
        assert 0.1 <= time.monotonic() - began < 0.6
        assert 1.0 <= clock.now() - before < 1.6
        assert clock.ms() == pytest.approx(clock.now() * 1000, abs=50)


class TestSettings:
    @pytest.mark.parametrize(
        "wrong", [{"version": "1.0"}, {"packs": ("x",)}, {"card": "x"}, {"speed": 0}, {"speed": float("nan")}]
    )
    def test_what_makes_no_server(self, tmp_path: Path, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"no such|positive"):
            Settings(root=tmp_path, **wrong)

    def test_rows_of_the_reference(self) -> None:
        """h3.md 4: 960x544x124 is 18,870 + 414, 1344x768x362 is 107,856 + 1,206."""
        assert rows(960, 544, 124) == 18_870 + 414
        assert rows(1344, 768, 362) == 107_856 + 1_206

    def test_time_grows_as_measured(self, tmp_path: Path) -> None:
        """124 frames took 11.5 to 12.6 s a step and 362 frames 64.6 to 72.3 s."""
        settings = Settings(root=tmp_path)
        assert 11.5 <= step_seconds(settings, 960, 544, 124) <= 12.6
        assert 64.6 <= step_seconds(settings, 960, 544, 362) <= 72.3
        assert step_seconds(Settings(root=tmp_path, step_s=2.0), 960, 544, 124) == 2.0

    @pytest.mark.parametrize(("frames", "latents"), [(124, 207), (141, 235), (192, 320), (362, 603)])
    def test_the_grid_and_the_latents(self, frames: int, latents: int) -> None:
        assert on_grid(frames) == frames == on_grid(frames - 16)
        assert audio_latents(frames) == latents


class TestSchemas:
    @pytest.mark.parametrize("version", [OLD, NEW, LATER])
    def test_every_class_is_whole(self, tmp_path: Path, version: str) -> None:
        (tmp_path / "input").mkdir()
        schemas = Schemas(Settings(root=tmp_path, version=version, packs=PACKS))
        assert len(list(schemas)) > 80
        for name in schemas:
            info = schemas.info(name)
            assert info["name"] == name
            assert len(info["output"]) == len(info["output_name"]) == len(info["output_is_list"])
            for group, inputs in info["input"].items():
                assert info["input_order"][group] == list(inputs)
            text = str(info)
            assert "'&" not in text
            assert "'@" not in text

    def test_both_styles_of_choices(self, tmp_path: Path) -> None:
        (tmp_path / "input").mkdir()
        old, new = (Schemas(Settings(root=tmp_path, version=version)) for version in (OLD, NEW))
        euler = "euler"
        assert euler in old.inputs("KSamplerSelect")["required"]["sampler_name"][0]
        kind, options = new.inputs("KSamplerSelect")["required"]["sampler_name"]
        assert (kind, euler in options["options"]) == ("COMBO", True)
        assert old.inputs("SaveVideo")["required"]["format"][0] == "COMBO"
        assert new.inputs("SaveVideo")["required"]["format"][0] == "COMFY_DYNAMICCOMBO_V3"

    def test_the_later_core_takes_the_vae_as_optional(self, tmp_path: Path) -> None:
        name = "MiniMaxH3ReferenceToVideo"
        new, later = (
            Schemas(Settings(root=tmp_path, version=version)).inputs(name) for version in (NEW, LATER)
        )
        assert "vae" in new["required"]
        assert "vae" in later["optional"]
        assert "MINIMAX_H3_REFERENCE_IMAGE" in str(later["optional"]["ref_images"])

    def test_models_come_from_the_settings(self, tmp_path: Path) -> None:
        schemas = Schemas(Settings(root=tmp_path, models={"loras": ("a/b.safetensors",)}))
        assert schemas.inputs("LoraLoaderModelOnly")["required"]["lora_name"][0] == ["a/b.safetensors"]
        assert schemas.inputs("UNETLoader")["required"]["unet_name"][0] == []

    def test_slots_and_choices_spelled_out(self, tmp_path: Path) -> None:
        schemas = Schemas(Settings(root=tmp_path))
        slots = expanded(schemas.inputs("MiniMaxH3ReferenceToVideo"), {})
        assert [name for name in slots if name.startswith("ref_audios.")] == [
            f"ref_audios.ref_audio_{n}" for n in range(3)
        ]
        assert "ref_images" not in slots
        assert not slots["ref_images.ref_image_0"][0]
        saved = schemas.inputs("SaveVideo")
        chosen = {"format": "mp4", "format.codec": "h264", "format.codec.encoding": "re-encode"}
        assert {"format.codec", "format.codec.encoding"} <= expanded(saved, chosen).keys()
        assert "format.codec" not in expanded(saved, {"format": "nope"})
        assert not known_choice(saved["required"]["format"], "nope")


class TestPlan:
    def graph(self, **links: list[str]) -> dict[str, Any]:
        return {name: {"inputs": {f"in{n}": [s, 0] for n, s in enumerate(to)}} for name, to in links.items()}

    def order(self, graph: dict[str, Any], sinks: set[str], cached: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
        plan = Plan(graph, lambda node: node in cached, lambda node: node in sinks)
        for sink in sorted(sinks):
            plan.add(sink)
        found = []
        while plan:
            found.append(plan.pick())
            plan.done(found[-1])
        return found

    def test_what_a_node_needs_comes_before_it(self) -> None:
        graph = self.graph(a=[], b=["a"], c=["a", "b"], d=["c", "b"])
        found = self.order(graph, {"d"})
        assert sorted(found) == list("abcd")
        assert all(found.index(s) < found.index(n) for n in graph for s, _ in graph[n]["inputs"].values())

    def test_what_is_cached_is_not_run_nor_what_it_alone_needs(self) -> None:
        graph = self.graph(a=[], b=["a"], c=["b"], x=[], d=["c", "x"])
        assert sorted(self.order(graph, {"d"}, {"c"})) == ["d", "x"]

    def test_what_no_output_needs_is_not_run(self) -> None:
        assert self.order(self.graph(a=[], b=[], d=["a"]), {"d"}) == ["a", "d"]

    @pytest.mark.parametrize(
        ("value", "link"),
        [(["a", 0], True), (["a", 0, 1], False), ([1, 0], False), (["a", "0"], False), ("a", False),
         (["a", True], False)],
    )  # fmt: skip
    def test_links(self, value: Any, link: bool) -> None:
        assert is_link(value) is link


def test_an_upload_needs_a_form() -> None:
    request = http.Request(method="POST", path="/upload/image", query={}, headers={}, body=b"{}")
    assert upload_image(None, request).status == 400  # type: ignore[arg-type]
