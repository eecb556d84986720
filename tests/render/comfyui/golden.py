"""Golden files: what was filled, and what was written, when somebody last looked at it.

`python -m tests.render.comfyui.golden` writes them anew; look at the difference before it is committed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from mvpipe.film import ShotKind
from mvpipe.render.comfyui.bank import references
from mvpipe.render.comfyui.graph import Graph
from mvpipe.render.comfyui.prompt import Prompt, compose
from mvpipe.render.comfyui.slots import Fill
from mvpipe.render.comfyui.template import DEFAULT, names
from tests.render.comfyui.servers import filled
from tests.render.comfyui.setups import MIRA, STREET, TOMAS, asset, setup, sounding

HERE = Path(__file__).parent / "golden"

FULL: dict[str, Fill] = {
    "width": 1344,
    "height": 768,
    "length": 192,
    "seed": 18446744073709551615,
    "prompt": "six sections\nand more",
    "vocals": "mvpipe/5f.wav",
    "steps": 8,
    "shift_video": 6.0,
    "sampler": "euler",
    "scheduler": "simple",
    "lora": "minimax_h3_ref2v_turbo_8step_v1.0_768p_comfyui_bf16.safetensors",
    "lora_strength": 1.0,
}


def golden_graph(name: str) -> Graph:
    """A template with everything in it; pictures as many as the shot in the middle of a film has."""
    pictures = ["mvpipe/a1.png", "mvpipe/b2.png", "mvpipe/c3.png"]
    return filled(name, **FULL, pictures=pictures[:1] if name == "multishot-pinned" else pictures)


def golden_references() -> Graph:
    """The default graph with films and voices besides."""
    clips, voices = ["mvpipe/d4.mp4", "mvpipe/e5.mp4"], ["mvpipe/f6.wav", "mvpipe/a7.wav"]
    return filled(DEFAULT, **FULL, pictures=["mvpipe/a1.png"], videos=clips, voices=voices)


@cache
def golden_prompts() -> dict[str, Prompt]:
    """The prompts of five shots: one singer, two of whom one sings, nobody, nothing pinned, all pinned."""
    mira, street = replace(MIRA, pictures=()), replace(STREET, pictures=())
    walks = replace(MIRA, videos=(asset("walks.mp4"),), voice=asset("mira.wav"))
    tracked = replace(STREET, pictures=(), videos=(asset("tracking.mp4"),))
    shots = {
        "prompt-performance": (setup(framing="medium close-up, three-quarter from the left"), ""),
        "prompt-two-one-sings": (
            setup("Mira sings across the table; Tomas stirs his tea.", cast=(MIRA, TOMAS)),
            "",
        ),
        "prompt-b-roll": (
            setup("Rain on a tram window.", cast=(), kind=ShotKind.B_ROLL, framing="detail"),
            "",
        ),
        "prompt-filmed-and-voiced": (setup(cast=(walks,), place=tracked), ""),
        "prompt-no-pictures": (setup(cast=(mira,), place=street, lyric="no way home#2"), "English"),
    }
    return {
        name: compose(shot, references(shot, voices=True), sounding(shot), lyrics=lyrics)
        for name, (shot, lyrics) in shots.items()
    }


def written(graph: Graph) -> str:
    """A graph as its golden file has it: one node a line."""
    lines = [f"  {json.dumps(node_id)}: {json.dumps(node)}" for node_id, node in graph.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name in names():
        (HERE / f"{name}.json").write_text(written(golden_graph(name)), "utf-8")
    (HERE / "references.json").write_text(written(golden_references()), "utf-8")
    for name, prompt in golden_prompts().items():
        (HERE / f"{name}.txt").write_text(prompt.text + "\n", "utf-8")
