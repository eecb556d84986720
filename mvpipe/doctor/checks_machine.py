"""Checks of the machine the server runs on, as far as it is this one, and of Radeons."""

from __future__ import annotations

import re

from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, seen, warn
from mvpipe.doctor.facts import ELSEWHERE, GIB, Card, Machine, Unseen
from mvpipe.doctor.known import rough_bytes
from mvpipe.render.comfyui.judge_nodes import CONSUMER_BLACKWELL
from mvpipe.wording import counted

SMALLEST_CARD, SMALL_CARD = 7.5 * GIB, 11.5 * GIB
"""8 GB is the smallest card anybody reports, 12 GB the smallest with the 8-bit weights."""

LARGE_WEIGHTS = 13 * 10**9
"""Bytes; above are the 8-bit files, below w4a8 and Q4_K."""

SMALL_HOST, ROOMY_HOST = 30 * GIB, 34 * GIB
SWAP, AMD_SWAP = 8 * GIB, 40 * GIB
LEAST_DISK, USUAL_DISK = 2 * GIB, 20 * GIB
POWER_SHARE = 0.8
LIVELOCK_BUSY, LIVELOCK_SHARE = 0.9, 0.2
RADEON = re.compile(r"radeon|\bamd\b|\bgfx\d|\[zluda\]|zluda", re.IGNORECASE)


def _host(case: Case) -> Machine:
    """The machine the server runs on; raises NotVisible."""
    if not isinstance(case.facts.server, Unseen) and not case.facts.server.local:
        raise NotVisible(ELSEWHERE.why)
    return seen(case.facts.machine)


def _card(case: Case) -> Card:
    cards = seen(_host(case).cards)
    if not cards:
        raise NotVisible("its tool names no card")
    return cards[0]


def card_memory(case: Case) -> int:
    """Bytes of the card that renders; raises NotVisible."""
    if not isinstance(case.facts.server, Unseen) and case.facts.server.devices:
        return case.facts.server.devices[0].memory
    return seen(_card(case).memory)


def weights_bytes(case: Case) -> int:
    """Bytes of the graph's weights; see `file_bytes`."""
    return file_bytes(case, case.wanted.weights)


def file_bytes(case: Case, name: str) -> int:
    """Bytes of a model file: of the file where it is seen, else as published, else 0."""
    models = case.facts.models
    files = () if isinstance(models, Unseen) else models
    there = next((one.size for one in files if one.name == name), 0)
    return there or rough_bytes(name)


def is_radeon(case: Case) -> bool:
    """Whether an AMD card renders, by whatever layer."""
    server = case.facts.server
    if not isinstance(server, Unseen):
        return bool(RADEON.search(server.device))
    machine = case.facts.machine
    cards = () if isinstance(machine, Unseen) or isinstance(machine.cards, Unseen) else machine.cards
    return any(RADEON.search(card.name) for card in cards)


def is_translated(case: Case) -> bool:
    """Whether a Radeon says it is CUDA: a translation layer such as ZLUDA, not ROCm."""
    server = case.facts.server
    if isinstance(server, Unseen) or not server.devices or not is_radeon(case):
        return False
    return server.devices[0].kind == "cuda" and "+rocm" not in server.system.get("pytorch_version", "")


@check("card-memory")
def vram(case: Case) -> Finding | None:
    """Memory of the card against the weights."""
    memory, weights = card_memory(case), weights_bytes(case)
    says = f"{memory / GIB:.1f} GiB"
    if memory < SMALLEST_CARD:
        return warn(f"{says}: less than the smallest card anybody reports H3 on, 8 GB")
    if memory < SMALL_CARD and weights > LARGE_WEIGHTS:
        return warn(f"{says} and weights of {weights / 1e9:.1f} GB: take w4a8 or Q4_K (10.6 to 11.2 GB)")
    if memory < weights:
        return warn(
            f"{says}: weights of {weights / 1e9:.1f} GB do not fit whole, and stream at every step:"
            " w4a8 ones have 11.2"
        )
    return ok(f"{says}{f', weights of {weights / 1e9:.1f} GB' if weights else ''}")


@check("host-memory")
def host_memory(case: Case) -> Finding | None:
    """Memory of the host: a longer shot drives more weights into it."""
    server = case.facts.server
    memory = seen(_host(case).memory) if isinstance(server, Unseen) else seen(server.memory)
    says = f"{memory / GIB:.0f} GiB"
    if memory < SMALL_HOST:
        loaded = weights_bytes(case) + file_bytes(case, case.wanted.file("text_encoder"))
        of = f"weights and text encoder alone are {loaded / 1e9:.0f} GB: " * bool(loaded)
        return warn(f"{says}: {of}shots of 124 frames, nothing else open")
    if memory < ROOMY_HOST:
        return ok(f"{says}: enough for short shots; the longer the shot, the more weights are driven into it")
    return ok(says)


