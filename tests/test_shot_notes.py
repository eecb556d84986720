"""What the plan says of its shots is said once, with all the shots it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mvpipe.render.backend import Setup
from mvpipe.shot_notes import shot_notes
from tests.render.comfyui.setups import setup


@dataclass
class Plan:
    shots: list[Any]


class Five:
    """A production of five shots."""

    plan = Plan([setup().shot.__class__(number=n, cut=setup().shot.cut, window=setup().shot.window,
                 card=setup().shot.card) for n in range(1, 6)])  # fmt: skip

    def silent(self, shot: Any) -> Any:
        return shot


class Talkative:
    def notes(self, setup: Any) -> tuple[str, ...]:
        said = [f"shot {setup.number}: small"] if setup.number != 3 else []
        return (*said, *(["shot 4: a.png: odd"] if setup.number == 4 else []))


class Silent:
    def render(self, setup: Setup) -> None: ...


def test_one_line_a_note_with_its_shots() -> None:
    production: Any = Five()
    backend: Any = Talkative()
    assert shot_notes(production, backend, production.plan.shots) == [
        "shots 1-2, 4-5: small",
        "shot 4: a.png: odd",
    ]


def test_a_backend_without_notes_says_nothing() -> None:
    production: Any = Five()
    backend: Any = Silent()
    assert shot_notes(production, backend, production.plan.shots) == []
