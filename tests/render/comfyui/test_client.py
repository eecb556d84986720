"""The client against the stand-in: a film comes, in spite of every fault a careful client can survive."""

from __future__ import annotations

import errno
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from mvpipe.errors import (
    BackendError,
    Cancelled,
    GraphRejected,
    RenderFailed,
    RenderTimeout,
    Unreachable,
    VaultError,
)
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.failures import (
    RESTART,
    Full,
    Hung,
    NotComfyUI,
    Refused,
    Stalled,
    Stopped,
    TooSmall,
)
from mvpipe.render.comfyui.jobs import State
from mvpipe.render.comfyui.order import Graph
from mvpipe.render.comfyui.server import Place, Server, Sight
from mvpipe.testing.standin import Standin, standin
from tests.render.comfyui.rig import QUICK, Rig, essence, frames_of, misdeeds

VERSIONS = ("0.33.0", "0.3.64")


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    with standin(tmp_path_factory.mktemp("comfy"), version=request.param, revive_s=0.3) as running:
        yield running
        assert misdeeds(running) == []


@pytest.fixture
def rig(server: Standin, tmp_path: Path) -> Iterator[Rig]:
    """A client whose server has none of its files and remembers nothing it sampled."""
    found = Rig(server, tmp_path)
    found.forget_cache()
    shutil.rmtree(server.root / "input" / "mvpipe", ignore_errors=True)
    yield found
    server.heal()


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the film of seed 1 is when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("calm")
    with standin(folder / "comfy") as running:
        return essence(Rig(running, folder / "client").make("calm"))


@dataclass(frozen=True)
class Trial:
    """A fault, and what there is to see of it."""

    fault: str
    figures: dict[str, Any] = field(default_factory=dict)
    attempts: int = 1
    sampled: int = 1

    def __str__(self) -> str:
        return "-".join([self.fault, *(f"{key}={value}" for key, value in self.figures.items())])


LOOK = "where a job is looked for"

MENDED = [
    Trial("reset", {"path": "/system_stats"}),
    Trial("reset", {"path": LOOK}),
    Trial("reset", {"path": "/upload"}),
    Trial("reset", {"path": "/view"}),
    Trial("slow-answer", {"seconds": 2.4, "path": LOOK}),
    Trial("door-closed", {"seconds": 0.4, "path": "/prompt"}),
    Trial("bad-gateway", {"path": LOOK}),
    Trial("bad-gateway", {"path": "/prompt"}),
    Trial("not-comfyui", {"path": LOOK}),
    Trial("not-comfyui", {"path": "/prompt"}),
    Trial("post-late", {"seconds": 2.6}),
    Trial("post-lost"),
    Trial("post-reset"),
    Trial("post-500"),
    Trial("foreign-first", {"count": 2, "seconds": 0.3}),
    Trial("upload-renamed"),
    Trial("view-cut", {"bytes": 3000}),
    Trial("view-cut", {"bytes": 0}),
    Trial("view-gone"),
    Trial("view-gone", {"times": 2}, attempts=2),
    Trial("not-comfyui", {"path": "/view", "after": 1}),
    Trial("socket-refused"),
    Trial("socket-drop"),
    Trial("socket-drop", {"times": 5}),
    Trial("socket-mute"),
    Trial("messages-lost", {"times": -1}),
    Trial("die", {"step": 2}, attempts=2),
    Trial("die", {"step": 0, "at": "VAEDecode"}, attempts=2, sampled=1),
    Trial("freeze", {"seconds": 2.5}),
    Trial("slow-loop", {"times": 4}),
    Trial("out-of-memory", attempts=2),
    Trial("out-of-memory-plain", attempts=2),
    Trial("record-lost"),
    Trial("input-gone", attempts=2),
    Trial("stale-file", attempts=2),
    Trial("stale-file-gone", attempts=2),
    Trial("file-damaged", attempts=2),
]


