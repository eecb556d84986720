"""Nodes that take long: samplers step by step, and the one that only takes time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import sound as sounds
from mvpipe.testing.comfyui.catalogue import CATALOGUE
from mvpipe.testing.comfyui.mishaps import TORCH
from mvpipe.testing.comfyui.settings import rows, step_seconds
from mvpipe.testing.comfyui.values import (
    LATENT_RATE,
    LATENT_SAMPLES,
    Guider,
    Latent,
    Made,
    Model,
    NodeFailed,
    Sound,
    Spoils,
    audio_latents,
    conditioning,
    digest,
    on_grid,
)

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.execute import Run

Values = dict[str, Any]


def sample_custom(run: Run, node_id: str, values: Values) -> Made:
    """SamplerCustomAdvanced."""
    latent = sample(
        run, node_id, values["guider"], values["latent_image"],
        seed=values["noise"], steps=values["sigmas"]["steps"], how=[values["sampler"], values["sigmas"]],
    )  # fmt: skip
    return Made(outputs=(latent, latent))


def long_media_sample(run: Run, node_id: str, values: Values) -> Made:
    """LongMedia's sampler; other knobs of its many are passed over."""
    run.say(node_id, "pass 1 of 1")
    latent = sample(
        run, node_id, values["guider"], values["initial_av"],
        seed=values["seed"], steps=values["sigmas"]["steps"], how=[values["sampler"], values["sigmas"]],
    )  # fmt: skip
    return Made(outputs=(latent, latent.frames, 0, 1, ""))


def multishot_sample(run: Run, node_id: str, values: Values) -> Made:
    """H3-Multishot's sampler: its guide audio is injected softly; the sound comes close, no more."""
    run.encode_prompt()
    model: Model = values["model"]
    frames = on_grid(values["frames_per_shot"])
    latent = Latent(width=values["width"], height=values["height"], frames=frames)
    cond = conditioning({**values, "prompt": values["script"]})
    how = [values.get("sampler_name"), values.get("scheduler"), values.get("bank_pinned")]
    made = sample(
        run, node_id, Guider(model=model, conditioning=cond), latent,
        seed=values["seed"], steps=values["steps"], how=how,
    )  # fmt: skip
    if "guide_audio" in values and made.sound is not None:
        guide = sounds.fitted(sounds.encoded(values["guide_audio"]), audio_latents(frames))
        mixed = 0.8 * guide.samples + 0.2 * made.sound.samples
        made = replace(made, sound=Sound(samples=mixed, rate=LATENT_RATE, digest=made.look))
    return Made(outputs=(run.decode(made), made.sound, 1, made, made, 0, ""))


def sample(
    run: Run, node_id: str, guider: Guider, latent: Latent, *, seed: Any, steps: int, how: list[Any]
) -> Latent:
    """The sampled latent, after as many steps as the card needs time for.

    Raises
    ------
    NodeFailed : the graph cannot be sampled on this server
    Interrupted : somebody stopped it
    """
    _check_packs(run, guider, latent)
    _check_room(run, latent)
    added = guider.conditioning.rows
    step_s = step_seconds(run.comfy.settings, latent.width, latent.height, latent.frames, added)
    with run.sampling():
        for place in range(1, steps + 1):
            run.spend(step_s * guider.calls)
            run.step(node_id, place, steps)
    spoils = _spoils(run)
    names = {name for name, _ in spoils}
    model = replace(guider.model, loras=()) if "lora-ignored" in names else guider.model
    heard = latent.sound.digest if latent.sound else ""
    decides = [
        dict(model.facts), model.loras, dict(guider.conditioning.facts), how, heard, latent.mask,
        [latent.width, latent.height, latent.frames], "" if "seed-ignored" in names else seed,
    ]  # fmt: skip
    look = digest(decides)
    run.sampled.append({"look": look, "seed": seed, "steps": steps, "frames": latent.frames})
    sound = latent.sound
    if sound is None or latent.mask or "lock-ignored" in names:
        sound = sounds.made(look, audio_latents(latent.frames) * LATENT_SAMPLES)
    return replace(latent, look=look, sound=sound, spoils=spoils)


def _check_packs(run: Run, guider: Guider, latent: Latent) -> None:
    cond = guider.conditioning
    if "multishot" in run.comfy.settings.packs and cond.guides and cond.references:
        rows = latent.frames + audio_latents(latent.frames)
        message = (
            f"The size of tensor a ({rows}) must match the size of tensor b ({latent.frames})"
            " at non-singleton dimension 1"
        )
        raise NodeFailed("RuntimeError", message)


def _check_room(run: Run, latent: Latent) -> None:
    room = run.comfy.settings.room
    if room and rows(latent.width, latent.height, latent.frames) > room:
        raise NodeFailed(*TORCH)


def _spoils(run: Run) -> Spoils:
    found = [("frozen", dict[str, Any]())] if run.instant else []
    for kind in CATALOGUE.values():
        if kind.moment == "sample" and (figures := run.fault(kind.name)) is not None:
            found.append((kind.name, figures | {"run": run.prompt_id}))
    return tuple(found)


def busy(run: Run, node_id: str, values: Values) -> Made:
    """StandinBusy: real seconds, in steps; `gil` holds everything up meanwhile."""
    seconds, steps = float(values["seconds"]), int(values["steps"])
    for place in range(1, steps + 1):
        run.wait(seconds / steps, everybody=values["hold"] == "gil")
        run.step(node_id, place, steps, picture=False)
    return Made(shown={"text": [f"busy {seconds} s {values['hold']}"]})
