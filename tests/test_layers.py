"""Imports point down, each foreign library has one place, and what must not be written is not written.

::

    cli -> pipeline -> {storyboard, sound, render, gate, reel} -> {film, tools} -> clock, wording -> errors
    build -> errors alone; doctor and studio sit beside cli
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import mvpipe

ROOT = Path(mvpipe.__file__).parent

FLOOR = frozenset({"errors"})
GROUND = FLOOR | {"clock", "wording"}
NOUNS = GROUND | {"film", "tools"}
CRAFTS = frozenset({"storyboard", "sound", "render", "gate", "reel"})
PIPELINE = frozenset(file.stem for file in ROOT.glob("*.py")) - GROUND - {"film", "__init__", "__main__"}
"""pipeline.py and the modules beside it: all that knows both the crafts and the build."""

MAY_IMPORT: dict[str, frozenset[str]] = {
    "errors": frozenset(),
    "clock": FLOOR,
    "wording": FLOOR,
    "film": GROUND,
    "tools": GROUND,
    "build": FLOOR,
    **dict.fromkeys(CRAFTS, NOUNS),
    **dict.fromkeys(PIPELINE, NOUNS | CRAFTS | PIPELINE | {"build", "testing"}),
    **dict.fromkeys(("doctor", "studio"), NOUNS | CRAFTS | PIPELINE | {"build"}),
    "cli": NOUNS | CRAFTS | PIPELINE | {"build", "doctor", "studio"},
    "testing": NOUNS,  # servers of their own, which only a rehearsal needs
    "__init__": frozenset(),
    "__main__": frozenset({"cli"}),
}

PLACES: dict[str, tuple[str, ...]] = {
    # the animatic and the slug paint, each in its own way; pictures of measurements share one
    "PIL": ("render/animatic/pillow.py", "reel/card.py", "tools/lettering.py"),
    "av": ("tools/", "testing/"),  # a stand-in makes its clips with nothing of ours
    "botocore": ("build/store.py",),  # what S3 raises that is no OSError
    "cloudpickle": ("build/parcel.py", "build/errand.py"),  # one packs, one compares its version
    "cv2": ("render/animatic/pixels.py", "gate/faces.py"),  # one paints, one looks, and they may not share
    "demucs": ("sound/demucs_net.py",),
    "distributed": ("build/cluster.py",),
    "ffmpeg": ("tools/compile.py",),
    "filelock": ("project.py",),
    "fsspec": ("build/store.py",),
    "huggingface_hub": ("sound/fetch.py",),
    "imageio_ffmpeg": ("tools/ffmpeg.py",),
    "librosa": ("sound/beats.py",),
    "networkx": ("build/graph.py",),
    "numpy": ("",),  # the language of samples and pixels, spoken everywhere
    "platformdirs": ("cli/settings.py",),
    "pydantic": ("storyboard/", "render/comfyui/", "doctor/"),  # one place a file format
    "requests": ("render/comfyui/", "endpoint.py"),  # ComfyUI, and a language model: two protocols
    "rich": ("cli/terminal.py",),
    # a storyboard with positions; demucs' two-line lists; the slots of a template
    # and where a storyboard is changed by position
    "ruamel": (
        "storyboard/nodes.py",
        "storyboard/change.py",
        "storyboard/surgery.py",
        "sound/bag.py",
        "render/comfyui/written.py",
    ),
    "safetensors": ("sound/demucs_net.py", "sound/ctc_net.py"),  # one separates, one hears letters
    "scipy": ("sound/",),
    "soundfile": ("sound/wav.py",),
    "soxr": ("sound/resample.py",),
    "torch": ("sound/", "gate/syncnet.py"),  # two crafts with a network each
    "typer": ("cli/",),
    "websockets": ("render/comfyui/",),
}
"""Foreign library -> the one place that imports it; a second place needs its reason beside it."""

PROCESS_STARTERS = {"subprocess", "multiprocessing", "pty", "asyncio.subprocess"}
OS_STARTERS = ("system", "popen", "exec", "spawn", "fork", "posix_spawn", "startfile")
STARTERS = {"create_subprocess_exec", "create_subprocess_shell", "ProcessPoolExecutor"}
CONSTANTS = {"PIPE", "DEVNULL"}


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the package, parsed."""

    path: str
    tree: ast.Module

    @property
    def part(self) -> str:
        """The layer it belongs to: its folder, or its own name at the top."""
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def module(self) -> list[str]:
        """Its dotted name, in pieces, with `__init__` for a package's own file."""
        return ["mvpipe", *self.path.removesuffix(".py").split("/")]

    def imports(self) -> Iterator[tuple[str, str]]:
        """(module, name) of everything it imports, wherever it does so; the name is empty for `import x`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = ".".join(self.module[: -node.level]) if node.level else ""
                module = ".".join(filter(None, (above, node.module)))
                yield from ((module, alias.name) for alias in node.names)

    def imported_parts(self) -> set[str]:
        """The layers of mvpipe it imports from."""
        found = set()
        for module, name in self.imports():
            pieces = [*module.split("."), name]
            if pieces[0] == "mvpipe":
                found.add(pieces[1])
        return found & {child.stem for child in ROOT.iterdir()}


def source(path: str, text: str) -> Source:
    """A file of the package, from its text."""
    return Source(path, ast.parse(text))


@cache
def package() -> tuple[Source, ...]:
    """Every file of the package."""
    files = sorted(ROOT.rglob("*.py"))
    return tuple(source(file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in files)


def upward_imports(src: Source) -> set[str]:
    """Layers it imports though they are not below it."""
    return src.imported_parts() - MAY_IMPORT.get(src.part, frozenset()) - {src.part}


def misplaced_imports(src: Source) -> set[str]:
    """Foreign libraries it imports though their place is elsewhere."""
    used = {module.split(".")[0] for module, _ in src.imports()} - {"mvpipe"} - sys.stdlib_module_names
    return {library for library in used if not src.path.startswith(PLACES.get(library, ("nowhere",)))}


def process_starters(src: Source) -> list[str]:
    """What it could start a program with."""
    imported = [f"{module}.{name}" for module, name in src.imports() if module in PROCESS_STARTERS]
    found = [name for name in imported if name.rpartition(".")[2] not in CONSTANTS]
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Attribute):
            on_os = isinstance(node.value, ast.Name) and node.value.id == "os"
            if node.attr in STARTERS or (on_os and node.attr.startswith(OS_STARTERS)):
                found.append(node.attr)
    return found


def broad_handlers(src: Source) -> list[int]:
    """Lines that catch everything: a bare except, `except Exception`, or BaseException that ends there.

    It does not where it is raised again, or put into a future that whoever waits for it raises it from.
    """
    handlers = (node for node in ast.walk(src.tree) if isinstance(node, ast.ExceptHandler))
    return [handler.lineno for handler in handlers if _is_broad(handler)]


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
    raises_again = any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    hands_on = any(
        isinstance(node, ast.Attribute) and node.attr == "set_exception" for node in ast.walk(handler)
    )
    return "Exception" in names or ("BaseException" in names and not (raises_again or hands_on))


def prints(src: Source) -> list[int]:
    """Lines that write to the terminal."""
    found = []
    for node in ast.walk(src.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            found.append(node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"}:
            found += [node.lineno] if isinstance(node.value, ast.Name) and node.value.id == "sys" else []
    return found


def environment_reads(src: Source) -> list[int]:
    """Lines that look at the environment."""
    return [
        node.lineno
        for node in ast.walk(src.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]


TERMINAL_PARTS = {"cli", "doctor", "studio", "testing"}
OWN_PROGRAMS = {"sound/fetch.py"}  # run as a program of its own: its stdout is a pipe to us


Check = Callable[[Source], Collection[object]]


def offenders(check: Check, *, but: Collection[str] = ()) -> dict[str, Collection[object]]:
    """Files a check objects to, with what it found; parts and files in `but` are let off."""
    asked = (src for src in package() if src.part not in but and src.path not in but)
    return {src.path: found for src in asked if (found := check(src))}


def test_every_part_has_its_layer() -> None:
    unknown = {src.part for src in package()} - MAY_IMPORT.keys()
    assert not unknown, "new parts of the package: say in MAY_IMPORT what lies below them"


def test_imports_point_down() -> None:
    assert not offenders(upward_imports)


def test_each_foreign_library_has_its_place() -> None:
    assert not offenders(misplaced_imports)


def test_only_tools_starts_programs() -> None:
    assert not offenders(process_starters, but={"tools", "testing"})


def test_nothing_catches_everything() -> None:
    assert not offenders(broad_handlers)


def test_only_the_command_line_writes_to_the_terminal() -> None:
    assert not offenders(prints, but=TERMINAL_PARTS | OWN_PROGRAMS)


def test_only_the_command_line_reads_the_environment() -> None:
    assert not offenders(environment_reads, but=TERMINAL_PARTS)


def test_a_package_file_is_a_docstring_and_no_more() -> None:
    packages = [src for src in package() if src.path.endswith("/__init__.py") and src.part != "cli"]
    assert [src.path for src in packages if len(src.tree.body) != 1] == []


def test_a_file_says_first_what_it_is() -> None:
    assert [src.path for src in package() if not ast.get_docstring(src.tree)] == []


class TestTheTestsThemselves:
    """Each check fails on a planted fault."""

    @pytest.mark.parametrize(
        ("path", "text", "found"),
        [
            ("film.py", "from mvpipe.sound.read import read", {"sound"}),
            ("sound/read.py", "def f():\n    from mvpipe.reel import mux", {"reel"}),
            ("sound/read.py", "from mvpipe import pipeline", {"pipeline"}),
            ("sound/read.py", "from ..gate import judge", {"gate"}),
            ("sound/read.py", "import mvpipe.render.backend", {"render"}),
            ("build/run.py", "from mvpipe.film import Shot", {"film"}),
            ("clock.py", "from mvpipe.tools import process", {"tools"}),
            ("tools/ffmpeg.py", "from mvpipe.film import Song", {"film"}),
            ("pipeline.py", "from mvpipe.cli import app", {"cli"}),
            ("sound/read.py", "from mvpipe import __version__\nfrom mvpipe.film import Song", set()),
            ("sound/read.py", "from .wav import read\nfrom mvpipe.tools import process", set()),
            ("cli/why.py", "from mvpipe import pipeline\nfrom mvpipe.build.vault import Vault", set()),
        ],
    )
    def test_an_import_upwards_is_seen(self, path: str, text: str, found: set[str]) -> None:
        assert upward_imports(source(path, text)) == found

    @pytest.mark.parametrize(
        ("path", "text", "found"),
        [
            ("reel/mux.py", "import av", {"av"}),
            ("tools/sound.py", "import av", set()),
            ("gate/judge.py", "def f():\n    import torch.nn", {"torch"}),
            ("gate/judge.py", "from scipy import signal", {"scipy"}),
            ("gate/judge.py", "import tensorflow", {"tensorflow"}),
            ("gate/judge.py", "import numpy as np\nimport json", set()),
        ],
    )
    def test_a_misplaced_library_is_seen(self, path: str, text: str, found: set[str]) -> None:
        assert misplaced_imports(source(path, text)) == found

    @pytest.mark.parametrize(
        "text",
        ["import subprocess", "from subprocess import run", "import os\nos.system('ls')",
         "import os\nos.execv('a')", "import multiprocessing",
         "import concurrent.futures as f\nf.ProcessPoolExecutor()"],
    )  # fmt: skip
    def test_a_started_program_is_seen(self, text: str) -> None:
        assert process_starters(source("reel/mux.py", text))

    def test_the_constants_start_nothing(self) -> None:
        assert not process_starters(source("reel/mux.py", "from subprocess import PIPE, DEVNULL"))

    @pytest.mark.parametrize(
        ("handler", "broad"),
        [
            ("except:\n    pass", True),
            ("except Exception:\n    raise", True),
            ("except (ValueError, Exception):\n    pass", True),
            ("except BaseException:\n    pass", True),
            ("except BaseException:\n    kill()\n    raise", False),
            ("except BaseException as exc:\n    done.set_exception(exc)", False),
            ("except (OSError, ValueError):\n    pass", False),
        ],
    )
    def test_a_broad_handler_is_seen(self, handler: str, broad: bool) -> None:
        assert bool(broad_handlers(source("x.py", f"try:\n    f()\n{handler}"))) is broad

    @pytest.mark.parametrize("text", ["print('x')", "import sys\nsys.stdout.write('x')"])
    def test_a_print_is_seen(self, text: str) -> None:
        assert prints(source("x.py", text))

    @pytest.mark.parametrize("text", ["import os\nos.environ['X']", "import os\nos.getenv('X')"])
    def test_a_look_at_the_environment_is_seen(self, text: str) -> None:
        assert environment_reads(source("x.py", text))
