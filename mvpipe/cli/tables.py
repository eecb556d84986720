"""Tables for people: plain text, aligned, the same on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mvpipe.clock import format_time
from mvpipe.plan import voice_from
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.foresee import Change
    from mvpipe.frontier import Choice
    from mvpipe.plan import Plan, Planned
    from mvpipe.reel.proof import Proof


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Columns as wide as their widest cell; those in `right` are set to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def lips_cells(lips: Mapping[str, Any], slip: int) -> tuple[str, str, str, str, str]:
    """Of a verdict on lips as the journal keeps it: offset, confidence, method, control, slip."""
    if lips.get("offset_ms") is None:
        return "", "", lips.get("method", ""), "", ""
    control = lips["control"]
    moved = control["offset_frames_25"] - lips["offset_frames_25"]
    surely = f"{lips['confidence']:.2f}" + (f", p {lips['p']:.3f}" if lips.get("p") is not None else "")
    proved = f"{moved:+d} of {control['delay_frames']:+d}{'' if control['ok'] else ', failed'}"
    return f"{lips['offset_ms']:+.0f} ms", surely, lips["method"], proved, f"{slip:+d}" if slip else ""


def plan(made: Plan) -> str:
    """The shots of a plan, and what the cuts cost; who sings in each, where several do."""
    several = len(made.singers) > 1
    head = ("shot", "from", "seen", "window", "voice", "kind", *["sings"] * several)
    head = (*head, "why this cut", "runner-up", "render")
    rows = [_shot(made, planned, sings=several) for planned in made.planned]
    return "\n".join([_title(made), table(head, rows, right=(0, 2, 3, 4, len(head) - 1)), _sum(made)])


def frontier(choices: Sequence[Choice]) -> str:
    """The plans to choose from, and how the storyboard asks for each."""
    head = ("render", "shots", "cuts inside a word", "quality", "in the storyboard")
    rows = [
        (
            _duration(one.seconds),
            str(one.shots),
            str(one.inside),
            f"{one.quality:.2f}",
            f"cuts: {{longest: {one.longest}, thrift: {one.thrift}}}{'   <- this one' * one.chosen}",
        )
        for one in choices
    ]
    return table(head, rows, right=(0, 1, 2, 3))


def changes(made: Plan, found: Sequence[Change], *, since: Sequence[str] | None = None) -> str:
    """What a render would do now; before it, what changed since the last plan, where there was one."""
    wanted = [change for change in found if change.render]
    lines = [
        f"shot {change.shot.number}: {change.why[0]}" + "".join(f"\n    {line}" for line in change.why[1:])
        for change in wanted
    ]
    seconds = sum(change.seconds for change in wanted)
    last = f"{len(wanted)} of {counted(len(found), 'shot')} would be rendered, about {_duration(seconds)}"
    before = [f"since the last plan: {line}" for line in since or ()]
    if since is not None and not before:
        before = ["since the last plan: nothing changed"]
    return "\n".join([_title(made), *before, *lines, last])


def proof(found: Proof) -> str:
    """What was measured on a film, and what is wrong with it."""
    rows = [
        ("film", str(found.film)),
        ("song", str(found.song)),
        ("frames", f"{found.frames} in the file, {found.decoded} decoded, at {found.rate} a second"),
        ("first frame", f"{float(found.first):.6f} s"),
        ("last frame", f"{float(found.last):.6f} s"),
        ("farthest off", f"{float(found.farthest) * 1000:.3f} ms"),
        ("pictures", f"sha256 {found.pictures}"),
        ("sound", f"{found.sound} ({found.sound_codec})"),
        ("samples", f"{found.samples}, the song has {found.song_samples}"),
        ("film's sound", f"sha256 {found.sound_digest}"),
        ("song's sound", f"sha256 {found.song_digest}"),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows]
    lines += [f"{'match'.ljust(width)}  {match}" for match in found.matches]
    lines += [f"wrong: {problem}" for problem in found.problems]
    return "\n".join([*lines, "result: pass" if found.ok else "result: fail"])


def _title(made: Plan) -> str:
    frames, shots = counted(made.frames, "frame"), counted(len(made.shots), "shot")
    return (
        f"{made.title}: {format_time(made.song.seconds)}, {frames} at {made.rate} a second, "
        f"{shots}, voice: {voice_from(made.separator)}"
    )


def _shot(made: Plan, planned: Planned, *, sings: bool) -> tuple[str, ...]:
    shot = planned.shot
    return (
        str(shot.number),
        format_time(shot.cut.start / made.rate),
        f"{float(shot.cut.seconds):.2f} s",
        str(len(shot.window)),
        f"{shot.voice:.0%}",
        shot.card.kind.value,
        *[", ".join(planned.sings)] * sings,
        planned.why,
        planned.runner_up,
        _duration(planned.seconds),
    )


def _sum(made: Plan) -> str:
    told = "" if made.words_known else " (by the voice: no times of words are known)"
    lines = [
        f"cuts inside a word: {made.cuts_inside_words} of {len(made.shots) - 1}{told}; "
        f"one take of every shot: about {_duration(made.seconds)}"
    ]
    lines += [
        f"  shot {one.shot.number} at {format_time(one.shot.cut.start / made.rate)}: inside {one.harm}; "
        + (f"next best {one.runner_up}" if one.runner_up else "no other place")
        for one in made.planned
        if one.in_voice
    ]
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
