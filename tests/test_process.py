"""A program's failure is told as it was, and however the caller leaves, nothing is left running."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from mvpipe.errors import Cancelled, MvpipeError, ToolError, ToolMissing, ToolTimeout
from mvpipe.tools import process
from mvpipe.tools.process import run, start

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

FOR_EVER = "import time; time.sleep(600)"
ENDLESS_OUTPUT = "import sys\nwhile True: sys.stdout.buffer.write(b'x' * 65536)"


def python(code: str) -> list[str]:
    """The arguments that run some Python in a program of its own."""
    return [sys.executable, "-c", code]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test leaves a program behind, and programs may be started afterwards."""
    yield
    process.allow()
    assert not process._running


def waits(seconds: float) -> Callable[[], bool]:
    """True until so many seconds have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that ended but was not waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def feed_for_ever(child: Popen[bytes]) -> None:
    """Write until the pipe breaks."""
    assert child.stdin is not None
    while True:
        child.stdin.write(b"x" * 65_536)


def write_one_byte_too_late(child: Popen[bytes]) -> None:
    """Fill no more than the buffer, which is written when the pipe is closed, to a program that is gone."""
    assert child.stdin is not None
    child.stdin.write(b"x")
    while child.poll() is None:
        time.sleep(0.01)


def read_a_little(child: Popen[bytes]) -> None:
    """Its first bytes and no more."""
    assert child.stdout is not None
    assert child.stdout.read(10)


def read_and_complain(child: Popen[bytes]) -> None:
    """What a reader does that judges the end of the output before the program's status is known."""
    assert child.stdout is not None
    child.stdout.read()
    raise MvpipeError("short read")


class TestRun:
    def test_it_gives_what_was_printed(self) -> None:
        assert run(python("print('häll\\u00f6')")).strip() == "hällö"

    def test_bytes_that_are_no_text_do_not_stop_it(self) -> None:
        assert run(python(r"import sys; sys.stdout.buffer.write(b'a\xff')")) == "a\ufffd"

    def test_more_than_a_pipe_holds_on_both_outputs(self) -> None:
        code = "import sys; sys.stderr.write('e' * 1_000_000); sys.stdout.write('o' * 1_000_000)"
        assert run(python(code)) == "o" * 1_000_000

    def test_no_shell_reads_the_arguments(self) -> None:
        code = "import sys; print(sys.argv[1])"
        assert run([*python(code), "$HOME; `ls` *"]).strip() == "$HOME; `ls` *"

    def test_its_input_is_closed(self) -> None:
        assert run(python("import sys; print(len(sys.stdin.read()))"), deadline_s=60).strip() == "0"


class TestFailure:
    def test_a_missing_program(self) -> None:
        with pytest.raises(ToolMissing, match="no-such-program-here: not found") as caught:
            run(["no-such-program-here", "-v"])
        assert caught.value.argv == ("no-such-program-here", "-v")
        assert caught.value.hint

    def test_a_file_that_is_no_program(self, tmp_path: Path) -> None:
        (tmp_path / "tool").write_text("not one")
        with pytest.raises(ToolError, match="tool: Permission denied"):
            run([str(tmp_path / "tool")])

    def test_status_and_all_of_stderr_are_kept(self) -> None:
        code = "import sys; print('line 1\\nline 2: bad', file=sys.stderr); sys.exit(3)"
        with pytest.raises(ToolError, match="exit status 3: line 2: bad") as caught:
            run(python(code))
        assert caught.value.status == 3
        assert caught.value.stderr.splitlines() == ["line 1", "line 2: bad"]
        assert caught.value.argv == tuple(python(code))

    def test_one_that_says_nothing(self) -> None:
        with pytest.raises(ToolError, match="exit status 1: it said nothing"):
            run(python("raise SystemExit(1)"))

    def test_stderr_at_status_zero_is_no_failure(self) -> None:
        assert run(python("import sys; print('warning', file=sys.stderr)")) == ""

    @posix
    def test_one_that_dies_by_a_signal(self) -> None:
        with pytest.raises(ToolError, match="exit status -11"):
            run(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))


class TestDeadline:
    def test_it_is_killed_at_its_deadline(self) -> None:
        soon = waits(30)
        with pytest.raises(ToolTimeout, match=r"no answer in 0\.5 s"):
            run(python(FOR_EVER), deadline_s=0.5)
        assert soon()

    def test_what_it_said_until_then_is_kept(self) -> None:
        code = f"import sys; print('step 1', file=sys.stderr, flush=True); {FOR_EVER}"
        with pytest.raises(ToolTimeout) as caught:
            run(python(code), deadline_s=2)
        assert caught.value.stderr == "step 1\n"

    @posix
    def test_what_it_started_goes_with_it(self) -> None:
        code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FOR_EVER!r}])"
        soon = waits(30)
        with pytest.raises(ToolTimeout):
            run(python(code), deadline_s=1)
        assert soon(), "a grandchild kept the pipe open"

    def test_a_caller_who_judges_too_early_is_told_of_the_deadline(self) -> None:
        with pytest.raises(ToolTimeout), start(python(FOR_EVER), stdout=PIPE, deadline_s=0.5) as child:
            read_and_complain(child)

    def test_one_that_is_quick_is_not_touched_by_it(self) -> None:
        assert run(python("print(1)"), deadline_s=600).strip() == "1"
        for alarm in threading.enumerate():
            if isinstance(alarm, threading.Timer):
                alarm.join(10)
                assert not alarm.is_alive()


