"""Keep the machine from going to sleep while something takes hours, where the platform offers it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from subprocess import PIPE

from mvpipe.errors import Cancelled, ToolError
from mvpipe.tools import process

LONGEST_S = 30 * 24 * 3600.0

CONTINUOUS, SYSTEM_REQUIRED = 0x80000000, 0x00000001
"""Of Windows' SetThreadExecutionState."""


@contextmanager
def awake(say: Callable[[str], None]) -> Iterator[None]:
    """No sleep while the body runs; where that cannot be had, it is said.

    The program that holds sleep off ends with this process, whatever ends it.
    """
    if sys.platform == "win32":
        with _windows():
            yield
        return
    argv = holder()
    if argv is None:
        say("the machine may go to sleep meanwhile: neither systemd-inhibit nor caffeinate is here")
        yield
        return
    try:
        process.run([*argv, "true"], deadline_s=10)
    except ToolError as exc:
        say(f"the machine may go to sleep meanwhile: {exc}")
        yield
        return
    with _held([*argv, "cat"]):
        yield


@contextmanager
def _held(argv: Sequence[str]) -> Iterator[None]:
    """While a program runs that ends when its input does, and so with us."""
    running = ExitStack()
    running.enter_context(process.start(argv, stdin=PIPE, deadline_s=LONGEST_S))
    try:
        yield
    finally:
        with suppress(ToolError, Cancelled):  # whoever has ended it, the work is not to blame
            running.close()


def holder() -> list[str] | None:
    """The words before a program during which there is no sleep."""
    if shutil.which("systemd-inhibit"):
        why = ["--what=idle:sleep", "--who=mvpipe", "--why=rendering", "--mode=block"]
        return ["systemd-inhibit", *why]
    if shutil.which("caffeinate"):
        return ["caffeinate", "-i"]
    return None


@contextmanager
def _windows() -> Iterator[None]:
    import ctypes

    state = ctypes.windll.kernel32.SetThreadExecutionState  # type: ignore[attr-defined]
    state(CONTINUOUS | SYSTEM_REQUIRED)
    try:
        yield
    finally:
        state(CONTINUOUS)