@check("swap")
def swap(case: Case) -> Finding | None:
    """Where the host puts what does not fit."""
    host = _host(case)
    found, memory = seen(host.swap), seen(host.memory)
    wanted = AMD_SWAP if is_translated(case) else SWAP
    if memory < ROOMY_HOST and found < wanted:
        return warn(
            f"{found / GIB:.0f} GiB beside {memory / GIB:.0f} of memory: {wanted / GIB:.0f} are advised"
        )
    return ok(f"{found / GIB:.0f} GiB")


@check("disk")
def disk(case: Case) -> Finding | None:
    """Room for the film, on the machine mvpipe runs on."""
    free = seen(seen(case.facts.machine).disk)
    says = f"{free / GIB:.0f} GiB free where the film goes"
    return fail(says) if free < LEAST_DISK else warn(says) if free < USUAL_DISK else ok(says)


@check("power-limit")
def power(case: Case) -> Finding | None:
    """The card's power limit."""
    card = _card(case)
    limit, default = seen(card.power_limit), seen(card.power_default)
    says = f"{limit:.0f} W of {default:.0f} W"
    if CONSUMER_BLACKWELL.search(card.name) and limit > POWER_SHARE * default + 1:
        return warn(
            f"{says}: 80 % are advised on consumer Blackwell: sudo nvidia-smi -pl {default * POWER_SHARE:.0f}"
        )
    return ok(says)


@check("driver")
def driver(case: Case) -> Finding | None:
    """Driver and architecture."""
    card = _card(case)
    if not card.driver:
        raise NotVisible("its tool names no driver")
    return ok(f"{card.name}, driver {card.driver}, compute capability {card.capability or 'not told'}")


@check("card-alive")
def alive(case: Case) -> Finding | None:
    """High load at low power."""
    card = _card(case)
    busy, draw, limit = seen(card.busy), seen(card.power_draw), seen(card.power_limit)
    says = f"{busy:.0%} busy at {draw:.0f} W of {limit:.0f} W"
    if busy > LIVELOCK_BUSY and draw < LIVELOCK_SHARE * limit:
        return fail(f"{says}: it turns in circles, and only a restart of the machine ends that")
    return ok(says)


@check("kernel-log")
def kernel(case: Case) -> Finding | None:
    """Signs in the kernel's log."""
    lines = seen(_host(case).kernel)
    return (
        warn(f"{counted(len(lines), 'line')}, the last: {lines[-1][:160]}")
        if lines
        else ok("no known sign since it booted")
    )


@check("battery")
def battery(case: Case) -> Finding | None:
    """A laptop on its battery."""
    found = seen(seen(case.facts.machine).battery)
    if found.discharging:
        return warn("on its battery: the night is longer, and cards are slowed down")
    return ok("plugged in" if found.present else "no battery")


@check("amd-capability")
def capability(case: Case) -> Finding | None:
    """A translation layer that pretends a compute capability."""
    if not is_translated(case):
        return None
    return warn(
        "by a translation layer: it pretends compute capability 8.8, and fast kernels then fail at random"
    )


@check("amd-allocator")
def allocator(case: Case) -> Finding | None:
    """The allocator under a translation layer."""
    if not is_translated(case):
        return None
    if "cudaMallocAsync" in case.server.device:
        return fail("cudaMallocAsync fails under a translation layer: --disable-cuda-malloc")
    return ok("the native allocator")


@check("amd-weights")
def amd_weights(case: Case) -> Finding | None:
    """Weights small enough for a Radeon of 8 GB."""
    if not is_radeon(case):
        return None
    memory, weights = card_memory(case), weights_bytes(case)
    if memory < SMALL_CARD and weights > LARGE_WEIGHTS:
        needs = f"{weights / 1e9:.1f} GB of weights on {memory / GIB:.0f} GiB"
        return fail(f"{needs}: the 8-bit ones needed 10.6 GB in one forward: Q4_K")
    return ok(f"{weights / 1e9:.1f} GB" if weights else "their size is not known")


@check("amd-proof")
def amd_proof(case: Case) -> Finding | None:
    """A small proof before a long night."""
    if not is_translated(case):
        return None
    if isinstance(case.facts.canary, Unseen):
        return warn("prove it small first: 416x256, 22 frames, 4 steps: mvpipe doctor --canary")
    return ok("a canary was rendered")
