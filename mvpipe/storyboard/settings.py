"""How a film is made, as it is written: cuts, sound, render and gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from mvpipe.storyboard.fields import (
    Figure,
    FilePath,
    Flag,
    FolderPath,
    Key,
    Line,
    LongestShot,
    Milliseconds,
    Name,
    PictureSize,
    Seed,
    ShotNumber,
    Takes,
    Thrift,
    Time,
    TimeSpan,
    Tolerance,
    WithoutVoice,
    Words,
)
from mvpipe.storyboard.part import Part


class Cuts(Part):
    """Where the editor has the last word about cuts."""

    keep: tuple[Time, ...] = Field(
        default=(), description="Moments at which a cut must fall.", examples=[["0:41", "1:12.5"]]
    )
    avoid: tuple[TimeSpan, ...] = Field(
        default=(), description="Stretches in which no cut may fall.", examples=[["1:02 - 1:03.5"]]
    )
    at: Mapping[ShotNumber, Time] = Field(
        default={},
        description="Cuts moved by hand: shot number to the time it starts.",
        examples=[{"4": "0:23.5"}],
    )
    longest: LongestShot = Field(
        default=15,
        description="Seconds a shot may last to spare a word. 8 is the usual length, and 15 the longest "
        "window of H3; mvpipe plan --frontier shows what each costs.",
        examples=[8, 10, 15],
    )
    thrift: Thrift = Field(
        default=1,
        description="How much render time weighs against good cuts: 1 only decides between equals.",
        examples=[1, 10],
    )


class Sound(Part):
    """How the voice is taken from the song."""

    separator: Name = Field(
        default="auto",
        description="Which network separates the voice: auto, htdemucs, htdemucs_ft, spleeter, or the "
        "name of another Demucs model. auto takes htdemucs where its weights are at hand, and says so "
        "where they are not.",
        examples=["auto", "htdemucs", "htdemucs_ft", "spleeter"],
    )
    vocals: FilePath | None = Field(
        default=None,
        description="A vocal stem of your own, exactly as long as the song; nothing is separated then.",
        examples=["neon_rain.vocals.wav"],
    )
    repo: FolderPath | None = Field(
        default=None, description="A folder of Demucs models to take the separator from.", examples=["models"]
    )
    singers: Literal["named", "by-voice"] = Field(
        default="named",
        description="Who is seen singing where no cast is named. named: whoever sings: true, in turns. "
        "by-voice: whoever is heard, told by the recordings that voice: gives of each of them; where that "
        "cannot be told it is said, and where a shot shows another one, too.",
        examples=["by-voice"],
    )
    aligner: FolderPath | None = Field(
        default=None,
        description="A folder with a wav2vec2 model that hears letters (config.json, vocab.json, "
        "model.safetensors), in the language of the lyrics: it finds when each of their words is sung.",
        examples=["models/wav2vec2-base-960h"],
    )


class Animatic(Part):
    """Settings of the drawn storyboard film; all but the first mouth are for tests and teaching."""

    mouth: Literal["follow", "closed", "frozen", "unrelated"] = Field(
        default="follow",
        description="What the drawn mouth does. follow: opens with the voice. closed, frozen: does not move. "
        "unrelated: moves, but not with the voice.",
        examples=["follow", "closed"],
    )
    offset_ms: Milliseconds = Field(
        default=0,
        description="Milliseconds by which the mouth is late (negative: early).",
        examples=[0, 120, -80],
    )


class Sampling(Part):
    """Figures of the sampling profile that are set otherwise; what is known to go wrong is refused."""

    shift: Words | None = Field(
        default=None, description="Of picture and sound, video/audio.", examples=["12/3", "6/3"]
    )
    steps: Words | None = Field(default=None, description="Steps of the sampler.", examples=["8"])
    sampler: Words | None = Field(default=None, description="ComfyUI's name of it.", examples=["euler"])
    scheduler: Words | None = Field(default=None, description="ComfyUI's name of it.", examples=["simple"])
    cfg: Words | None = Field(
        default=None, description="Guidance; H3's weights are distilled to 1.", examples=["1"]
    )
    lora: Words | None = Field(
        default=None,
        description="The LoRA's file below the server's loras folder, or none.",
        examples=["none"],
    )
    lora_strength: Words | None = Field(default=None, description="Of the LoRA.", examples=["1.0"])
    picture_detail: Words | None = Field(
        default=None, description="How large pictures are looked at: match or max.", examples=["max"]
    )


class Smaller(Part):
    """What a take may be where no server has the memory for the film's size; it is enlarged in the film."""

    size: PictureSize = Field(description="Its picture, width x height.", examples=["960x544"])
    profile: Name | None = Field(
        default=None,
        description="Its sampling profile; left out, the one that fits the size.",
        examples=["ref2va-turbo-4"],
    )


