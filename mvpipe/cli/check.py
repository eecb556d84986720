"""`mvpipe check`: judge any clip against the voice alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvpipe.cli import options

if TYPE_CHECKING:
    from mvpipe.gate.sync import SyncVerdict
    from mvpipe.gate.syncnet import SyncNet


def check(
    clip: Annotated[Path, typer.Argument(help="The clip.", metavar="CLIP", show_default=False)],
    vocal: Annotated[
        Path | None,
        typer.Option(
            "--vocal",
            help="The isolated vocal, never the clip's own sound; of a project's take the song's.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            help="When the clip begins in the vocal: S, M:SS or H:MM:SS; of a project's take the plan knows.",
            show_default="0",
        ),
    ] = None,
    syncnet: Annotated[
        Path | None,
        typer.Option(
            "--syncnet",
            help="SyncNet's official weights, if not those from mvpipe models; without, the mouth decides.",
            metavar="FILE",
            envvar="MVPIPE_SYNCNET",
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            help="Judge by another figure, of mvpipe gate --rules; may be repeated.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            help="Draw the verdict: mouths, voice, curves.",
            metavar="OUT.png",
            show_default=False,
        ),
    ] = None,
    cache: options.Cache = None,
    json: options.Json = False,
) -> None:
    """Judge any clip's lips against the voice.

    Pass, fail, or cannot judge, with the offset and why.
    Exit code 4 says that it fails, 10 that it cannot be judged.
    """
    from mvpipe.cli.terminal import Terminal
    from mvpipe.errors import PlanError, SettingsError
    from mvpipe.gate.look import look
    from mvpipe.gate.rules import figures
    from mvpipe.gate.sync import judge_sync
    from mvpipe.labelled import placed, read_voice, sung_elsewhere, title_of

    terminal = Terminal()
    if picture and picture.suffix.lower() != ".png":
        raise SettingsError(f"--picture: {picture}: not the name of a PNG", hint="such as verdict.png")
    if not clip.is_file():
        raise PlanError(f"{clip}: no such file")
    values = figures(changed := _changed(rule or ()))
    pair = placed(clip, vocal, _begin(clip, start))
    voice, sample_rate = read_voice(pair)
    network = _network(syncnet, cache)
    seen = look(clip, network=network).seen
    many = int(values["syncnet_voices"])
    chance = sung_elsewhere(pair, float(seen.seconds), many, network) if network else ()
    verdict = judge_sync(seen, voice, sample_rate, network=network, elsewhere=chance, rules=changed)
    if picture:
        from mvpipe.gate import page

        page.show(clip, verdict, seen, voice, sample_rate, title=title_of(clip), into=picture)
        terminal.note(f"the verdict as a picture: {picture}")
    if json:
        terminal.json(verdict.as_json())
    else:
        best = verdict.deciding
        offset = f", {best.offset_ms:+z.0f} ms, by {verdict.method}" if best else ""
        terminal.result(f"{verdict.outcome}{offset}: {verdict.reason}")
    _complain(clip, verdict)


def _begin(clip: Path, start: str | None) -> Fraction | None:
    """Seconds of the vocal at which the clip begins."""
    from mvpipe.clock import parse_time
    from mvpipe.errors import SettingsError
    from mvpipe.labelled import planned_start

    try:
        return planned_start(clip) if start is None else parse_time(start)
    except ValueError as exc:
        raise SettingsError(f"--start: {exc}", hint="12.5, 0:12.500 or 0:00:12.500") from exc


def _network(syncnet: Path | None, cache: Path | None) -> SyncNet | None:
    from mvpipe.cli.settings import default_cache
    from mvpipe.gate.weights import find

    if weights := syncnet or find(cache or default_cache()):
        from mvpipe.gate.syncnet import load_weights

        return load_weights(weights)
    return None


def _complain(clip: Path, verdict: SyncVerdict) -> None:
    """The exit code says the same as the verdict."""
    from mvpipe.errors import CannotJudge, MediaError
    from mvpipe.film import Outcome

    if verdict.outcome is Outcome.FAIL:
        raise MediaError(f"{clip}: lips and voice: {verdict.reason}")
    if verdict.outcome is Outcome.CANNOT_JUDGE:
        raise CannotJudge(f"{clip}: cannot judge: {verdict.reason}", hint="look at it yourself")


def _changed(rules: Sequence[str]) -> dict[str, float]:
    """Figures that were given as NAME=VALUE."""
    from mvpipe.errors import SettingsError

    found = {}
    for one in rules:
        name, _, value = one.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError as exc:
            raise SettingsError(f"--rule: {one}: not NAME=VALUE", hint="such as coverage=0.7") from exc
    return found
