"""Whether a take's own sound is what it was promised to be. Pure, over numbers measured once.

Nobody hears that sound in the film, but where the vocal is locked into the take it is the clock that the
mouth followed: where the sound is not the vocal, the mouth followed something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mvpipe.film import Finding, Outcome
from mvpipe.gate.rules import figures
from mvpipe.tools import audible
from mvpipe.tools.audible import VOICED, Audible
from mvpipe.tools.likeness import alike

FAINT = 1e-3
"""Share of a voice's power above 4 kHz under which there is nothing to lose: native H3 speech has 0.004 and
more, and made voices 0.0025."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One shot of a chain, each rendered from the one before.

    Parameters
    ----------
    shot : its number
    sound : of its take; None without
    voice : what was sent with it; None without
    """

    shot: int
    sound: Audible | None
    voice: Audible | None


def judge_sound(
    sound: Audible | None,
    voice: Audible | None,
    seconds: float,
    rules: Mapping[str, float] | None = None,
) -> tuple[Finding, ...]:
    """Hold a take's sound against the vocal that was locked into it.

    Parameters
    ----------
    sound : of the take; None without a sound stream
    voice : that was sent to be kept as the take's sound; None where the backend promises none
    seconds : of the picture
    rules : every figure to judge by, of `figures`; None for those that nobody changed
    """
    values = rules or figures()
    if voice is None:
        return (_finding("sound", "", "none", "none", "no sound was promised, and none is used"),)
    if sound is None:
        return (_finding("sound", "no sound, where a voice was sent", "none", "sound", ""),)
    kinds = {
        "not finite": audible.not_finite(sound),
        "cut short": audible.cut_short(sound, seconds, values["sound_share"]),
        "constant": audible.constant(sound),
        "silent": audible.silence(sound, voice),
        "noise": audible.noise(sound, voice, values["steady_db"]),
        "clipped": audible.clipped(sound, voice, values["clipped_share"]),
    }
    kind, fault = next(((kind, fault) for kind, fault in kinds.items() if fault), ("sound", ""))
    heard = _finding("sound", fault, kind, "sound", f"{sound.seconds:.2f} s of sound without a fault")
    return (heard, _locked(sound, voice, values["alike"])) if not fault or kind == "clipped" else (heard,)


def judge_chain(links: Sequence[Link], rules: Mapping[str, float] | None = None) -> list[Finding]:
    """How much of 4-10 kHz each shot of a chain has lost against the vocal it was sent, in order.

    It fails where it is gone from a sound that is the vocal's; where it cannot be told whether other words or
    a duller sound is the reason, it cannot be judged.
    """
    values = rules or figures()
    return [_brightness(link, values) for link in links]


def _locked(sound: Audible, voice: Audible, least: float) -> Finding:
    found = round(alike(voice.levels, sound.levels), 2) if voice.peak >= VOICED else 1.0
    fault = audible.lock_lost(sound, voice, least)
    return _finding("locked sound", fault, found, least, "its sound is what was sent")


def _brightness(link: Link, values: Mapping[str, float]) -> Finding:
    sound, voice, limit = link.sound, link.voice, values["bright_lost"]
    if sound is None or voice is None or voice.peak < VOICED or voice.bright < FAINT:
        why = "nothing above 4 kHz was sent that could be lost"
        return Finding(check="brightness", outcome=Outcome.PASS, value="none", limit=limit, reason=why)
    lost = round(1 - sound.bright / voice.bright, 3)
    if lost <= limit:
        outcome, why = Outcome.PASS, f"{max(0, lost):.0%} of 4-10 kHz is gone"
    elif alike(voice.levels, sound.levels) >= values["alike"]:
        outcome, why = Outcome.FAIL, f"{lost:.0%} of 4-10 kHz is gone in shot {link.shot} of a chain"
    else:
        outcome = Outcome.CANNOT_JUDGE
        why = f"{lost:.0%} less of 4-10 kHz than the voice in shot {link.shot} of a chain, in another sound"
    return Finding(check="brightness", outcome=outcome, value=lost, limit=limit, reason=why)


def _finding(check: str, fault: str, value: float | str, limit: float | str, good: str) -> Finding:
    outcome = Outcome.FAIL if fault else Outcome.PASS
    return Finding(check=check, outcome=outcome, value=value, limit=limit, reason=fault or good)
