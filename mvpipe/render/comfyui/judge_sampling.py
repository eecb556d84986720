"""Sizes, lengths, weights, LoRAs, shift, steps and sampler of one sampler, against the profiles' figures."""

from __future__ import annotations

from collections.abc import Iterator

from mvpipe.render.comfyui.examine import Facts, Lora
from mvpipe.render.comfyui.profiles import Known, known
from mvpipe.render.comfyui.remarks import Remark, noted, refused, warned


def size_remarks(facts: Facts, *, probe: bool = False) -> Iterator[Remark]:
    """Of the picture's size and length.

    Parameters
    ----------
    probe : whether it is too short on purpose
    """
    if not facts.conditioning:
        yield warned(facts.node, "no conditioning of H3 reaches this sampler")
    if facts.size:
        yield from _size(facts, *facts.size)
    if facts.length is not None:
        yield from _length(facts.length, facts.conditioning, probe)


def _size(facts: Facts, width: int, height: int) -> Iterator[Remark]:
    limits, node = known().limits, facts.conditioning
    multiple, area = limits.multiple.value, width * height
    if width % multiple or height % multiple:
        right = "x".join(str(max(1, round(side / multiple)) * multiple) for side in (width, height))
        says = f"{width}x{height}: the node rounds to multiples of {multiple} without a word"
        yield refused(node, says, right, limits.multiple.source)
    if area > limits.area.value:
        says = (
            f"{width}x{height}: {area / 1e6:.2f} megapixels, over the {limits.area.value / 1e6:.2f} that H3 "
            "was made for (a selector of 1.0 MP gives 1376x768)"
        )
        yield refused(node, says, "1344x768 at most", limits.area.source)
    elif (rules := _rules(facts)) and rules.largest and area > rules.largest:
        says = f"{width}x{height}: larger than its LoRA was trained and tested at"
        yield warned(node, says, "the 768p LoRA: profile ref2va-turbo-8")


