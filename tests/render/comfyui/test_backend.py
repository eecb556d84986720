"""The backend: slates from shots, takes from slates, every silent failure of a render as a failed take."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mvpipe.errors import GraphRejected, MediaError, RenderFailed, SettingsError, StoryboardError, Unreachable
from mvpipe.film import Continuity, ShotKind, Slate
from mvpipe.floor import ask
from mvpipe.render.backend import Backend, CastMember, Setup, WantsVoice
from mvpipe.render.comfyui import template
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.ordering import key_of
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.times import film_rows
from mvpipe.render.comfyui.vocal import vocal_samples, wav_bytes
from mvpipe.takes import family, take_task
from mvpipe.testing.standin import Standin, standin
from mvpipe.timing import Times
from mvpipe.tools import picture
from mvpipe.tools.heard import hear
from mvpipe.tools.likeness import likeness
from tests.render.comfyui import setups
from tests.render.comfyui.clips import asset, filmed, voiced
from tests.render.comfyui.rig import QUICK, misdeeds, sung

FRAMES, SIZE = 124, (1344, 768)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A voice and a picture."""
    folder = tmp_path_factory.mktemp("files")
    voice = np.repeat(sung(1, vocal_samples(FRAMES))[:, None], 2, axis=1)
    (folder / "voice.wav").write_bytes(wav_bytes(voice))
    (folder / "short.wav").write_bytes(wav_bytes(voice[:-266]))
    Image.effect_noise((320, 320), 60).save(folder / "mira.png")
    return folder


def setup(
    files: Path, *, options: dict[str, Any] | None = None, voice: str = "voice.wav", **more: Any
) -> Setup:
    """A singing shot of 124 frames, 1344x768, with one picture."""
    mira = CastMember(
        name="mira", description="a woman in a red coat", pictures=(asset(files / "mira.png"),), sings=True
    )
    made = setups.setup(cast=(mira,), place=None, frames=FRAMES, **more)
    return replace(made, vocals=asset(files / voice), size=SIZE, options=options or {})


def nowhere(folder: Path, **defaults: Any) -> ComfyUI:
    """A backend whose server is not there."""
    client = Client(address("http://127.0.0.1:9"), folder / "records", replace(QUICK, greet_s=0.1))
    return ComfyUI(client, Options(**defaults))


def copied(name: str, path: Path) -> Path:
    """A graph of one's own that says what one of mvpipe's says."""
    for suffix in (".json", ".slots.yaml"):
        shutil.copy(template.home() / f"{name}{suffix}", path.with_suffix(suffix))
    return path


