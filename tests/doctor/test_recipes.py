"""Recipes hold together, fit the machine that is seen, and go into a storyboard without harm to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mvpipe.cli import app
from mvpipe.doctor.check import Case
from mvpipe.doctor.facts import GIB, Device, Facts, Unseen
from mvpipe.doctor.flags import known_flags
from mvpipe.doctor.machine import Eyes
from mvpipe.doctor.recipes import find_recipe, known_recipes, render_line, suggest, suggest_here
from mvpipe.doctor.use import with_settings
from mvpipe.doctor.wanted import want, want_film
from mvpipe.errors import SettingsError
from mvpipe.render.comfyui.profiles import find_profile
from mvpipe.storyboard.load import load
from tests.doctor.cases import ADA, BLACKWELL, RADEON, case, machine, server, wanted

CPU = (Device(name="cpu", kind="cpu", memory=64 * GIB, free=GIB),)


@pytest.mark.parametrize("name", sorted(known_recipes()))
def test_it_holds_together(name: str) -> None:
    recipe = find_recipe(name)
    if recipe.backend == "animatic":
        assert not recipe.files
        return
    width, height = map(int, recipe.size.split("x"))
    found = want(recipe.graph, profile=recipe.profile, size=(width, height))
    assert width % 32 == height % 32 == 0
    files = {one.name for one in recipe.files}
    lora = find_profile(recipe.profile).lora
    assert lora is None or lora in files
    assert found.file("audio_vae") in files
    assert found.file("text_encoder") in files
    settings = recipe.settings()
    assert settings["weights"] in files
    assert settings["video_vae"] in files
    for flag in recipe.flags:
        assert flag not in known_flags() or known_flags()[flag].effect == "helpful"
    assert recipe.unproved, "nothing of H3 was proved by us, and a recipe says so"


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (case(server=server(RADEON, 8)), "amd-8gb"),
        (case(server=server("cuda:0 NVIDIA GeForce RTX 4080 : native", 16)), "nvidia-16gb-ada"),
        (case(server=server(BLACKWELL, 16)), "nvidia-16gb-blackwell"),
        (case(server=server(ADA, 24)), "nvidia-24gb"),
        (case(server=server("cuda:0 NVIDIA GeForce RTX 5090 : native", 32)), "nvidia-24gb"),
        (case(server=server("cuda:0 NVIDIA H200 : native", 141)), "nvidia-48gb"),
        (case(server=server(devices=CPU)), "cpu-animatic"),
        (case(server=Unseen("none"), machine=machine(cards=Unseen("no tool"))), "cpu-animatic"),
        (case(server=Unseen("none")), "nvidia-24gb"),
        (Case(facts=Facts(), wanted=wanted()), ""),
    ],
)
def test_the_machine_that_is_seen_has_its_recipe(of: Case, name: str) -> None:
    assert suggest(of) == name


def test_this_machine_has_one_without_a_server(tmp_path: Path) -> None:
    smi = "NVIDIA GeForce RTX 5060 Ti, 580.95, 12.0, 16311, 15800, 180.00, 180.00, 19.00, 97\n"
    assert suggest_here(tmp_path, Eyes(root=tmp_path, run=lambda argv: smi, system="Linux")) == (
        "nvidia-16gb-blackwell"
    )


SETTINGS = {"backend": "comfyui", "graph": "native-ref2va", "profile": "ref2va-turbo-4"}
MORE = "graph: native-ref2va, profile: ref2va-turbo-4"
HEAD = "mvpipe: 1\ntitle: X\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD, HEAD + "\nrender: {backend: comfyui, graph: native-ref2va, profile: ref2va-turbo-4}\n"),
        (
            "render: {backend: animatic, seed: 3}  # mine\ntitle: X\n",
            f"render: {{backend: comfyui, seed: 3, {MORE}}}  # mine\ntitle: X\n",
        ),
        (
            "# a\nrender:  # how\n  # seeds\n  seed: 3\n  backend: animatic   # drawn\n\ntitle: X  # y\n",
            "# a\nrender:  # how\n  graph: native-ref2va\n  profile: ref2va-turbo-4\n  # seeds\n  seed: 3\n"
            "  backend: comfyui   # drawn\n\ntitle: X  # y\n",
        ),
        (
            "title: X\r\nrender: {seed: 3}\r\n",
            f"title: X\r\nrender: {{seed: 3, backend: comfyui, {MORE}}}\r\n",
        ),
    ],
)
def test_a_storyboard_keeps_all_else(before: str, after: str) -> None:
    assert with_settings(before, SETTINGS) == after
    assert with_settings(after, SETTINGS) == after


@pytest.mark.parametrize(
    "text", ["render: {animatic: {mouth: follow}}\n", "render: {\n  seed: 3}\n", "render: *x\n"]
)
def test_what_cannot_be_edited_safely_is_left_alone(text: str) -> None:
    with pytest.raises(SettingsError, match="does not edit"):
        with_settings(text, SETTINGS)


@pytest.mark.parametrize("name", sorted(known_recipes()))
@pytest.mark.parametrize(
    "board", sorted((Path(__file__).parents[2] / "storyboards").glob("*.yaml")), ids=lambda p: p.stem
)
def test_our_storyboards_take_every_recipe(name: str, board: Path, tmp_path: Path) -> None:
    path = tmp_path / board.name
    text = board.read_text("utf-8")
    path.write_text(with_settings(text, find_recipe(name).settings()), "utf-8")
    assert load(path).storyboard.render.backend == find_recipe(name).backend
    kept = path.read_text("utf-8").splitlines()
    lost = [line for line in text.splitlines() if line not in kept]
    assert all("render" in line or "backend" in line or "graph" in line or "profile" in line for line in lost)


@pytest.mark.parametrize("name", sorted(known_recipes()))
def test_what_a_recipe_asks_of_the_server_is_what_it_lists(name: str, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    board = tmp_path / "b.yaml"
    text = (Path(__file__).parents[2] / "storyboards/single-singer.yaml").read_text("utf-8")
    board.write_text(with_settings(text, recipe.settings()), "utf-8")
    asked = want_film(load(board)).files
    assert recipe.backend == "animatic" or set(asked) <= {one.name for one in recipe.files}


def test_a_mark_in_quotes_begins_no_comment() -> None:
    before = 'render:\n  graph: "a # b"   # odd\n'
    assert "  graph: native-ref2va   # odd\n" in with_settings(before, SETTINGS)


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner()
    assert "amd-8gb" in run.invoke(app, ["recipe", "list"]).stdout
    shown = run.invoke(app, ["recipe", "show", "nvidia-24gb"]).stdout
    assert "models/vae/minimax_h3_audio_vae_fp32.safetensors  (577.2 MB)" in shown
    assert "unproved" in shown
    assert run.invoke(app, ["recipe", "use", "nvidia-24gb"]).stdout.strip() == render_line("nvidia-24gb")
    board = tmp_path / "b.yaml"
    board.write_text(HEAD)
    assert run.invoke(app, ["recipe", "use", "nvidia-24gb", str(board)]).exit_code == 0
    assert load(board).storyboard.render.graph == "native-ref2va"
    odd = HEAD + '"render": {seed: 3}\n'  # a key that the editor does not see, and would write twice
    board.write_text(odd)
    assert isinstance(run.invoke(app, ["recipe", "use", "nvidia-24gb", str(board)]).exception, SettingsError)
    assert board.read_text() == odd
    assert list(tmp_path.iterdir()) == [board]
    failed = run.invoke(app, ["recipe", "show", "nvidia-24g"]).exception
    assert isinstance(failed, SettingsError)
    assert failed.hint == "did you mean nvidia-24gb?"
