from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.sync import leads
from tests.benchmarks.sync.voices import voices
from tests.gate.faces_synth import LEAD, SAMPLE_RATE, Floats, Phone


def hummed(rng: np.random.Generator, seconds: float) -> tuple[Floats, list[Phone]]:
    """A voice that is heard exactly while its mouth is told to be open."""
    heard, phones, at = np.zeros(int(seconds * SAMPLE_RATE)), list[Phone](), 0.3
    while at < seconds - 0.5:
        stop = at + float(rng.uniform(0.15, 0.35))
        heard[int(at * SAMPLE_RATE) : int(stop * SAMPLE_RATE)] = 0.5
        phones.append(Phone(at, stop, 1.0, 0.5))
        at = stop + float(rng.uniform(0.1, 0.3))
    return heard, phones


def test_a_mouth_that_opens_with_its_sound_leads_by_what_the_generator_adds() -> None:
    assert leads.measure(hummed, 2) == pytest.approx(1000 * LEAD, abs=1)


def test_a_sound_that_ends_before_its_phone_shortens_the_lead() -> None:
    def early(rng: np.random.Generator, seconds: float) -> tuple[Floats, list[Phone]]:
        heard, phones = hummed(rng, seconds)
        return heard, [Phone(p.start, p.stop + 0.03, p.opening, p.width) for p in phones]

    assert leads.measure(early, 2) == pytest.approx(1000 * LEAD - 15, abs=3)


def test_each_voice_has_the_lead_that_is_written_down() -> None:
    spoken = voices()
    assert set(spoken) <= set(leads.LEADS_MS)
    for name in ("sung formants", "spoken formants", "sung, the example's singer"):
        assert leads.measure(spoken[name], 4) == pytest.approx(leads.LEADS_MS[name], abs=5), name
