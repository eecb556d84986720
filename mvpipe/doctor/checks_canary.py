"""Checks of what the last canary proved."""

from __future__ import annotations

from mvpipe.doctor.ablation import in_words
from mvpipe.doctor.canary import recipe_of
from mvpipe.doctor.check import Case, Finding, NotVisible, check, fail, ok, seen, warn
from mvpipe.doctor.facts import GIB, MIB, Unseen

HEADROOM = 512 * MIB
"""The gate that the author of T8 set before measuring, and which his own 16 GB configuration failed."""


def stale(case: Case) -> str:
    """Why the canary says nothing of what is there now; empty where it does."""
    canary, server = seen(case.facts.canary), case.facts.server
    if not isinstance(server, Unseen) and canary.version != server.version:
        return f"of ComfyUI {canary.version}, and this is {server.version}"
    return "of other files or settings" if canary.recipe != recipe_of(case.wanted) else ""


@check("canary")
def canary(case: Case) -> Finding | None:
    """What the last canary proved."""
    found = seen(case.facts.canary)
    if old := stale(case):
        return warn(f"stale: {old}: mvpipe doctor --canary")
    if found.faults:
        return fail("; ".join(found.faults))
    speed = "" if isinstance(found.step_s, Unseen) else f", {found.step_s:.1f} s a step"
    lora = "" if isinstance(found.lora, Unseen) else ", and its LoRA works" if found.lora else ""
    return ok(f"passed{speed}{lora}")


@check("canary-lora")
def lora(case: Case) -> Finding | None:
    """Whether the LoRA does anything."""
    found = seen(seen(case.facts.canary).lora)
    if stale(case):
        raise NotVisible("the canary is stale")
    measured = in_words(seen(case.facts.canary))
    says = "the take changed when the LoRA was left out" if found else "the same take without the LoRA"
    says += f" ({measured})" if measured else ""
    return ok(says) if found else fail(says)


@check("headroom")
def headroom(case: Case) -> Finding | None:
    """Room that was left on the card."""
    found = seen(case.facts.canary)
    peak, total = seen(found.peak), seen(found.total)
    if stale(case):
        raise NotVisible("the canary is stale")
    left = f"{(total - peak) / MIB:.0f} MiB of {total / GIB:.1f} GiB"
    says = f"{left} were left at the canary's peak, as read twice a second: a shorter spike may be higher"
    return (
        warn(f"{says}: less than 512, and a shot needs more than a canary")
        if total - peak < HEADROOM
        else ok(says)
    )
