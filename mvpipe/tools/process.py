"""Run a program: a list of arguments, no shell, stdin closed unless fed, stderr kept, a deadline."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import IO

from mvpipe.errors import Cancelled, ToolError, ToolMissing, ToolTimeout

_running: set[Popen[bytes]] = set()
_lock = threading.Lock()
_stopped = threading.Event()


def stop_all() -> None:
    """Kill every program that runs and start no more; whoever waits for one gets `Cancelled`."""
    _stopped.set()
    with _lock:
        for child in _running:
            child.kill()


def allow() -> None:
    """Take `stop_all` back: programs may be started again."""
    _stopped.clear()


def run(argv: Sequence[str], *, deadline_s: float = 3600) -> str:
    """What a program prints on stdout.

    Raises
    ------
    ToolError, ToolMissing, ToolTimeout : as named
    Cancelled : `stop_all` was called
    """
    with start(argv, stdout=PIPE, deadline_s=deadline_s) as child:
        assert child.stdout is not None
        return child.stdout.read().decode("utf-8", "replace")


@contextmanager
def start(
    argv: Sequence[str], *, stdin: int = DEVNULL, stdout: int = DEVNULL, deadline_s: float = 3600
) -> Iterator[Popen[bytes]]:
    """A running program whose pipes the caller feeds or drains; its end is waited for and checked.

    Leaving by an exception kills it. A pipe that broke because the program died is reported as the
    program's own failure, with the end of its stderr.

    Parameters
    ----------
    argv : program and arguments
    stdin, stdout : `subprocess.PIPE` or `DEVNULL`
    deadline_s : seconds until it is killed

    Raises
    ------
    ToolError, ToolMissing, ToolTimeout : as named
    Cancelled : `stop_all` was called
    """
    if _stopped.is_set():
        raise Cancelled
    with TemporaryFile() as stderr:
        child = _spawn(argv, stdin, stdout, stderr)
        late = threading.Event()
        alarm = threading.Timer(deadline_s, lambda: (late.set(), child.kill()))
        alarm.daemon = True
        alarm.start()
        try:
            try:
                yield child
                if child.stdin:
                    child.stdin.close()
            except BrokenPipeError:
                pass  # the program's own exit status, checked below, says why
            except BaseException:
                child.kill()
                raise
            finally:
                child.wait()
                alarm.cancel()
                with _lock:
                    _running.discard(child)
                for pipe in (child.stdin, child.stdout):
                    _close(pipe)
        finally:
            stderr.seek(0)
            said = stderr.read().decode("utf-8", "replace")
        if _stopped.is_set():
            raise Cancelled
        if late.is_set():
            raise ToolTimeout(f"{argv[0]}: no answer in {deadline_s:.0f} s", argv=argv, stderr=said)
        if child.returncode:
            last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
            raise ToolError(
                f"{argv[0]}: exit status {child.returncode}: {last}",
                argv=argv,
                status=child.returncode,
                stderr=said,
            )


def _spawn(argv: Sequence[str], stdin: int, stdout: int, stderr: IO[bytes]) -> Popen[bytes]:
    try:
        with _lock:
            # a session of its own, so that the terminal's Ctrl-C reaches us alone and we stop it in order
            child = subprocess.Popen(
                list(argv), stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
            _running.add(child)
    except FileNotFoundError as exc:
        raise ToolMissing(
            f"{argv[0]}: not found", argv=argv, hint="install mvpipe again: its ffmpeg comes with it"
        ) from exc
    except OSError as exc:
        raise ToolError(f"{argv[0]}: {exc.strerror or exc}", argv=argv) from exc
    return child


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is None:
        return
    try:
        pipe.close()
    except BrokenPipeError:  # closing flushes what a dead program never read
        return
