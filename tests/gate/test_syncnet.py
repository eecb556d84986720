from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.gate import syncnet
from tests.gate import syncnet_golden as golden

TENSORS = 13_631_616 + 5_504
"""Parameters of the official network, and the running means and variances beside them."""


def shapes() -> dict[str, tuple[int, ...]]:
    state = syncnet.SyncNet().state_dict()
    return {k: tuple(v.shape) for k, v in state.items() if not k.endswith("num_batches_tracked")}


@pytest.fixture(scope="module")
def made_up() -> tuple[syncnet.SyncNet, np.random.Generator]:
    state, rng = golden.state(shapes())
    return syncnet.assemble(Path("made-up"), state), rng


def keep(state: object, path: Path, *, old: bool = True) -> dict[str, object]:
    """Write a file of weights; what `load_weights` needs to know to accept it."""
    torch.save(state, path, _use_new_zipfile_serialization=not old)
    return {"size": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_the_network_has_the_official_entries() -> None:
    found = shapes()
    assert len(found) == 88
    assert len(syncnet.SyncNet().state_dict()) == 102
    assert sum(p.numel() for p in syncnet.SyncNet().parameters()) == 13_631_616
    assert found["netcnnlip.0.weight"] == (96, 3, 5, 7, 7)
    assert found["netcnnlip.18.weight"] == (512, 256, 1, 6, 6)
    assert found["netcnnaud.18.weight"] == (512, 256, 5, 4)
    assert found["netfcaud.3.weight"] == (1024, 512)


def test_the_network_computes_what_the_official_one_does(
    made_up: tuple[syncnet.SyncNet, np.random.Generator],
) -> None:
    network, rng = made_up
    audio, lips = golden.inputs(rng)
    with torch.inference_mode():
        heard = network.hear(audio).numpy()
    pictures = lips.numpy().astype(np.uint8).transpose(0, 2, 3, 4, 1)
    seen = np.concatenate([syncnet.see(network, one) for one in pictures])
    np.testing.assert_allclose(heard[:, :16], golden.AUDIO_FIRST, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(seen[:, :16], golden.LIPS_FIRST, rtol=1e-3, atol=1e-1)
    np.testing.assert_allclose(np.linalg.norm(heard, axis=1), golden.AUDIO_NORM, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), golden.LIPS_NORM, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(seen - heard, axis=1), golden.DISTANCE, rtol=1e-5)


def test_slices_see_what_single_windows_see(made_up: tuple[syncnet.SyncNet, np.random.Generator]) -> None:
    network, rng = made_up
    pictures = rng.integers(0, 256, (15, 224, 224, 3), dtype=np.uint8)
    seen = syncnet.see(network, pictures)
    assert seen.shape == (11, 1024)
    for first in (0, 7, 8, 10):
        alone = syncnet.see(network, pictures[first : first + 5])
        np.testing.assert_allclose(seen[first], alone[0], rtol=1e-4, atol=1e-2)


def test_sound_is_heard_beside_its_picture(made_up: tuple[syncnet.SyncNet, np.random.Generator]) -> None:
    network, rng = made_up
    voice = rng.integers(-9000, 9000, 16_000, dtype=np.int16)
    rows = syncnet.hear(network, voice)
    later = syncnet.hear(network, voice[3 * syncnet.SAMPLES :])
    assert len(rows) >= syncnet.windows(25, len(voice)) == 20
    np.testing.assert_allclose(rows[4:18], later[1:15], rtol=1e-3, atol=1e-2)


def test_a_state_dict_loads_from_the_old_format_and_the_new(tmp_path: Path) -> None:
    state, _ = golden.state(shapes())
    for old in (True, False):
        known = keep(state, tmp_path / "w", old=old)
        loaded = syncnet.load_weights(tmp_path / "w", **known)  # type: ignore[arg-type]
        assert torch.equal(loaded.state_dict()["netfclip.3.bias"], state["netfclip.3.bias"])
        assert not loaded.training


def test_a_pickled_module_is_refused(tmp_path: Path) -> None:
    known = keep(syncnet.SyncNet(), tmp_path / "w")
    with pytest.raises(ToolError, match="more than plain tensors"):
        syncnet.load_weights(tmp_path / "w", **known)  # type: ignore[arg-type]


def test_another_file_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "syncnet_v2.model"
    with pytest.raises(WeightsMissing, match="no such file"):
        syncnet.load_weights(path)
    path.write_bytes(b"no weights")
    with pytest.raises(ToolError, match="10 bytes, not 54573114"):
        syncnet.load_weights(path)
    with pytest.raises(ToolError, match="sha256"):
        syncnet.load_weights(path, size=10)


@pytest.mark.parametrize("state", [{}, {"netfclip.0.bias": torch.zeros(512)}, [torch.zeros(1)]])
def test_the_tensors_of_another_network_are_refused(tmp_path: Path, state: object) -> None:
    known = keep(state, tmp_path / "w")
    with pytest.raises(ToolError, match=r"not SyncNet's|not a state dict"):
        syncnet.load_weights(tmp_path / "w", **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pictures", "samples", "count"),
    [(200, 128_000, 195), (200, 127_999, 194), (120, 128_000, 115), (3, 9, 0)],
)
def test_windows_are_counted_as_officially(pictures: int, samples: int, count: int) -> None:
    assert syncnet.windows(pictures, samples) == count