class TestFaultsThatAreMended:
    @pytest.mark.parametrize("trial", MENDED, ids=str)
    def test_the_same_film_comes(self, rig: Rig, same: str, trial: Trial) -> None:
        name = f"mended {trial}"
        if trial.fault == "stale-file":
            rig.make("an earlier film", seed=2)
        struck = len(rig.server.log("fault"))
        rig.fault(trial.fault, **trial.figures)
        film = rig.make(name)
        assert {strike["name"] for strike in rig.server.log("fault")[struck:]} == {trial.fault}
        assert (frames_of(film), essence(film)) == (22, same)
        assert rig.job(name).attempt == trial.attempts
        assert rig.sampled(name) == trial.sampled
        assert rig.job(name).state is State.DONE
        assert not list(rig.folder.glob("*.part"))


FATAL: list[tuple[Trial, type[BackendError], str]] = [
    (Trial("forbidden", {"path": "/system_stats"}), Refused, "403"),
    (Trial("forbidden", {"path": "/prompt"}), Refused, "403"),
    (Trial("not-comfyui", {"path": "/system_stats"}), NotComfyUI, "not ComfyUI's: text/html"),
    (Trial("reset", {"path": "/system_stats", "times": -1}), Unreachable, "the connection broke"),
    (Trial("half-accepted"), GraphRejected, "node x (SaveAudio): Required input is missing"),
    (Trial("upload-full"), Full, "500: not stored"),
    (Trial("worker-dies"), Hung, "worker is dead"),
    (Trial("hang"), Hung, "no sign of life"),
    (Trial("interrupted"), Stopped, "stopped at the server"),
    (Trial("out-of-memory", {"times": -1}), TooSmall, "torch.OutOfMemoryError"),
    (Trial("die", {"step": 2, "times": -1}), TooSmall, "the server died 2 times while it ran this"),
    (Trial("node-error"), RenderFailed, "node sample (SamplerCustomAdvanced): ValueError"),
    (Trial("disk-full"), Full, "No space left"),
    (Trial("no-rights"), Full, "Permission denied"),
    (Trial("sound-nan"), RenderFailed, "NaN"),
    (Trial("view-gone", {"times": -1}), RenderFailed, "no whole film of its own"),
    (Trial("stale-file-gone", {"times": -1}), RenderFailed, "no whole film of its own"),
    (Trial("file-damaged", {"times": -1}), RenderFailed, "no whole film of its own"),
    (Trial("view-cut", {"times": -1, "bytes": 0}), Unreachable, "broke off again and again"),
]


