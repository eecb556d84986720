"""Which separator works on a song, and what to say if it is not the best one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mvpipe.errors import WeightsMissing
from mvpipe.sound import weights
from mvpipe.sound.demucs_model import Demucs
from mvpipe.sound.separate import Separator
from mvpipe.sound.spleeter import Spleeter
from mvpipe.sound.weights import Patience

AUTO, BEST = "auto", "htdemucs"

QUICK = Patience(reach_s=4.0, file_s=120.0)
"""How long `auto` waits for the model hub: to see whether it answers, and for 84 MB."""


def choose(
    wanted: str,
    *,
    cache: Path,
    repo: Path | None = None,
    device: str = "auto",
    say: Callable[[str], None] = lambda _: None,
    endpoint: str = "",
) -> tuple[Separator, str]:
    """The separator, its weights at hand, and a notice to be shown loudly and recorded; often empty.

    Parameters
    ----------
    wanted : `auto`, `spleeter`, or a Demucs model's name; what is named is used or refused
    cache : mvpipe's per-user cache
    repo : the user's folder of Demucs models; then nothing is looked for elsewhere, nor fetched
    device : `auto`, `cpu`, `cuda`, ...
    say : told of each file that is fetched
    endpoint : another address of the model hub than its own

    Raises
    ------
    WeightsMissing : they are not here and could not be fetched in time; the hint says how to go on
    ToolError : a file is damaged
    """
    if wanted == Spleeter().name:
        return Spleeter(device=device), ""
    name = BEST if wanted == AUTO else wanted
    bag = weights.find(name, cache=cache, repo=repo)
    if bag is None and (repo or name not in weights.PUBLISHED):
        bag = weights.require(name, cache=cache, repo=repo)
    if bag is None:
        patience = QUICK if wanted == AUTO else Patience()
        try:
            bag = weights.fetch(name, cache, patience=patience, say=say, endpoint=endpoint)
        except WeightsMissing as exc:
            if wanted != AUTO:
                raise
            return Spleeter(device=device), notice(exc)
    return Demucs(bag=bag, device=device), ""


def notice(reason: WeightsMissing) -> str:
    """What to say when Spleeter stands in for Demucs: what, why, what it costs, what to do.

    Figures: four songs with known stems (a speaking machine made to sing): 2.9 to 5.1 dB by Spleeter, the
    mixes themselves -2.3 to -6.6; 10.8 % of cuts inside a word on its stems, none on the true ones. Demucs'
    README gives 9.0 dB for htdemucs on MUSDB HQ.
    """
    return (
        f"separated with spleeter, not {BEST}: {reason}. The band stays audible in the voice (3 to 5 dB SDR, "
        f"{BEST} about 9), and about 1 cut in 10 may fall inside a sung word. Better: mvpipe models fetch "
        f"{BEST} when there is a network, or "
        "--demucs-repo DIR, or --vocals vocals.wav; then run again"
    )
