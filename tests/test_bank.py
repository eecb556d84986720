"""The bank as the plan lists it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mvpipe.bank import Bank, listed
from mvpipe.render.backend import Setup
from tests.render.comfyui.setups import MIRA, STREET, TOMAS, asset, setup


class Pinning:
    """A backend that sends every picture of a shot's cast, at one size, and the voices."""

    def pinned(self, setup: Setup) -> Mapping[str, Mapping[str, Any]]:
        sent = {asset.digest: {"size": [640, 480]} for one in setup.cast for asset in one.pictures}
        return sent | {one.voice.digest: {"seconds": 4.0} for one in setup.cast if one.voice}

    def make_ready(self, setup: Setup) -> None: ...


def test_every_picture_with_the_shots_that_are_made_from_it() -> None:
    bank = Bank(cast={"mira": MIRA, "tomas": TOMAS}, places={"street": STREET})
    first, second = setup(), setup(cast=(MIRA, TOMAS))
    second = replace(second, shot=replace(second.shot, number=4))
    backend: Any = Pinning()
    rows = {row["file"]: row for row in listed(bank, [first, second], backend)}
    assert (rows["mira-front.png"]["shots"], rows["tomas.png"]["shots"]) == ([3, 4], [4])
    assert rows["mira-left.png"]["size"] == [640, 480]
    assert rows["mira-left.png"]["digest"] == MIRA.pictures[1].digest
    assert (rows["street.png"]["of"], rows["street.png"]["size"], rows["street.png"]["shots"]) == (
        "place",
        None,
        [],
    )


def test_videos_and_voices_are_listed_with_their_kind() -> None:
    mira = replace(MIRA, videos=(asset("walks.mp4"),), voice=asset("mira.wav"))
    bank = Bank(cast={"mira": mira}, places={"street": replace(STREET, videos=(asset("street.mp4"),))})
    backend: Any = Pinning()
    rows = listed(bank, [setup(cast=(mira,))], backend)
    assert [(row["of"], row["kind"], row["file"], row["shots"]) for row in rows] == [
        ("cast", "picture", "mira-front.png", [3]),
        ("cast", "picture", "mira-left.png", [3]),
        ("cast", "video", "walks.mp4", []),
        ("cast", "voice", "mira.wav", [3]),
        ("place", "picture", "street.png", []),
        ("place", "video", "street.mp4", []),
    ]
    assert (rows[3]["seconds"], rows[3]["size"]) == (4.0, None)
