"""The parts of the client that need no server: news, the vigil, records, ends, pace, faults of a sound."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mvpipe.errors import RenderFailed, Unreachable, VaultError
from mvpipe.render.comfyui import ends, news
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.ends import Cause
from mvpipe.render.comfyui.jobs import Job, Records, State, job_id
from mvpipe.render.comfyui.news import Kind, News
from mvpipe.render.comfyui.pace import Pace
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.posting import refused
from mvpipe.render.comfyui.server import Place, Server, Sight
from mvpipe.render.comfyui.steady import Steady
from mvpipe.render.comfyui.transport import Transport
from mvpipe.render.comfyui.uploads import Uploads
from mvpipe.render.comfyui.vigil import DEAD, HUNG, LINE, MUTE, Vigil

MINE, OTHER = job_id("mine", 1), job_id("other", 1)


class TestNews:
    @pytest.mark.parametrize(
        ("event", "data", "kind"),
        [
            ("execution_start", {"prompt_id": MINE}, Kind.BEGUN),
            ("execution_cached", {"prompt_id": MINE, "nodes": []}, Kind.BEGUN),
            ("executing", {"prompt_id": MINE, "node": "3"}, Kind.BEGUN),
            ("executing", {"prompt_id": MINE, "node": None}, Kind.ENDED),
            ("executing", {"node": "3"}, Kind.GREETED),
            ("progress_state", {"prompt_id": MINE, "nodes": {}}, Kind.BEGUN),
            ("progress", {"prompt_id": MINE, "node": "3", "value": 1, "max": 4}, Kind.STEP),
            ("progress", {"prompt_id": MINE, "node": "3"}, Kind.BEGUN),
            ("execution_success", {"prompt_id": MINE}, Kind.ENDING),
            ("execution_error", {"prompt_id": MINE}, Kind.ENDING),
            ("execution_interrupted", {"prompt_id": MINE}, Kind.ENDING),
            ("status", {"status": {"exec_info": {"queue_remaining": 2}}}, Kind.QUEUE),
            ("something new", {"prompt_id": MINE}, Kind.LIFE),
        ],
    )
    def test_what_a_message_means(self, event: str, data: dict[str, Any], kind: Kind) -> None:
        found = news.read(json.dumps({"type": event, "data": data}), MINE)
        assert found is not None
        assert found.kind is kind

    @pytest.mark.parametrize(
        "event", ["execution_start", "progress", "executing", "execution_error", "execution_success"]
    )
    def test_others_jobs_are_life_and_no_more(self, event: str) -> None:
        text = json.dumps({"type": event, "data": {"prompt_id": OTHER, "node": None, "value": 1, "max": 2}})
        assert news.read(text, MINE) == news.LIFE

    @pytest.mark.parametrize(
        "message",
        ["", "no json", "[]", "{}", '{"type": 1}', '{"type": "progress", "data": null}',
         '{"type": "status", "data": {}}', '{"type": "status", "data": {"status": null}}', "1", '"x"',
         '{"type": "feature_flags", "data": {"assets": false}}'],
    )  # fmt: skip
    def test_nonsense_means_nothing(self, message: str) -> None:
        assert news.read(message, MINE) is None

    def test_a_preview_is_life(self) -> None:
        assert news.read(b"\0\0\0\x01\0\0\0\x01jpeg", MINE) == news.LIFE


RUNS = Sight(place=Place.RUNS)
STUCK = Sight(place=Place.WAITS, ahead=1)
BEHIND = Sight(place=Place.WAITS, ahead=1, running=(OTHER,))
STEP = News(kind=Kind.STEP, node="3", value=1, most=4)


def queue(remaining: int) -> News:
    return News(kind=Kind.QUEUE, remaining=remaining)


class TestVigil:
    """With the patience users have; seconds from 0."""

    def vigil(self) -> Vigil:
        return Vigil(Patience(), 0.0, hears=True)

    def test_while_steps_are_heard_nothing_is_asked(self) -> None:
        vigil = self.vigil()
        for second in range(0, 3000, 40):
            vigil.heard(STEP, second)
            assert not vigil.due(second + 39.9)

    def test_after_a_minute_of_silence_it_looks(self) -> None:
        vigil = self.vigil()
        vigil.heard(STEP, 10)
        assert [vigil.due(now) for now in (69, 70)] == [False, True]

    def test_at_the_end_it_looks_at_once(self) -> None:
        vigil = self.vigil()
        vigil.heard(News(kind=Kind.ENDING), 10)
        assert [vigil.due(now) for now in (10, 11)] == [False, True]
        vigil.heard(News(kind=Kind.ENDED), 10.1)
        assert vigil.due(10.1)

    def test_a_record_that_is_late_is_asked_for_again_soon(self) -> None:
        vigil = self.vigil()
        vigil.heard(News(kind=Kind.ENDED), 10)
        vigil.saw(RUNS, 10, hears=True)
        assert vigil.next == 11

    def test_a_socket_that_comes_back_is_followed_by_a_look(self) -> None:
        vigil = self.vigil()
        vigil.heard(news.DROPPED, 10)
        vigil.heard(news.OPENED, 11)
        assert vigil.due(12)

    def test_unless_it_tells_by_itself_that_the_job_runs(self) -> None:
        vigil = self.vigil()
        vigil.heard(news.OPENED, 11)
        vigil.heard(News(kind=Kind.GREETED), 11)
        assert not vigil.due(60)

    def test_without_a_socket_it_looks_every_few_seconds_and_ever_more_rarely(self) -> None:
        vigil, now, pauses = Vigil(Patience(), 0.0, hears=False), 0.0, list[float]()
        assert vigil.next == 3
        for _ in range(8):
            vigil.saw(RUNS, now, hears=False)
            pauses.append(round(vigil.next - now, 2))
            now = vigil.next
        assert pauses[0] == 3
        assert pauses == sorted(pauses)
        assert pauses[-1] == 10

    def test_a_shorter_queue_is_a_reason_to_look_while_it_waits(self) -> None:
        vigil = self.vigil()
        vigil.heard(queue(3), 1)
        assert vigil.next == 60
        vigil.heard(queue(2), 2)
        assert vigil.next == 3

    def test_but_not_while_it_runs(self) -> None:
        vigil = self.vigil()
        vigil.heard(queue(3), 1)
        vigil.heard(STEP, 2)
        vigil.heard(queue(2), 3)
        assert vigil.next == 62

    @pytest.mark.parametrize(
        ("sight", "begun", "hears", "limit", "why"),
        [
            (STUCK, False, True, 60, DEAD),
            (BEHIND, False, True, 12 * 3600, LINE),
            (RUNS, False, True, 300, MUTE),
            (RUNS, False, False, 1800, HUNG),
            (RUNS, True, True, 1800, HUNG),
        ],
    )
    def test_when_it_gives_up(self, sight: Sight, begun: bool, hears: bool, limit: int, why: str) -> None:
        vigil = self.vigil()
        if begun:
            vigil.heard(STEP, 0)
        for now in range(0, limit + 1, 50):
            vigil.saw(sight, now, hears=hears)
            assert vigil.overdue(now, hears=hears) == ""
        assert vigil.overdue(limit + 1, hears=hears) == why

    def test_total_time_is_no_limit(self) -> None:
        vigil = self.vigil()
        for now in range(0, 100_000, 1000):
            vigil.heard(STEP, now)
            vigil.saw(RUNS, now, hears=True)
            assert vigil.overdue(now + 999, hears=True) == ""

    @pytest.mark.parametrize(
        "sign",
        [
            lambda vigil, now: vigil.saw(replace(BEHIND, ahead=now), now, hears=True),
            lambda vigil, now: vigil.saw(replace(BEHIND, running=(str(now),)), now, hears=True),
            lambda vigil, now: vigil.heard(news.LIFE, now),
            lambda vigil, now: [vigil.heard(queue(n), now) for n in (2, 1)],
        ],
        ids=["its place in line", "another job runs", "progress of others", "somebody's job is done"],
    )
    def test_a_line_that_moves_is_alive(self, sign: Callable[[Vigil, int], object]) -> None:
        vigil = self.vigil()
        vigil.saw(BEHIND, 0, hears=True)
        for now in range(0, 10 * 43_200, 40_000):
            sign(vigil, now)
            assert vigil.overdue(now + 40_000, hears=True) == ""

    def test_neither_a_longer_queue_nor_a_greeting_is_a_sign_of_life(self) -> None:
        """Others go on sending to a server whose worker is dead; and it greets every new socket."""
        vigil = self.vigil()
        vigil.heard(STEP, 0)
        vigil.saw(RUNS, 0, hears=True)
        for now in range(1, 1800, 60):
            vigil.heard(queue(now), now)
            vigil.heard(News(kind=Kind.GREETED), now)
        assert vigil.overdue(1801, hears=True) == HUNG

    def test_a_deaf_socket_is_noticed_only_while_the_job_runs(self) -> None:
        vigil = self.vigil()
        vigil.saw(BEHIND, 60, hears=True)
        assert not vigil.silent(60)
        vigil.saw(RUNS, 120, hears=True)
        assert vigil.silent(120)
        vigil.heard(STEP, 121)
        assert not vigil.silent(180)


class TestRecords:
    def job(self) -> Job:
        return Job(key="k" * 64, server="http://host:8188", attempt=2, state=State.SENT, losses=1)

    def test_what_was_written_is_read(self, tmp_path: Path) -> None:
        records, job = Records(tmp_path / "deep" / "er"), self.job()
        records.write(job)
        assert records.read(job.key, job.server) == job
        assert len(list(records.folder.iterdir())) == 1
        assert records.keys(job.server) == [job.key]
        assert records.keys("http://other:8188") == []

    def test_ids_derive_from_the_key_alone_and_never_change(self) -> None:
        assert job_id("k" * 64, 1) == "b89503e3-8e9b-528e-8a2f-1e97dfaf538d"
        assert job_id("k", 1) != job_id("k", 2) != job_id("l", 2)
        assert str(UUID(job_id("k", 1))) == job_id("k", 1), "lower case, as the server wants it"

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null", "{}", '{"format": 2}', '{"format": 1, "key": "x"}',
         '{"format": 1, "key": "k", "server": "s", "attempt": 0, "state": "new", "losses": 0, "deaths": 0,'
         ' "frees": 0, "strays": 0, "cancelled": false, "outputs": [], "facts": {}}'],
    )  # fmt: skip
    def test_one_that_cannot_be_read_is_a_new_one(self, tmp_path: Path, text: str) -> None:
        Records(tmp_path).write(Job(key="k", server="s", attempt=3))
        (path,) = tmp_path.iterdir()
        path.write_text(text)
        assert Records(tmp_path).read("k", "s") == Job(key="k", server="s")

    def test_one_of_another_server_is_a_new_one(self, tmp_path: Path) -> None:
        records, job = Records(tmp_path), self.job()
        records.write(job)
        assert records.read(job.key, "http://other").state is State.NEW
        records.write(Job(key=job.key, server="http://other", state=State.DONE))
        assert records.read(job.key, job.server) == job, "what moved may still run where it was"

    def test_one_that_cannot_be_written_is_an_error_of_ours(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(VaultError, match="cannot be written"):
            Records(tmp_path / "file").write(self.job())

    def test_it_is_with_who_made_it_or_else_with_who_was_given_it_last(self, tmp_path: Path) -> None:
        records, names = Records(tmp_path), ["http://a", "http://b", "http://c"]
        assert records.last("k", names) == ""
        for seconds, (name, state) in enumerate(
            [("http://b", State.RUNNING), ("http://c", State.FAILED), ("http://a", State.SENT)]
        ):
            records.write(Job(key="k", server=name, state=state))
            (path,) = [p for p in tmp_path.iterdir() if name in p.read_text("utf-8")]
            os.utime(path, (seconds, seconds))
        assert records.last("k", names) == "http://a"
        assert records.last("k", names[1:]) == "http://b"
        records.write(Job(key="k", server="http://c", state=State.DONE))
        os.utime(next(p for p in tmp_path.iterdir() if "http://c" in p.read_text("utf-8")), (0, 0))
        assert records.last("k", names) == "http://c"

    def test_the_next_attempt_has_an_id_of_its_own_and_the_same_client(self) -> None:
        job = self.job()
        after = job.again(losses=2)
        assert (after.attempt, after.state, after.losses) == (3, State.NEW, 2)
        assert after.client_id == job.client_id
        assert after.past_ids == {job_id(job.key, n) for n in (1, 2, 3)}
        assert job.renewed().losses == 0


def status(last: str, *, well: bool = False, **data: Any) -> dict[str, Any]:
    messages = [["execution_start", {"timestamp": 1000}], ["execution_cached", {"nodes": ["1"]}]]
    messages.append([last, {"timestamp": 4500, **data}])
    return {"status_str": "success" if well else "error", "completed": well, "messages": messages}


class TestEnds:
    def test_a_success(self) -> None:
        end = ends.read({"19": {"images": []}}, status("execution_success", well=True))
        assert (end.failure, end.cached, end.seconds) == (None, frozenset({"1"}), 3.5)

    @pytest.mark.parametrize(
        ("kind", "message", "cause"),
        [
            ("torch.OutOfMemoryError", "Allocation on device 0 would exceed\nmore", Cause.MEMORY),
            ("RuntimeError", "CUDA out of memory. Tried to allocate", Cause.MEMORY),
            ("RuntimeError", "HIP out of memory", Cause.MEMORY),
            ("OSError", "[Errno 28] No space left on device: '/x'", Cause.DISK),
            ("PermissionError", "[Errno 13] Permission denied: '/x'", Cause.DISK),
            ("av.error.FileNotFoundError", "[Errno 2] No such file or directory: '/x'", Cause.INPUT_GONE),
            ("av.error.ArgumentError", "[aac] Input contains (near) NaN/+-Inf", Cause.NAN),
            ("TypeError", "got an unexpected keyword argument", Cause.NODE),
            ("", "", Cause.NODE),
        ],
    )
    def test_what_an_error_comes_down_to(self, kind: str, message: str, cause: Cause) -> None:
        told = status(
            "execution_error", node_id="7", node_type="KSampler", exception_type=kind,
            exception_message=message, current_inputs={"prompt": ["secret words"]}, traceback=["/home/me"],
        )  # fmt: skip
        failure = ends.read({}, told).failure
        assert failure is not None
        assert failure.cause is cause
        assert str(failure).startswith("node 7 (KSampler): ")
        assert "secret" not in str(failure)
        assert "more" not in str(failure)

    def test_an_interrupt_is_told_from_an_error(self) -> None:
        failure = ends.read({}, status("execution_interrupted", node_id="7")).failure
        assert failure is not None
        assert failure.cause is Cause.INTERRUPTED

    @pytest.mark.parametrize("told", [None, {}, [], {"messages": None}, {"messages": [1, [], ["x", None]]}])
    def test_a_record_that_says_little_is_no_success(self, told: Any) -> None:
        assert ends.read(None, told).failure is not None

    def test_files_are_found_under_whatever_name(self) -> None:
        outputs = {
            "19": {
                "images": [{"filename": "a.mp4", "subfolder": "x\\y", "type": "output"}],
                "animated": [True],
            },
            "20": {"gifs": [{"filename": "b.webm"}], "text": ["words"]},
            "21": {"audio": [{"filename": "c.flac", "type": "output"}], "videos": None},
            "22": None,
        }
        found = ends.files(outputs)
        assert [(f.node, f.filename, f.subfolder) for f in found] == [
            ("19", "a.mp4", "x/y"), ("20", "b.webm", ""), ("21", "c.flac", ""),
        ]  # fmt: skip
        assert ends.film(found, ("20",)) == found[1]
        assert ends.film(found, ("99",)) is None
        assert ends.film(found, ()) == found[0]


class TestPace:
    def test_steps_of_the_sampler_count_and_no_others(self) -> None:
        pace = Pace(frozenset({"3"}), 8)
        pace.sent()
        assert pace.progress == (0, 8)
        for value in (1, 2, 3):
            pace.heard(News(kind=Kind.STEP, node="3", value=value, most=4), 10.0 + 2 * value)
            pace.heard(News(kind=Kind.STEP, node="9", value=99, most=100), 10.0)
        assert pace.progress == (3, 4)
        assert pace.record()["step_s"] == 2.0

    def test_without_steps_nothing_is_claimed(self) -> None:
        assert Pace(frozenset(), 0).record() == {}


class TestUploads:
    """Of what is on the disk, before a server is asked."""

    def files(self, path: Path) -> dict[str, Path | bytes]:
        return {f"mvpipe/{hashlib.sha256(b'voice').hexdigest()}.wav": path}

    def uploads(self) -> tuple[Uploads, Steady]:
        patience = Patience(greet_s=0.1)
        found = Server(Transport(address("http://127.0.0.1:9"), patience))
        return Uploads(found), Steady(patience, lambda: None, met=False)

    def test_a_file_that_changed_is_not_sent_under_its_old_name(self, tmp_path: Path) -> None:
        (tmp_path / "voice.wav").write_bytes(b"noise")
        uploads, steady = self.uploads()
        with pytest.raises(RenderFailed, match="changed while it was on its way"):
            uploads.ensure(self.files(tmp_path / "voice.wav"), steady)

    def test_a_file_that_is_gone_is_named(self, tmp_path: Path) -> None:
        uploads, steady = self.uploads()
        with pytest.raises(RenderFailed, match=r"voice.wav: cannot be read: no such file"):
            uploads.ensure(self.files(tmp_path / "voice.wav"), steady)

    def test_a_file_that_is_as_its_name_says_is_sent(self, tmp_path: Path) -> None:
        (tmp_path / "voice.wav").write_bytes(b"voice")
        uploads, steady = self.uploads()
        with pytest.raises(Unreachable):
            uploads.ensure(self.files(tmp_path / "voice.wav"), steady)


def test_a_refusal_names_nodes_and_no_more_than_a_few() -> None:
    fault = {"type": "value_not_in_list", "message": "Value not in list", "details": "x: 'y' not in [...]"}
    nodes = {str(n): {"class_type": "LoadAudio", "errors": [fault]} for n in range(6)}
    said = refused(
        {"error": {"message": "Prompt outputs failed validation", "details": ""}, "node_errors": nodes}
    )
    assert said.startswith("node 0 (LoadAudio): Value not in list: x: 'y' not in [...]; node 1")
    assert said.endswith("(and 2 more)")
    assert refused({"error": {"message": "no_prompt", "details": "no_prompt"}}) == "no_prompt"
    assert refused({"error": "odd"}) == "odd"


@pytest.mark.parametrize("name", ["connect_s", "life_s", "losses"])
def test_patience_is_never_none(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Patience(**{name: 0})


def test_hurried_patience_keeps_its_counts() -> None:
    quick = Patience().hurried(0.01)
    assert (quick.life_s, quick.losses) == (18.0, Patience().losses)
