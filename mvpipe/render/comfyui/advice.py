"""What a director would want to know of the settings of a shot, or of all, before the night."""

from __future__ import annotations

from collections.abc import Iterator

from mvpipe.errors import SettingsError
from mvpipe.render.backend import Conditioning, Setup
from mvpipe.render.comfyui import media, videos
from mvpipe.render.comfyui.bank import References
from mvpipe.render.comfyui.examine import examine
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.judge_sampling import sampling_remarks, weights_remarks
from mvpipe.render.comfyui.model_files import own_models
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.profiles import default_profile, find_profile
from mvpipe.render.comfyui.sampling import changed, placed
from mvpipe.render.comfyui.template import Template
from mvpipe.render.comfyui.times import film_rows, slowed, sound_rows, still_rows

LOOSE = {
    "none": "its takes are not locked to the voice: it is a reference that the model may follow",
    "soft": "its takes are not locked to the voice: their sound comes near it",
}
"""What is to be said of a graph whose lock is not exact."""


def settings_notes(options: Options, template: Template, size: tuple[int, int]) -> tuple[str, ...]:
    """What a film's settings for this backend bring, in words.

    Raises
    ------
    SettingsError : no such profile, or the graph has no place for a figure
    """
    placed(template, options.sampling)
    own_models(template, options.models)
    notes = otherwise(options, options.profile or default_profile(size))
    if options.send_voices:
        notes.append(
            "render.send_voices: voices beside the song's: what they do to a locked shot nobody has shown"
            if template.takes("voices")
            else f"render.send_voices: graph {template.name} has no place for voices: none is sent"
        )
    if loose := LOOSE.get(template.slots.lock):
        notes.append(f"graph {template.name}: {loose}")
    return tuple(notes)


def otherwise(options: Options, profile: str) -> list[str]:
    """Figures that are not the profile's."""
    found = changed(options.sampling, find_profile(profile).values())
    return [f"render.sampling: {', '.join(found)} (profile {profile})"] if found else []


def judged(where: str, graph: Graph) -> list[str]:
    """What is to be said of figures of one's own, before a server is asked.

    Raises
    ------
    SettingsError : they are known to go wrong
    """
    remarks = [
        remark for facts in examine(graph) for remark in (*sampling_remarks(facts), *weights_remarks(facts))
    ]
    if wrong := [str(remark) for remark in remarks if remark.level == "refuse"]:
        raise SettingsError(f"{where}: {'; '.join(wrong)}")
    return [f"{where}: {remark}" for remark in remarks if remark.level == "warn"]


def conditioning(setup: Setup, bank: References, detail: str) -> Conditioning:
    """What a shot's references add to every step of its sampling.

    Parameters
    ----------
    detail : of the pictures, `match` or `max`
    """
    stills = (media.as_sent(one.role, one.asset)["size"] for one in bank.pictures)
    sounds = (media.as_sent(one.role, one.asset)["seconds"] for one in bank.voices)
    filmed = _film_rows(setup, bank)
    rows = filmed + sum(still_rows((wide, high), setup.size, detail) for wide, high in stills)
    return Conditioning(rows=rows + sum(map(sound_rows, sounds)), filmed=filmed > 0)


def cost(shot: str, setup: Setup, bank: References) -> Iterator[str]:
    """What reference films cost; nothing is said of shots without any."""
    if rows := _film_rows(setup, bank):
        many = "a reference video" if len(bank.videos) == 1 else f"{len(bank.videos)} reference videos"
        times = slowed(setup.size, len(setup.shot.window), rows)
        yield (
            f"{shot}: {many}: every step takes about {times:.1f} times as long as without, until takes tell; "
            "a shorter or smaller film costs less"
        )


def _film_rows(setup: Setup, bank: References) -> int:
    found = (videos.motion(one.asset.path, one.asset.digest) for one in bank.videos)
    frames = len(setup.shot.window)
    return sum(film_rows(one.size, int(one.seconds * videos.RATE), frames) for one in found)
