"""Every fault strikes as its entry in the catalogue says, once ordered and not before."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from mvpipe.testing.comfyui.catalogue import CATALOGUE, MOMENTS, describe
from mvpipe.testing.comfyui.faults import Dice, Faults
from mvpipe.testing.standin import Standin, standin
from tests.testing import essence
from tests.testing.client import Client
from tests.testing.conftest import furnish
from tests.testing.graphs import busy, locked
from tests.testing.test_clips import SPOILT

ID = "33333333-3333-4333-8333-333333333333"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    with standin(tmp_path_factory.mktemp("comfy")) as server:
        furnish(server)
        yield server


@pytest.fixture
def server(running: Standin) -> Standin:
    if not running.alive or not running.state()["worker_alive"] or running.state()["running"]:
        running.restart()
    running.heal()
    return running


@pytest.fixture
def client(server: Standin) -> Client:
    fresh = Client(server.url)
    fresh.post("/free", {"free_memory": True})
    return fresh


def until(true: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def ends(client: Client, prompt_id: str) -> dict[str, Any]:
    """The last message of a run."""
    event, facts = client.record(prompt_id)[prompt_id]["status"]["messages"][-1]
    return {"event": event, **facts}


class TestTheNetwork:
    def test_reset(self, server: Standin, client: Client) -> None:
        server.fault("reset", path="/queue")
        assert client.get("/prompt").status_code == 200
        with pytest.raises(requests.ConnectionError):
            client.get("/queue")
        assert client.get("/queue").status_code == 200

    def test_slow_answer(self, server: Standin, client: Client) -> None:
        server.fault("slow-answer", seconds=0.3)
        began = time.monotonic()
        client.get("/queue")
        assert time.monotonic() - began > 0.29

    def test_door_closed(self, server: Standin, client: Client) -> None:
        prompt_id = client.queue(busy(0.1))
        server.fault("door-closed", seconds=0.4)
        client.get("/queue")
        time.sleep(0.1)
        with pytest.raises(requests.ConnectionError, match="refused"):
            Client(server.url).get("/queue")
        time.sleep(0.5)
        assert ends(Client(server.url), prompt_id)["event"] == "execution_success"

    def test_forbidden(self, server: Standin, client: Client) -> None:
        server.fault("forbidden")
        answer = client.get("/queue")
        assert (answer.status_code, answer.text) == (403, "")

    def test_not_comfyui(self, server: Standin, client: Client) -> None:
        server.fault("not-comfyui", times=-1)
        for path in ("/system_stats", "/object_info/X", "/api/jobs"):
            answer = client.get(path)
            assert (answer.status_code, answer.text[:9]) == (200, "<!doctype")

    def test_bad_gateway(self, server: Standin, client: Client) -> None:
        server.fault("bad-gateway", times=2)
        assert [client.get("/queue").status_code for _ in range(3)] == [502, 502, 200]


class TestPosting:
    def test_post_late(self, server: Standin, client: Client) -> None:
        server.fault("post-late", seconds=1.0)
        with pytest.raises(requests.ReadTimeout):
            client._session.post(
                server.url + "/prompt", json={"prompt": busy(0), "prompt_id": ID}, timeout=0.3
            )
        assert ends(client, ID)["event"] == "execution_success"

    def test_post_lost(self, server: Standin, client: Client) -> None:
        number = server.state()["number"]
        server.fault("post-lost")
        with pytest.raises(requests.ConnectionError):
            client.prompt(busy(0), prompt_id=ID)
        assert server.state()["number"] == number
        assert client.prompt(busy(0)).status_code == 200

    def test_post_reset(self, server: Standin, client: Client) -> None:
        other = ID.replace("3", "4")
        server.fault("post-reset")
        with pytest.raises(requests.ConnectionError):
            client.prompt(busy(0), prompt_id=other)
        assert ends(client, other)["event"] == "execution_success"

    def test_post_500(self, server: Standin, client: Client) -> None:
        other = ID.replace("3", "5")
        server.fault("post-500")
        assert client.prompt(busy(0), prompt_id=other).status_code == 500
        assert ends(client, other)["event"] == "execution_success"

    def test_half_accepted(self, server: Standin, client: Client) -> None:
        server.fault("half-accepted")
        answer = client.prompt(busy(0))
        assert answer.status_code == 200
        assert answer.json()["node_errors"]
        assert ends(client, answer.json()["prompt_id"])["event"] == "execution_success"

    def test_foreign_first(self, server: Standin, client: Client) -> None:
        server.fault("foreign-first", count=2, seconds=0.1)
        with client.listen("me") as ear:
            prompt_id = client.queue(busy(0), client_id="me")
            told = ear.until("executing None")
        assert "progress 1 4/4" in told  # somebody's progress, since theirs has no client
        runs = [run for run in server.runs() if not run["sampled"]][-3:]
        assert [run["client"] for run in runs] == [None, None, "me"]
        assert runs[-1]["prompt_id"] == prompt_id

    def test_queue_cleared(self, server: Standin, client: Client) -> None:
        running = client.queue(busy(0.3))
        until(lambda: server.state()["running"])
        server.fault("queue-cleared")
        gone = client.queue(busy(0))
        assert client.get("/queue").json()["queue_pending"] == []
        client.record(running)
        assert client.get(f"/history/{gone}").json() == {}


class TestFiles:
    def test_upload_full(self, server: Standin, client: Client) -> None:
        server.fault("upload-full")
        files = {"image": ("a.png", b"x")}
        assert client.post("/upload/image", files=files).status_code == 500
        assert not (server.root / "input" / "a.png").exists()

    def test_upload_renamed(self, server: Standin, client: Client) -> None:
        server.fault("upload-renamed")
        assert client.upload("b.png", b"x")["name"] == "b (1).png"
        assert client.upload("b.png", b"x")["name"] == "b.png"

    def test_view_cut_and_gone_on_with(self, server: Standin, client: Client) -> None:
        content = bytes(range(256)) * 64
        (server.root / "output" / "long.bin").write_bytes(content)
        server.fault("view-cut", bytes=5000)
        part = bytearray()
        with client.get("/view?filename=long.bin", stream=True) as answer:
            length = int(answer.headers["Content-Length"])
            with pytest.raises(requests.RequestException):
                deque(map(part.extend, answer.iter_content(100)), maxlen=0)
        assert length == len(content)
        assert content.startswith(bytes(part))
        assert len(part) < length
        more = {"Range": f"bytes={len(part)}-", "If-Range": answer.headers["Last-Modified"]}
        rest = client.get("/view?filename=long.bin", headers=more)
        assert (rest.status_code, bytes(part) + rest.content) == (206, content)

    def test_view_gone(self, server: Standin, client: Client) -> None:
        (server.root / "output" / "there.bin").write_bytes(b"x")
        server.fault("view-gone")
        assert [client.get("/view?filename=there.bin").status_code for _ in range(2)] == [404, 200]


class TestSockets:
    def test_socket_refused(self, server: Standin, client: Client) -> None:
        server.fault("socket-refused")
        with pytest.raises(InvalidStatus), client.listen("a"):
            pass
        with client.listen("a") as ear:
            assert ear.drain(0.1) == ["status 0 +sid"]

    def test_socket_drop(self, server: Standin, client: Client) -> None:
        server.fault("socket-drop", after=3)
        with client.listen("a") as ear:
            prompt_id = client.queue(busy(0.1), client_id="a")
            with pytest.raises(ConnectionClosedError, match="no close frame"):
                ear.until("nothing ever")
        assert ends(client, prompt_id)["event"] == "execution_success"

    def test_socket_mute(self, server: Standin, client: Client) -> None:
        server.fault("socket-mute", after=3)
        with client.listen("a") as ear:
            prompt_id = client.queue(busy(0.1), client_id="a")
            client.record(prompt_id)
            told = ear.drain()
            assert len(told) == 4
            assert ear.socket.ping().wait(2)

    def test_messages_lost(self, server: Standin, client: Client) -> None:
        server.fault("messages-lost", times=3)
        with client.listen("a") as ear:
            client.queue(busy(0.1), client_id="a")
            told = ear.until("executing None")
        assert told[1] == "execution_cached "

    def test_all_at_once_by_hand(self, server: Standin, client: Client) -> None:
        with client.listen("a") as ear:
            ear.hear()
            server.mute_sockets()
            client.render(busy(0), client_id="a")
            assert ear.drain(0.1) == ["status 0 +sid"]
        with client.listen("b") as ear:
            ear.hear()
            server.drop_sockets()
            with pytest.raises(ConnectionClosedError):
                ear.hear()


class TestWork:
    @pytest.mark.parametrize("figures", [{"at": "VAEDecode", "step": 0}, {"at": "SaveVideo", "step": 0}])
    def test_die(self, server: Standin, client: Client, figures: dict[str, Any]) -> None:
        server.fault("die", **figures)
        client.queue(locked(seed=1))
        server.wait_dead()
        server.start()
        assert server.state()["faults"] == []  # it does not die of the same again
        assert client.render(locked(seed=1))["status"]["status_str"] == "success"

    def test_freeze(self, server: Standin, client: Client) -> None:
        server.fault("freeze", seconds=1.0, after=1)
        first = client.queue(locked(seed=2))
        until(lambda: "freeze" in [line["name"] for line in server.log("fault")[-1:]])
        began = time.monotonic()
        assert server.state()["sampling"]  # the private door is open
        with pytest.raises(requests.ReadTimeout):
            client._session.post(server.url + "/prompt", json={"prompt": busy(0)}, timeout=0.3)
        answer = client.get("/queue")  # waits, and is answered
        assert time.monotonic() - began > 0.8
        assert answer.status_code == 200
        assert ends(client, first)["event"] == "execution_success"
        assert len(server.requests("/prompt", "POST")) >= 2  # the late one took effect

    def test_slow_loop(self, server: Standin, client: Client) -> None:
        server.fault("slow-loop", times=4, seconds=0.05)
        began = time.monotonic()
        client.render(locked(seed=3))
        assert time.monotonic() - began > 0.2

    def test_worker_dies(self, server: Standin, client: Client) -> None:
        server.fault("worker-dies")
        lost, behind = client.queue(busy(0)), client.queue(busy(0))
        until(lambda: not server.state()["worker_alive"])
        shown = client.get("/queue").json()
        assert [item[1] for item in shown["queue_running"]] == [lost]
        assert [item[1] for item in shown["queue_pending"]] == [behind]

    def test_hang(self, server: Standin, client: Client) -> None:
        server.fault("hang")
        stuck = client.queue(busy(0))
        until(lambda: "hang" in [line["name"] for line in server.log("fault")[-1:]])
        client.post("/interrupt", {"prompt_id": stuck})
        time.sleep(0.2)
        assert [item[1] for item in client.get("/queue").json()["queue_running"]] == [stuck]
        server.restart()

    def test_interrupted(self, server: Standin, client: Client) -> None:
        server.fault("interrupted", after=1)
        found = ends(client, client.queue(locked(seed=4)))
        assert (found["event"], found["node_type"]) == ("execution_interrupted", "SamplerCustomAdvanced")
        running = client.queue(busy(0.4, steps=4))
        until(lambda: server.state()["running"])
        server.interrupt()
        assert ends(client, running)["event"] == "execution_interrupted"

    def test_out_of_memory_until_memory_is_freed(self, server: Standin, client: Client) -> None:
        server.fault("out-of-memory")
        for _ in range(2):
            found = ends(client, client.queue(locked(seed=5)))
            assert found["exception_type"] == "torch.OutOfMemoryError"
            assert "This error means you ran out of memory on your GPU" in found["exception_message"]
        client.post("/free", {"unload_models": True, "free_memory": True})
        time.sleep(0.1)
        assert ends(client, client.queue(locked(seed=5)))["event"] == "execution_success"

    def test_out_of_memory_plain(self, server: Standin, client: Client) -> None:
        server.fault("out-of-memory-plain")
        found = ends(client, client.queue(locked(seed=6)))
        assert found["exception_type"] == "RuntimeError"
        assert found["exception_message"].startswith("CUDA out of memory")
        assert ends(client, client.queue(locked(seed=6)))["event"] == "execution_success"

    def test_node_error(self, server: Standin, client: Client) -> None:
        server.fault("node-error", at="VAEDecode")
        found = ends(client, client.queue(locked(seed=7)))
        assert (found["node_type"], found["exception_type"]) == ("VAEDecode", "ValueError")
        assert essence.shape("execution_error", {k: v for k, v in found.items() if k != "event"}) == ""

    def test_input_gone(self, server: Standin, client: Client) -> None:
        server.fault("input-gone")
        found = ends(client, client.queue(locked(seed=8)))
        furnish(server)
        assert found["exception_type"] in ("av.error.FileNotFoundError", "FileNotFoundError")

    def test_record_lost(self, server: Standin, client: Client) -> None:
        server.fault("record-lost")
        with client.listen("a") as ear:
            prompt_id = client.queue(busy(0), client_id="a")
            assert "execution_success" in ear.until("executing None")
        assert client.get(f"/history/{prompt_id}").json() == {}


class TestResults:
    def test_stale_file(self, server: Standin, client: Client) -> None:
        earlier = client.render(locked(seed=9, prefix="mine"))
        server.fault("stale-file")
        entry = client.render(locked(seed=10, prefix="yours"))
        assert entry["outputs"] == earlier["outputs"]
        assert len(entry["status"]["messages"][1][1]["nodes"]) == len(locked())

    def test_stale_file_gone(self, server: Standin, client: Client) -> None:
        server.fault("stale-file-gone")
        shown = client.render(locked(seed=11))["outputs"]["19"]["images"][0]
        assert client.get("/view", params=shown).status_code == 404

    def test_instant(self, server: Standin, client: Client) -> None:
        server.fault("instant")
        clock = server.state()["clock"]
        with client.listen("a") as ear:
            client.queue(locked(seed=12), client_id="a")
            told = ear.until("executing None")
        assert not [one for one in told if one.startswith("progress 15")]
        assert server.state()["clock"] - clock < 5


ELSEWHERE = {
    *SPOILT,
    "seed-ignored",
    "lora-ignored",
    "shimmer",
    "file-damaged",
    "sound-nan",
    "disk-full",
    "no-rights",
}
"""Faults of what is in a file; test_clips.py looks into it."""


def test_every_fault_has_its_test() -> None:
    here = {
        name.removeprefix("test_").replace("_", "-")
        for kind in (TestTheNetwork, TestPosting, TestFiles, TestSockets, TestWork, TestResults)
        for name in dir(kind)
        if name.startswith("test_")
    }
    here |= {"view-cut", "out-of-memory"}  # whose tests say more in their names
    assert CATALOGUE.keys() <= here | ELSEWHERE


def test_the_catalogue_says_what_it_reproduces() -> None:
    assert {kind.moment for kind in CATALOGUE.values()} <= set(MOMENTS)
    assert all(len(kind.says) > 10 for kind in CATALOGUE.values())
    assert all(name in describe() for name in CATALOGUE)


class TestOrders:
    def test_unknown_names_and_figures_are_refused(self, tmp_path: Path, server: Standin) -> None:
        faults = Faults(tmp_path / "f.json")
        for name, figures in (("nope", {}), ("die", {"nope": 1})):
            with pytest.raises(ValueError, match="no such"):
                faults.order(name, **figures)
        with pytest.raises(ValueError, match="no such fault"):
            server.fault("nope")
        with pytest.raises(ValueError, match="no such thing"):
            server.control("POST", "/nope", {})

    def test_times_and_after(self, tmp_path: Path) -> None:
        faults = Faults(tmp_path / "f.json")
        faults.order("reset", times=2, after=1)
        assert [bool(faults.take("reset", path="/x")) for _ in range(5)] == [False, True, True, False, False]
        faults.order("reset", times=-1)
        assert all(faults.take("reset", path="/x") for _ in range(5))
        faults.cancel("reset")
        assert faults.take("reset", path="/x") is None

    def test_a_figure_that_is_a_condition(self, tmp_path: Path) -> None:
        faults = Faults(tmp_path / "f.json")
        faults.order("die", at="VAEDecode", step=0)
        assert faults.take("die", at="VAEDecodeAudio", step=0) is None
        assert faults.take("die", at="VAEDecode", step=1) is None
        assert faults.take("die", at="VAEDecode", step=0) is not None
        faults.order("reset", path="/view")
        assert faults.take("reset", path="/queue") is None
        assert faults.take("reset", path="/view") is not None

    def test_what_is_left_outlives_a_death(self, tmp_path: Path) -> None:
        first = Faults(tmp_path / "f.json", Dice(seed=7, rate=0.5))
        first.order("reset", times=3)
        first.take("reset", path="/")
        second = Faults(tmp_path / "f.json", Dice(seed=7, rate=0.5))
        assert second.list()[0]["times"] == 2

    def test_strikes_are_told(self, tmp_path: Path) -> None:
        told: list[Any] = []
        faults = Faults(tmp_path / "f.json", None, lambda *strike: told.append(strike))
        faults.order("view-cut", bytes=5)
        faults.take("view-cut", subject="x")
        assert told == [("view-cut", "x", {"bytes": 5})]


class TestDice:
    def draws(self, folder: Path, seed: int, rate: float = 0.3) -> list[bool]:
        folder.mkdir()
        faults = Faults(folder / "f.json", Dice(seed=seed, rate=rate))
        return [bool(faults.take("die", subject=f"p{n}", at="sampler", step=1)) for n in range(100)]

    def test_the_same_seed_strikes_the_same(self, tmp_path: Path) -> None:
        one, again, other = (
            self.draws(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
        )
        assert one == again != other
        assert 15 < sum(one) < 45
        assert not any(self.draws(tmp_path / "d", 1, 0.0))

    def test_nothing_is_struck_twice_by_the_same(self, tmp_path: Path) -> None:
        faults = Faults(tmp_path / "f.json", Dice(seed=1, rate=1.0))
        assert [bool(faults.take("post-500", subject="p")) for _ in range(3)] == [True, False, False]
        assert faults.take("post-lost", subject="p") is not None

    def test_only_what_mends_is_drawn(self, tmp_path: Path) -> None:
        faults = Faults(tmp_path / "f.json", Dice(seed=1, rate=1.0))
        for kind in CATALOGUE.values():
            facts = {name: value for name, value in kind.figures.items() if name in ("at", "step")}
            assert bool(faults.take(kind.name, subject="p", **facts)) == kind.mends

    def test_with_dice_a_stubborn_client_gets_everything(self, tmp_path: Path) -> None:
        """Posts until it is queued, asks until it is there, with the same ids; the server is revived."""
        with standin(tmp_path, revive_s=0.05) as server:
            furnish(server)
            server.dice(11, 0.15)
            ids = [f"{n:08d}-0000-4000-8000-000000000000" for n in range(8)]
            takes = {prompt_id: stubborn(server, prompt_id, n) for n, prompt_id in enumerate(ids)}
            struck = {line["name"] for line in server.log("fault")}
        assert all(takes.values())
        assert len(struck) > 3

    def test_some_kinds_alone(self, tmp_path: Path) -> None:
        faults = Faults(tmp_path / "f.json", Dice(seed=1, rate=1.0, kinds=("hang",)))
        assert faults.take("post-500", subject="p") is None
        assert faults.take("hang", subject="p") is not None

    def test_dice_can_be_put_away(self, server: Standin) -> None:
        server.dice(1, 1.0, "forbidden")
        assert Client(server.url).get("/queue").status_code == 403
        server.put_dice_away()
        assert Client(server.url).get("/queue").status_code == 200


def stubborn(server: Standin, prompt_id: str, seed: int) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            client = Client(server.url)
            if record := client.get(f"/history/{prompt_id}").json():
                if record[prompt_id]["status"]["completed"]:
                    return True
                client.post("/free", {"free_memory": True, "unload_models": True})
            elif any(
                prompt_id == item[1] for items in client.get("/queue").json().values() for item in items
            ):
                time.sleep(0.05)
                continue
            client.prompt(locked(seed=seed), prompt_id=prompt_id)
        except (requests.RequestException, ValueError):
            time.sleep(0.05)
    return False


def test_nothing_strikes_unasked(server: Standin, client: Client) -> None:
    before = len(server.log("fault"))
    threads = [threading.Thread(target=client.render, args=(locked(seed=n),)) for n in (90, 91)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.log("fault")) == before
