"""Filter graphs become argument lists in which nothing of a value is taken for syntax."""

from __future__ import annotations

from pathlib import Path
from subprocess import PIPE

import pytest

from mvpipe.tools import ffmpeg, process
from mvpipe.tools.compile import filtered


def test_golden_argument_list() -> None:
    argv = filtered(
        "file:in.mp4",
        "file:out.mkv",
        [("trim", {"start_frame": 2, "end_frame": 9}), ("setpts", {"expr": "N"})],
        before={"err_detect": "explode"},
        options={"c:v": "libx264", "xerror": None},
    )
    assert argv[5:] == [
        *("-err_detect", "explode", "-i", "file:in.mp4"),
        *("-filter_complex", "[0:V:0]trim=end_frame=9:start_frame=2[s0];[s0]setpts=expr=N[s1]"),
        *("-map", "[s1]", "-c:v", "libx264", "-xerror", "file:out.mkv", "-y"),
    ]


def test_the_order_of_options_does_not_matter() -> None:
    one = filtered("a", "b", [("scale", {"w": 4, "h": 2})], options={"bf": 0, "g": 24})
    other = filtered("a", "b", [("scale", {"h": 2, "w": 4})], options={"g": 24, "bf": 0})
    assert one == other


@pytest.mark.parametrize("text", ["it's 5:00, [x]; y\\z=1", "%", "'", "\\", ";,[]:="])
def test_what_a_value_holds_reaches_the_filter_as_it_is(tmp_path: Path, text: str) -> None:
    """Metadata is printed back by ffmpeg itself."""
    argv = filtered(
        "color=s=16x16:d=0.1",
        "pipe:1",
        [
            ("metadata", {"mode": "add", "key": "said", "value": text}),
            ("metadata", {"mode": "print", "file": "-"}),
        ],
        before={"format": "lavfi"},
        options={"format": "null"},
    )
    with process.start(argv, stdout=PIPE) as child:
        assert child.stdout is not None
        assert f"said={text}" in child.stdout.read().decode().splitlines()


def test_the_program_is_ours() -> None:
    assert filtered("a", "b", [("null", {})], options={})[0] == ffmpeg.executable()
