"""The helper: a server for the length of a block, behind proxies, killed, revived, and never left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import requests

from mvpipe.errors import ToolError
from mvpipe.testing.standin import PORTS, Standin, free_ports, standin
from tests.testing.client import PNG, Client
from tests.testing.conftest import furnish
from tests.testing.graphs import busy, locked

REPOSITORY = Path(__file__).parents[2]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(true: Callable[[], object], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_lives_as_long_as_the_block(tmp_path: Path) -> None:
    with standin(tmp_path) as server:
        pid, url = server.pid, server.url
        assert server.alive
        assert requests.get(url + "/prompt", timeout=5).status_code == 200
    assert not is_alive(pid)
    with pytest.raises(requests.ConnectionError):
        requests.get(url + "/prompt", timeout=5)


def test_it_ends_with_the_block_that_fails(tmp_path: Path) -> None:
    pids = []

    def fail() -> None:
        with standin(tmp_path) as server:
            pids.append(server.pid)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not is_alive(pids[0])


@pytest.mark.skipif(sys.platform == "win32", reason="a parent is not watched there")
def test_it_ends_when_whoever_started_it_is_gone(tmp_path: Path) -> None:
    text = (
        "import os, sys\nfrom pathlib import Path\nfrom mvpipe.testing.standin import standin\n"
        "with standin(Path(sys.argv[1])) as server:\n    print(server.pid, flush=True)\n    os._exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    until(lambda: not is_alive(int(done.stdout)))


def test_a_wrong_flag_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="packs"), standin(tmp_path, flags=("--packs", "nope")):
        pass


def test_ports_are_not_those_of_outgoing_connections() -> None:
    ports = free_ports(4)
    assert len(set(ports)) == 4
    assert all(port in PORTS for port in ports)


def test_kill_and_restart_keep_address_and_files(tmp_path: Path) -> None:
    with standin(tmp_path) as server:
        client = Client(server.url)
        client.upload("a.png", PNG)
        client.render(busy(0))
        (server.root / "temp" / "x").write_text("gone at the next start")
        first, url = server.pid, server.url
        server.kill()
        assert not server.alive
        server.start()
        assert (server.pid != first, server.url == url) == (True, True)
        assert client.get("/history").json() == {}
        assert (server.root / "input" / "a.png").read_bytes() == PNG
        assert not (server.root / "temp" / "x").exists()
        assert len(server.log("start")) == 2
        assert len(server.runs()) == 1


def revived(server: Standin, count: int) -> bool:
    return server.deaths == count and server.alive


def test_it_is_revived(tmp_path: Path) -> None:
    with standin(tmp_path, revive_s=0.05) as server:
        furnish(server)
        server.fault("die", times=2, step=0, at="VAEDecode")
        for count in (1, 2):
            Client(server.url).queue(locked())
            until(partial(revived, server, count))
        assert Client(server.url).render(locked())["status"]["status_str"] == "success"


def test_before_it_has_booted_connections_are_refused(tmp_path: Path) -> None:
    with standin(tmp_path, flags=("--boot-seconds", "0.3")) as server:
        began = time.monotonic()
        server.restart()
        assert time.monotonic() - began > 0.3
        assert Client(server.url).get("/prompt").status_code == 200


def test_behind_a_proxy_with_a_path_and_a_header(tmp_path: Path) -> None:
    with standin(tmp_path, prefix="/comfy", flags=("--header", "X-Token: secret")) as server:
        furnish(server)
        assert server.url.endswith("/comfy")
        client = Client(server.url)
        assert client.get("/prompt").status_code == 401
        client._session.headers["X-Token"] = "secret"
        assert client.get("/prompt").json() == {"exec_info": {"queue_remaining": 0}}
        assert client.get("/api/queue").status_code == 200
        outside = requests.get(server.url.removesuffix("/comfy") + "/prompt", timeout=5)
        assert (outside.status_code, outside.headers["Content-Type"][:9]) == (404, "text/html")
        entry = client.render(locked())
        assert client.fetch(entry, tmp_path / "x.mp4").stat().st_size > 1000
        assert server.requests("/prompt", "POST")[0]["headers"]["x-token"] == "secret"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_https(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    with standin(tmp_path / "root", certificate=(certificate, key)) as server:
        assert server.url.startswith("https://")
        assert requests.get(server.url + "/prompt", verify=str(certificate), timeout=5).status_code == 200
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(server.url + "/prompt", timeout=5)


def test_a_server_that_lacks_things(tmp_path: Path) -> None:
    lora = "minimax_h3_ref2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors"
    flags = ("--packs", "standin", "--without-model", lora, "--model", "loras/sub/mine.safetensors")
    with standin(tmp_path, flags=flags) as server:
        client = Client(server.url)
        assert client.get("/object_info/MiniMaxH3ReferenceToVideo").json() == {}
        loras = client.get("/models/loras").json()
        assert lora not in loras
        assert "sub/mine.safetensors" in loras
        answer = client.prompt(locked())
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "missing_node_type")


def test_a_server_on_windows(tmp_path: Path) -> None:
    """Read from the source: separators of its system in what it lists, and taken back by /view."""
    with standin(tmp_path, flags=("--windows", "--model", "loras/sub/mine.safetensors")) as server:
        furnish(server)
        client = Client(server.url)
        assert client.get("/system_stats").json()["system"]["os"] == "win32"
        assert "sub\\mine.safetensors" in client.get("/models/loras").json()
        entry = client.render(locked(prefix="a/b/x"))
        assert entry["outputs"]["19"]["images"][0]["subfolder"] == "a\\b"
        assert client.fetch(entry, tmp_path / "x.mp4").stat().st_size > 1000


def test_the_log_knows_when_it_sampled(tmp_path: Path) -> None:
    with standin(tmp_path, speed=100, flags=("--step-seconds", "100000")) as server:
        furnish(server)
        client = Client(server.url)
        before = client.queue(locked())
        until(lambda: server.state()["sampling"])
        client.get(f"/history/{before}")  # a poll in the middle of sampling, as no client should
        client.record(before)
        client.get("/queue")
        poll, after = server.requests("/history")[0], server.requests("/queue")[0]
        assert (poll["sampling"], poll["running"]) == (True, before)
        assert (after["sampling"], after["running"]) == (False, None)
        assert not server.requests("/interrupt")
        posted = server.requests("/prompt", "POST")
        assert [(line["status"], line["path"]) for line in posted] == [(200, "/prompt")]


def test_work_passes_by_the_servers_clock(tmp_path: Path) -> None:
    """Four steps of a 960x544 shot of 124 frames: 48 s on a card of 12 s a step, and hardly a real one."""
    with standin(tmp_path, flags=("--shrink", "16")) as server:
        furnish(server)
        client = Client(server.url)
        began = time.monotonic()
        entry = client.render(locked(size=(960, 544), length=124))
        took = time.monotonic() - began
        times = [facts["timestamp"] / 1000 for _, facts in entry["status"]["messages"]]
        assert 4 * 12 < times[-1] - times[0] < 4 * 12 + 75
        assert took < 15


def test_by_hand_from_the_command_line(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "mvpipe.testing.comfyui"]
    listed = subprocess.run([*argv, "--faults"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "socket-mute" in listed.stdout
    more = [
        "--root",
        str(tmp_path),
        "--fault",
        "bad-gateway,times=1,path=/queue",
        "--parent",
        str(os.getpid()),
    ]
    with subprocess.Popen([*argv, *more], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        port = json.loads(child.stdout.readline())["port"]
        answers = [requests.get(f"http://127.0.0.1:{port}/queue", timeout=5).status_code for _ in range(2)]
        child.terminate()
    assert answers == [502, 200]
