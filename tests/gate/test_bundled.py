"""The face networks are the files that were measured, whole, and named with their licences."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvpipe.errors import ToolError
from mvpipe.gate import bundled, faces, identity
from mvpipe.gate.bundled import BUNDLED, FACE_IDENTITY, MODELS, verified


def test_every_file_belongs_to_a_network_and_stands_in_the_notice() -> None:
    kept = {path.name for path in MODELS.iterdir()} - {"LICENSE", "NOTICE"}
    assert kept == {name for one in BUNDLED for name in one.files}
    notice = (MODELS / "NOTICE").read_text("utf-8")
    for one in BUNDLED:
        assert verified(one) == one.paths
        assert all(name in notice and digest in notice for name, digest in one.files.items())


@pytest.mark.parametrize("one", BUNDLED, ids=[one.name for one in BUNDLED])
def test_another_file_is_refused(
    one: bundled.Bundled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, name = one.files
    for path in one.paths:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_bytes((MODELS / name).read_bytes()[:-1] + b"?")
    monkeypatch.setattr(bundled, "MODELS", tmp_path)
    with pytest.raises(ToolError, match=f"{name}: sha256"):
        verified(one)
    (tmp_path / name).unlink()
    with pytest.raises(ToolError, match="nothing"):
        verified(one)


def test_networks_read_what_was_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "MODELS", tmp_path)
    identity._weights.cache_clear()
    for read in (faces.Mesh, faces.Finder, identity._weights):
        with pytest.raises(ToolError):
            read()


def test_the_weights_have_the_shapes_of_the_network() -> None:
    identity._weights.cache_clear()
    weights = identity._weights()
    assert weights["fc"].shape == (256, 128)
    assert weights["conv32_down/conv/filters"].shape == (7, 7, 3, 32)
    assert sum(values.size for values in weights.values()) == 5_614_592
    assert FACE_IDENTITY.paths[0].stat().st_size == 6_444_032