class TestStop:
    def test_whoever_waits_is_cancelled(self) -> None:
        threading.Timer(0.5, process.stop_all).start()
        soon = waits(30)
        with pytest.raises(Cancelled):
            run(python(FOR_EVER))
        assert soon()

    def test_several_at_once(self) -> None:
        ends: list[BaseException] = []

        def wait() -> None:
            try:
                run(python(FOR_EVER))
            except Cancelled as exc:
                ends.append(exc)

        waiting = [threading.Thread(target=wait) for _ in range(4)]
        for thread in waiting:
            thread.start()
        while len(process._running) < 4:
            time.sleep(0.01)
        process.stop_all()
        for thread in waiting:
            thread.join(30)
        assert len(ends) == 4

    def test_no_more_are_started_until_allowed(self) -> None:
        process.stop_all()
        with pytest.raises(Cancelled):
            run(python("print(1)"))
        process.allow()
        assert run(python("print(1)")).strip() == "1"

    def test_the_error_of_a_caller_who_lost_its_program_is_not_the_news(self) -> None:
        threading.Timer(0.5, process.stop_all).start()
        with pytest.raises(Cancelled), start(python(FOR_EVER), stdout=PIPE) as child:
            read_and_complain(child)

    @posix
    def test_from_a_signal_handler(self) -> None:
        before = signal.signal(signal.SIGUSR1, lambda *_: process.stop_all())
        try:
            pid = os.getpid()
            threading.Timer(0.5, lambda: os.kill(pid, signal.SIGUSR1)).start()
            with pytest.raises(Cancelled):
                run(python(FOR_EVER))
        finally:
            signal.signal(signal.SIGUSR1, before)


class TestPipes:
    def test_feeding_and_draining(self) -> None:
        code = "import sys; sys.stdout.write(sys.stdin.read().upper())"
        with start(python(code), stdin=PIPE, stdout=PIPE) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"la la")
            child.stdin.close()
            assert child.stdout.read() == b"LA LA"

    def test_an_open_input_is_closed_for_the_caller(self, tmp_path: Path) -> None:
        code = f"import sys; open({str(tmp_path / 'out')!r}, 'w').write(sys.stdin.read())"
        with start(python(code), stdin=PIPE) as child:
            assert child.stdin is not None
            child.stdin.write(b"la la")
        assert (tmp_path / "out").read_text() == "la la"

    def test_a_pipe_the_program_broke_is_the_programs_failure(self) -> None:
        code = "import sys; print('unknown encoder', file=sys.stderr); sys.exit(8)"
        with (
            pytest.raises(ToolError, match="exit status 8: unknown encoder"),
            start(python(code), stdin=PIPE) as child,
        ):
            feed_for_ever(child)

    def test_so_it_is_when_only_the_last_bytes_are_lost(self) -> None:
        with (
            pytest.raises(ToolError, match="exit status 8"),
            start(python("import sys; sys.exit(8)"), stdin=PIPE) as child,
        ):
            write_one_byte_too_late(child)

    def test_one_that_stops_reading_and_says_all_is_well_is_not_believed(self) -> None:
        with (
            pytest.raises(ToolError, match="stopped reading before the end"),
            start(python("import sys; sys.stdin.buffer.read(10)"), stdin=PIPE) as child,
        ):
            feed_for_ever(child)

    def test_another_programs_broken_pipe_is_not_blamed_on_this_one(self) -> None:
        with (
            pytest.raises(ToolError, match="exit status 8"),
            start(python("import sys; sys.exit(8)"), stdin=PIPE) as encoder,
            start(python(ENDLESS_OUTPUT), stdout=PIPE),
        ):
            feed_for_ever(encoder)

    def test_whoever_leaves_before_the_end_does_not_wait_for_ever(self) -> None:
        soon = waits(60)
        with pytest.raises(ToolError), start(python(ENDLESS_OUTPUT), stdout=PIPE) as child:
            read_a_little(child)
        assert soon()


class TestLeaving:
    @pytest.mark.parametrize("thrown", [ValueError, KeyboardInterrupt, Cancelled])
    def test_an_exception_kills_it(self, thrown: type[BaseException]) -> None:
        with pytest.raises(thrown), start(python(FOR_EVER)) as child:
            raise thrown
        assert child.returncode is not None
        assert not is_alive(child.pid)

    @posix
    def test_so_does_ctrl_c_while_its_end_is_awaited(self) -> None:
        pids, over = list[int](), threading.Event()

        def press() -> None:
            """As a person does: again, where Python lost the first one in somebody's finalizer."""
            pause = 1.0
            while not over.wait(pause):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                pause = 10.0

        threading.Thread(target=press, daemon=True).start()
        try:
            with pytest.raises(KeyboardInterrupt), start(python(FOR_EVER)) as child:
                pids.append(child.pid)
        finally:
            over.set()
        assert not is_alive(pids[0])

    @posix
    def test_the_terminals_ctrl_c_does_not_reach_it(self) -> None:
        code = "import os; print(os.getsid(0) == os.getpid())"
        assert run(python(code)).strip() == "True"
