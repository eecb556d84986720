"""What each node class does here: enough that the right graph gives the right clip and a wrong one does not.

A class without a function of its own hands on, for each of its outputs, the first input of that type, and
lays itself over models: so the patches of any pack work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mvpipe.testing.comfyui import sound as sounds
from mvpipe.testing.comfyui.loaders import (
    load_audio,
    load_file,
    load_image,
    load_lora,
    load_unet,
    load_video,
    video_components,
)
from mvpipe.testing.comfyui.sampling import busy, long_media_sample, multishot_sample, sample_custom
from mvpipe.testing.comfyui.save import save_audio, save_video, show_nothing
from mvpipe.testing.comfyui.values import (
    LATENT_RATE,
    LATENT_SAMPLES,
    Conditioning,
    Guider,
    Latent,
    Made,
    Model,
    NodeFailed,
    Picture,
    Sound,
    Still,
    Video,
    audio_latents,
    conditioning,
    digest,
    on_grid,
    references,
)

if TYPE_CHECKING:
    from mvpipe.testing.comfyui.execute import Run

Values = dict[str, Any]
Node = Callable[["Run", str, Values], Made]

TYPES: dict[str, type | tuple[type, ...]] = {
    "MODEL": Model, "CONDITIONING": Conditioning, "GUIDER": Guider, "LATENT": Latent, "AUDIO": Sound,
    "IMAGE": (Picture, Still), "VIDEO": Video, "FLOAT": float, "INT": int, "STRING": str,
}  # fmt: skip


def hand_on(run: Run, node_id: str, values: Values) -> Made:
    """The first input of each output's type; models remember who passed them on."""
    name = run.class_of(node_id)
    outputs: list[Any] = []
    for kind in run.comfy.schemas.outputs(name):
        wanted = TYPES.get(kind, ())
        value = next((one for one in values.values() if isinstance(one, wanted)), None)
        if isinstance(value, Model):
            constants = {key: one for key, one in values.items() if isinstance(one, str | int | float)}
            value = replace(value, facts={**value.facts, name: constants})
        outputs.append(value if value is not None else digest([name, sorted(values.items(), key=str)]))
    return Made(outputs=tuple(outputs))


def empty_latent(values: Values) -> Latent:
    """An empty AV latent of the size asked for, its length rounded up to H3's grid."""
    return Latent(width=values["width"], height=values["height"], frames=on_grid(values["length"]))


def h3_conditioning(run: Run, node_id: str, values: Values) -> Made:
    """ReferenceToVideo and ImageToVideo."""
    run.encode_prompt()
    return Made(outputs=(conditioning(values), empty_latent(values)))


def h3_latent(run: Run, node_id: str, values: Values) -> Made:
    """EmptyMiniMaxH3LatentAV."""
    return Made(outputs=(empty_latent(values),))


def add_guide(run: Run, node_id: str, values: Values) -> Made:
    """A keyframe of picture or sound: conditioning, no lock."""
    before: Conditioning = values["positive"]
    facts = {**before.facts, "guide": [values["frame_idx"], references(values)]}
    return Made(outputs=(replace(before, facts=facts, guides=before.guides + ("audio" in values)),))


def encode_audio(run: Run, node_id: str, values: Values) -> Made:
    """Sound as a latent: cropped at both ends to whole latents, so that a careless length loses its head."""
    return Made(outputs=(Latent(sound=sounds.encoded(values["audio"])),))


def solid_mask(run: Run, node_id: str, values: Values) -> Made:
    """A mask of one value."""
    return Made(outputs=(float(values["value"]),))


def set_mask(run: Run, node_id: str, values: Values) -> Made:
    """What of a latent is made anew."""
    return Made(outputs=(replace(values["samples"], mask=values["mask"]),))


def concat_av(run: Run, node_id: str, values: Values) -> Made:
    """The audio half of an AV latent replaced; too short a sound leaves a tail that will be made."""
    video: Latent = values["video_latent"]
    audio: Latent = values["audio_latent"]
    return Made(outputs=(locked(video, audio.sound, audio.mask),))


