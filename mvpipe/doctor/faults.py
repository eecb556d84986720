"""Known failures, from `data/faults.yaml`: recognised in logs, tracebacks and messages, and explained."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from math import log
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mvpipe.doctor.check import DATA
from mvpipe.render.comfyui.written import modelled, read_yaml

MOST_TEXT = 1024 * 1024
"""Characters of a log that are looked at: its end, where the failure is."""

LONG_LINE = 2000
"""Characters of a line; the rest is passed over."""

AROUND = 2000
"""Characters before and after a sign in which what goes with it must stand."""

MOST_SIGNS = 100
"""Signs of one failure that are tried; a log repeats itself."""

NEAREST = 3
WORD = re.compile(r"[A-Za-z_]{4,}")


class Known(BaseModel):
    """One failure.

    Parameters
    ----------
    title : in a few words
    sure : confirmed, likely or disputed
    signs : regular expressions, one of which has to be found
    along : one that must be found near it too
    without : one that must not be in its line
    cause : why it happens
    first : what to do first
    costs : what that costs
    verify : how to see that it helped
    sources : projects and issues
    known, near : texts that are recognised, and texts that are not
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=8)
    sure: Literal["confirmed", "likely", "disputed"]
    signs: tuple[str, ...] = Field(min_length=1)
    along: str = Field(default="", alias="with")
    without: str = ""
    cause: str = Field(min_length=20)
    first: str = Field(min_length=10)
    costs: str = Field(min_length=5)
    verify: str = Field(min_length=8)
    sources: tuple[str, ...] = Field(min_length=1)
    known: tuple[str, ...] = Field(min_length=1)
    near: tuple[str, ...] = Field(min_length=1)

    @field_validator("signs", "along", "without")
    @classmethod
    def _compiles(cls, value: Any) -> Any:
        for pattern in [value] if isinstance(value, str) else value:
            re.compile(pattern)
        return value

    @cached_property
    def _signs(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{sign})" for sign in self.signs), re.IGNORECASE | re.MULTILINE)

    def found_in(self, text: str) -> str:
        """The line in which it shows, or empty."""
        return next((line for line in self._lines(text) if line), "")

    def _lines(self, text: str) -> Iterator[str]:
        for found in islice(self._signs.finditer(text), MOST_SIGNS):
            begin = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.end())
            line = text[begin : end if end >= 0 else len(text)].strip()
            around = text[max(0, found.start() - AROUND) : found.end() + AROUND]
            beside = not self.along or re.search(self.along, around, re.IGNORECASE)
            if beside and not (self.without and re.search(self.without, line, re.IGNORECASE)):
                yield line

    def words(self) -> frozenset[str]:
        """Its words, for likeness."""
        return words(" ".join((self.title, *self.known, self.cause)))


class Faults(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = Field(alias="mvpipe-faults")
    faults: Mapping[str, Known]


@lru_cache(maxsize=1)
def known_faults() -> Mapping[str, Known]:
    """Failures by name, from the particular to the general."""
    path = DATA / "faults.yaml"
    return modelled(Faults, read_yaml(path), path).faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A failure that was recognised, and the line it was recognised by."""

    name: str
    line: str
    fault: Known

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        fault = self.fault
        return {
            "id": self.name,
            "title": fault.title,
            "sure": fault.sure,
            "seen": self.line,
            "cause": fault.cause,
            "first": fault.first,
            "costs": fault.costs,
            "verify": fault.verify,
            "sources": list(fault.sources),
        }

    def text(self) -> str:
        """For people."""
        fault = self.fault
        rows = [
            ("seen", self.line[:300]),
            (f"cause ({fault.sure})", fault.cause),
            ("first", fault.first),
            ("costs", fault.costs),
            ("verify", fault.verify),
            ("sources", "; ".join(fault.sources)),
        ]
        return "\n".join(
            [f"{self.name}: {fault.title}", *(f"  {name}: {text.strip()}" for name, text in rows)]
        )

    @property
    def brief(self) -> str:
        """In one line, for a run."""
        return (
            f"{self.fault.title} ({self.fault.sure}): {self.fault.first.strip()} (mvpipe explain {self.name})"
        )


def explain(text: str) -> list[Explained]:
    """Every known failure that shows in a text, the most particular first.

    Parameters
    ----------
    text : a log, a traceback or a message; of long ones the end is looked at
    """
    lines = text[-MOST_TEXT:].splitlines()
    looked = "\n".join(line[:LONG_LINE] for line in lines)
    if looked.strip() in known_faults():  # asked for by its name
        return [Explained(name=looked.strip(), line=looked.strip(), fault=known_faults()[looked.strip()])]
    found = ((name, fault.found_in(looked), fault) for name, fault in known_faults().items())
    return [Explained(name=name, line=line, fault=fault) for name, line, fault in found if line]


def words(text: str) -> frozenset[str]:
    """The words of a text that may tell something."""
    return frozenset(word.lower() for word in WORD.findall(text))


def nearest(text: str) -> list[str]:
    """Names of the failures most alike, by rare words that they share with a text; empty where none does."""
    bags = {name: fault.words() for name, fault in known_faults().items()}
    asked = words(text[-MOST_TEXT:])
    scores = {name: sum(_rarity(word, bags.values()) for word in asked & bag) for name, bag in bags.items()}
    ranked = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
    return ranked[:NEAREST]


def _rarity(word: str, bags: Iterable[frozenset[str]]) -> float:
    many = list(bags)
    return log(len(many) / sum(word in bag for bag in many))
