"""`mvpipe check`: judge any clip against the voice alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvpipe.cli import options


def check(
    clip: Annotated[Path, typer.Argument(help="The clip.", metavar="CLIP", show_default=False)],
    vocal: Annotated[
        Path, typer.Option("--vocal", help="The isolated vocal; never the clip's own sound.", metavar="FILE")
    ],
    start: Annotated[
        str, typer.Option("--start", help="When the clip begins in the vocal: S, M:SS or H:MM:SS.")
    ] = "0",
    syncnet: Annotated[
        Path | None,
        typer.Option(
            "--syncnet",
            help="SyncNet's official weights, which you bring; without, the mouth decides.",
            metavar="FILE",
            envvar="MVPIPE_SYNCNET",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Judge any clip's lips against the voice.

    Pass, fail, or cannot judge, with the offset and why.
    Exit code 4 says that it fails, 10 that it cannot be judged.
    """
    from mvpipe.cli.terminal import Terminal
    from mvpipe.clock import parse_time
    from mvpipe.errors import CannotJudge, MediaError, SettingsError
    from mvpipe.film import Outcome
    from mvpipe.gate.sync import check_sync
    from mvpipe.sound import wav

    terminal = Terminal()
    try:
        begin = parse_time(start)
    except ValueError as exc:
        raise SettingsError(f"--start: {exc}", hint="12.5, 0:12.500 or 0:00:12.500") from exc
    shape = wav.shape(vocal)
    sample_rate, first = shape.sample_rate, int(begin * shape.sample_rate)
    if first >= shape.samples:
        raise SettingsError(
            f"--start: {start}: the vocal ends before", hint="when the clip begins in the vocal"
        )
    voice = wav.read(vocal, first, mono=True)
    network = None
    if syncnet:
        from mvpipe.gate.syncnet import load_weights

        network = load_weights(syncnet)
    verdict = check_sync(clip, voice, sample_rate, network=network)
    if json:
        terminal.json(verdict.as_json())
    else:
        best = verdict.deciding
        offset = f", {best.offset_ms:+.0f} ms, by {verdict.method}" if best else ""
        terminal.result(f"{verdict.outcome}{offset}: {verdict.reason}")
    if verdict.outcome is Outcome.FAIL:
        raise MediaError(f"{clip}: lips and voice: {verdict.reason}")
    if verdict.outcome is Outcome.CANNOT_JUDGE:
        raise CannotJudge(f"{clip}: cannot judge: {verdict.reason}", hint="look at it yourself")
