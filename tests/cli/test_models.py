"""`mvpipe models`: every network with its terms; files are taken over only if they are what was published."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from mvpipe.cli.models import app
from mvpipe.errors import SettingsError, ToolError, WeightsMissing
from mvpipe.gate import syncnet, weights
from mvpipe.gate.bundled import BUNDLED, MODELS
from tests.gate import syncnet_golden as golden

Run = Callable[..., Result]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def run(cache: Path) -> Run:
    """`mvpipe models WORDS --cache CACHE`, ended without an error of its own."""

    def run(*words: str) -> Result:
        done = CliRunner().invoke(app, [*words, "--cache", str(cache)])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    return run


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the entries of SyncNet and made-up numbers, which passes for the published one."""
    path = tmp_path / "mine" / "any-name.model"
    path.parent.mkdir()
    shapes = {k: tuple(v.shape) for k, v in syncnet.SyncNet().state_dict().items() if "tracked" not in k}
    state, _ = golden.state(shapes)
    torch.save(state, path, _use_new_zipfile_serialization=False)
    publish(path, monkeypatch)
    return path


def publish(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a file be the one that was published."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    official = replace(weights.OFFICIAL, size=path.stat().st_size, sha256=digest)
    monkeypatch.setattr(weights, "OFFICIAL", official)


class TestList:
    def test_every_network_is_there_with_its_terms(self, run: Run) -> None:
        said = run("list").stdout
        for name in (
            "htdemucs",
            "htdemucs_ft",
            "spleeter",
            "syncnet",
            "blazeface",
            "face-mesh",
            "face-identity",
        ):
            assert re.search(rf"^{name}: ", said, re.MULTILINE), name
        assert said.count("licence: ") == len(json.loads(run("list", "--json").stdout))
        assert "to have it: mvpipe models fetch htdemucs" in said
        assert "syncnet: not here" in said
        assert "for research, under Creative Commons Attribution" in said

    def test_what_is_shipped_is_whole_and_in_the_notice(self, run: Run) -> None:
        found = {one["name"]: one for one in json.loads(run("list", "--json").stdout)}
        notice = (MODELS / "NOTICE").read_text()
        for one in BUNDLED:
            assert found[one.name]["state"] == "whole"
            assert found[one.name]["sha256"] == one.files
            assert all(digest in notice for digest in one.files.values())


class TestLicence:
    def test_the_terms_of_all_or_of_one(self, run: Run) -> None:
        said = run("licence").stdout
        assert said.count("licence: ") >= 8
        assert "only for scientific purposes" in said
        one = run("licence", "face-mesh").stdout
        assert "Apache License 2.0" in one
        assert "468 points on 192 x 192 pixels" in one
        assert "www.robots.ox.ac.uk/~vgg/software/lipsync" in run("licence", "syncnet").stdout

    def test_a_name_nobody_knows(self, run: Run) -> None:
        with pytest.raises(SettingsError, match="wav2lip: not known") as caught:
            run("licence", "wav2lip")
        assert "syncnet" in caught.value.hint


class TestImport:
    def test_syncnet_is_taken_over_and_found_by_the_gate(self, run: Run, cache: Path, made_up: Path) -> None:
        assert weights.find(cache) is None
        done = run("import", "syncnet", str(made_up))
        assert done.stdout.strip() == str(weights.place(cache))
        assert weights.find(cache) == weights.place(cache)
        assert syncnet.load_weights(weights.place(cache)).netfcaud is not None
        assert run("verify", "syncnet").stdout.strip() == "syncnet: whole"
        assert made_up.exists()
        assert [path.name for path in cache.iterdir()] == [weights.OFFICIAL.name]

    @pytest.mark.parametrize("name", ["syncnet", "htdemucs"])
    def test_no_such_file(self, run: Run, tmp_path: Path, name: str) -> None:
        with pytest.raises(WeightsMissing, match=r"no such file|not a folder"):
            run("import", name, str(tmp_path / "nowhere"))

    def test_a_download_that_broke_off(self, run: Run, cache: Path, made_up: Path) -> None:
        os.truncate(made_up, made_up.stat().st_size - 100)
        with pytest.raises(ToolError, match=r"bytes, not \d+: a download that broke off"):
            run("import", "syncnet", str(made_up))
        assert weights.find(cache) is None

    def test_a_longer_file(self, run: Run, cache: Path, made_up: Path) -> None:
        with made_up.open("ab") as file:
            file.write(b"more")
        with pytest.raises(ToolError, match=r"bytes, not \d+$"):
            run("import", "syncnet", str(made_up))
        assert weights.find(cache) is None

    def test_another_file_of_that_size(self, run: Run, cache: Path, made_up: Path) -> None:
        content = bytearray(made_up.read_bytes())
        content[len(content) // 2] ^= 1
        made_up.write_bytes(content)
        with pytest.raises(ToolError, match="sha256"):
            run("import", "syncnet", str(made_up))
        assert weights.find(cache) is None

    def test_a_pickled_module_even_under_the_right_digest(
        self, run: Run, cache: Path, made_up: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        torch.save(syncnet.SyncNet(), made_up)
        publish(made_up, monkeypatch)
        with pytest.raises(ToolError, match="more than plain tensors") as caught:
            run("import", "syncnet", str(made_up))
        assert "runs code when it is read" in caught.value.hint
        assert weights.find(cache) is None

    def test_a_folder_instead_of_a_file(self, run: Run, made_up: Path) -> None:
        with pytest.raises(WeightsMissing, match="no such file"):
            run("import", "syncnet", str(made_up.parent))

    @pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything is allowed here")
    def test_a_file_that_may_not_be_read(self, run: Run, made_up: Path) -> None:
        made_up.chmod(0)
        with pytest.raises(ToolError, match="cannot be read: permission denied"):
            run("import", "syncnet", str(made_up))

    def test_a_file_that_cannot_be_read(
        self, run: Run, made_up: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(self: Path, *args: object) -> object:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(Path, "open", broken)
        with pytest.raises(ToolError, match="cannot be read: input/output error"):
            run("import", "syncnet", str(made_up))

    def test_a_cache_that_cannot_be_written(self, run: Run, cache: Path, made_up: Path) -> None:
        cache.write_text("a file where the folder should be")
        with pytest.raises(ToolError, match="cannot be written") as caught:
            run("import", "syncnet", str(made_up))
        assert "--cache DIR" in caught.value.hint

    def test_a_demucs_model_from_a_folder(self, run: Run, cache: Path, tmp_path: Path) -> None:
        mine = tmp_path / "carried"
        mine.mkdir()
        (mine / "htdemucs.yaml").write_text("models: ['955717e8']\n")
        (mine / "955717e8.safetensors").write_bytes(b"not looked into")
        assert run("import", "htdemucs", str(mine)).stdout.strip().endswith("955717e8.safetensors")
        assert run("verify", "htdemucs").stdout.strip() == "htdemucs: whole"
        (cache / "demucs" / "955717e8.safetensors").write_bytes(b"something else.")
        with pytest.raises(ToolError, match="htdemucs is damaged"):
            run("verify", "htdemucs")

    def test_what_is_shipped_is_not_imported(self, run: Run, made_up: Path) -> None:
        with pytest.raises(SettingsError, match="face-mesh: nothing to import"):
            run("import", "face-mesh", str(made_up))


class TestVerify:
    def test_whole_as_installed(self, run: Run) -> None:
        done = run("verify")
        assert done.exit_code == 0
        assert "spleeter: whole" in done.stdout
        assert "damaged" not in done.stdout

    def test_damage_is_named(self, run: Run, cache: Path, made_up: Path) -> None:
        run("import", "syncnet", str(made_up))
        with weights.place(cache).open("r+b") as file:
            file.seek(1000)
            file.write(b"\0\1\2\3\4\5\6\7")
        with pytest.raises(ToolError, match="syncnet is damaged") as caught:
            run("verify")
        assert "mvpipe models import syncnet FILE" in caught.value.hint
        assert "syncnet: damaged" in run("list").stdout

    def test_one_that_is_named_has_to_be_here(self, run: Run) -> None:
        with pytest.raises(ToolError, match="syncnet is not here"):
            run("verify", "syncnet")


class TestFetch:
    def test_syncnet_is_the_users_to_bring(self, run: Run) -> None:
        with pytest.raises(WeightsMissing, match="its terms are yours to accept") as caught:
            run("fetch", "syncnet")
        assert "mvpipe models import syncnet FILE" in caught.value.hint

    def test_what_is_shipped_is_here_already(self, run: Run) -> None:
        assert "face_landmark.tflite" in run("fetch", "face-mesh").stdout

    def test_a_name_nobody_knows(self, run: Run) -> None:
        with pytest.raises(SettingsError, match="not known"):
            run("fetch", "wav2lip")