class Render(Part):
    """How takes are made."""

    backend: Literal["animatic", "comfyui"] = Field(
        default="animatic",
        description="animatic: drawn cards, on any computer. comfyui: MiniMax H3 on a ComfyUI server.",
        examples=["animatic", "comfyui"],
    )
    graph: Words | None = Field(
        default=None,
        description="The ComfyUI template by its name, or the path of a graph with its slots file beside it.",
        examples=["native-ref2va", "graphs/mine.json"],
    )
    profile: Name | None = Field(
        default=None, description="The sampling profile, by its name.", examples=["ref2va-turbo-8"]
    )
    weights: Name | None = Field(
        default=None,
        description="The diffusion model's file below the server's models folder, if not the graph's own.",
        examples=["minimax_h3_ref2va_pruned_w4a8_mixed.safetensors"],
    )
    text_encoder: Name | None = Field(
        default=None,
        description="The text encoder's file, if not the graph's own.",
        examples=["qwen3vl_32b_minimax_h3_nvfp4_awq.safetensors"],
    )
    text_device: Literal["default", "cpu"] | None = Field(
        default=None,
        description="Where the text encoder runs, if not where the graph says. default: where ComfyUI wants "
        "it. cpu: for a card that cannot take it, such as a Radeon and 4-bit weights; some ten minutes for "
        "every new prompt.",
        examples=["cpu"],
    )
    video_vae: Name | None = Field(
        default=None,
        description="The picture's VAE, if not the graph's own.",
        examples=["minimax_h3_video_vae_fp16.safetensors"],
    )
    audio_vae: Name | None = Field(
        default=None,
        description="The sound's VAE, if not the graph's own.",
        examples=["minimax_h3_audio_vae_fp32.safetensors"],
    )
    sampling: Sampling = Field(
        default_factory=Sampling,
        description="Figures that are not the profile's: shift, steps, sampler, scheduler, ...",
        examples=[{"shift": "12/3"}],
    )
    without_voice: WithoutVoice = Field(
        default="silence",
        description="What H3 hears in shots in which nobody sings. silence: tells the model at every step "
        "that no voice is heard, so that mouths stay shut; therefore the default. accompaniment: the song "
        "without its voice, for players and dancers who should move with the band; mouths may move with it "
        "as well. none: not locked; it makes sounds of its own, which never reach the film, and people who "
        "may speak them.",
        examples=["silence", "accompaniment"],
    )
    lyrics: Line = Field(
        default="",
        description="Language of the lyrics, if H3 may be told them word for word; left out, it is not.",
        examples=["English"],
    )
    send_voices: Flag = Field(
        default=False,
        description="Whether H3 is also given what stands under voice of those who sing in a shot, two at "
        "most, as references of timbre. The song's locked voice has the timbre already, and nobody has shown "
        "what more does to it; left out, it is not done.",
        examples=[True],
    )
    takes: Takes = Field(
        default=3, description="How often a shot is tried before a slug stands in.", examples=[3]
    )
    smaller: Smaller | None = Field(
        default=None,
        description="What a take may be if no server has the memory for picture.size, after memory was freed "
        "and every server has tried. Left out, such a shot ends the run. Reports name what is smaller.",
        examples=[{"size": "960x544"}],
    )
    seed: Seed = Field(default=7, description="Where the seeds of all takes derive from.", examples=[7])
    embed: Flag = Field(
        default=False,
        description="Write into the master what each take was made from: graph, prompt, seed. Left out, "
        "films and takes tell nothing but the title.",
        examples=[True],
    )
    animatic: Animatic = Field(
        default_factory=Animatic,
        description="Settings of the animatic backend.",
        examples=[{"mouth": "follow"}],
    )

    @property
    def options(self) -> dict[str, Any]:
        """The settings of the chosen backend, as canonical values."""
        return self.options_for(self.backend)

    def options_for(self, backend: str) -> dict[str, Any]:
        """The settings of a backend, as canonical values."""
        if backend == "animatic":
            return self.animatic.model_dump()
        told = {"graph", "profile", "without_voice", "lyrics"}
        told |= {"weights", "text_encoder", "text_device", "video_vae", "audio_vae"}
        sampling = self.sampling.model_dump(exclude_none=True)
        more: dict[str, Any] = {"sampling": sampling} if sampling else {}
        more |= {"send_voices": True} if self.send_voices else {}
        return self.model_dump(include=told, exclude_none=True) | more


class Gate(Part):
    """When a take is good enough, and what follows where it is not."""

    sync: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whose lips are judged. auto: wherever somebody sings and a model made the mouth. "
        "on: the animatic's drawn mouths as well. off: nobody's, and the report says so.",
        examples=["auto", "on"],
    )
    offset_frames: Tolerance = Field(
        default=1,
        description="Frames (at 25 a second) by which mouth and voice may differ.",
        examples=[1],
    )
    rules: Mapping[Key, Figure] = Field(
        default={},
        description="Other figures to judge by, by their names; `mvpipe gate --rules` lists them.",
        examples=[{"coverage": 0.7}],
    )
    on_fail: Literal["retake", "closer", "best"] = Field(
        default="retake",
        description="What follows a failed take; each does what the one before does as well. retake: others "
        "with new seeds, then a slug. closer: the last of them asks for a face that is large and free. "
        "best: the best of them is used, marked, where nothing but the lips is wrong with it.",
        examples=["retake", "closer", "best"],
    )
    common_offset: Literal["report", "mend"] = Field(
        default="report",
        description="What follows where five shots and more are late alike. report: it is a fault of the "
        "pipeline, and nothing is moved. mend: their pictures are moved all the same.",
        examples=["report", "mend"],
    )

    @property
    def changed(self) -> dict[str, float]:
        """The figures to judge by that the storyboard names."""
        return {"offset_frames": self.offset_frames, **self.rules}
