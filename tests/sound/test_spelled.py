"""Words laid along what a network hears; the network itself against torch's own layers."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import nn

from mvpipe.errors import WeightsMissing
from mvpipe.film import Line, Timing
from mvpipe.sound.ctc import lay
from mvpipe.sound.ctc_net import RATE, load
from mvpipe.sound.spelled import Spelled, align_stem, save, spell
from mvpipe.sound.spelled import load as load_spelled
from mvpipe.sound.wav import write
from mvpipe.sound.words import align
from tests.sound.hearings import by_hand

COLUMNS = {"<pad>": 0, "|": 1, **{letter: 2 + k for k, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ'")}}
HOP = Fraction(1, 50)


def heard(text: str, step: int = 5, sure: float = 0.9, lead: int = 50) -> NDArray[np.float32]:
    """What a network would hear of a text, sung evenly: each letter one step in `step`, blanks between."""
    rows = np.full((2 * lead + step * len(text), len(COLUMNS)), (1 - sure) / (len(COLUMNS) - 1))
    rows[:, 0] = sure
    for k, letter in enumerate(text):
        row = rows[lead + k * step]
        row[:] = (1 - sure) / (len(COLUMNS) - 1)
        row[COLUMNS[letter]] = sure
    return np.asarray(np.log(rows), np.float32)


def test_letters_are_laid_where_they_are_heard() -> None:
    laid = lay(heard("HELLO"), [COLUMNS[c] for c in "HELLO"], 0)
    assert laid is not None
    assert [letter.start for letter in laid] == [50, 55, 60, 65, 70]
    assert all(letter.likely == pytest.approx(0.9, abs=0.01) for letter in laid)


def test_two_of_the_same_letter_need_a_blank_between_them() -> None:
    rows = heard("LL", step=1)
    laid = lay(rows, [COLUMNS["L"]] * 2, 0)
    assert laid is not None
    assert laid[1].start >= laid[0].stop + 1


def test_more_letters_than_steps_cannot_be_laid() -> None:
    assert lay(heard("AB", step=1, lead=0), [COLUMNS["A"]] * 9, 0) is None
    assert lay(heard("AB"), [], 0) == []


def lines(*texts: str) -> list[Line]:
    return [Line(text) for text in texts]


def spelled(texts: list[Line], rows: NDArray[np.float32]) -> Spelled:
    return spell(texts, rows, columns=COLUMNS, blank=0, hop=HOP)


def test_words_get_their_times() -> None:
    found = spelled(lines("No way", "hôme!"), heard("NO|WAY|HOME"))
    assert [line.text for line in found.lines] == ["No way", "hôme!"]
    starts = [[float(word.start) for word in line.words] for line in found.lines]
    assert starts == [[1.0, pytest.approx(1.3)], [pytest.approx(1.7)]]
    assert found.likely > 0.8
    assert "aligned to the voice" in found.note


def test_words_of_another_song_are_refused() -> None:
    found = spelled(lines("completely different words"), heard("NO|WAY|HOME|AND|NOTHING|ELSE"))
    assert found.lines == ()
    assert "does not hear these words" in found.note


def test_a_script_the_network_does_not_know_is_refused() -> None:
    found = spelled(lines("\u591c\u306b\u5149\u308b"), heard("NO|WAY"))
    assert found.lines == ()
    assert "knows 0% of the letters" in found.note


def test_what_was_spelled_is_kept(tmp_path: Path) -> None:
    found = spelled(lines("no way"), heard("NO|WAY"))
    save(found, tmp_path / "words.json")
    assert load_spelled(tmp_path / "words.json") == found


def test_aligned_words_are_held_against_the_voice() -> None:
    found = spelled(lines("no way", "home"), heard("NO|WAY|HOME"))
    right = align(lines("no way", "home"), by_hand(4, [(0.9, 2.4)]), spelled=found)
    assert right.trusted
    assert {line.word_timing for line in right.lines} == {Timing.ALIGNED}
    wrong = align(lines("no way", "home"), by_hand(4, [(2.8, 3.9)]), spelled=found)
    assert not wrong.trusted
    assert wrong.words == ()
    refused = Spelled((), 0.0, "the aligner does not hear these words (2% sure): not used")
    laid = align(lines("no way", "home"), by_hand(4, [(0.9, 1.6), (2.0, 2.4)]), spelled=refused)
    assert {line.timing for line in laid.lines} == {Timing.GUESSED}
    assert "not used" in laid.notes[0]


WIDTH, HEADS, CONVS, LAYERS = 16, 2, (8, 8), 2
STRIDES, KERNELS = (16, 20), (32, 20)


class Reference(nn.Module):
    """The same network from torch's own layers."""

    def __init__(self, *, stable: bool) -> None:
        super().__init__()
        self.stable = stable
        self.convs = nn.ModuleList(
            nn.Conv1d(a, b, k, s, bias=stable)
            for a, b, k, s in zip((1, CONVS[0]), CONVS, KERNELS, STRIDES, strict=True)
        )
        norm: Any = nn.LayerNorm if stable else (lambda n: nn.GroupNorm(n, n))
        self.norms = nn.ModuleList(norm(n) for n in (CONVS if stable else CONVS[:1]))
        self.before, self.project = nn.LayerNorm(CONVS[-1]), nn.Linear(CONVS[-1], WIDTH)
        place = nn.Conv1d(WIDTH, WIDTH, 8, padding=4, groups=4)
        self.place = nn.utils.parametrizations.weight_norm(place, dim=2)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                WIDTH, HEADS, 32, 0.0, "gelu", batch_first=True, norm_first=stable, bias=True
            )
            for _ in range(LAYERS)
        )
        self.head = nn.Linear(WIDTH, len(COLUMNS))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        x = sound[None, None]
        for at, conv in enumerate(self.convs):
            x = conv(x)
            if self.stable:
                x = self.norms[at](x.transpose(1, 2)).transpose(1, 2)
            elif at == 0:
                x = self.norms[0](x)
            x = nn.functional.gelu(x)
        x = self.project(self.before(x.transpose(1, 2)))
        x = x + nn.functional.gelu(self.place(x.transpose(1, 2))[:, :, : x.shape[1]]).transpose(1, 2)
        x = x if self.stable else self.norm(x)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x) if self.stable else x
        return torch.log_softmax(self.head(x), -1)[0]


