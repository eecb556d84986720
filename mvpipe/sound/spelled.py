"""Lyrics and a separated voice -> the time of every word, by a network that hears letters."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mvpipe.errors import MediaError
from mvpipe.film import Line, Word
from mvpipe.sound.ctc import Letter, Likely, lay
from mvpipe.sound.verse import tokens

VERSION = 1
"""Bumped by hand when the same voice and words would get other times."""

LONGEST_S = 20 * 60
"""Lyrics of longer songs are not aligned: the table of ways grows with the song and with its words."""

KNOWN = 0.8
"""Share of the letters that the network must know; one for English knows no Kanji."""

LIKELY = 0.15
"""Geometric mean of the probability of the letters where they were laid; below it, nobody sings these words.
Chance is one in thirty for an English alphabet; not measured on real weights."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """Lines with the times a network gave their words.

    Parameters
    ----------
    lines : with words; empty where the network could not be used
    likely : geometric mean of the probability of their letters, in [0, 1]
    note : what the person should know
    """

    lines: tuple[Line, ...]
    likely: float
    note: str


def spell(
    lines: Sequence[Line],
    heard: Likely,
    *,
    columns: dict[str, int],
    blank: int,
    hop: Fraction,
) -> Spelled:
    """The time of every word.

    Parameters
    ----------
    lines : in the order they are sung
    heard : as in `ctc`
    columns : letter -> column
    blank : the column for no letter
    hop : seconds from one step to the next
    """
    words = [[_letters(word, columns) for word in tokens(line.text)] for line in lines]
    flat = [letters for line in words for letters in line]
    whole = sum(len(_plain(word)) for line in lines for word in tokens(line.text))
    known = sum(map(len, flat)) / max(whole, 1)
    if known < KNOWN:
        return Spelled((), 0.0, f"the aligner knows {known:.0%} of the letters of these words: not used")
    mark = columns.get("|")
    sequence, owner = _sequence(flat, mark)
    laid = lay(heard, sequence, blank) if sequence else None
    if laid is None:
        return Spelled((), 0.0, "there are more words than there is song: not aligned")
    times = _times(laid, owner, len(flat))
    sure = [letter.likely for letter, own in zip(laid, owner, strict=True) if own >= 0]
    likely = float(np.exp(np.mean(np.log(np.maximum(sure, 1e-9)))))
    if likely < LIKELY:
        return Spelled((), likely, f"the aligner does not hear these words ({likely:.0%} sure): not used")
    return Spelled(tuple(_lines(lines, times, hop)), likely, f"aligned to the voice, {likely:.0%} sure")


def align_stem(
    lines: Sequence[Line], voice: Path, folder: Path, *, device: str, progress: Callable[[int, int], None]
) -> Spelled:
    """The time of every word in a stem, by the network in a folder.

    Raises
    ------
    WeightsMissing : the folder holds no such network
    MediaError : the song is too long
    """
    from mvpipe.sound import wav
    from mvpipe.sound.ctc_net import RATE, load
    from mvpipe.sound.devices import device as find_device
    from mvpipe.sound.resample import length_at, resample

    shape = wav.shape(voice)
    if shape.samples > LONGEST_S * shape.sample_rate:
        raise MediaError(
            f"aligner: a song of more than {LONGEST_S // 60} minutes: lyrics are not aligned",
            hint="give lyrics with times, or leave sound.aligner out",
        )
    net = load(folder, find_device(device))
    samples = length_at(shape.samples, shape.sample_rate, RATE)
    blocks = (block[:, None] for block in wav.blocks(voice, mono=True))
    parts = resample(blocks, shape.sample_rate, RATE, samples=samples, channels=1)
    sound: NDArray[np.float32] = np.concatenate(list(parts))[:, 0]
    heard = net.hear(sound)
    progress(1, 1)
    columns = dict(net.columns)
    return spell(lines, heard, columns=columns, blank=net.blank, hop=Fraction(net.hop, RATE))


def save(spelled: Spelled, path: Path) -> None:
    """Write it as JSON; times as fractions of a second, exact."""
    lines = [
        {
            "text": line.text,
            "start": str(line.start),
            "stop": str(line.stop),
            "words": [[word.text, str(word.start), str(word.stop)] for word in line.words],
        }
        for line in spelled.lines
    ]
    held = {"lines": lines, "likely": spelled.likely, "note": spelled.note}
    path.write_text(json.dumps(held, ensure_ascii=False, indent=1), "utf-8")


def load(path: Path) -> Spelled:
    """What `save` wrote."""
    held = json.loads(path.read_text("utf-8"))
    lines = tuple(
        Line(
            line["text"],
            Fraction(line["start"]),
            Fraction(line["stop"]),
            tuple(Word(text, Fraction(start), Fraction(stop)) for text, start, stop in line["words"]),
        )
        for line in held["lines"]
    )
    return Spelled(lines, held["likely"], held["note"])


def _plain(word: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFC", word) if char.isalnum() or char == "'")


def _letters(word: str, columns: dict[str, int]) -> list[int]:
    """The columns of a word's letters; in the case, and without the accents, that the network knows."""
    found = []
    for char in _plain(word.replace("\u2019", "'")):
        bare = unicodedata.normalize("NFD", char)[0]
        ways = (char, char.lower(), char.upper(), bare.lower(), bare.upper())
        column = next((columns[way] for way in ways if way in columns), None)
        if column is not None:
            found.append(column)
    return found


def _sequence(words: Sequence[Sequence[int]], mark: int | None) -> tuple[list[int], list[int]]:
    """All letters in a row with the mark between words, and the word each belongs to; -1 for a mark."""
    sequence: list[int] = []
    owner: list[int] = []
    for number, letters in enumerate(words):
        if sequence and letters and mark is not None:
            sequence.append(mark)
            owner.append(-1)
        sequence += letters
        owner += [number] * len(letters)
    return sequence, owner


def _times(laid: Sequence[Letter], owner: Sequence[int], words: int) -> list[tuple[int, int] | None]:
    """Steps from and to which each word is heard; None for one without letters."""
    times: list[tuple[int, int] | None] = [None] * words
    for letter, own in zip(laid, owner, strict=True):
        if own >= 0:
            first = times[own]
            times[own] = (first[0] if first else letter.start, letter.stop)
    return times


def _lines(lines: Sequence[Line], times: Sequence[tuple[int, int] | None], hop: Fraction) -> list[Line]:
    out, at = [], 0
    for line in lines:
        parts = tokens(line.text)
        timed = [(part, span) for part, span in zip(parts, times[at : at + len(parts)], strict=True) if span]
        at += len(parts)
        words = tuple(Word(part, span[0] * hop, span[1] * hop) for part, span in timed)
        if words:
            out.append(Line(line.text, words[0].start, words[-1].stop, words))
    return out
