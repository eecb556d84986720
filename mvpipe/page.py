"""The plan as a page to look at, listen to and print: one file that asks nothing of the network.

What the storyboard says is text here and nothing else: it is escaped into the cards, and into the data with
every character that could end a script. A content policy lets run only the script that mvpipe wrote.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mvpipe.clock import format_time
from mvpipe.plan import voice_from
from mvpipe.sound.picture import KINDS
from mvpipe.sound.spectrum import HOPS
from mvpipe.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mvpipe.clock import Span
    from mvpipe.cutting import Heard
    from mvpipe.plan import Plan, Planned

SOUND = "audio/mpeg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """What can be heard on the page, as MP3; empty where there is none."""

    song: bytes = b""
    voice: bytes = b""


def page(heard: Heard, sound: Sound) -> str:
    """The page of a plan as HTML.

    Parameters
    ----------
    heard : the plan, the bare cuts and what was heard
    sound : small copies of the song and the voice, both from its first sample
    """
    plan = heard.plan
    style, script, frame = (_part(name) for name in ("plan.css", "plan.js", "plan.html"))
    return frame % {
        "policy": _policy(style, script),
        "title": escape(plan.title),
        "style": style,
        "script": script,
        "facts": escape(_facts(plan)),
        "notes": _notes(plan),
        "legend": _legend(plan),
        "cards": "\n".join(_cards(plan)),
        "data": _safe_json(_data(heard, sound)),
    }


def _part(name: str) -> str:
    return (files("mvpipe") / "pages" / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """What the page may do: run this script, in this style, and play what it carries."""
    allowed = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "media-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _safe_json(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end or open one."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _facts(plan: Plan) -> str:
    inside = plan.cuts_inside_words
    facts = (
        plan.song.path.name,
        format_time(plan.song.seconds),
        f"{counted(len(plan.shots), 'shot')}",
        f"{counted(plan.frames, 'frame')} at {plan.rate} a second",
        f"cuts inside {'a word' if plan.words_known else 'the voice'}: {inside}",
        f"voice: {voice_from(plan.separator)}",
    )
    return "  \u00b7  ".join(facts)


def _notes(plan: Plan) -> str:
    if not plan.notes:
        return ""
    rows = "".join(f"<li>{escape(note)}</li>" for note in plan.notes)
    return f"<details open><summary>{len(plan.notes)} to know</summary><ul>{rows}</ul></details>"


def _legend(plan: Plan) -> str:
    used = {shot.boundary.kind for shot in plan.shots if shot.boundary}
    kinds = [(kind.value, KINDS[kind][0]) for kind in KINDS if kind in used]
    swatches = [("sung", "somebody sings"), *kinds]
    return "".join(
        f'<span><i data-colour="{escape(colour)}"></i>{escape(name)}</span>' for colour, name in swatches
    )


def _cards(plan: Plan) -> list[str]:
    found = []
    for section, group in groupby(plan.planned, key=lambda planned: planned.shot.card.section):
        if section:
            found.append(f"<h2>{escape(section)}</h2>")
        found += [_card(plan, planned) for planned in group]
    return found


def _card(plan: Plan, planned: Planned) -> str:
    shot, card = planned.shot, planned.shot.card
    begins = format_time(shot.cut.start / plan.rate)
    rows = {
        "who": ", ".join(card.cast),
        "sings": ", ".join(planned.sings) if len(plan.singers) > 1 else "",
        "where": card.place,
        "framing": card.framing,
        "cut": planned.why + (f"; {planned.harm}" if planned.harm else ""),
        "runner-up": planned.runner_up,
        "window": f"{len(shot.window)} frames: {shot.head} before, {shot.tail} after",
        "from": card.origin,
    }
    lyric = f'<p class="lyric">{escape(card.lyric)}</p>' if card.lyric else ""
    told = "".join(_row(name, text, planned) for name, text in rows.items() if text)
    return (
        f'<article class="{escape(card.kind.value)}" tabindex="0" data-shot="{shot.number}">'
        f'<div class="top"><span class="number">{shot.number}</span>'
        f'<span class="time">{begins}, {float(shot.cut.seconds):.1f} s, voice {shot.voice:.0%}</span>'
        f'<button title="Play with handles">Play</button></div>'
        f'{lyric}<p class="prompt">{escape(card.prompt)}</p><dl>{told}</dl></article>'
    )


def _row(name: str, text: str, planned: Planned) -> str:
    bad = ' class="bad"' if name == "cut" and planned.in_voice else ""
    return f"<dt>{name}</dt><dd{bad}>{escape(text)}</dd>"


def _data(heard: Heard, sound: Sound) -> dict[str, Any]:
    plan, hearing = heard.plan, heard.hearing
    every = 2 if plan.song.seconds > 1200 else 1  # hops in one value: an hour stays under half a megabyte
    runs = [(name, list(group)) for name, group in groupby(plan.shots, key=lambda shot: shot.card.section)]
    return {
        "seconds": float(plan.song.seconds),
        "hops": HOPS / every,
        "peak": _bytes(hearing.peak, every, full=True),
        "effort": _bytes(hearing.effort, every),
        "phrases": [[start / HOPS, stop / HOPS] for start, stop in hearing.phrases.tolist()],
        "bars": [bar / HOPS for bar in hearing.bars.tolist()],
        "sections": [
            {
                "name": name,
                "start": float(shots[0].cut.start / plan.rate),
                "stop": float(shots[-1].cut.stop / plan.rate),
            }
            for name, shots in runs
        ],
        "sung_by": [_singer(one) for one in plan.as_json()["sung_by"]],
        "lines": [_line(line) for line in plan.as_json()["lines"]],
        "shots": _shots(heard),
        "audio": _audio(sound),
    }


def _bytes(curve: NDArray[np.float32], every: int, *, full: bool = False) -> str:
    """A curve as base64 of one byte a value; `full` stretches its loudest moments to the whole height."""
    import numpy as np

    room = -(-len(curve) // every) * every
    held = np.pad(curve, (0, room - len(curve))).reshape(-1, every).max(axis=1)
    top = max(float(np.percentile(held, 99.5)), 1e-3) if full else 1.0
    return b64encode(np.clip(held / top * 255, 0, 255).astype(np.uint8).tobytes()).decode()


def _line(line: Mapping[str, Any]) -> dict[str, Any]:
    words = [[word["text"], word["start"], word["stop"]] for word in line["words"]]
    return {name: line[name] for name in ("text", "start", "stop", "sure")} | {"words": words}


def _singer(one: Mapping[str, Any]) -> list[Any]:
    """From, to, whom the page names there, and whether that is sure."""
    doubt = f"{one['likeliest']}?" if one["sure"] else "?"
    return [one["start"], one["stop"], one["name"] or doubt, bool(one["name"])]


def _shots(heard: Heard) -> list[dict[str, Any]]:
    plan = heard.plan
    return [
        {
            "n": planned.shot.number,
            "cut": _ends(planned.shot.cut),
            "window": _ends(planned.shot.window),
            "kind_of_cut": planned.shot.boundary.kind.value if planned.shot.boundary else "forced",
            "pinned": bool(bare.pinned),
            "short": planned.shot.card.lyric or planned.shot.card.prompt,
            "why": planned.why,
            "runner": planned.runner_up,
            "other": float(bare.runner_up.frame / plan.rate) if bare.runner_up else None,
        }
        for planned, bare in zip(plan.planned, heard.cutting.shots, strict=True)
    ]


def _ends(span: Span) -> list[float]:
    return [float(span.start / span.rate), float(span.stop / span.rate)]


def _audio(sound: Sound) -> dict[str, str]:
    carried = {"song": sound.song, "voice": sound.voice}
    return {"type": SOUND} | {name: b64encode(data).decode() for name, data in carried.items() if data}
