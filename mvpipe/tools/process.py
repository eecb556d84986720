"""Run a program: a list of arguments, no shell, stdin closed unless fed, stderr kept, a deadline."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import IO

from mvpipe.errors import Cancelled, ToolError, ToolMissing, ToolTimeout

_running: set[Popen[bytes]] = set()
_lock = threading.RLock()  # `stop_all` may be a signal's handler, called while this thread holds it
_stopped = threading.Event()


def stop_all() -> None:
    """Kill every program that runs and start no more; whoever waits for one gets `Cancelled`."""
    _stopped.set()
    with _lock:
        for child in _running:
            _kill(child)


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

    Leaving by an exception kills it. A pipe that broke because the program stopped reading is reported as
    the program's own failure, with the end of its stderr. Whoever leaves before its output ends closes the
    pipe it writes to, so nothing waits for ever; whoever meets the end of its output too early should leave
    the block before judging, since the program's status says more.

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
    with TemporaryFile() as stderr:
        child = _spawn(argv, stdin, stdout, stderr)
        late = threading.Event()
        broken = False
        try:
            with _tended(child, deadline_s, late):
                try:
                    yield child
                    _hang_up(child)
                except OSError as exc:
                    # of two programs in one block, only the one that is fed can have broken the pipe
                    if child.stdin is None or not _is_broken_pipe(exc):
                        raise
                    broken = True
        except BaseException:
            _check_cut_short(argv, late, deadline_s, stderr)
            raise
        _check_cut_short(argv, late, deadline_s, stderr)
        _check_status(argv, child.returncode, broken, stderr)


@contextmanager
def _tended(child: Popen[bytes], deadline_s: float, late: threading.Event) -> Iterator[None]:
    """Kill it at its deadline, or when the block is left by an exception; it is gone afterwards."""

    def ring() -> None:
        late.set()
        _kill(child)

    alarm = threading.Timer(deadline_s, ring)
    alarm.daemon = True
    alarm.start()
    try:
        yield
        child.wait()
    except BaseException:
        _kill(child)
        raise
    finally:
        child.wait()
        alarm.cancel()
        with _lock:
            _running.discard(child)
        for pipe in (child.stdin, child.stdout):
            if pipe:
                with suppress(OSError):  # closing flushes what a dead program never read
                    pipe.close()


def _hang_up(child: Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe:
            pipe.close()


def _is_broken_pipe(exc: OSError) -> bool:
    # Windows says EINVAL to whoever writes to a program that is gone (bpo-19612)
    return isinstance(exc, BrokenPipeError) or (sys.platform == "win32" and exc.errno == errno.EINVAL)


def _check_cut_short(
    argv: Sequence[str], late: threading.Event, deadline_s: float, stderr: IO[bytes]
) -> None:
    if _stopped.is_set():
        raise Cancelled
    if late.is_set():
        raise ToolTimeout(f"{argv[0]}: no answer in {deadline_s:g} s", argv=argv, stderr=_text(stderr))


def _check_status(argv: Sequence[str], status: int, broken: bool, stderr: IO[bytes]) -> None:
    if not status and not broken:
        return
    said = _text(stderr)
    last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
    what = f"exit status {status}" if status else "stopped reading before the end"
    raise ToolError(f"{argv[0]}: {what}: {last}", argv=argv, status=status, stderr=said)


def _text(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    return stderr.read().decode("utf-8", "replace")


def _spawn(argv: Sequence[str], stdin: int, stdout: int, stderr: IO[bytes]) -> Popen[bytes]:
    try:
        with _lock:
            if _stopped.is_set():  # asked under the lock, so that `stop_all` misses no late starter
                raise Cancelled
            # a session of its own, so that the terminal's Ctrl-C reaches us alone and we stop it in order
            child = subprocess.Popen(
                list(argv), stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
            _running.add(child)
            if _stopped.is_set():
                _kill(child)
    except FileNotFoundError as exc:
        raise ToolMissing(
            f"{argv[0]}: not found", argv=argv, hint="install mvpipe again: its ffmpeg comes with it"
        ) from exc
    except OSError as exc:
        raise ToolError(f"{argv[0]}: {exc.strerror or exc}", argv=argv) from exc
    return child


def _kill(child: Popen[bytes]) -> None:
    """End it and, where it leads a session, all it started."""
    if child.poll() is not None:
        return
    if sys.platform == "win32":
        child.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