class TestFaultsThatAreFinal:
    @pytest.mark.parametrize(("trial", "kind", "says"), FATAL, ids=[str(trial) for trial, _, _ in FATAL])
    def test_one_clear_error(self, rig: Rig, trial: Trial, kind: type[BackendError], says: str) -> None:
        rig.fault(trial.fault, **trial.figures)
        with pytest.raises(BackendError, match=re.escape(says)) as caught:
            rig.make(f"final {trial}")
        assert type(caught.value) is kind
        assert rig.server.url in str(caught.value)
        assert caught.value.hint
        assert not list(rig.folder.glob("*.mp4"))
        rig.server.heal()
        if trial.fault in ("worker-dies", "hang"):
            rig.server.restart()

    def test_asked_again_it_is_made_anew(self, rig: Rig, same: str) -> None:
        """What failed is no obstacle to whoever asks another time."""
        for fault in ("node-error", "interrupted"):
            rig.fault(fault)
            with pytest.raises(RenderFailed):
                rig.make(f"twice {fault}")
            assert essence(rig.make(f"twice {fault}")) == same
            rig.forget_cache()

    def test_a_restart_of_a_dead_worker_is_all_it_takes(self, rig: Rig, same: str) -> None:
        rig.fault("worker-dies")
        with pytest.raises(RenderTimeout) as caught:
            rig.make("stuck")
        assert "restart ComfyUI" in caught.value.hint
        rig.server.restart()
        assert essence(rig.make("stuck")) == same
        assert rig.sampled("stuck") == 1

    @pytest.mark.parametrize("fault", ["worker-dies", "hang"])
    def test_nothing_more_is_sent_to_who_does_not_work(self, rig: Rig, same: str, fault: str) -> None:
        rig.fault(fault)
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(rig.make, f"{fault} {n}", n) for n in (1, 2)]
            said = [one.exception() for one in both]
        assert {type(one) for one in said} <= {Hung, Stalled}
        assert not any(one.pending for one in said if isinstance(one, Hung)), "it was seen not to be made"
        assert len({str(one) for one in said}) == 1, "one thing is wrong, and it is said alike"
        posted = len(rig.server.requests("/prompt", "POST"))
        began = time.monotonic()
        for call in (lambda: rig.make(f"{fault} 1"), lambda: rig.make(f"{fault} 3", 3), rig.client.greet):
            with pytest.raises(Stalled, match=r"dead") as caught:
                call()
            assert caught.value.hint == RESTART
            assert not caught.value.retryable
        assert time.monotonic() - began < 2.0
        assert len(rig.server.requests("/prompt", "POST")) == posted
        rig.server.restart()
        rig.client.greet()
        films = [essence(rig.make(f"{fault} {n}", n)) for n in (1, 2, 3)]
        assert films[0] == same
        assert len(set(films)) == 3
        assert rig.client.stall.why == ""

    def test_jobs_that_wait_while_nothing_runs(self, rig: Rig) -> None:
        """The worker died of somebody else's job; ours waits behind it for ever."""
        rig.fault("worker-dies")
        rig.server.foreign(1)
        wait_for(lambda: not rig.server.state()["worker_alive"])
        with pytest.raises(RenderTimeout, match=r"no sign of life|nothing runs"):
            rig.make("behind the dead", patience=replace(QUICK, queue_s=2))
        rig.server.restart()

    def test_a_graph_that_is_refused_names_its_nodes(self, rig: Rig) -> None:
        order = rig.order("refused")
        wrong = {**order.graph, "euler": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "nope"}}}
        with pytest.raises(GraphRejected, match=r"node euler \(KSamplerSelect\): Value not in list"):
            rig.client.make(replace(order, graph=wrong), rig.folder / "x.mp4", rig.tell)
        assert rig.job("refused").state is State.NEW

    def test_what_does_not_fit_is_said_before_anything_is_sent(self, rig: Rig) -> None:
        def fit(server: Server, graph: Graph) -> Graph:
            asked = {name: server.schema(name) for name in ("SaveVideo", "MiniMaxH3NoSuch")}
            assert asked["SaveVideo"]
            assert asked["MiniMaxH3NoSuch"] is None
            raise GraphRejected("no such class")

        before = len(rig.server.requests())
        with pytest.raises(GraphRejected, match="no such class"):
            rig.client.make(replace(rig.order("unfit"), fit=fit), rig.folder / "x.mp4", rig.tell)
        sent = [line["method"] for line in rig.server.requests()[before:]]
        assert set(sent) == {"GET"}

    def test_a_file_over_the_limit_is_not_sent(self, tmp_path: Path) -> None:
        with standin(tmp_path / "comfy", flags=["--max-upload-size", "0.02"]) as running:
            rig = Rig(running, tmp_path / "client")
            with pytest.raises(RenderFailed, match="where it takes 20971") as caught:
                rig.make("large")
            assert not running.requests("/upload")
        assert "--max-upload-size" in caught.value.hint