def named(net: Reference) -> dict[str, torch.Tensor]:
    """Its weights under the names that the hub gives them."""
    base, out = "wav2vec2.", {}
    state = {k: v.detach().clone() for k, v in net.state_dict().items()}
    heads = {"before": "feature_projection.layer_norm", "project": "feature_projection.projection"}
    heads |= {"norm": "encoder.layer_norm", "place": "encoder.pos_conv_embed.conv"}
    inner = {"self_attn.out_proj": "attention.out_proj", "linear1": "feed_forward.intermediate_dense"}
    inner |= {"linear2": "feed_forward.output_dense", "norm1": "layer_norm", "norm2": "final_layer_norm"}
    for key, value in state.items():
        first, _, rest = key.partition(".")
        if first == "head":
            out[f"lm_head.{rest}"] = value
        elif first in ("convs", "norms"):
            at, _, part = rest.partition(".")
            what = "conv" if first == "convs" else "layer_norm"
            out[f"{base}feature_extractor.conv_layers.{at}.{what}.{part}"] = value
        elif first == "layers":
            at, _, part = rest.partition(".")
            own = f"{base}encoder.layers.{at}"
            if "in_proj" in part:
                for letter, third in zip("qkv", value.chunk(3), strict=True):
                    out[f"{own}.attention.{letter}_proj.{part.split('_')[-1]}"] = third.clone()
            else:
                name, _, end = part.rpartition(".")
                out[f"{own}.{inner[name]}.{end}"] = value
        else:
            out[f"{base}{heads[first]}.{rest}"] = value
    return out


def folder_of(net: Reference, folder: Path) -> Path:
    folder.mkdir(parents=True)
    config = {
        "model_type": "wav2vec2",
        "conv_stride": STRIDES,
        "feat_extract_norm": "layer" if net.stable else "group",
        "do_stable_layer_norm": net.stable,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_conv_pos_embedding_groups": 4,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps(COLUMNS))
    save_file(named(net), str(folder / "model.safetensors"))
    return folder


@pytest.mark.parametrize("stable", [False, True])
def test_the_network_is_what_its_layers_say(tmp_path: Path, stable: bool) -> None:
    torch.manual_seed(440)
    net = Reference(stable=stable).eval()
    ours = load(folder_of(net, tmp_path / "net"), torch.device("cpu"))
    sound = np.random.default_rng(440).standard_normal(RATE).astype(np.float32)
    found = ours.hear(sound)
    even = (sound - sound.mean()) / (sound.std() + 1e-7)
    with torch.inference_mode():
        true = net(torch.from_numpy(even)).numpy()
    assert len(found) == RATE // 320
    np.testing.assert_allclose(found[: len(true)], true, atol=2e-4)


def test_a_long_sound_is_heard_in_stretches_without_a_seam(tmp_path: Path) -> None:
    torch.manual_seed(440)
    ours = load(folder_of(Reference(stable=False).eval(), tmp_path / "net"), torch.device("cpu"))
    found = ours.hear(np.random.default_rng(440).standard_normal(60 * RATE).astype(np.float32))
    assert len(found) == 60 * 50
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-4)


def test_a_stem_is_aligned_from_file_to_words(tmp_path: Path) -> None:
    torch.manual_seed(440)
    net = folder_of(Reference(stable=False).eval(), tmp_path / "net")
    sound = np.random.default_rng(440).standard_normal((3 * 44_100, 2)).astype(np.float32) * 0.1
    write(tmp_path / "voice.wav", [sound], sample_rate=44_100, channels=2, samples=len(sound))
    found = align_stem(lines("no way"), tmp_path / "voice.wav", net, device="cpu", progress=lambda *_: None)
    assert "does not hear these words" in found.note, "random weights hear nothing"


@pytest.mark.parametrize("wrong", ["missing", "torn", "other"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, wrong: str) -> None:
    folder = folder_of(Reference(stable=False), tmp_path / "net")
    if wrong == "missing":
        (folder / "vocab.json").unlink()
    elif wrong == "torn":
        (folder / "model.safetensors").write_bytes(b"no")
    else:
        (folder / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(WeightsMissing, match="aligner: ") as error:
        load(folder, torch.device("cpu"))
    assert error.value.hint
