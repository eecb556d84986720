"""Checks of the flags the server was started with, read from its argv."""

from __future__ import annotations

from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, warn
from mvpipe.doctor.checks_machine import is_radeon
from mvpipe.doctor.facts import GIB, Unseen
from mvpipe.doctor.flags import given, known_flags, of_effect
from mvpipe.render.comfyui.graph import classes_of
from mvpipe.render.comfyui.judge_nodes import CONSUMER_BLACKWELL

PINNED = "--disable-pinned-memory"
SMALL_HOST = 34 * GIB
PLACING = ("--lowvram", "--novram")
SPARSE = frozenset({"BlockSparseAttention"})


def _argv(case: Case) -> tuple[str, ...]:
    if not case.server.argv:
        raise NotVisible("the server does not tell its command line")
    return case.server.argv


@check("flags-pinned")
def pinned(case: Case) -> Finding | None:
    """Locked host memory."""
    machine, flag = case.facts.machine, known_flags()[PINNED]
    if PINNED in given(_argv(case)):
        return ok(f"{PINNED} is set")
    kernel = () if isinstance(machine, Unseen) or isinstance(machine.kernel, Unseen) else machine.kernel
    if case.server.local and any("oom-kill" in line or "Out of memory" in line for line in kernel):
        return warn(f"{PINNED} is not set, and the kernel has killed for memory: {flag.says}")
    memory = case.server.memory
    small = not isinstance(memory, Unseen) and memory < SMALL_HOST
    return ok(
        f"{PINNED} is not set{'; worth a try on a host of this size, though disputed' if small else ''}"
    )


@check("flags-noop")
def noop(case: Case) -> Finding | None:
    """Flags and nodes that do nothing."""
    found = of_effect(_argv(case), "no effect")
    if is_radeon(case):  # the low-memory modes are what a Radeon has in the place of dynamic VRAM
        found = [one for one in found if not one.startswith(PLACING)]
    if "VAEDecodeTiled" in classes_of(case.wanted.graph):
        found.append(
            "VAEDecodeTiled: H3's video VAE decodes as a whole whatever tiles it is told (tonyd2wild)"
        )
    return warn("; ".join(found)) if found else ok("none that does nothing")


@check("flags-harmful")
def harmful(case: Case) -> Finding | None:
    """Flags that make a failure likelier."""
    found = of_effect(_argv(case), "harmful")
    return warn("; ".join(found)) if found else ok("none that makes a failure likelier")


@check("flags-attention")
def attention(case: Case) -> Finding | None:
    """Flags that quantize attention."""
    found = of_effect(_argv(case), "dangerous")
    if not found:
        return ok("no 8-bit attention by flag")
    blackwell, known = bool(CONSUMER_BLACKWELL.search(case.server.device)), bool(case.server.device)
    if blackwell or not known:
        return (fail if blackwell else warn)("; ".join(found))
    return ok(f"{' '.join(one.partition(':')[0] for one in found)}: not a consumer Blackwell card")


@check("flags-workaround")
def workaround(case: Case) -> Finding | None:
    """Flags that are right in one case alone."""
    argv = _argv(case)
    sparse = bool(SPARSE & classes_of(case.wanted.graph))
    if sparse and "--disable-comfy-compiler" not in given(argv):
        return warn(f"sparse attention: if memory grows, {known_flags()['--disable-comfy-compiler'].says}")
    found = of_effect(argv, "workaround")
    if sparse:
        found = [one for one in found if not one.startswith("--disable-comfy-compiler")]
    return warn("; ".join(found)) if found else ok("none, or where it belongs")
