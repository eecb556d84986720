"""The faults in force: ordered by name or drawn with a seed, used up one by one, kept across deaths."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.testing.comfyui.catalogue import CATALOGUE, Kind


@dataclass(slots=True, kw_only=True)
class Order:
    """A fault that waits for its moment.

    Parameters
    ----------
    name : of the catalogue
    times : how often it still strikes; -1 always
    after : moments it lets pass first
    figures : its figures
    """

    name: str
    times: int = 1
    after: int = 0
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dice:
    """Random faults.

    Parameters
    ----------
    seed : the same seed strikes the same
    rate : the chance at each opportunity, 0 to 1
    kinds : names to draw from; empty for everything that mends
    """

    seed: int
    rate: float
    kinds: tuple[str, ...] = ()

    def may(self, kind: Kind) -> bool:
        """Whether this kind is drawn."""
        return kind.name in self.kinds if self.kinds else kind.mends


class Faults:
    """What goes wrong, and how often.

    Parameters
    ----------
    file : where what is left of the orders is kept, so that a killed server does not die of them again
    dice : of random faults, or None; each subject meets at most one of each kind
    told : is called with every strike: name, subject, figures
    """

    def __init__(
        self,
        file: Path,
        dice: Dice | None = None,
        told: Callable[[str, str, dict[str, Any]], None] = lambda *strike: None,
    ) -> None:
        self._file = file
        self._told = told
        self._dice = dice
        self._lock = threading.Lock()
        self._orders: list[Order] = []
        self._drawn: dict[str, int] = {}
        self._met: set[str] = set()
        if file.exists():
            kept = json.loads(file.read_text("utf-8"))
            self._orders = [Order(**order) for order in kept["orders"]]
            self._drawn = kept["drawn"]
            self._met = set(kept["met"])

    def order(self, name: str, *, times: int = 1, after: int = 0, **figures: Any) -> None:
        """Have a fault.

        Raises
        ------
        ValueError : no such fault, or it has no such figure
        """
        kind = CATALOGUE.get(name)
        if kind is None or figures.keys() - kind.figures.keys():
            raise ValueError(f"no such fault or figure: {name} {figures}")
        with self._lock:
            self._orders.append(Order(name=name, times=times, after=after, figures=figures))
            self._keep()

    def cancel(self, name: str = "") -> None:
        """Take back one kind of fault, or all."""
        with self._lock:
            self._orders = [order for order in self._orders if name and order.name != name]
            self._keep()

    def roll(self, dice: Dice | None) -> None:
        """Draw faults at random from now on, or no more."""
        with self._lock:
            self._dice = dice

    def list(self) -> list[dict[str, Any]]:
        """The orders in force."""
        with self._lock:
            return [asdict(order) for order in self._orders]

    def take(self, name: str, *, subject: str = "", **facts: Any) -> dict[str, Any] | None:
        """Whether a fault strikes now: its figures, or None. What strikes is used up.

        Parameters
        ----------
        subject : what it would strike, such as a prompt id: random faults strike each thing once a kind
        facts : of this moment; a figure of the same name must be equal or empty; of a path, begin it
        """
        found = self._take(CATALOGUE[name], subject, facts)
        if found is None:
            return None
        self._told(name, subject, found)
        return {**found, "struck": True}  # never empty, so that whoever asks may ask for its truth

    def _take(self, kind: Kind, subject: str, facts: dict[str, Any]) -> dict[str, Any] | None:
        with self._lock:
            for order in self._orders:
                figures = kind.figures | order.figures
                if order.name == kind.name and _fits(figures, facts):
                    return figures if self._use(order) else None
            dice = self._dice
            if (
                dice
                and dice.may(kind)
                and _fits(kind.figures, facts)
                and self._draw(dice, kind.name, subject)
            ):
                return dict(kind.figures)
        return None

    def _use(self, order: Order) -> bool:
        if order.after:
            order.after -= 1
            self._keep()
            return False
        if order.times > 0:
            order.times -= 1
            if not order.times:
                self._orders.remove(order)
            self._keep()
        return True

    def _draw(self, dice: Dice, name: str, subject: str) -> bool:
        count = self._drawn.get(name, 0)
        self._drawn[name] = count + 1
        key = f"{name}/{subject}"
        if key in self._met or random.Random(f"{dice.seed}/{name}/{count}").random() >= dice.rate:
            return False
        self._met.add(key)
        self._keep()
        return True

    def _keep(self) -> None:
        kept = {"orders": [asdict(order) for order in self._orders], "drawn": self._drawn}
        scratch = self._file.with_suffix(".new")
        scratch.write_text(json.dumps(kept | {"met": sorted(self._met)}), "utf-8")
        os.replace(scratch, self._file)


def _fits(figures: dict[str, Any], facts: dict[str, Any]) -> bool:
    for name, fact in facts.items():
        wanted = figures.get(name, "")
        begins = name == "path" and str(fact).startswith(str(wanted))
        if wanted not in ("", fact) and not begins:
            return False
    return True
