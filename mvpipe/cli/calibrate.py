"""`mvpipe calibrate`: learn from your own takes how sure the gate has to be."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from mvpipe.cli import options
from mvpipe.wording import counted

if TYPE_CHECKING:
    from mvpipe.cli.terminal import Terminal
    from mvpipe.gate.calibrate import Calibration, Labelled
    from mvpipe.gate.syncnet import SyncNet


SEVERAL = ("--good", "--bad")


class Spread(TyperCommand):
    """A command whose `--good` and `--bad` take all that follows, as a shell writes it for a star."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say the option before each of its words."""
        out, of = list[str](), ""
        for word in args:
            if word.startswith("-"):
                of = word if word in SEVERAL else ""
            elif of and out[-1] != of:
                out.append(of)
            out.append(word)
        return super().parse_args(ctx, out)


def calibrate(
    good: Annotated[
        list[Path],
        typer.Option(
            "--good", help="Takes with lips and voice together, or folders of such; may be repeated.",
            metavar="CLIPS", show_default=False,
        ),
    ],
    bad: Annotated[
        list[Path],
        typer.Option(
            "--bad", help="The same of takes that must not pass.", metavar="CLIPS", show_default=False
        ),
    ],
    vocal: Annotated[
        Path | None,
        typer.Option(
            "--vocal", metavar="FILE", show_default=False,
            help="The song's isolated vocal; takes in a project's folder know it, others have a wav beside.",
        ),
    ] = None,
    storyboard: Annotated[
        Path | None,
        typer.Option(
            "--storyboard", metavar="FILE", show_default=False,
            help="Compare with its rules; of takes of one project, with those of its storyboard unless said.",
        ),
    ] = None,
    syncnet: Annotated[
        Path | None,
        typer.Option(
            "--syncnet", help="SyncNet's official weights: its floor is learnt, not the mouth's.",
            metavar="FILE", envvar="MVPIPE_SYNCNET",
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", help="Write the lines into this new file as well.", metavar="FILE", show_default=False
        ),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Learn from takes you have labelled how sure the gate has to be.

    Shows the error it would make beside that of the storyboard's rules, or of the default ones where there is
    no storyboard, and prints the lines for it; it changes nothing.
    """
    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import SettingsError
    from mvpipe.gate.calibrate import calibrate as learn
    from mvpipe.gate.rules import figures

    terminal = Terminal()
    if write and write.exists():
        raise SettingsError(f"--write: {write}: is there already", hint="name a new file")
    network = None
    if syncnet:
        from mvpipe.gate.syncnet import load_weights

        network = load_weights(syncnet)
    labels = _labels(good, bad)
    board, changed = _rules([clip for clip, _ in labels], storyboard)
    values = figures(changed)
    takes = _measure(labels, vocal, network, changed, terminal)
    found = learn(takes, values)
    lines = storyboard_lines(found, takes)
    if json:
        told = {**asdict(found), "compared_with": board and str(board)}
        terminal.json({**told, "takes": [asdict(one) for one in takes], "storyboard": lines})
    else:
        terminal.result("\n".join([*_table(takes, found), "", *_error(found, board), "", *lines]))
    if write:
        write.write_text("\n".join(lines) + "\n", encoding="utf-8")
        terminal.note(f"written: {write}")


def _labels(good: list[Path], bad: list[Path]) -> list[tuple[Path, bool]]:
    """Every clip that is named, and whether it is good."""
    from mvpipe.errors import SettingsError
    from mvpipe.labelled import clips_in

    labels = [(one, kind) for kind, places in ((True, good), (False, bad)) for one in clips_in(places)]
    both = {one.resolve() for one, kind in labels if kind} & {
        one.resolve() for one, kind in labels if not kind
    }
    if both:
        raise SettingsError(f"{min(both)}: called both good and bad")
    return labels


def _rules(clips: list[Path], storyboard: Path | None) -> tuple[Path | None, dict[str, float]]:
    """The storyboard to compare with, and the figures it changes; neither where none is given or known."""
    from mvpipe.labelled import project_of
    from mvpipe.request import load_request
    from mvpipe.storyboard.load import load

    project = None if storyboard else project_of(clips)
    board = load_request(project).storyboard if project else storyboard
    return board, load(board).storyboard.gate.changed if board else {}


def _measure(
    labels: list[tuple[Path, bool]],
    vocal: Path | None,
    network: SyncNet | None,
    changed: dict[str, float],
    terminal: Terminal,
) -> list[Labelled]:
    """Look at every take once; all are paired with their voices before the first is decoded."""
    from mvpipe.gate.calibrate import Labelled
    from mvpipe.gate.look import look
    from mvpipe.gate.sync import judge_sync
    from mvpipe.labelled import pair, read_voice

    pairs = [(pair(clip, vocal), kind) for clip, kind in labels]
    takes = []
    for k, (one, kind) in enumerate(pairs):
        terminal.note(f"{k + 1} of {len(pairs)}: {one.clip}")
        voice, sample_rate = read_voice(one)
        seen = look(one.clip, network=network).seen
        verdict = judge_sync(seen, voice, sample_rate, network=network, rules=changed)
        takes.append(Labelled.of(str(one.clip), kind, verdict))
    return takes


def _table(takes: list[Labelled], found: Calibration) -> list[str]:
    from mvpipe.cli import tables

    what = {"pass_p": "chance", "syncnet_floor": "confidence"}[found.rule]
    rows = [
        (
            "good" if one.good else "bad",
            "passes" if one.passes(found.floor) else "does not",
            "-" if one.offset_ms is None else f"{one.offset_ms:+.0f} ms",
            "-" if one.value is None else f"{one.value:.3f}",
            one.name,
            one.reason,
        )
        for one in takes
    ]
    return [
        tables.table(
            ("you say", "then", "offset", what, "take", "by the rules as they are"), rows, right=(2, 3)
        )
    ]


def _error(found: Calibration, board: Path | None) -> list[str]:
    """What it would do with takes it was not shown, beside what the rules as they are do."""
    whose = f"the rules of {board}" if board else "the default rules"
    lines = [
        f"as it is: by {whose}",
        f"{'':34} {'as it is':36} learnt, each take left out in turn",
        f"{'good takes that do not pass':34} {found.missed_now!s:36} {found.missed}",
        f"{'bad takes that pass':34} {found.let_through_now!s:36} {found.let_through}",
        f"{found.rule}: {found.now:g} as it is, {found.floor:g} learnt: {found.why}",
    ]
    if found.lean_ms is not None:
        lines.append(f"good takes read {found.lean_ms:+.0f} ms in the middle; nothing is taken off")
    if found.few:
        lines.append(f"careful: {found.few}")
    return lines


def storyboard_lines(found: Calibration, takes: list[Labelled]) -> list[str]:
    """The lines to paste into a storyboard."""
    good = sum(one.good for one in takes)
    bad = counted(len(takes) - good, "bad take")
    return [
        "gate:",
        "  rules:",
        f"    {found.rule}: {found.floor:g}    # learnt from {good} good and {bad}; "
        f"left out in turn, {found.missed.count} good missed, {found.let_through.count} bad passed",
    ]
