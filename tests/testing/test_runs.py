"""Runs that were recorded, run again: what is told to whom and in which order, and what record is left."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
import requests
from websockets.exceptions import ConnectionClosedError

from mvpipe.testing.standin import Standin, standin
from tests.testing import essence
from tests.testing.client import PNG, Client, wav
from tests.testing.conftest import facts, furnish
from tests.testing.graphs import Graph, busy, usual

FLAGS = ("--shrink", "8")


@pytest.fixture
def fresh(version: str, tmp_path: Any) -> Any:
    """A server that nobody has used."""
    with standin(tmp_path, version=version, flags=FLAGS) as server:
        furnish(server)
        yield server


def shapes_of(client: Client, prompt_id: str, version: str) -> list[Any]:
    """The record, and the job where there are jobs, as recordings are boiled down."""
    shapes: list[Any] = [essence.record(client.record(prompt_id))]
    if version == "0.33.0":
        shapes.append(essence.job(client.get(f"/api/jobs/{prompt_id}").json()))
    return shapes


def test_a_whole_render_and_its_cached_repeats(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    if version == "0.33.0":  # recorded on a server that had the loaders' work from an earlier prompt
        client.upload("other.png", PNG + b"x", subfolder="rec")
        client.upload("other.wav", wav(800), subfolder="rec")
        client.render(usual(seed=9, image="rec/other.png", audio="rec/other.wav"))
    graphs = [usual(seed=1, prefix="rec03/a"), *[usual(seed=2, prefix="rec03/b")] * 2]
    graphs += [usual(seed=2, prefix="rec03/other")] * 2
    extra = {"extra_pnginfo": {"workflow": {"id": "wf-1"}}, "mvpipe": {"shot": "s01"}}
    heard, shapes = [], list[Any]()
    for place, graph in enumerate(graphs):
        with client.listen(f"client{place}", flags=place == 1) as ear:
            ear.hear()
            if place == 1:
                ear.hear()
            if place == 4:
                (fresh.root / "output" / "rec03" / "other_00001_.mp4").unlink()
            more = {"extra_data": extra} if place == 0 else {}
            prompt_id = client.queue(graph, client_id=f"client{place}", **more)
            heard.append(ear.until("executing None"))
        shapes.append(shapes_of(client, prompt_id, version))
    recorded = facts("03-run-success", version)
    assert [sorted_start(one) for one in heard] == [sorted_start(one) for one in recorded["sockets"]]
    records = [shape for shape in recorded["shapes"] if isinstance(shape, dict) and "messages" in shape]
    assert [shape[0] for shape in shapes] == records
    if version == "0.33.0":
        jobs = [shape for shape in recorded["shapes"] if isinstance(shape, dict) and "preview" in shape]
        assert jobs[1] == shapes[0][1]
    assert client.get("/view?filename=other_00001_.mp4&subfolder=rec03").status_code == 404


def sorted_start(told: list[str]) -> list[str]:
    """Flags may arrive before or after the first status: the recorder and we send them at different times."""
    return [*sorted(told[:2]), *told[2:]]


def test_a_cached_run_names_the_earlier_file(fresh: Standin) -> None:
    client = Client(fresh.url)
    first = client.render(usual(prefix="a/one"))
    again = client.render(usual(prefix="a/one"))
    assert again["outputs"] == first["outputs"]
    assert sorted(again["status"]["messages"][1][1]["nodes"], key=int) == [str(n) for n in range(1, 20)]


def test_what_the_cache_keeps(fresh: Standin) -> None:
    """As recorded: a bad file again and again, until memory is freed or something before it changes."""
    client = Client(fresh.url)
    fresh.fault("sound-silent")

    def ran(graph: Graph) -> tuple[int, str]:
        entry = client.render(graph)
        shown: dict[str, Any] = next(iter(entry["outputs"].values()), {})
        name = shown["images"][0]["filename"] if "images" in shown else ""
        return len(entry["status"]["messages"][1][1]["nodes"]), name

    keep, total = usual(prefix="keep"), len(usual())
    assert ran(keep) == (0, "keep_00001_.mp4")
    assert ran(keep) == (total, "keep_00001_.mp4")
    client.post("/free", {"unload_models": True})
    time.sleep(0.1)
    assert ran(keep) == (total, "keep_00001_.mp4")
    client.post("/free", {"free_memory": True})
    time.sleep(0.1)
    assert ran(keep) == (0, "keep_00002_.mp4")
    assert ran(usual(prefix="kept")) == (total - 1, "kept_00001_.mp4")
    client.upload("vocal.wav", wav(4800), subfolder="rec")
    cached, _ = ran(usual(prefix="kept"))
    assert 0 < cached < total - 1
    ran(busy(0))
    assert ran(keep)[0] == 0


def test_errors_and_their_records(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    recorded = facts("05-run-errors", version)
    found = []
    for place, fault in enumerate(("node-error", "out-of-memory", "out-of-memory-plain")):
        fresh.fault(fault, after=2, **({"until_free": False} if place == 1 else {}))
        found.append(one_record(client, usual(seed=place), client_id="x"))
    fresh.fault("out-of-memory", at="VAEDecode", until_free=False)
    found += [one_record(client, usual(seed=9), client_id="x") for _ in range(2)]
    client.upload("zero.wav", b"", subfolder="rec")
    client.upload("zero.png", b"", subfolder="rec")
    found.append(one_record(client, usual(audio="rec/zero.wav"), client_id="x"))
    found.append(one_record(client, usual(image="rec/zero.png"), client_id="x"))
    client.upload("gone.wav", wav(800), subfolder="rec")
    fresh.fault("input-gone")
    found.append(one_record(client, usual(audio="rec/gone.wav")))
    furnish(fresh)
    for place, fault in enumerate(
        ("sound-missing", "sound-nan", "frames-short", "sound-silent", "sound-short")
    ):
        fresh.fault(fault)
        found.append(one_record(client, usual(seed=20 + place)))
    assert [f["error"] for f in found] == [f["error"] for f in recorded]
    assert found == recorded


def one_record(client: Client, graph: Graph, **more: Any) -> Any:
    return essence.record(client.record(client.queue(graph, **more)))


def test_interrupts(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    with client.listen("me") as ear, client.listen("other") as other:
        ear.hear(), other.hear()
        assert client.post("/interrupt").status_code == 200  # nothing runs, nothing happens
        first = client.queue(busy(0.6, steps=3), client_id="me")
        ear.until("progress 1 1/3")
        client.post("/interrupt", {"prompt_id": "0" * 8})
        ear.until("progress 1 2/3")
        answer = client.post("/interrupt", {"prompt_id": first})
        assert (answer.status_code, answer.text) == (200, "")
        ear.until("executing None")
        long = client.queue(busy(0.3, nonce=1), client_id="me")
        waiting = client.queue(busy(0.1, nonce=2), client_id="me")
        client.post("/interrupt", {"prompt_id": waiting})
        client.post("/interrupt", data="{broken")
        ear.until("execution_success")
        heard, overheard = ear.drain(), other.drain()
    records = [essence.record(client.record(one)) for one in (first, long, waiting)]
    assert [r["status"][0] for r in records] == ["error", "error", "success"]
    recorded = facts("06-interrupt", version)["sockets"]
    assert "execution_interrupted 1" in heard
    assert end_of(heard, "execution_interrupted 1") == end_of(recorded[0], "execution_interrupted 15")
    assert all(one.startswith("status") for one in [*overheard, *recorded[1]])
    assert client.post("/interrupt", []).status_code == 500


def end_of(told: list[str], word: str) -> list[str]:
    """What follows the first message of that kind, up to the end of its run."""
    start = told.index(word)
    return told[start + 1 : start + 3]


def test_cancelling_jobs(fresh: Standin, version: str) -> None:
    client = Client(fresh.url)
    running, waiting = client.queue(busy(0.4, steps=4)), client.queue(busy(0, nonce=1))
    if version == "0.3.64":
        assert client.get("/api/jobs").status_code == 404
        assert client.post(f"/api/jobs/{waiting}/cancel").status_code == 405
        return
    until_it_runs(client)
    listed = client.get("/api/jobs?status=pending,in_progress").json()
    assert [job["status"] for job in listed["jobs"]] == ["pending", "in_progress"]
    assert listed["pagination"] == {"offset": 0, "limit": None, "total": 2, "has_more": False}
    assert client.post(f"/api/jobs/{waiting}/cancel").json() == {"cancelled": True}
    assert client.post(f"/api/jobs/{running}/cancel").json() == {"cancelled": True}
    client.record(running)
    assert client.get(f"/api/jobs/{running}").json()["status"] == "cancelled"
    assert client.get(f"/api/jobs/{waiting}").json() == {"error": "Job not found"}
    assert client.get(f"/history/{waiting}").json() == {}
    assert client.post(f"/api/jobs/{running}/cancel").json() == {"cancelled": False}
    answer = client.post("/api/jobs/cancel", {"job_ids": ["x"]})
    assert (answer.status_code, answer.json()["invalid_ids"]) == (400, ["x"])


def test_listing_jobs(fresh: Standin, version: str) -> None:
    if version == "0.3.64":
        return
    client = Client(fresh.url)
    marked = {"extra_pnginfo": {"workflow": {"id": "wf-7"}}}
    ids = [client.queue(busy(0, nonce=n), extra_data=marked if n == 1 else {}) for n in range(3)]
    for one in ids:
        client.record(one)
    fresh.fault("node-error", at="StandinBusy")
    failed = client.queue(busy(0, nonce=9))
    client.record(failed)

    def listed(query: str = "") -> Any:
        return client.get(f"/api/jobs{query}").json()

    assert [job["id"] for job in listed()["jobs"]] == [failed, *reversed(ids)]
    assert [job["id"] for job in listed("?sort_order=asc")["jobs"]] == [*ids, failed]
    assert [job["id"] for job in listed("?status=failed")["jobs"]] == [failed]
    assert "execution_error" in listed("?status=failed")["jobs"][0]
    assert [job["id"] for job in listed("?workflow_id=wf-7")["jobs"]] == [ids[1]]
    page = listed("?limit=2&offset=1")
    assert [job["id"] for job in page["jobs"]] == [ids[2], ids[1]]
    assert page["pagination"] == {"offset": 1, "limit": 2, "total": 4, "has_more": True}
    for wrong in ("?status=bogus", "?limit=0", "?limit=x", "?offset=-1", "?sort_by=x", "?sort_order=x"):
        answer = client.get(f"/api/jobs{wrong}")
        assert (answer.status_code, list(answer.json())) == (400, ["error"])


def until_it_runs(client: Client) -> None:
    while not client.get("/queue").json()["queue_running"]:
        time.sleep(0.005)


def test_queue_order_and_upkeep(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    for _ in range(100):  # refused prompts count; the recording began as high, and -50 has its place by it
        client.prompt({"9": {}})
    found: list[Any] = []
    names: dict[str, str] = {}

    def post(what: str, seconds: float, **more: Any) -> str:
        answer = client.prompt(busy(seconds, nonce=len(names)), client_id="q", **more)
        if answer.status_code != 200:
            found.append([what, answer.status_code])
            return str(more.get("prompt_id"))
        number = answer.json()["number"]
        if isinstance(number, int):
            number = number - 100 if number > 0 else number + 100
        found.append([what, 200, number])
        names[answer.json()["prompt_id"]] = what.split(" {", maxsplit=1)[0]
        return str(answer.json()["prompt_id"])

    def queue() -> None:
        shown = client.get("/queue").json()
        relative = [
            [n if isinstance(n, float) else n - 100 if n > 0 else n + 100 for n, *_ in items]
            for items in shown.values()
        ]
        found.append(["queue", *relative])

    first = post("first {}", 0.5)
    until_it_runs(client)
    post("second {}", 0)
    third = post("third {}", 0)
    ways: dict[str, dict[str, Any]] = {
        'front {"front": true}': {"front": True}, 'front2 {"front": true}': {"front": True},
        'number -50 {"number": -50}': {"number": -50}, 'number 0.5 {"number": 0.5}': {"number": 0.5},
        'front false {"front": false}': {"front": False},
    }  # fmt: skip
    for what, more in ways.items():
        post(what, 0, **more)
    queue()
    assert client.get("/prompt").json() == {"exec_info": {"queue_remaining": 8}}
    client.post("/queue", {"delete": [third, "nobody"]})
    client.post("/queue", {"delete": [first]})
    queue()
    client.record(first)
    while client.get("/prompt").json()["exec_info"]["queue_remaining"]:
        time.sleep(0.01)
    order = [names[run["prompt_id"]] for run in fresh.runs()]
    held = post("a {}", 0.3)
    until_it_runs(client)
    post("b {}", 0), post("c {}", 0)
    client.post("/queue", {"clear": True})
    queue()
    client.record(held)
    twice = str(client.queue(busy(0), client_id="q"))
    client.record(twice)
    recorded = facts("07-queue", version)
    wanted = [step for step in recorded["steps"] if step[0] == "queue" or len(step) == 3]
    assert found == wanted[: len(found)]
    assert f"run order: {order}".replace("'", '"') == recorded["notes"][0]
    assert client.get(f"/history/{third}").json() == {}
    assert_history_upkeep(client, recorded["notes"][1:])


def assert_history_upkeep(client: Client, notes: list[str]) -> None:
    everything = list(client.get("/history").json())
    for note in notes:  # GET /history?max_items=2: 200, indices [62, 63] of 64 (2 entries)
        path, _, rest = note.removeprefix("GET ").partition(": 200, indices ")
        old, total = rest.partition("] of ")[0].strip("["), int(rest.partition("] of ")[2].split(" ")[0])
        wanted = [int(one) for one in old.split(", ") if one]
        shift = len(everything) - total if wanted and wanted[-1] == total - 1 else 0
        found = [everything.index(one) for one in client.get(path).json()]
        assert found == [one + shift for one in wanted], note
    assert client.get("/history?max_items=abc").status_code == 500
    client.post("/history", {"delete": [everything[0], "nobody"]})
    assert client.get(f"/history/{everything[0]}").json() == {}
    client.post("/history", {"clear": True})
    assert client.get("/history").json() == {}
    for path in ("/queue", "/free"):
        assert client.post(path, {}).status_code == 200
        assert client.post(path).status_code == 500


def test_equal_ids_are_no_key(fresh: Standin) -> None:
    client = Client(fresh.url)
    hold = client.queue(busy(0.4))
    until_it_runs(client)
    same = "11111111-1111-4111-8111-111111111111"
    answers = [client.prompt(busy(0, nonce=n), prompt_id=same) for n in (1, 2)]
    assert [a.status_code for a in answers] == [200, 200]
    assert [item[1] for item in client.get("/queue").json()["queue_pending"]] == [same, same]
    client.record(hold)
    while client.get("/prompt").json()["exec_info"]["queue_remaining"]:
        time.sleep(0.01)
    record = client.record(same)[same]
    assert record["prompt"][0] == answers[1].json()["number"]
    assert [run["prompt_id"] for run in fresh.runs()].count(same) == 2


def test_requests_that_kill_the_worker(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    recorded = iter(facts("14-worker-death", version)["steps"])
    answer = client.prompt(busy(0), prompt_id="11111111-1111-4111-8111-111111111111", extra_data=None)
    assert answer.status_code == next(recorded)[1]
    wait_for(client, next(recorded)[1:])
    next(recorded), client.prompt(busy(0)), next(recorded)
    wait_for(client, next(recorded)[1:])
    assert fresh.state()["worker_alive"] == (version == "0.33.0")
    fresh.restart()
    next(recorded)
    client.prompt(busy(0.4))
    until_it_runs(client)
    same = {"prompt_id": "22222222-2222-4222-8222-222222222222", "number": 5}
    codes = [client.prompt(busy(0, nonce=n), **same).status_code for n in range(4)]
    assert codes == [200, 500, 500, 500]
    assert queue_numbers(client) == [[0], [5.0] * 4]
    wait_for(client, [[], [5.0] * 3])
    client.prompt(busy(0))
    wait_for(client, [[], [1, 5.0, 5.0, 5.0]])
    assert not fresh.state()["worker_alive"]
    assert client.get("/system_stats").status_code == 200


def wait_for(client: Client, numbers: list[list[float]], seconds: float = 10.0) -> None:
    """Until the queue is so, and a moment more in which it must stay so."""
    until = time.monotonic() + seconds
    while queue_numbers(client) != numbers and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    assert queue_numbers(client) == numbers


def queue_numbers(client: Client) -> list[list[float]]:
    return [[item[0] for item in items] for items in client.get("/queue").json().values()]


def test_who_hears_what(version: str, fresh: Standin) -> None:
    client = Client(fresh.url)
    recorded = facts("08-concurrent", version)["sockets"]
    with client.listen("one") as one, client.listen("two") as two, client.listen() as nobody:
        ears = (one, two, nobody)
        for ear in ears:
            ear.hear()
        for place in range(6):
            client.queue(busy(0.1, nonce=place), client_id=("one", "two")[place % 2])
        last = client.queue(busy(0.3, steps=3, nonce=9))
        client.record(last)
        heard = [ear.drain() for ear in ears]
    for told, known in zip(heard, recorded, strict=True):
        assert [x for x in told if "status" not in x] == [x for x in known if "status" not in x]
    assert heard[0][-1] == heard[2][-1] == "status 0"
    assert len([x for x in heard[2] if "status" in x]) == len([x for x in recorded[2] if "status" in x])
    assert len(client.record(last)[last]["status"]["messages"]) == 3


def test_sockets_that_come_and_go(version: str, fresh: Standin) -> None:
    """Scenarios A, B, D, F and G of the recording, with fewer steps."""
    client = Client(fresh.url)
    recorded = facts("11-reconnect", version)["sockets"]
    prompt_id = client.queue(busy(0.8, steps=4), client_id="a")
    with client.listen("a") as ear:
        ear.until("progress 1 1/4")
    time.sleep(0.25)
    with client.listen("a") as ear:  # A: back with the same id: what was sent meanwhile is lost
        heard = ear.until("executing None")
    assert heard[:2] == recorded[1][:2] == ["status 1 +sid", "executing 1 -display_node -prompt_id"]
    assert heard[-5:] == [x.replace("15/15", "4/4") for x in recorded[1][-5:]]
    assert "progress 1 2/4" not in heard
    prompt_id = client.queue(busy(0.8, steps=4, nonce=1), client_id="b")
    with contextlib.ExitStack() as old, contextlib.ExitStack() as new:  # B: the first closes after the second
        first = old.enter_context(client.listen("b"))
        first.until("progress 1 1/4")
        second = new.enter_context(client.listen("b"))
        second.until("progress 1 2/4")
        old.close()
        client.record(prompt_id)
        told = second.drain()
        assert told[:2] == ["status 1 +sid", "executing 1 -display_node -prompt_id"]
        assert not [one for one in told if one.startswith(("execution", "status 0"))]
        assert second.socket.ping().wait(2)
    with client.listen("b") as late:  # D: nothing tells about an end that was missed
        assert late.drain() == ["status 0 +sid"] == recorded[-3]
    with client.listen("f") as odd:  # F: noise is passed over
        odd.hear()
        odd.socket.send("no json")
        odd.socket.send(b"\x00\x01")
        assert odd.drain(0.2) == ["status 0 +sid"]
    with client.listen("g", flags=True) as flagged:  # G
        assert sorted(flagged.drain()) == sorted(recorded[-1])


def test_the_first_text_message_alone_may_set_flags(fresh: Standin) -> None:
    client = Client(fresh.url)
    with client.listen("a") as ear:
        ear.hear()
        ear.socket.send('{"type": "hello"}')
        ear.socket.send('{"type": "feature_flags", "data": {}}')
        assert ear.drain(0.2) == ["status 0 +sid"]


def test_a_killed_server_comes_back_with_its_files_alone(fresh: Standin) -> None:
    client = Client(fresh.url)
    client.render(usual(prefix="rec13/x"))
    fresh.fault("die", step=2)
    with client.listen("c") as ear:
        client.queue(busy(0.3))
        running = client.queue(usual(seed=2), client_id="c")
        behind = client.queue(usual(seed=3), client_id="c")
        with pytest.raises(ConnectionClosedError, match="no close frame"):
            ear.until("nothing ever")
        assert "progress 15 1/4" in ear.told()
    fresh.wait_dead()
    with pytest.raises(requests.ConnectionError, match="refused"):
        client.get("/queue")
    fresh.start()
    assert client.get("/queue").json() == {"queue_running": [], "queue_pending": []}
    assert client.get("/history").json() == {}
    assert client.get(f"/history/{running}").json() == client.get(f"/history/{behind}").json() == {}
    assert client.get("/view?filename=face.png&subfolder=rec&type=input").status_code == 200
    assert client.get("/view?filename=x_00001_.mp4&subfolder=rec13").status_code == 200
    again = client.prompt(usual(seed=2)).json()
    assert again["number"] == 0
    assert client.record(again["prompt_id"])[again["prompt_id"]]["status"]["status_str"] == "success"


def test_assets(tmp_path: Any) -> None:
    with standin(tmp_path, flags=("--enable-assets", *FLAGS)) as server:
        client = Client(server.url)
        furnish(server)
        assert client.get("/features").json()["assets"] is True
        asset = client.upload("a.png", PNG, subfolder="as")["asset"]
        assert sorted(asset) == ["asset_hash", "id", "mime_type", "name", "size", "tags"]
        assert asset["tags"] == ["input", "uploaded"]
        known = client._session.head(server.url + f"/api/assets/hash/{asset['asset_hash']}", timeout=5)
        unknown = client._session.head(server.url + f"/api/assets/hash/blake3:{'0' * 64}", timeout=5)
        assert (known.status_code, unknown.status_code) == (200, 404)
        shown = client.render(usual())["outputs"]["19"]["images"][0]
        assert sorted(shown) == ["filename", "id", "subfolder", "type"]
