"""How long planning takes once a song has been heard, and how analysis grows: 4 and 60 minutes."""

from __future__ import annotations

import time
from itertools import chain

from mvpipe.sound.cut import cut
from mvpipe.sound.listen import listen
from tests import synth

MINUTES = (4, 60)


def main() -> None:
    """Print seconds by the clock."""
    made = synth.song(240.0, seed=9, sample_rate=22_050)
    for minutes in MINUTES:
        times = minutes // 4
        began = time.perf_counter()
        hearing = listen(
            chain(synth.pieces(made.mix, times=times)),
            chain(synth.pieces(made.vocals, times=times)),
            sample_rate=made.sample_rate,
        )
        heard = time.perf_counter()
        cutting = cut(hearing, frames=minutes * 60 * 24)
        done = time.perf_counter()
        print(
            f"{minutes:>2} min: listening {heard - began:6.2f} s ({minutes * 60 / (heard - began):.0f} times "
            f"real time), planning {done - heard:6.3f} s, {len(cutting.shots)} shots, "
            f"{cutting.inside_voice} cuts inside the voice"
        )


if __name__ == "__main__":
    main()
