"""What the official SyncNet and python_speech_features compute for made-up weights and inputs.

Computed once with joonson/syncnet_python 6efbb1c on a CPU; the recipe is `state` and `inputs` below.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

SEED = 20261130

AUDIO_FIRST = (
    (
        -31.0060215,
        37.9538155,
        22.3078556,
        -33.7727203,
        21.9958801,
        13.8702173,
        -35.5310555,
        30.4747868,
        -7.29149103,
        0.949289024,
        -2.11868238,
        -58.847229,
        -0.174596101,
        36.0155602,
        -3.52421284,
        36.5122871,
    ),
    (
        -32.2516632,
        30.6970863,
        15.4675732,
        -46.6513977,
        25.6067657,
        13.986043,
        -39.8529663,
        30.6122723,
        -0.964892983,
        -13.4595299,
        -2.04779196,
        -66.5469513,
        -6.58198309,
        28.4191036,
        0.994029045,
        25.3913383,
    ),
)
LIPS_FIRST = (
    (
        133.705154,
        -219.075684,
        -717.80603,
        118.808594,
        -230.463776,
        353.386566,
        -567.017334,
        271.599365,
        -244.530502,
        -661.079468,
        93.776413,
        298.398438,
        -645.547668,
        -11.517436,
        -11.3784962,
        -405.118469,
    ),
    (
        101.469627,
        -204.115967,
        -634.308899,
        254.848846,
        -251.984985,
        325.182739,
        -573.669617,
        199.92952,
        -236.650406,
        -651.219421,
        115.029427,
        267.828247,
        -614.149963,
        -33.9833145,
        41.3260231,
        -401.626709,
    ),
)
AUDIO_NORM = (774.558167, 785.248779)
LIPS_NORM = (9092.93359, 9175.75586)
DISTANCE = (9111.58203, 9186.70898)

MFCC_FIRST = (
    20.0419338,
    3.3699142,
    -13.9501077,
    25.9847836,
    37.9397612,
    -18.0059175,
    -41.7009426,
    -2.851939,
    2.09391072,
    -39.4766901,
    -37.7425245,
    -2.57593165,
    -6.14546025,
)
MFCC_50 = (
    19.995615,
    3.8587116,
    -20.6464464,
    19.8944982,
    37.9269258,
    -13.0867286,
    -35.8082006,
    0.997043412,
    2.6608817,
    -40.0253586,
    -37.3781306,
    -1.53198583,
    -5.70883422,
)
MFCC_SUM = -6249.627054790395


def state(shapes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, torch.Tensor], np.random.Generator]:
    """Made-up weights for entries in the state dict's order, and the generator as they left it."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    made = {}
    for name, shape in shapes.items():
        made[name] = torch.from_numpy(_entry(name, rng.standard_normal(shape).astype(np.float32)))
    return made, rng


def _entry(name: str, x: NDArray[np.float32]) -> NDArray[np.float32]:
    base, by, shape = 0.0, 0.1, x
    if name.endswith("running_var"):
        base, shape = 1.0, np.abs(x)
    elif x.ndim == 1 and name.endswith("weight"):
        base = 1.0
    elif x.ndim > 1:
        by = float(np.sqrt(2 / np.prod(x.shape[1:])))
    return np.asarray(np.float32(base) + np.float32(by) * shape, np.float32)


def inputs(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Two windows of cepstra and of pictures, drawn after the weights."""
    audio = (10 * rng.standard_normal((2, 1, 13, 20))).astype(np.float32)
    lips = rng.integers(0, 256, (2, 3, 5, 224, 224)).astype(np.float32)
    return torch.from_numpy(audio), torch.from_numpy(lips)