class TestSlates:
    def test_it_is_a_backend_that_wants_its_voice_cut(self, tmp_path: Path) -> None:
        backend: Backend = nowhere(tmp_path)
        assert isinstance(backend, WantsVoice)
        form = backend.voice_format(FRAMES)
        assert (form.sample_rate, form.channels, form.samples) == (32_000, 2, 207 * 800)
        assert (backend.name, backend.slots) == ("comfyui/1", 2)

    def test_no_server_is_asked(self, tmp_path: Path, files: Path) -> None:
        slate = nowhere(tmp_path).slate(setup(files), take=1, seed=7)
        assert slate.graph["template"] == "native-ref2va"
        assert slate.graph["lock"] == "exact"
        assert slate.inputs.keys() == {"vocals", "picture:mira/0"}
        json.dumps(slate.graph, allow_nan=False)

    def test_the_same_setup_gives_the_same_slate(self, tmp_path: Path, files: Path) -> None:
        one, other = (nowhere(tmp_path).slate(setup(files), take=1, seed=7) for _ in range(2))
        assert one == other
        assert key_of(one) == key_of(other)

    def test_takes_of_a_shot_differ_by_their_seed_alone(self, tmp_path: Path, files: Path) -> None:
        """Or a pick would be let go whenever another take is looked at."""
        one, other = (nowhere(tmp_path).slate(setup(files), take=t, seed=s) for t, s in ((1, 7), (2, 8)))
        assert family(take_task(one)) == family(take_task(other))
        assert take_task(one).key != take_task(other).key
        assert key_of(one) != key_of(other)

    def test_keys_move_with_what_matters(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        usual = key_of(backend.slate(setup(files), take=1, seed=7))
        Image.effect_noise((320, 320), 61).save(files / "other.png")
        other = CastMember(name="mira", description="a woman in a red coat",
                           pictures=(asset(files / "other.png"),), sings=True)  # fmt: skip
        changed = [
            setup(files, prompt="she turns away"),
            setup(files, look="black and white"),
            setup(files, framing="close-up"),
            setup(files, options={"profile": "ref2va-base"}),
            setup(files, options={"graph": "native-ref2va-lowvram"}),
            setup(files, voice="short.wav"),
            replace(setup(files), size=(1280, 768)),
            replace(setup(files), cast=(other,)),
        ]
        keys = [key_of(backend.slate(one, take=1, seed=7)) for one in changed]
        assert len({usual, *keys}) == len(changed) + 1

    def test_and_with_nothing_else(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        usual = setup(files)
        moved = tmp_path / "elsewhere.wav"
        moved.write_bytes((files / "voice.wav").read_bytes())
        same = [
            replace(usual, title="Another title"),
            replace(usual, vocals=asset(moved)),
            replace(usual, shot=replace(usual.shot, number=9)),
            replace(usual, shot=replace(usual.shot, card=replace(usual.shot.card, origin="rain.yaml:99"))),
        ]
        keys = {key_of(backend.slate(one, take=3, seed=7)) for one in (usual, *same)}
        assert len(keys) == 1

    def test_what_two_shots_share_is_held_once(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        one, other = (
            backend.slate(setup(files, prompt=words), take=1, seed=7).graph["graph"]
            for words in ("she sings", "she turns away")
        )
        assert len(one) > 5
        assert len([name for name in one if one[name] is not other[name]]) == 1, "the prompt's own node"
        whole = backend._kept("1", {"inputs": {"cfg": 1}})
        assert backend._kept("1", {"inputs": {"cfg": 1.0}}) is not whole, "equal, with another digest"

    def test_keys_move_with_the_bytes_of_films_and_voices_and_with_nothing_else(
        self, tmp_path: Path, files: Path
    ) -> None:
        backend, sends = nowhere(tmp_path), {"send_voices": True}
        film, other = (
            filmed(files / "walk.mp4", seconds=2),
            filmed(files / "run.mp4", seconds=2, colour="red"),
        )
        voice = voiced(files / "mira.wav")
        shutil.copy(film.path, files / "walk-renamed.mp4")

        def key(options: dict[str, Any], **pinned: Any) -> str:
            wish = setup(files, options=options)
            wish = replace(wish, cast=(replace(wish.cast[0], **pinned),))
            return key_of(backend.slate(wish, take=1, seed=7))

        usual = key({})
        assert key({}, videos=(film,)) != usual
        assert key({}, videos=(film,)) != key({}, videos=(other,))
        assert key({}, videos=(film,)) == key({}, videos=(asset(files / "walk-renamed.mp4"),))
        assert key({}, voice=voice) == usual == key({"send_voices": False}), "a voice that is not sent"
        assert key(sends, voice=voice) != usual
        assert key(sends) == usual, "nobody has one"

    def test_a_voice_is_sent_where_its_owner_sings(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        mira = replace(setup(files).cast[0], voice=voiced(files / "mira.wav"))
        sung = replace(setup(files, options={"send_voices": True}), cast=(mira,))
        quiet = replace(setup(files, kind=ShotKind.B_ROLL, options={"send_voices": True}), cast=(mira,))
        assert "voice:mira" in backend.slate(sung, take=1, seed=7).inputs
        assert "voice:mira" not in backend.slate(quiet, take=1, seed=7).inputs
        assert [
            note for note in backend.plan_notes({"send_voices": True}, SIZE) if "nobody has shown" in note
        ]
        (note,) = (
            note
            for note in backend.plan_notes({"send_voices": True, "graph": "longmedia-lip-sync"}, SIZE)
            if "send_voices" in note
        )
        assert "has no place for voices" in note

    def test_a_film_is_told_with_what_it_costs(self, tmp_path: Path, files: Path) -> None:
        film = filmed(files / "walk.mp4", seconds=2, rate=30)
        wish = setup(files)
        wish = replace(wish, cast=(replace(wish.cast[0], videos=(film,)),))
        notes = " | ".join(nowhere(tmp_path).notes(wish))
        assert "shot 3: a reference video: every step takes about 1.0 times as long as without" in notes
        assert "30 pictures a second: brought to 24" in notes
        bare, riding = (nowhere(tmp_path).needs(one).conditioning for one in (setup(files), wish))
        assert (bare.filmed, riding.filmed) == (False, True)
        assert riding.rows - bare.rows == film_rows((320, 192), 48, len(wish.shot.window))
        assert nowhere(tmp_path).pinned(wish)[film.digest] == {"size": [320, 192], "seconds": 2.0}

    def test_a_take_that_follows_a_film_is_asked_for_with_its_time(self, tmp_path: Path, files: Path) -> None:
        size = "{}x{}".format(*SIZE)
        film = filmed(files / "whole.mp4", seconds=6, size=size)
        plain, backend = setup(files), nowhere(tmp_path)
        wish = replace(plain, cast=(replace(plain.cast[0], videos=(film,)),))
        slow, quick = (ask(backend, Times(), "take 3.1", one) for one in (wish, plain))
        assert slow.step_s / quick.step_s == pytest.approx(3.0, abs=0.1)
        assert slow.seconds - quick.seconds == pytest.approx(quick.steps * (slow.step_s - quick.step_s))
        assert slow.bulk > 1.9 * quick.bulk
        taught = Times(kinds={("http://127.0.0.1:9", quick.profile, True): 0.5})
        assert ask(backend, taught, "take 3.1", wish).step_s == pytest.approx(slow.step_s / 2)
        assert ask(backend, taught, "take 3.1", plain).step_s == quick.step_s

    def test_a_film_the_graph_has_no_place_for_is_named(self, tmp_path: Path, files: Path) -> None:
        film = filmed(files / "walk.mp4", seconds=2)
        wish = setup(files, options={"graph": "longmedia-lip-sync"})
        wish = replace(wish, cast=(replace(wish.cast[0], videos=(film,)),))
        assert "shot 3: the graph takes 0 videos: left out of mira's: walk.mp4" in nowhere(tmp_path).notes(
            wish
        )

    def test_a_shot_without_voice_is_locked_to_silence(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        quiet = setup(files, kind=ShotKind.B_ROLL)
        slate = backend.slate(quiet, take=1, seed=7)
        assert slate.graph["sound"] == "silence"
        assert slate.graph["lock"] == "exact"
        assert slate.inputs.keys() == {"picture:mira/0"}, "another voice is no reason to render it again"
        assert backend.assets(quiet).keys() == {"picture:mira/0"}

    def test_or_to_nothing_if_the_storyboard_says_so(self, tmp_path: Path, files: Path) -> None:
        quiet = setup(files, kind=ShotKind.B_ROLL, options={"without_voice": "none"})
        slate = nowhere(tmp_path).slate(quiet, take=1, seed=7)
        assert (slate.graph["sound"], slate.graph["lock"]) == ("none", "none")

    def test_or_to_the_accompaniment(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        wish = {"without_voice": "accompaniment"}
        played = setup(files, kind=ShotKind.B_ROLL, options=wish)
        assert backend.accompanies(played.shot, wish)
        played = replace(played, accompaniment=asset(files / "short.wav"))
        slate = backend.slate(played, take=1, seed=7)
        assert (slate.graph["sound"], slate.graph["lock"]) == ("accompaniment", "exact")
        assert slate.inputs.keys() == {"accompaniment", "picture:mira/0"}
        other = replace(played, accompaniment=asset(files / "voice.wav"))
        assert key_of(backend.slate(other, take=1, seed=7)) != key_of(slate)
        assert "instruments without any voice" in backend.prompt(played)
        assert not backend.accompanies(setup(files).shot, wish), "a shot that is sung follows the voice"
        assert not backend.accompanies(played.shot, {"graph": "reference-only", "without_voice": "none"})

    def test_and_a_card_has_the_last_word(self, tmp_path: Path, files: Path) -> None:
        quiet = setup(files, kind=ShotKind.B_ROLL, without_voice="none", options={"without_voice": "silence"})
        assert nowhere(tmp_path).slate(quiet, take=1, seed=7).graph["sound"] == "none"
        sung_anyway = setup(files, without_voice="none")
        assert nowhere(tmp_path).slate(sung_anyway, take=1, seed=7).graph["sound"] == "voice"

    def test_an_accompaniment_nobody_cut_is_not_made_up(self, tmp_path: Path, files: Path) -> None:
        played = setup(files, kind=ShotKind.B_ROLL, options={"without_voice": "accompaniment"})
        with pytest.raises(MediaError, match="was not cut"):
            nowhere(tmp_path).slate(played, take=1, seed=7)

    def test_figures_of_ones_own_are_in_the_key_and_are_told(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        usual = backend.slate(setup(files), take=1, seed=7)
        own = setup(files, options={"sampling": {"shift": "12/3", "lora_strength": "0.9", "cfg": "1"}})
        slate = backend.slate(own, take=1, seed=7)
        assert slate.graph["graph"]["shift"]["inputs"]["shift_video"] == 12.0
        assert slate.graph["graph"]["lora"]["inputs"]["strength_model"] == 0.9
        assert key_of(slate) != key_of(usual)
        notes = " | ".join(backend.notes(own))
        assert "render.sampling: shift_video 12 instead of 6, lora_strength 0.9 instead of 1" in notes
        assert "strength 0.9 is not known to work" in notes
        same = setup(files, options={"sampling": {"shift": "6/3", "steps": "8"}})
        assert key_of(backend.slate(same, take=1, seed=7)) == key_of(usual)
        assert not any("render.sampling" in note for note in backend.notes(same))

    def test_the_plan_tells_what_the_settings_bring(self, tmp_path: Path) -> None:
        backend = nowhere(tmp_path)
        own = {"sampling": {"shift": "12/3"}, "profile": "ref2va-turbo-8"}
        (note,) = backend.plan_notes(own, (1344, 768))
        assert note == "render.sampling: shift_video 12 instead of 6 (profile ref2va-turbo-8)"
        assert (
            backend.plan_notes({"sampling": {"steps": "8"}, "profile": "ref2va-turbo-8"}, (1344, 768)) == ()
        )
        for graph in ("reference-only", "multishot-pinned"):
            (note,) = backend.plan_notes({"graph": graph}, (960, 544))
            assert f"graph {graph}: its takes are not locked" in note

    def test_reference_only_is_marked_as_not_locked(self, tmp_path: Path, files: Path) -> None:
        slate = nowhere(tmp_path, graph="reference-only").slate(setup(files), take=1, seed=7)
        assert (slate.graph["sound"], slate.graph["lock"]) == ("voice", "none")

    def test_the_prompt_and_the_notes_can_be_seen(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        assert "<Audio 1>: fully_copy" in backend.prompt(setup(files))
        assert any(
            "mouth may not be seen" in note for note in backend.notes(setup(files, framing="from behind"))
        )

    def test_other_model_files_than_the_graphs(self, tmp_path: Path, files: Path) -> None:
        named = "minimax_h3_ref2va_pruned_w4a8_mixed.safetensors"
        slate = nowhere(tmp_path).slate(setup(files, options={"weights": named}), take=1, seed=7)
        assert named in str(slate.graph)

    def test_the_text_encoder_may_run_on_the_processor(self, tmp_path: Path, files: Path) -> None:
        usual = nowhere(tmp_path).slate(setup(files), take=1, seed=7)
        slate = nowhere(tmp_path).slate(setup(files, options={"text_device": "cpu"}), take=1, seed=7)
        assert slate.graph["graph"]["clip"]["inputs"]["device"] == "cpu"
        same = nowhere(tmp_path).slate(setup(files, options={"text_device": "default"}), take=1, seed=7)
        assert key_of(same) == key_of(usual) != key_of(slate)

    @pytest.mark.parametrize(
        ("options", "kind", "says"),
        [
            ({"grph": "native-ref2va"}, StoryboardError, "unknown option"),
            ({"graph": 3}, StoryboardError, "a text is wanted"),
            ({"graph": "native-ref2v"}, SettingsError, "no such template"),
            ({"profile": "turbo"}, SettingsError, "no such profile"),
            ({"sampling": {"stepps": "8"}}, StoryboardError, "sampling.stepps: unknown"),
            ({"sampling": {"steps": "many"}}, StoryboardError, "steps: many: a whole number"),
            ({"sampling": {"shift": "12"}}, StoryboardError, "shift: 12: of picture and sound"),
            ({"sampling": {"lora_strength": "nan"}}, StoryboardError, "a number is wanted"),
            ({"sampling": {"picture_detail": "much"}}, StoryboardError, "match or max"),
            ({"sampling": {"cfg": "3"}}, SettingsError, "no slot cfg"),
            ({"weights": "minimax_h3_fl2va_pruned_w4a8.safetensors"}, SettingsError, "fl2va"),
            ({"sampling": {"steps": "5"}}, SettingsError, "distilled to so many calls"),
            (
                {
                    "sampling": {
                        "lora": "minimax_h3_fl2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors",
                        "shift": "12/3",
                    }
                },
                SettingsError,
                "trained at 6/3",
            ),
            ({"text_device": "gpu"}, StoryboardError, "text_device: gpu: one of default, cpu is wanted"),
            ({"without_voice": "band"}, StoryboardError, "one of silence, accompaniment, none is wanted"),
        ],
    )
    def test_wishes_that_cannot_be_met(
        self, tmp_path: Path, files: Path, options: dict[str, Any], kind: type[Exception], says: str
    ) -> None:
        with pytest.raises(kind, match=says):
            nowhere(tmp_path).slate(setup(files, options=options), take=1, seed=7)

    def test_two_graphs_of_one_name_are_not_mixed_up(self, tmp_path: Path, files: Path) -> None:
        own = copied("reference-only", tmp_path / "native-ref2va.json")
        backend = nowhere(tmp_path, graph=str(own))
        assert backend.slate(setup(files), take=1, seed=7).graph["lock"] == "none"
        shipped = backend.slate(setup(files, options={"graph": "native-ref2va"}), take=1, seed=7)
        assert shipped.graph["lock"] == "exact"

    def test_a_chain_that_the_graph_cannot_make_is_the_storyboards_to_mend(
        self, tmp_path: Path, files: Path
    ) -> None:
        shot = setup(files, continuity=Continuity.CHAIN).shot
        with pytest.raises(SettingsError, match="graph native-ref2va has no start_picture") as caught:
            nowhere(tmp_path).chains(shot, {})
        assert (caught.value.exit_code, caught.value.hint) == (
            2,
            "graph: multishot-pinned, or continuity: cut",
        )
        assert nowhere(tmp_path).chains(shot, {"graph": "multishot-pinned"})

    def test_a_graph_of_ones_own_is_known_by_what_it_says_and_not_by_its_file(
        self, tmp_path: Path, files: Path
    ) -> None:
        (tmp_path / "b").mkdir()
        first = copied("native-ref2va", tmp_path / "mine.json")
        moved = copied("native-ref2va", tmp_path / "b" / "another name.json")
        elsewhere = copied("native-ref2va", tmp_path / "seeded.json")
        other_seed = elsewhere.with_suffix(".slots.yaml")
        other_seed.write_text(
            other_seed.read_text("utf-8").replace("[[noise, noise_seed]]", "[[sigmas, steps]]")
        )
        backend = nowhere(tmp_path)
        keys = [
            key_of(backend.slate(setup(files, options={"graph": str(path)}), take=1, seed=7))
            for path in (first, moved, elsewhere)
        ]
        assert keys[0] == keys[1]
        assert keys[2] != keys[0], "the seed goes elsewhere, so the takes are others"

    def test_a_picture_that_cannot_be_used(self, tmp_path: Path, files: Path) -> None:
        (tmp_path / "torn.png").write_bytes((files / "mira.png").read_bytes()[:200])
        torn = CastMember(name="mira", description="x", pictures=(asset(tmp_path / "torn.png"),), sings=True)
        with pytest.raises(StoryboardError, match=r"torn.png"):
            nowhere(tmp_path).slate(replace(setup(files), cast=(torn,)), take=1, seed=7)

    def test_longer_and_larger_takes_are_expected_to_take_longer(self, tmp_path: Path) -> None:
        backend = nowhere(tmp_path)
        small, long, large = (
            backend.predict_s(frames, size) for frames, size in ((124, (960, 544)), (243, (960, 544)),
                                                                  (124, (1344, 768)))
        )  # fmt: skip
        assert 50 < small < 80
        assert long > 2 * small
        assert large > 2 * small

    def test_an_absent_server_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(Unreachable, match=r"http://127.0.0.1:9/system_stats") as caught:
            nowhere(tmp_path).greet()
        assert "start ComfyUI" in caught.value.hint


@pytest.fixture(scope="module", params=["0.33.0", "0.38.0"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standin]:
    flags = ("--shrink", "8", "--no-previews")
    with standin(tmp_path_factory.mktemp("comfy"), version=request.param, flags=flags) as running:
        yield running
        assert misdeeds(running) == []


@pytest.fixture
def backend(server: Standin, tmp_path: Path) -> Iterator[ComfyUI]:
    yield ComfyUI(Client(address(server.url), tmp_path / "records", QUICK))
    server.heal()


def render(backend: ComfyUI, wish: Setup, into: Path, seed: int) -> Slate:
    slate = backend.slate(wish, take=1, seed=seed)
    paths = {role: one.path for role, one in backend.assets(wish).items()}
    backend.render(slate, paths, into, lambda done, of: None)
    return slate


SILENT = {
    "instant": "rendered in 0",
    "frames-short": "7 frames instead of 124",
    "sound-missing": "no sound",
    "sound-silent": "silent, where a voice was sent",
    "sound-constant": "a constant of 0.25",
    "sound-short": "of sound under 5.17 s of picture",
    "sound-nan": "NaN",
    "sound-nan-stored": "are no numbers",
    "lock-ignored": "the lock had no effect",
}


class TestTakes:
    def test_a_take_sings_what_it_was_given(self, backend: ComfyUI, files: Path, tmp_path: Path) -> None:
        into = tmp_path / "take.mp4"
        slate = render(backend, setup(files), into, 1)
        assert len(picture.times(into)) == slate.frames
        assert likeness(hear(into), hear(files / "voice.wav")) > 0.9
        told = json.loads((tmp_path / "take.facts.json").read_text())
        assert (told["lock"], told["sound"], told["attempt"]) == ("exact", "voice", 1)
        assert told["server"]["comfyui_version"] in ("0.33.0", "0.38.0")
        assert told["step_s"] >= 0
        assert "comfy_extras.nodes_minimax_h3" in told["packs"]

    def test_films_and_voices_are_uploaded_once_and_wired_behind_the_song_s_voice(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path
    ) -> None:
        film, voice = filmed(files / "walk.mp4", seconds=2), voiced(files / "mira.wav")
        wish = setup(files, options={"send_voices": True})
        mira = replace(wish.cast[0], videos=(film,), voice=voice)
        for seed in (11, 12):
            render(backend, replace(wish, cast=(mira,)), tmp_path / f"{seed}.mp4", seed)
        assert likeness(hear(tmp_path / "12.mp4"), hear(files / "voice.wav")) > 0.9
        sent = server.requests("/upload/image", "POST")
        assert len(sent) == len({json.dumps(one, sort_keys=True) for one in sent}) == 4
        stored = {path.name for path in (server.root / "input" / "mvpipe").iterdir()}
        assert {f"{film.digest}-v1.mp4", f"{voice.digest}-voice-v1.wav"} <= stored

    def test_the_seed_reaches_the_sampler(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path
    ) -> None:
        render(backend, setup(files), tmp_path / "take.mp4", 4711)
        assert server.runs()[-1]["sampled"][0]["seed"] == 4711

    @pytest.mark.parametrize("fault", SILENT)
    def test_a_silent_failure_is_a_failed_take(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path, fault: str
    ) -> None:
        seed = 100 + list(SILENT).index(fault)
        server.fault(fault)
        with pytest.raises(RenderFailed) as caught:
            render(backend, setup(files), tmp_path / "take.mp4", seed)
        assert SILENT[fault] in str(caught.value)
        assert not list(tmp_path.glob("take*")), "a bad take leaves nothing behind"
        server.heal()
        render(backend, setup(files), tmp_path / "take.mp4", seed)  # what was bad is not fetched again

    @pytest.mark.parametrize("fault", ["black", "frozen", "seed-ignored", "lora-ignored"])
    def test_what_is_seen_is_the_gates_to_judge(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path, fault: str
    ) -> None:
        server.fault(fault)
        render(backend, setup(files), tmp_path / "take.mp4", 200 + len(fault))

    def test_a_shot_without_voice_comes_silent(self, backend: ComfyUI, files: Path, tmp_path: Path) -> None:
        into = tmp_path / "take.mp4"
        render(backend, setup(files, kind=ShotKind.B_ROLL), into, 1)
        assert hear(into).peak < 0.01

    def test_and_is_no_good_if_it_does_not(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path
    ) -> None:
        server.fault("lock-ignored")
        with pytest.raises(RenderFailed, match="there is sound where silence was sent"):
            render(backend, setup(files, kind=ShotKind.B_ROLL), tmp_path / "take.mp4", 2)

    def test_a_shot_locked_to_the_accompaniment_sounds_like_it(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path
    ) -> None:
        band = np.repeat(sung(2, vocal_samples(FRAMES))[:, None], 2, axis=1)
        (tmp_path / "band.wav").write_bytes(wav_bytes(band))
        wish = setup(files, kind=ShotKind.B_ROLL, options={"without_voice": "accompaniment"})
        wish = replace(wish, accompaniment=asset(tmp_path / "band.wav"))
        render(backend, wish, tmp_path / "take.mp4", 5)
        heard = hear(tmp_path / "take.mp4")
        assert likeness(hear(tmp_path / "band.wav"), heard) > 0.9 > likeness(hear(files / "voice.wav"), heard)
        server.fault("lock-ignored")
        with pytest.raises(RenderFailed, match="the lock had no effect"):
            render(backend, wish, tmp_path / "other.mp4", 6)
        server.heal()

    def test_what_is_not_locked_may_sound_as_it_likes(
        self, backend: ComfyUI, files: Path, tmp_path: Path
    ) -> None:
        wish = setup(files, kind=ShotKind.B_ROLL, options={"without_voice": Sounding.NONE.value})
        render(backend, wish, tmp_path / "take.mp4", 3)
        assert hear(tmp_path / "take.mp4").peak > 0.1

    def test_a_voice_that_would_be_cropped_is_not_sent(
        self, backend: ComfyUI, server: Standin, files: Path, tmp_path: Path
    ) -> None:
        before = len(server.requests())
        with pytest.raises(MediaError, match="165334 samples, 2 channels at 32000 Hz, where H3 takes 165600"):
            render(backend, setup(files, voice="short.wav"), tmp_path / "take.mp4", 1)
        assert len(server.requests()) == before

    def test_a_slate_is_held_against_the_server_before_anything_is_sent(
        self, backend: ComfyUI, server: Standin, files: Path
    ) -> None:
        before = len(server.requests("", "POST"))
        slate = backend.slate(setup(files), take=1, seed=1)
        backend.fit(slate)
        t8 = backend.slate(setup(files, options={"graph": "multishot-pinned"}), take=1, seed=1)
        with pytest.raises(GraphRejected, match="no such class"):
            backend.fit(t8)
        assert len(server.requests("", "POST")) == before


def test_a_missing_model_is_named_with_its_folder(files: Path, tmp_path: Path) -> None:
    absent = "minimax_h3_audio_vae_fp32.safetensors"
    with standin(tmp_path / "comfy", flags=["--without-model", absent]) as running:
        backend = ComfyUI(Client(address(running.url), tmp_path / "records", QUICK))
        with pytest.raises(GraphRejected, match=absent) as caught:
            render(backend, setup(files), tmp_path / "take.mp4", 1)
        assert "vae" in str(caught.value)
        assert not running.requests("/upload")
