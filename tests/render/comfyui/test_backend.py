"""The backend: slates from shots, takes from slates, every silent failure of a render as a failed take."""

from __future__ import annotations

import hashlib
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
from mvpipe.film import ShotKind, Slate
from mvpipe.render.backend import Asset, Backend, CastMember, Setup, WantsVoice
from mvpipe.render.comfyui import template
from mvpipe.render.comfyui.address import address
from mvpipe.render.comfyui.backend import ComfyUI, key_of
from mvpipe.render.comfyui.client import Client
from mvpipe.render.comfyui.likeness import likeness
from mvpipe.render.comfyui.options import Options
from mvpipe.render.comfyui.script import Sounding
from mvpipe.render.comfyui.viewing import hear
from mvpipe.render.comfyui.vocal import vocal_samples, wav_bytes
from mvpipe.takes import family, take_task
from mvpipe.testing.standin import Standin, standin
from mvpipe.tools import picture
from tests.render.comfyui import setups
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


def asset(path: Path) -> Asset:
    return Asset(path=path, digest=hashlib.sha256(path.read_bytes()).hexdigest())


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

    def test_reference_only_is_marked_as_not_locked(self, tmp_path: Path, files: Path) -> None:
        slate = nowhere(tmp_path, graph="reference-only").slate(setup(files), take=1, seed=7)
        assert (slate.graph["sound"], slate.graph["lock"]) == ("voice", "none")

    def test_the_prompt_and_the_notes_can_be_seen(self, tmp_path: Path, files: Path) -> None:
        backend = nowhere(tmp_path)
        assert "<Audio 1>: fully_copy" in backend.prompt(setup(files))
        assert any(
            "mouth may not be seen" in note for note in backend.notes(setup(files, framing="from behind"))
        )

    @pytest.mark.parametrize(
        ("options", "kind", "says"),
        [
            ({"grph": "native-ref2va"}, StoryboardError, "unknown option"),
            ({"graph": 3}, StoryboardError, "a text is wanted"),
            ({"graph": "native-ref2v"}, SettingsError, "no such template"),
            ({"profile": "turbo"}, SettingsError, "no such profile"),
            ({"without_voice": "accompaniment"}, StoryboardError, "one of silence, none is wanted"),
        ],
    )
    def test_wishes_that_cannot_be_met(
        self, tmp_path: Path, files: Path, options: dict[str, Any], kind: type[Exception], says: str
    ) -> None:
        with pytest.raises(kind, match=says):
            nowhere(tmp_path).slate(setup(files, options=options), take=1, seed=7)

    def test_two_graphs_of_one_name_are_not_mixed_up(self, tmp_path: Path, files: Path) -> None:
        for suffix in (".json", ".slots.yaml"):
            shutil.copy(template.home() / f"reference-only{suffix}", tmp_path / f"native-ref2va{suffix}")
        backend = nowhere(tmp_path, graph=str(tmp_path / "native-ref2va.json"))
        assert backend.slate(setup(files), take=1, seed=7).graph["lock"] == "none"
        with pytest.raises(SettingsError, match="of the same name as"):
            backend.slate(setup(files, options={"graph": "native-ref2va"}), take=1, seed=7)

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