def _length(length: int, node: str, probe: bool) -> Iterator[Remark]:
    limits = known().limits
    if (length - 5) % 17:
        says = f"{length} frames: not 17k+5, and the node rounds up without a word"
        yield refused(node, says, str(5 + 17 * -(-(length - 5) // 17)), "core")
    if length > limits.frames.value:
        says = f"{length} frames: longer than H3 was trained and tested at"
        yield refused(node, says, f"{limits.frames.value} at most", limits.frames.source)
    elif length < limits.shortest.value and not probe:
        says = f"{length} frames: shorter than H3 was trained at"
        yield warned(node, says, f"{limits.shortest.value} at least", limits.shortest.source)


def weights_remarks(facts: Facts) -> Iterator[Remark]:
    """Of the weights and what is laid over them."""
    yield from _base(facts)
    for lora in facts.loras:
        yield from _lora(lora)
    turbo = _turbo(facts)
    if len(turbo) > 1:
        says = f"{len(turbo)} Turbo LoRAs one over the other: each was trained to do a whole step alone"
        yield refused(turbo[-1].node, says, "one of them")


def _base(facts: Facts) -> Iterator[Remark]:
    found = known().weights_of(facts.weights) if facts.weights else None
    if facts.weights and found is None:
        yield warned("", f"{facts.weights}: weights that nothing is known of")
    elif found and found.task != "ref2va":
        says = f"{facts.weights}: weights for {found.task}, which the server cannot tell from ref2va's"
        yield refused("", says, "the file with ref2va in its name", "core")
    elif found and found.note:
        yield noted("", f"{facts.weights}: {found.note}")


def _lora(lora: Lora) -> Iterator[Remark]:
    found = known().lora(lora.file)
    if lora.strength == 0:
        yield warned(lora.node, f"{lora.file}: strength 0: it does nothing", "1.0")
    if found is None:
        yield warned(lora.node, f"{lora.file}: a LoRA that nothing is known of")
        return
    if lora.strength not in (None, 0, 1):
        yield warned(
            lora.node, f"{lora.file}: strength {lora.strength:g} is not known to work", "1.0", "turbo"
        )
    if "_comfyui" not in lora.file:
        says = (
            f"{lora.file}: named as in the diffusers layout, whose keys match nothing here: it loads nothing"
        )
        yield refused(lora.node, says, "the file with _comfyui_ in its name", "run")
    if found.task != "ref2va":
        says = f"{lora.file}: trained for {found.task}; such a one gave double faces"
        yield warned(lora.node, says, "a ref2v LoRA", "t8")


def sampling_remarks(facts: Facts) -> Iterator[Remark]:
    """Of guidance, shift, steps, sampler and scheduler."""
    if facts.cfg not in (None, 1):
        says = f"cfg is {facts.cfg:g}: the weights are guidance-distilled"
        yield refused(facts.node, says, "BasicGuider, or cfg 1", "card")
    if facts.denoise not in (None, 1):
        yield warned(facts.node, f"denoise is {facts.denoise:g}: the steps are not those of the profile", "1")
    if rules := _rules(facts):
        yield from _shift(facts, rules)
        yield from _calls(facts, rules)
        yield from _names(facts, rules)


def _turbo(facts: Facts) -> list[Lora]:
    return [lora for lora in facts.loras if lora.strength != 0 and known().lora(lora.file)]


def _rules(facts: Facts) -> Known | None:
    """What the sampling is held against: the LoRA that is on, else the weights."""
    if turbo := _turbo(facts):
        return known().lora(turbo[-1].file)
    return known().weights_of(facts.weights) if facts.weights else None


def _shift(facts: Facts, rules: Known) -> Iterator[Remark]:
    figures, right = rules.shift, " or ".join(map(_said, rules.shift.right))
    if facts.shift is None:
        if not facts.shift_node:
            yield warned(
                facts.node, "no MiniMaxH3SigmaShift: the shift is the model's own", right, figures.source
            )
    elif facts.shift in figures.right or facts.shift in figures.disputed:
        if figures.disputed:
            others = " and ".join(map(_said, figures.disputed))
            sources = [known().source(name) for name in (figures.source, figures.other)]
            says = f"shift {_said(facts.shift)}: disputed: {right} ({sources[0]}) or {others} ({sources[1]})"
            yield noted(facts.shift_node, f"{says}: render one shot with each and compare")
    elif figures.wrong:
        yield refused(facts.shift_node, f"shift {_said(facts.shift)}: {figures.wrong}", right, figures.source)
    else:
        says = f"shift {_said(facts.shift)}: not known to work here"
        yield warned(facts.shift_node, says, right, figures.source)


def _said(shift: tuple[float, float]) -> str:
    return f"{shift[0]:g}/{shift[1]:g}"


def _calls(facts: Facts, rules: Known) -> Iterator[Remark]:
    """Steps times the sampler's calls a step, against what the weights were made for."""
    figures = rules.calls
    each = known().samplers.calls(facts.sampler) if facts.sampler else 1
    if facts.steps is None or each is None:
        return
    calls, right = facts.steps * each, " or ".join(map(str, figures.right))
    by = f", for {facts.sampler} calls the model {each} times a step" if each > 1 else ""
    says = f"{facts.steps} steps are {calls} model calls{by}"
    if figures.wrong:
        if calls not in figures.right:
            yield refused(facts.node, f"{says}: {figures.wrong}", f"{right} calls", figures.source)
    elif facts.steps in (4, 8):
        says = f"{facts.steps} steps without a Turbo LoRA: these weights are not distilled to so few"
        yield refused(facts.node, says, f"a Turbo LoRA, or {right} steps", figures.source)
    elif not min(figures.right) <= calls <= max(figures.right):
        yield warned(facts.node, f"{says}: not known to work here", f"{right} calls", figures.source)


def _names(facts: Facts, rules: Known) -> Iterator[Remark]:
    right = " or ".join(rules.sampler.right)
    if facts.sampler and facts.sampler not in rules.sampler.right:
        if _turbo(facts) and facts.sampler.startswith("res_multistep"):
            yield refused(facts.node, f"{facts.sampler}: flickers with a Turbo LoRA", right, "flicker")
        else:
            says = f"sampler {facts.sampler}: not known to work here"
            yield warned(facts.node, says, right, rules.sampler.source)
    if facts.scheduler and facts.scheduler not in rules.scheduler.right:
        says, right = (
            f"scheduler {facts.scheduler}: not known to work here",
            " or ".join(rules.scheduler.right),
        )
        yield warned(facts.node, says, right, rules.scheduler.source)