def separate_av(run: Run, node_id: str, values: Values) -> Made:
    """Both halves of an AV latent."""
    whole: Latent = values["av_latent"]
    return Made(outputs=(replace(whole, sound=None), Latent(sound=whole.sound, mask=whole.mask)))


def locked(latent: Latent, sound: Sound | None, mask: float = 0.0, *, pad: bool = False) -> Latent:
    """An AV latent that carries a sound; `pad` fills what is missing with silence instead of made sound."""
    if sound is None:
        return replace(latent, sound=None, mask=mask)
    tail = "" if pad else digest(["tail", sound.digest])
    return replace(latent, sound=sounds.fitted(sound, audio_latents(latent.frames), tail=tail), mask=mask)


def audio_drive(run: Run, node_id: str, values: Values) -> Made:
    """VRGDG's drive: the lock in one node, short sound padded with silence."""
    source: Sound = values["source_audio"]
    return Made(outputs=(locked(values["av_latent"], sounds.encoded(source), pad=True), source))


def song_context(run: Run, node_id: str, values: Values) -> Made:
    """The context pack: a slice of the whole vocal, cut by the node."""
    latent: Latent = values["latent"]
    whole = sounds.stereo(values["master_audio"])
    start = round(values["clip_start_seconds"] * LATENT_RATE)
    span = audio_latents(latent.frames) * LATENT_SAMPLES
    piece = Sound(
        samples=whole[:, start : start + span], rate=LATENT_RATE, digest=values["master_audio"].digest
    )
    return Made(outputs=(locked(latent, piece, pad=True), 0, piece))


def t8_conditioning(run: Run, node_id: str, values: Values) -> Made:
    """T8's conditioning with its audio modes; slot 2 is what is to be muxed."""
    run.encode_prompt()
    latent, drive = empty_latent(values), values.get("drive_audio")
    if values["audio_mode"] == "lock_source":
        if drive is None:
            raise NodeFailed("ValueError", "lock_source needs drive_audio")
        latent = locked(latent, sounds.encoded(drive), pad=True)
    muxed = values.get("final_audio", drive)
    return Made(outputs=(conditioning(values), latent, muxed, values["prompt"], "{}", ""))


def long_media_setup(run: Run, node_id: str, values: Values) -> Made:
    """LongMedia: lip_sync freezes its own slice of the sound, one latent short, and adds a keyframe."""
    run.encode_prompt()
    frames = on_grid(max(124, round(values["manual_duration"] * 24)))
    latent = Latent(width=values["width"], height=values["height"], frames=frames)
    cond = conditioning(values)
    if values["audio_mode"] == "lip_sync" and "audio_1" in values:
        cut = round(frames / 24 * LATENT_RATE)
        heard = sounds.stereo(values["audio_1"])[:, :cut]
        piece = Sound(samples=heard, rate=LATENT_RATE, digest=values["audio_1"].digest)
        latent = locked(latent, sounds.encoded(piece), pad=True)
        cond = replace(cond, guides=1)
    return Made(outputs=(cond, latent, {"frames": frames}, frames / 24, 1, ""))


def long_media_decode(run: Run, node_id: str, values: Values) -> Made:
    """Picture and sound of what LongMedia sampled."""
    latent: Latent = values["final_av"]
    return Made(outputs=(run.decode(latent), latent.sound, latent.frames / 24, ""))


def decode_picture(run: Run, node_id: str, values: Values) -> Made:
    """The picture of a latent."""
    return Made(outputs=(run.decode(values["samples"]),))


def decode_sound(run: Run, node_id: str, values: Values) -> Made:
    """The sound of a latent."""
    return Made(outputs=(values["samples"].sound,))


def decode_both(run: Run, node_id: str, values: Values) -> Made:
    """T8's decoder."""
    latent: Latent = values["av_latent"]
    return Made(outputs=(run.decode(latent), latent.sound, latent, latent))


def guider(run: Run, node_id: str, values: Values) -> Made:
    """BasicGuider; CFGGuider calls the model twice a step unless cfg is 1."""
    cond: Conditioning = values["conditioning"] if "conditioning" in values else values["positive"]
    calls = 2 if float(values.get("cfg", 1.0)) != 1.0 else 1
    return Made(outputs=(Guider(model=values["model"], conditioning=cond, calls=calls),))


