"""Requests that were recorded, sent again: the stand-in answers as the real servers did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mvpipe.testing.standin import Standin, standin
from tests.testing import essence
from tests.testing.client import PNG, Client, wav
from tests.testing.conftest import facts
from tests.testing.gather import JSON
from tests.testing.graphs import CHANGES, busy, changed, usual

ANSWERED_ELSEWHERE = ("/object_info", "/view_metadata", "/models", "/api/jobs/0")
"""Paths whose bodies depend on what is installed, or whose ids were cut short."""


def test_what_the_server_tells_of_itself(version: str, client: Client) -> None:
    for key, fact in facts("01-info", version).items():
        method, _, path = key.partition(" ")
        if path.startswith("/view_metadata"):
            continue  # reads a model's header, of no use to a render client
        answer = client._session.request(method, client.url + path, timeout=10)
        assert (key, answer.status_code) == (key, fact["status"])
        assert essence.headers(dict(answer.headers)) == fact.get("headers", JSON), key
        if "schema" in fact:
            assert essence.schema(answer.json()) == fact["schema"], key
        elif "keys" in fact and not path.startswith(ANSWERED_ELSEWHERE) and method == "GET":
            said = answer.json()
            kinds = {k: sorted(v) if isinstance(v, dict) else type(v).__name__ for k, v in said.items()}
            assert kinds == fact["keys"], key
        if "body" in fact:
            assert (answer.json() if isinstance(fact["body"], dict) else answer.text) == fact["body"], key


def test_the_newer_server_sends_a_content_security_policy(version: str, client: Client) -> None:
    sent = "Content-Security-Policy" in client.get("/prompt").headers
    assert sent == (version == "0.33.0")


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_said_to_a_wrong_graph(version: str, client: Client, what: str) -> None:
    recorded = facts("04-validation", version)
    answer = client.prompt(changed(what))
    assert [answer.status_code, essence.refusal(answer.json())] == recorded[what]
    if record := recorded.get(f"record: {what}"):
        found = client.record(answer.json()["prompt_id"])
        assert essence.record(found) == record


def test_what_is_said_to_a_body_that_is_no_prompt(version: str, client: Client) -> None:
    recorded = facts("04-validation", version)
    bodies: dict[str, Any] = {
        "empty graph": {"prompt": {}},
        "no prompt key": {"client_id": "x"},
        "JSON list": [1],
        "partial_execution_targets naming a node that is no output": {
            "prompt": usual(), "partial_execution_targets": ["16"]},
        "partial_execution_targets [19]": {"prompt": usual(), "partial_execution_targets": ["19"]},
        "number as text": {"prompt": usual(), "number": "first"},
    }  # fmt: skip
    for what, body in bodies.items():
        answer = client.post("/prompt", body)
        said = answer.json() if "json" in answer.headers["Content-Type"] else answer.text
        assert [what, answer.status_code, essence.refusal(said)] == [what, *recorded[what]]
    broken = client.post("/prompt", data="{not json")
    assert [broken.status_code, broken.text] == recorded["broken JSON"]
    plain = client.post("/prompt", data=json.dumps({"prompt": {}}), headers={"Content-Type": "text/plain"})
    assert [plain.status_code, essence.refusal(plain.json())] == recorded["wrong content type"]


def test_which_ids_are_taken(version: str, client: Client) -> None:
    recorded = facts("04-validation", version)
    for what, prompt_id in {
        "prompt_id that is not a UUID": "shot-001",
        "prompt_id number": 17,
        "prompt_id null": None,
        "prompt_id in upper case": "66B8EF32-6616-428A-947C-E89E7724042D",
    }.items():
        answer = client.prompt(busy(0), prompt_id=prompt_id)
        status, said, given = recorded[what]
        assert [answer.status_code, essence.refusal(answer.json())] == [status, said], what
        minted = version == "0.33.0" and prompt_id is None
        if status == 200 and not minted:
            assert answer.json()["prompt_id"] == given or given.endswith("..")


def test_converted_numbers_are_what_runs(client: Client) -> None:
    entry = client.render(changed('"352" and 39.7 for INT: converted silently'))
    inputs = entry["prompt"][2]["9"]["inputs"]
    assert (inputs["width"], inputs["length"]) == (352, 39)


def test_a_nested_growable_slot_is_lost_in_silence(server: Standin, client: Client) -> None:
    what = "growable slot as a nested object: accepted and silently lost (the image node does not even run)"
    graph = changed(what)
    graph["12"]["inputs"]["noise_seed"] = 77
    client.post("/free", {"free_memory": True})
    entry = client.render(graph)
    assert entry["status"]["status_str"] == "success"
    assert "7" not in server.runs()[-1]["executed"]


def test_uploads(version: str, client: Client) -> None:
    big, small = PNG * 20, PNG
    forms: list[tuple[str, bytes, dict[str, str]]] = [
        ("face.png", small, {}), ("face.png", small, {}), ("face.png", big, {}), ("face.png", big, {}),
        ("face.png", big, {"overwrite": "true"}), ("face.png", small, {"overwrite": "1"}),
        ("face.png", big, {"overwrite": "True"}), ("vocal.wav", wav(800), {}),
        ("SUB.wav", wav(800), {"subfolder": ""}), ("face.png", small, {"subfolder": "SUB/a/b"}),
        ("SUB.png", small, {"type": "temp", "subfolder": ""}),
        ("SUB.png", small, {"type": "output", "subfolder": ""}),
        ("face.png", small, {"type": "bogus"}), ("x/y.png", small, {}), ("../../evil.png", small, {}),
        ("evil.png", small, {"subfolder": "../.."}), ("evil.png", small, {"subfolder": "/etc"}),
        ("mein%20Bild.png", small, {}), ("mein Bild ß 歌.png", small, {}), ("zero.png", b"", {}),
        ("note.txt", b"hello", {}),
    ]  # fmt: skip
    recorded = facts("02-upload", version)
    for (name, content, more), (what, status, said) in zip(forms, recorded[: len(forms)], strict=True):
        data = {key: value for key, value in ({"subfolder": "SUB"} | more).items() if value}
        answer = client.post("/upload/image", files={"image": (name, content)}, data=data)
        body: Any = answer.json() | {"asset": []} if status == 200 else answer.text
        assert [what, answer.status_code, body] == [what, status, said]
    rest = [
        client.post("/upload/image", files={"file": ("face.png", small)}),
        client.post("/upload/image", files={"image": (None, "text")}),
        client.post("/upload/image", {"image": "x"}),
        client.post("/upload/audio", files={"image": ("vocal.wav", b"")}),
    ]
    assert [[a.status_code, a.text] for a in rest] == [fact[1:] for fact in recorded[len(forms) :]]


def test_files_in_subfolders_are_in_no_list_yet_accepted(client: Client) -> None:
    client.upload("deep.wav", wav(800), subfolder="deep")
    inputs = client.get("/object_info/LoadAudio").json()["LoadAudio"]["input"]["required"]["audio"]
    assert "deep.wav" not in json.dumps(inputs)
    assert "vocal.wav" in json.dumps(inputs)
    assert client.prompt(usual(audio="deep/deep.wav")).status_code == 200


def test_view(version: str, server: Standin, client: Client) -> None:
    folder = server.root / "output" / "rec09"
    folder.mkdir(exist_ok=True)
    (folder / "clip_00001_.mp4").write_bytes(bytes(range(256)) * 100)
    (server.root / "input" / "rec" / "x.svg").write_text("<svg/>")
    known = dict(client.get("/view?filename=clip_00001_.mp4&subfolder=rec09").headers)
    sent = {
        "range": {"Range": "bytes=0-99"}, "suffix range": {"Range": "bytes=-50"},
        "range past the end": {"Range": "bytes=99999999-"}, "two ranges": {"Range": "bytes=0-9,20-29"},
        "ETag matches": {"If-None-Match": known["Etag"]},
        "not modified since": {"If-Modified-Since": known["Last-Modified"]},
    }  # fmt: skip
    pictures = ("preview", "channel=rgb")  # re-encoded by the real server; not by the stand-in
    for what, status, headers in facts("09-view", version):
        path, method = VIEWS.get(what, what.removeprefix("GET ").removeprefix("HEAD ")), what.split(" ")[0]
        more = sent.get(what, {"Range": "bytes=100-"} if status == 206 else {})
        if what.endswith(pictures) or what == "traversal":
            continue
        answer = client._session.request(
            "HEAD" if method == "HEAD" else "GET", client.url + path, headers=more, timeout=10
        )
        assert [what, answer.status_code] == [what, status]
        assert essence.headers(dict(answer.headers)) == headers, what


NAMED = "/view?filename=clip_00001_.mp4"
CLIP = NAMED + "&subfolder=rec09"
VIEWS = {
    "whole file": CLIP + "&type=output", "range": CLIP, "suffix range": CLIP, "range past the end": CLIP,
    "two ranges": CLIP, "ETag matches": CLIP, "not modified since": CLIP, "type defaults to output": CLIP,
    "subfolder forgotten": NAMED + "&type=output",
    "subfolder inside filename: only the base name counts": "/view?filename=rec09/clip_00001_.mp4",
    'annotated name "clip_00001_.mp4 [output]"': NAMED + "%20%5Boutput%5D&subfolder=rec09",
    "preview of a video": CLIP + "&type=output&preview=webp",
    "/api prefix": "/api" + CLIP,
    "active content types are forced to download in newer servers":
        "/view?filename=x.svg&subfolder=rec&type=input",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("?filename=../server.log&type=output", 400), ("?filename=..%2Fserver.log&type=output", 400),
        ("?filename=/etc/passwd", 400), ("?filename=server.log&subfolder=..&type=output", 403),
        ("?filename=server.log&subfolder=../&type=output", 403),
        ("?filename=passwd&subfolder=/etc&type=output", 403),
        ("?filename=x&subfolder=rec09/../..&type=output", 403), ("?filename=a..b.png&type=output", 400),
    ],
)  # fmt: skip
def test_nothing_outside_the_folders_is_seen(client: Client, path: str, status: int) -> None:
    assert client.get("/view" + path).status_code == status


def test_ranges_hold_the_right_bytes(server: Standin, client: Client) -> None:
    content = bytes(range(256)) * 4
    (server.root / "output" / "bytes.bin").write_bytes(content)
    for wanted, piece in {"0-99": content[:100], "-50": content[-50:], "1000-": content[1000:]}.items():
        answer = client.get("/view?filename=bytes.bin", headers={"Range": f"bytes={wanted}"})
        assert answer.content == piece
        start = content.index(piece) if wanted != "1000-" else 1000
        stop = 1024 if wanted != "0-99" else 100
        first = 974 if wanted == "-50" else start
        assert answer.headers["Content-Range"] == f"bytes {first}-{stop - 1}/1024"


def test_origins(version: str, client: Client) -> None:
    host = client.url.removeprefix("http://")
    port = host.partition(":")[2]
    sent: dict[str, dict[str, str]] = {
        "no Origin": {}, "same origin": {"Origin": f"http://{host}"},
        "other origin": {"Origin": "http://example.com"}, "other port": {"Origin": "http://127.0.0.1:1234"},
        "localhost instead of 127.0.0.1": {"Origin": f"http://localhost:{port}"},
        "origin null": {"Origin": "null"}, "origin without port": {"Origin": "http://127.0.0.1"},
        "Host of another name (DNS rebinding)": {"Host": "evil.example"},
        "Host and Origin of another name": {"Host": "evil.example", "Origin": "http://evil.example"},
        "Host localhost": {"Host": f"localhost:{port}"}, "cross-site fetch": {"Sec-Fetch-Site": "cross-site"},
        "same-origin fetch": {"Sec-Fetch-Site": "same-origin"},
        "cookie and bearer token are ignored": {"Authorization": "Bearer x", "Cookie": "a=b"},
        "POST from another origin": {"Origin": "http://example.com"},
        "preflight from another origin": {
            "Origin": "http://example.com", "Access-Control-Request-Method": "POST"},
    }  # fmt: skip
    for what, status in facts("10-origin", version):
        method = {"P": "POST", "p": "OPTIONS"}.get(what[0], "GET") if "from another" in what else "GET"
        answer = client._session.request(method, client.url + "/prompt", headers=sent[what], timeout=10)
        assert [what, answer.status_code] == [what, status]


def test_other_flags(version: str, tmp_path: Any) -> None:
    flags = (
        "--enable-cors-header",
        "--max-upload-size",
        "1",
        "--enable-compress-response-body",
        "--cache-none",
    )
    with standin(tmp_path, version=version, flags=flags) as server:
        client = Client(server.url)
        recorded = {what: fact for what, *fact in facts("17-flags-cors-upload", version)}
        foreign = {"Origin": "http://example.com"}
        big = {"image": ("big.bin", bytes(1_049_000))}
        answers = {
            "no Origin": client.get("/prompt"),
            "other origin: allowed, the origin check is off": client.get("/prompt", headers=foreign),
            "preflight": client._session.options(server.url + "/prompt", headers=foreign, timeout=10),
            "over the limit of 1 MiB": client.post("/upload/image", files=big),
            "the limit holds for POST /prompt too (1.2 MB of JSON)": client.post(
                "/prompt", data=" " * 1_200_000
            ),
            "GET /features": client.get("/features"),
        }
        for what, answer in answers.items():
            assert [answer.status_code, essence.headers(dict(answer.headers))] == recorded[what], what
        assert answers["over the limit of 1 MiB"].text == "Maximum request body size 1048576 exceeded."
        assert answers["GET /features"].json()["max_upload_size"] == 1048576.0
        runs = [client.render(busy(0)) for _ in range(2)]
        assert [run["status"]["messages"][1][1]["nodes"] for run in runs] == [[], []]
