"""Demucs: its real loader's files and its real `apply_model`, with models small enough for a test."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.sound import checksum, weights
from mvpipe.sound.demucs_model import Demucs
from tests.sound import tiny
from tests.sound.mixes import Sound, mix, voice

SECOND = 44_100


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder such as `demucs --repo` takes, and with safetensors such as the hub has."""
    folder = tmp_path_factory.mktemp("repo")
    first, second, older = tiny.model(), tiny.model(7), tiny.older_model()
    for net, signature in ((first, "aaaa0000"), (second, "bbbb0000"), (older, "cccc0000")):
        tiny.save_th(net, folder, signature)
    tiny.save_safetensors(first, folder, "aaaa0000")
    tiny.bag(folder, "htdemucs", "aaaa0000")
    tiny.bag(folder, "averaged", "aaaa0000", "bbbb0000", rest="weights: [[1, 1, 1, 1], [0, 2, 1, 0.5]]\n")
    tiny.bag(folder, "tuned", "aaaa0000", "bbbb0000", rest="weights: [[1, 1, 1, 0], [0, 0, 0, 1]]\n")
    tiny.bag(folder, "older", "cccc0000", rest="segment: 1.5\n")
    tiny.bag(folder, "shorter", "bbbb0000", rest="segment: 2\n")
    return folder


def demucs(repo: Path, name: str = "htdemucs") -> Demucs:
    return Demucs(bag=weights.require(name, cache=repo, repo=repo), device="cpu")


def noise(samples: int) -> Sound:
    """Noise that is not centred, so that the levelling shows."""
    rng = np.random.default_rng(440)
    return (0.1 * rng.standard_normal((samples, 2)) + [0.03, 0.01]).astype(np.float32)


def by_demucs(repo: Path, name: str, sound: Sound) -> Sound:
    """What Demucs' own `Separator` makes of it, at once."""
    from demucs.api import Separator

    separator: Any = Separator(model=name, repo=repo, device="cpu", shifts=0, overlap=0.25, split=True)
    _, parts = separator.separate_tensor(torch.from_numpy(sound.T.copy()), SECOND)
    vocals: Sound = parts["vocals"].numpy().T
    return vocals


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        ("htdemucs", SECOND // 5),  # far shorter than a segment
        ("htdemucs", 171_990),  # one segment to the sample
        ("htdemucs", 128_992 * 2 + 1),  # three steps, the last one sample long
        ("averaged", 7 * SECOND),
        ("tuned", 5 * SECOND),
        ("older", 4 * SECOND + 11),  # a net that is given a short last segment as it is
        ("shorter", 3 * SECOND),  # the bag's segment overrides the net's
    ],
)
def test_streamed_is_what_demucs_makes_at_once(repo: Path, name: str, samples: int) -> None:
    sound = noise(samples)
    ours, theirs = voice(demucs(repo, name), sound), by_demucs(repo, name, sound)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 2e-6 * np.abs(theirs).max() + 1e-7


def test_how_the_song_is_cut_into_blocks_changes_nothing(repo: Path) -> None:
    sound = noise(5 * SECOND)
    assert np.array_equal(voice(demucs(repo), sound, block=1000), voice(demucs(repo), sound, block=10**6))


