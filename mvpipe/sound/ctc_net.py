"""A network that hears letters: wav2vec 2.0 with a head for CTC, in a folder as the hub keeps it.

A. Baevski et al., "wav2vec 2.0", 2020. The folder holds `config.json`, `vocab.json` and `model.safetensors`,
as `facebook/wav2vec2-base-960h` or any fine-tuned model of that kind does; nothing in it is executed.
torch is imported here, so import this module late.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.nn import functional as nn

from mvpipe.errors import WeightsMissing
from mvpipe.sound.ctc import Likely

RATE = 16_000
"""Hz: what these networks hear."""

SPAN_S, MARGIN_S = 24, 2
"""Seconds heard at once, and at each end of them only heard along."""

FILES = ("config.json", "vocab.json", "model.safetensors")


@dataclass(frozen=True, slots=True)
class Letters:
    """A network that hears letters.

    Parameters
    ----------
    config : its `config.json`
    columns : letter -> its column of what is heard
    weights : its tensors by name
    device : where it runs
    """

    config: Mapping[str, Any]
    columns: Mapping[str, int]
    weights: Mapping[str, torch.Tensor]
    device: torch.device

    @property
    def blank(self) -> int:
        """The column for no letter."""
        return int(self.config.get("pad_token_id") or 0)

    @property
    def hop(self) -> int:
        """Samples from one step to the next."""
        return int(np.prod(self.config["conv_stride"]))

    def hear(self, sound: NDArray[np.float32]) -> Likely:
        """What is heard in a sound, a stretch after the other.

        Parameters
        ----------
        sound : float32 (n,), at `RATE`
        """
        level = float(sound.std()) + 1e-7
        even = (sound - sound.mean()) / np.float32(level)
        return np.concatenate([np.zeros((0, len(self.columns)), np.float32), *self._stretches(even)])

    def _stretches(self, sound: NDArray[np.float32]) -> Iterator[Likely]:
        span, margin = SPAN_S * RATE // self.hop, MARGIN_S * RATE // self.hop
        steps = len(sound) // self.hop
        for start in range(0, steps, span):
            first, stop = max(start - margin, 0), min(start + span, steps)
            part = sound[first * self.hop : (stop + margin) * self.hop + 400]
            with torch.inference_mode():
                heard = self._heard(torch.from_numpy(part.copy()).to(self.device)).cpu().numpy()
            kept = heard[start - first : stop - first]
            yield np.concatenate([kept, np.repeat(heard[-1:], max(stop - start - len(kept), 0), axis=0)])

    def _heard(self, sound: torch.Tensor) -> torch.Tensor:
        x = self._features(sound[None, None]).transpose(1, 2)
        x = self._linear(
            self._norm(x, "wav2vec2.feature_projection.layer_norm"), "wav2vec2.feature_projection.projection"
        )
        x = x + self._places(x)
        stable = bool(self.config.get("do_stable_layer_norm"))
        x = x if stable else self._norm(x, "wav2vec2.encoder.layer_norm")
        for layer in range(self.config["num_hidden_layers"]):
            x = self._layer(x, f"wav2vec2.encoder.layers.{layer}", stable=stable)
        x = self._norm(x, "wav2vec2.encoder.layer_norm") if stable else x
        return torch.log_softmax(self._linear(x, "lm_head"), dim=-1)[0]

    def _features(self, x: torch.Tensor) -> torch.Tensor:
        by_layer = self.config["feat_extract_norm"] == "layer"
        for layer, stride in enumerate(self.config["conv_stride"]):
            name = f"wav2vec2.feature_extractor.conv_layers.{layer}"
            x = nn.conv1d(x, self.weights[f"{name}.conv.weight"], self._bias(f"{name}.conv"), stride=stride)
            if by_layer:
                x = self._norm(x.transpose(1, 2), f"{name}.layer_norm").transpose(1, 2)
            elif layer == 0:
                scale, shift = (self.weights[f"{name}.layer_norm.{part}"] for part in ("weight", "bias"))
                x = nn.group_norm(x, x.shape[1], scale, shift)
            x = nn.gelu(x)
        return x

    def _places(self, x: torch.Tensor) -> torch.Tensor:
        """What tells the network where in the sound it is; its weights are kept as length and direction."""
        name = "wav2vec2.encoder.pos_conv_embed.conv"
        new = f"{name}.parametrizations.weight.original0" in self.weights
        ends = ("parametrizations.weight.original0", "parametrizations.weight.original1")
        length, way = (self.weights[f"{name}.{end}"] for end in (ends if new else ("weight_g", "weight_v")))
        weight = way * (length / way.norm(dim=(0, 1), keepdim=True))
        width, groups = weight.shape[2], self.config["num_conv_pos_embedding_groups"]
        out = nn.conv1d(
            x.transpose(1, 2), weight, self.weights[f"{name}.bias"], padding=width // 2, groups=groups
        )
        return nn.gelu(out[:, :, : x.shape[1]]).transpose(1, 2)

    def _layer(self, x: torch.Tensor, name: str, *, stable: bool) -> torch.Tensor:
        first, last = f"{name}.layer_norm", f"{name}.final_layer_norm"
        if stable:
            x = x + self._attention(self._norm(x, first), f"{name}.attention")
            return x + self._forward(self._norm(x, last), f"{name}.feed_forward")
        x = self._norm(x + self._attention(x, f"{name}.attention"), first)
        return self._norm(x + self._forward(x, f"{name}.feed_forward"), last)

    def _attention(self, x: torch.Tensor, name: str) -> torch.Tensor:
        heads = self.config["num_attention_heads"]
        shape = (1, x.shape[1], heads, x.shape[2] // heads)
        q, k, v = (self._linear(x, f"{name}.{p}_proj").view(shape).transpose(1, 2) for p in "qkv")
        mixed = nn.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        return self._linear(mixed, f"{name}.out_proj")

    def _forward(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return self._linear(nn.gelu(self._linear(x, f"{name}.intermediate_dense")), f"{name}.output_dense")

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return nn.linear(x, self.weights[f"{name}.weight"], self._bias(name))

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return nn.layer_norm(x, x.shape[-1:], scale, shift, self.config.get("layer_norm_eps", 1e-5))

    def _bias(self, name: str) -> torch.Tensor | None:
        return self.weights.get(f"{name}.bias")


def load(folder: Path, device: torch.device) -> Letters:
    """The network in a folder.

    Raises
    ------
    WeightsMissing : a file is missing, damaged, or of another kind of network
    """
    where = f"aligner: {folder}"
    hint = "a folder of a wav2vec2 model with a CTC head, as safetensors, as the model hub keeps it"
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise WeightsMissing(f"{where}: missing: {', '.join(missing)}", hint=hint)
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        columns = json.loads((folder / "vocab.json").read_text("utf-8"))
        weights = load_file(str(folder / "model.safetensors"), device=str(device))
    except (OSError, ValueError, SafetensorError) as exc:
        raise WeightsMissing(f"{where}: cannot be read: {str(exc).splitlines()[0]}", hint=hint) from exc
    if config.get("model_type") != "wav2vec2" or "lm_head.weight" not in weights:
        raise WeightsMissing(
            f"{where}: not a wav2vec2 with a CTC head: {config.get('model_type')}", hint=hint
        )
    return Letters(config, columns, {name: t.float() for name, t in weights.items()}, device)