class TestListening:
    """With a server that takes 0.3 s a step."""

    @pytest.fixture(params=VERSIONS)
    def slow(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
        flags = ["--step-seconds", "1.6e6", "--shrink", "2"]
        with standin(tmp_path / "comfy", version=request.param, speed=1000, flags=flags) as running:
            yield Rig(running, tmp_path / "client", replace(QUICK, quiet_s=60.0))
            assert misdeeds(running) == []

    def test_nothing_is_asked_while_it_samples(self, slow: Rig) -> None:
        slow.make("heard")
        assert [line["path"] for line in slow.server.requests() if line["sampling"]] == []
        assert len(slow.looks()) == 2, "one before it is sent, one when its end was heard"
        assert {done for done, _ in slow.told} == {0, 1, 2, 3, 4}
        assert {of for _, of in slow.told} == {4}
        step_s = slow.made.facts["step_s"]
        assert 0.2 < step_s < 0.6

    def test_without_a_socket_it_is_asked_and_rarely(self, slow: Rig) -> None:
        slow.fault("socket-refused", times=-1)
        slow.make("asked")
        assert 1 <= len([line for line in slow.server.requests() if line["sampling"]]) <= 12

    def test_progress_of_others_is_not_ours(self, slow: Rig) -> None:
        slow.server.foreign(1, seconds=0.8)
        slow.make("among others")
        waiting = slow.told[: next(i for i, (done, _) in enumerate(slow.told) if done)]
        assert len(waiting) > 3
        assert slow.made.facts["waited_s"] > 0.5

    def test_a_cancel_stops_ours_and_nobody_elses(self, slow: Rig) -> None:
        def stop(done: int, of: int) -> None:
            if done >= 2:
                raise Cancelled

        (foreign,) = slow.server.foreign(1, seconds=0.3)
        with pytest.raises(Cancelled):
            slow.make("cancelled", tell=stop)
        wait_for(lambda: not slow.server.state()["running"])
        ends = {run["prompt_id"]: run["last"] for run in slow.server.runs()}
        assert ends == {
            foreign: "execution_success",
            slow.job("cancelled").prompt_id: "execution_interrupted",
        }
        assert essence(slow.make("cancelled"))
        assert slow.sampled("cancelled") == 1

    def test_a_cancel_of_what_waits_takes_it_back(self, slow: Rig) -> None:
        def stop(done: int, of: int) -> None:
            if slow.server.state()["waiting"]:
                raise Cancelled

        (foreign,) = slow.server.foreign(1, seconds=1.5)
        wait_for(lambda: bool(slow.server.state()["running"]))
        with pytest.raises(Cancelled):
            slow.make("taken back", tell=stop)
        state = slow.server.state()
        assert (state["waiting"], state["running"]) == ([], [foreign])
        assert essence(slow.make("taken back"))
        assert slow.job("taken back").losses == 0

    def test_two_at_once_share_the_server(self, slow: Rig) -> None:
        names = ("left", "right")
        threads = [threading.Thread(target=slow.make, args=(name, i)) for i, name in enumerate(names)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [slow.sampled(name) for name in names] == [1, 1]
        assert len(slow.server.requests("/upload")) == 2, "the vocal and the picture are sent once"
        assert len(slow.looks()) <= 8

    def test_a_queue_cleared_by_somebody_is_joined_again(self, slow: Rig) -> None:
        slow.server.foreign(1, seconds=0.6)
        slow.fault("queue-cleared")
        slow.make("cleared")
        job = slow.job("cleared")
        assert (job.attempt, job.losses, job.deaths) == (2, 1, 0)
        assert slow.sampled("cleared") == 1


class TestWhatIsKnownOfATake:
    def test_the_server_and_its_pace_are_recorded(self, rig: Rig) -> None:
        rig.make("facts")
        facts = rig.made.facts
        assert facts["url"] == rig.server.url
        assert facts["server"]["comfyui_version"] in VERSIONS
        assert facts["server"]["argv"][0] == "main.py"
        assert isinstance(facts["server"]["packages"], list)
        assert {"vram_total", "vram_free", "torch_vram_total"} <= facts["devices"][0].keys()
        assert facts["prompt_id"] == rig.job("facts").prompt_id
        assert facts["server_s"] > 40
        assert facts["wall_s"] >= facts["waited_s"] >= 0
        assert (rig.made.sampled, rig.made.seconds) == (True, facts["server_s"])

    def test_a_film_that_was_not_sampled_now_says_so(self, rig: Rig) -> None:
        rig.make("first")
        rig.make("same again")
        assert not rig.made.sampled
        assert rig.sampled("same again") == 0


class TestTakingUp:
    """Somebody died, and somebody else comes."""

    def test_what_is_done_is_fetched_not_made(self, rig: Rig) -> None:
        film = rig.make("done").read_bytes()
        assert rig.make("done").read_bytes() == film
        rig.server.restart()  # its history is gone, the file is not
        assert rig.make("done").read_bytes() == film
        assert rig.sampled("done") == 1

    def test_what_is_done_and_gone_is_made_anew(self, rig: Rig, same: str) -> None:
        rig.make("gone")
        shutil.rmtree(rig.server.root / "output" / "mvpipe")
        assert essence(rig.make("gone")) == same

    def test_what_was_rejected_is_made_anew(self, rig: Rig) -> None:
        rig.make("bad")
        rig.client.reject(rig.order("bad").key)
        rig.make("bad")
        assert rig.sampled("bad") == 2

    def test_a_lost_record_is_no_reason_to_make_it_again(self, rig: Rig) -> None:
        film = rig.make("unknown").read_bytes()
        shutil.rmtree(rig.folder / "records")
        assert rig.make("unknown").read_bytes() == film
        assert rig.sampled("unknown") == 1

    def test_nor_is_a_failure_of_somebody_elses(self, rig: Rig, same: str) -> None:
        rig.fault("node-error")
        with pytest.raises(RenderFailed):
            rig.make("strange")
        shutil.rmtree(rig.folder / "records")
        assert essence(rig.make("strange")) == same
        assert rig.job("strange").attempt == 2

    def test_what_was_written_down_and_never_sent_is_sent(self, rig: Rig, same: str) -> None:
        job = rig.job("never sent")
        rig.client.records.write(job.with_state(State.SENT))
        assert essence(rig.make("never sent")) == same

    def test_a_film_whose_record_died_with_the_server_is_saved(self, rig: Rig) -> None:
        film = rig.make("saved").read_bytes()
        rig.client.records.write(replace(rig.job("saved"), state=State.RUNNING, outputs=()))
        rig.server.restart()
        assert rig.make("saved").read_bytes() == film
        assert rig.sampled("saved") == 1

    @pytest.mark.parametrize("fault", ["post-late", "post-reset", "post-500"])
    def test_nor_is_one_sampled_twice_whose_server_died_before_it_was_asked(
        self, rig: Rig, same: str, fault: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It took the job, made it, and knows nothing of it any more when somebody looks for it."""
        name, post = f"made, then died: {fault}", Server.post
        film = rig.server.root / "output" / "mvpipe" / f"{rig.job(name).prompt_id}_00001_.mp4"

        def posted(*asked: Any) -> Any:
            try:
                return post(*asked)
            finally:
                wait_for(film.exists)
                wait_for(lambda: not rig.server.state()["running"])
                rig.server.restart()

        monkeypatch.setattr(Server, "post", posted)
        rig.fault(fault, **({"seconds": 2.6} if fault == "post-late" else {}))
        assert essence(rig.make(name)) == same
        assert rig.sampled(name) == 1
        assert rig.job(name).state is State.DONE

    def test_what_had_ended_unheard_before_another_job_hung_is_fetched(self, rig: Rig, same: str) -> None:
        rig.fault("messages-lost", times=-1)
        rig.client = Client(
            rig.client.transport.address, rig.client.records.folder, replace(QUICK, quiet_s=60, settle_s=60)
        )
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(rig.make, "ended unheard")
            wait_for(lambda: rig.sampled("ended unheard") == 1)
            assert not made.done()
            rig.client.stall.note("another", Sight(place=Place.RUNS), "a node hangs")
            assert essence(made.result(10)) == same
        assert rig.sampled("ended unheard") == 1

    def test_files_that_somebody_removed_are_sent_again(self, rig: Rig, same: str) -> None:
        rig.make("sent before", seed=2)
        shutil.rmtree(rig.server.root / "input" / "mvpipe")
        assert essence(rig.make("sent anew")) == same
        assert rig.job("sent anew").losses == 1

    @pytest.mark.parametrize("what", ["film", "record"])
    def test_what_this_disk_does_not_take_is_kept_there_and_sent_nowhere_else(
        self, rig: Rig, same: str, what: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        replaced = os.replace

        def full(source: Path, target: Path) -> None:
            if target.suffix == (".mp4" if what == "film" else ".json") and rig.sampled("no room"):
                raise OSError(errno.ENOSPC, "No space left on device")
            replaced(source, target)

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", full)
            with pytest.raises(VaultError, match="cannot be written: no space left") as caught:
                rig.make("no room")
        assert "make room" in caught.value.hint
        assert essence(rig.make("no room")) == same
        assert rig.sampled("no room") == 1

    def test_half_a_film_is_not(self, rig: Rig, same: str) -> None:
        rig.make("half")
        job = rig.job("half")
        rig.client.records.write(replace(job, state=State.RUNNING, outputs=()))
        rig.server.restart()
        path = rig.server.root / "output" / "mvpipe" / f"{job.prompt_id}_00001_.mp4"
        path.write_bytes(path.read_bytes()[:5000])
        assert essence(rig.make("half")) == same
        assert rig.sampled("half") == 2


def wait_for(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