def test_a_step_that_is_forgotten_or_moved_shows(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mvpipe.sound import demucs_model

    sound = noise(7 * SECOND)
    theirs = by_demucs(repo, "htdemucs", sound)
    monkeypatch.setattr(demucs_model, "_fade", lambda n: np.ones(n, np.float32))
    assert np.abs(voice(demucs(repo), sound) - theirs).max() > 1e-4, "the fade does not matter to the test"
    monkeypatch.undo()
    monkeypatch.setattr(demucs_model, "_level", lambda _: (np.float32(0), np.float32(0.1)))
    assert np.abs(voice(demucs(repo), sound) - theirs).max() > 1e-4, (
        "the levelling does not matter to the test"
    )


def test_one_sample_and_silence_come_back_finite(repo: Path) -> None:
    for samples in (1, 2, 1000):
        found = voice(demucs(repo), np.zeros((samples, 2), np.float32))
        assert found.shape == (samples, 2)
        assert np.abs(found).max() < 1e-6
    assert np.isfinite(voice(demucs(repo), np.ones((1, 2), np.float32))).all()


def test_progress_is_told_segment_by_segment(repo: Path) -> None:
    told: list[tuple[int, int]] = []
    sound = noise(7 * SECOND)
    for _ in demucs(repo).vocals(mix(sound), lambda done, of: told.append((done, of))):
        pass
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_only_the_models_that_hear_the_voice_are_run(repo: Path) -> None:
    tuned = demucs(repo, "tuned")
    assert [member.path.name[:4] for member in tuned.bag.members] == ["bbbb"]
    assert len(demucs(repo, "averaged").bag.members) == 2


def test_identity_says_which_bytes_decide(repo: Path, tmp_path: Path) -> None:
    identity = demucs(repo).identity()
    assert identity["separator"] == "htdemucs"
    path = demucs(repo).bag.members[0].path
    assert str(identity["model 0"]).startswith(checksum.verify(path))
    tiny.save_safetensors(tiny.model(8), tmp_path, "aaaa0000")
    tiny.bag(tmp_path, "htdemucs", "aaaa0000")
    assert demucs(tmp_path).identity() != identity


def test_a_th_without_safetensors_is_read(repo: Path, tmp_path: Path) -> None:
    tiny.save_th(tiny.model(), tmp_path, "aaaa0000")
    tiny.bag(tmp_path, "htdemucs", "aaaa0000")
    sound = noise(SECOND)
    assert np.array_equal(voice(demucs(tmp_path), sound), voice(demucs(repo), sound))


class Trap:
    """A pickle that runs a program when it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def test_a_pickle_that_would_run_a_program_is_refused_unrun(tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    torch.save({"klass": Trap(mark), "args": (), "kwargs": {}, "state": {}}, tmp_path / "aaaa0000.th")
    with pytest.raises(ToolError, match=r"aaaa0000\.th: not a Demucs model that can be read safely"):
        voice(demucs(tmp_path, "aaaa0000"), noise(100))
    assert not mark.exists()


def test_a_th_that_is_not_what_its_name_says_is_refused(tmp_path: Path) -> None:
    path = tiny.save_th(tiny.model(), tmp_path, "aaaa0000")
    path.rename(tmp_path / "aaaa0000-00000000.th")
    with pytest.raises(ToolError, match=r"sha256"):
        voice(demucs(tmp_path, "aaaa0000"), noise(100))


@pytest.mark.parametrize(
    "metadata",
    [
        {"klass": "os.system"},
        {"klass": "demucs.demucs.Demucs"},
        {"structure": "{}"},
        {"args": "["},
        {"args": "[]"},
    ],
)
def test_safetensors_that_want_to_be_something_else_are_refused(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    tiny.save_safetensors(tiny.model(), tmp_path, "aaaa0000", **metadata)
    with pytest.raises(ToolError, match=r"aaaa0000\.safetensors: not a Demucs model"):
        voice(demucs(tmp_path, "aaaa0000"), noise(100))


@pytest.mark.parametrize("suffix", ["safetensors", "th"])
def test_a_file_cut_short_is_said_to_be_no_model(tmp_path: Path, suffix: str) -> None:
    save = tiny.save_th if suffix == "th" else tiny.save_safetensors
    path = save(tiny.model(), tmp_path, "aaaa0000")
    whole = path.read_bytes()
    for length in (0, 7, 1000, len(whole) - 1000):
        path.unlink(missing_ok=True)
        path = tmp_path / f"aaaa0000.{suffix}"  # no checksum in the name
        path.write_bytes(whole[:length])
        with pytest.raises(ToolError, match=r"not a Demucs model"):
            voice(demucs(tmp_path, "aaaa0000"), noise(100))


def test_tensors_without_a_word_of_what_they_are_are_refused(tmp_path: Path) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "aaaa0000.safetensors")
    with pytest.raises(ToolError, match="it wants to be a nothing"):
        voice(demucs(tmp_path, "aaaa0000"), noise(100))


@pytest.mark.parametrize(
    "sources", [["vocals", "drums", "bass", "other"], ["drums", "bass", "other", "piano"]]
)
def test_a_model_without_the_voice_in_its_place_is_refused(tmp_path: Path, sources: list[str]) -> None:
    tiny.save_safetensors(tiny.model(sources=sources), tmp_path, "aaaa0000")
    with pytest.raises(ToolError, match="the voice as number 4"):
        voice(demucs(tmp_path, "aaaa0000"), noise(100))


def test_a_bag_of_unequal_segments_is_refused(tmp_path: Path) -> None:
    for signature, seconds in (("aaaa0000", 3), ("bbbb0000", 4)):
        tiny.save_safetensors(tiny.model(segment=Fraction(seconds)), tmp_path, signature)
    tiny.bag(tmp_path, "mine", "aaaa0000", "bbbb0000")
    with pytest.raises(ToolError, match="segments of"):
        voice(demucs(tmp_path, "mine"), noise(100))


def test_a_device_that_is_not_there_is_named(repo: Path) -> None:
    with pytest.raises(ToolError, match="device: toaster: cannot be used"):
        voice(Demucs(bag=demucs(repo).bag, device="toaster"), noise(100))


def test_a_repo_that_does_not_exist_is_missing_weights(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="complete models there: none"):
        demucs(tmp_path / "nowhere")