def steps(run: Run, node_id: str, values: Values) -> Made:
    """BasicScheduler: as many steps as asked for."""
    return Made(outputs=({"steps": values["steps"], "scheduler": values["scheduler"]},))


def listed_sigmas(run: Run, node_id: str, values: Values) -> Made:
    """ManualSigmas: one step fewer than there are numbers."""
    text = str(values.get("sigmas", ""))
    return Made(outputs=({"steps": max(1, len(re.findall(r"[\d.]+", text)) - 1), "scheduler": text},))


def constant(run: Run, node_id: str, values: Values) -> Made:
    """Seeds, sampler names, primitives: the value itself."""
    return Made(outputs=(next(iter(values.values()), None),) * 2)


def trim_audio(run: Run, node_id: str, values: Values) -> Made:
    """A stretch of sound by seconds."""
    source: Sound = values["audio"]
    start = round(float(values["start_index"]) * source.rate)
    stop = start + round(float(values["duration"]) * source.rate)
    return Made(outputs=(replace(source, samples=source.samples[:, start:stop]),))


def create_video(run: Run, node_id: str, values: Values) -> Made:
    """Picture and sound together; the sound is cut to the picture when it is written."""
    rate = Fraction(round(float(values["fps"]) * 1000), 1000)
    return Made(outputs=(Video(picture=values["images"], rate=rate, sound=values.get("audio")),))


NODES: dict[str, Node] = {
    **dict.fromkeys(("UNETLoader", "UnetLoaderGGUF", "LoaderGGUF", "GGUFLoaderKJ"), load_unet),
    **dict.fromkeys(("LoraLoaderModelOnly", "LoraLoaderBypassModelOnly", "LoraLoader"), load_lora),
    **dict.fromkeys(("CLIPLoader", "VAELoader"), load_file),
    "LoadImage": load_image, "LoadAudio": load_audio, "LoadVideo": load_video,
    "GetVideoComponents": video_components,
    **dict.fromkeys(("MiniMaxH3ReferenceToVideo", "MiniMaxH3ImageToVideo"), h3_conditioning),
    "EmptyMiniMaxH3LatentAV": h3_latent, "MiniMaxH3AddGuide": add_guide,
    "VAEEncodeAudio": encode_audio, "SolidMask": solid_mask, "SetLatentNoiseMask": set_mask,
    "LTXVConcatAVLatent": concat_av, "LTXVSeparateAVLatent": separate_av,
    "VRGDG_MiniMaxH3AudioDrive": audio_drive, "MiniMaxH3SongMaskedAVContext": song_context,
    "MiniMaxH3AudioConditioningT8": t8_conditioning, "MiniMaxH3AVDecodeT8": decode_both,
    "MiniMaxH3LatentLabLongMediaSetup": long_media_setup,
    "MiniMaxH3LatentLabLongMediaDecode": long_media_decode,
    **dict.fromkeys(("VAEDecode", "VAEDecodeTiled"), decode_picture), "VAEDecodeAudio": decode_sound,
    **dict.fromkeys(("BasicGuider", "CFGGuider"), guider),
    "BasicScheduler": steps, "ManualSigmas": listed_sigmas,
    **dict.fromkeys(("RandomNoise", "KSamplerSelect"), constant),
    **dict.fromkeys(("PrimitiveInt", "PrimitiveFloat", "PrimitiveStringMultiline"), constant),
    "SamplerCustomAdvanced": sample_custom, "MiniMaxH3LatentLabLongMediaSampler": long_media_sample,
    "H3MultishotMemorySampler": multishot_sample, "StandinBusy": busy,
    "TrimAudioDuration": trim_audio, "CreateVideo": create_video, "SaveVideo": save_video,
    **dict.fromkeys(("SaveAudio", "SaveAudioMP3", "SaveAudioOpus", "SaveAudioAdvanced"), save_audio),
    **dict.fromkeys(("PreviewImage", "SaveImage", "PreviewAudio"), show_nothing),
}  # fmt: skip
