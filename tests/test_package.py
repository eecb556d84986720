"""What a user meets first: a quick command line, a README that says all, a whole and locked install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mvpipe

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mvpipe"
HEAVY = {
    "PIL", "av", "cv2", "demucs", "huggingface_hub", "librosa", "networkx", "numba", "numpy",
    "safetensors", "scipy", "soundfile", "soxr", "torch",
}  # fmt: skip


def test_pytest_walks_into_every_folder_of_tests(pytestconfig: pytest.Config) -> None:
    """A name on its list of what to leave out, such as `build`, hides all tests below without a word."""
    left_out = [pattern for pattern in pytestconfig.getini("norecursedirs") if pattern != "__pycache__"]
    folders = {path.parent.name for path in Path(__file__).parent.rglob("test_*.py")}
    assert "build" in folders
    assert not [name for name in folders for pattern in left_out if fnmatch(name, pattern)]


def run(*argv: str, cwd: Path = ROOT) -> str:
    """What another Python prints, in this environment."""
    done = subprocess.run([sys.executable, *argv], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pyproject() -> dict[str, Any]:
    """The project's own file."""
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return loaded


@pytest.fixture(scope="module")
def readme() -> str:
    """The README."""
    return (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as it would be published."""
    into = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(into))
    (path,) = into.glob("*.whl")
    return zipfile.ZipFile(path)


class TestFirstContact:
    @pytest.mark.parametrize("words", [["--help"], ["--version"], ["render", "--help"], ["plan", "--help"]])
    def test_help_and_version_import_nothing_heavy(self, words: list[str]) -> None:
        code = f"""
import sys
sys.argv = ["mvpipe", *{words!r}]
from mvpipe.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
        imported = set(run("-c", code).rpartition("imported:")[2].split())
        assert "typer" in imported
        assert not imported & HEAVY

    def test_importing_the_package_imports_nothing(self) -> None:
        code = "import sys; before = set(sys.modules); import mvpipe; print(*set(sys.modules) - before)"
        assert run("-c", code).split() == ["mvpipe"]

    def test_python_m_is_the_same_program(self) -> None:
        assert run("-m", "mvpipe", "--version").strip() == f"mvpipe {mvpipe.__version__}"

    @pytest.mark.parametrize(
        ("typed", "offered"),
        [
            ("mvpipe re", ["render", "rerender", "recipe"]),
            ("mvpipe why --no-such", []),
            ("mvpipe render --sep", ["--separator"]),
        ],
    )
    def test_the_shell_completes(
        self, typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("_MVPIPE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        code = "import sys; sys.argv = ['mvpipe']; from mvpipe.cli import main; main()"
        assert run("-c", code).split() == offered


class TestReadme:
    def test_every_command_is_in_its_table(self, readme: str) -> None:
        from typer.main import get_command

        from mvpipe.cli import app

        commands = set(get_command(app).commands)  # type: ignore[attr-defined]
        assert "render" in commands
        assert set(re.findall(r"^\| `mvpipe ([a-z]+)", readme, re.MULTILINE)) == commands

    def test_every_exit_code_is_in_its_table(self, readme: str) -> None:
        from mvpipe.errors import Cancelled, MvpipeError

        codes = {0, 1, Cancelled.exit_code, *(cls.exit_code for cls in MvpipeError.__subclasses__())}
        table = readme.partition("## Exit codes")[2].partition("\n## ")[0]
        assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == codes

    def test_ci_runs_its_command_for_tests_word_for_word(self, readme: str) -> None:
        (command,) = re.findall(r"^python3 -m venv .*pytest.*$", readme, re.MULTILINE)
        script = (ROOT / ".ci/run").read_text("utf-8").splitlines()
        steps = command.split(" && ")
        assert [line for line in script if line in steps] == steps

    def test_what_it_shows_is_there(self, readme: str) -> None:
        linked = re.findall(r"\]\((?!https?:|#)([^)]+)\)", readme)
        assert linked
        assert [path for path in linked if not (ROOT / path).exists()] == []

    def test_its_first_command_names_the_shipped_example(self, readme: str) -> None:
        (command,) = re.findall(r"^python3 -m venv .*mvpipe render.*$", readme, re.MULTILINE)
        song, storyboard = re.findall(r"examples/\S+", command)
        assert (ROOT / song).is_file()
        assert (ROOT / storyboard).is_file()


class TestWheel:
    def test_it_holds_all_of_the_package_and_nothing_else(self, wheel: zipfile.ZipFile) -> None:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
        hidden = re.compile(r"/(__pycache__|\.\w+)/")  # what tools leave there
        there = {path for path in PACKAGE.rglob("*") if path.is_file() and not hidden.search(str(path))}
        beside = (*(ROOT / "templates").iterdir(), *(ROOT / "storyboards").iterdir())
        data = {f"mvpipe/{path.relative_to(ROOT).as_posix()}" for path in beside}
        assert inside == {path.relative_to(ROOT).as_posix() for path in there} | data
        assert "mvpipe/py.typed" in inside

    def test_it_carries_the_licences(self, wheel: zipfile.ZipFile) -> None:
        licences = {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name}
        names = {"LICENSE", "NOTICE", "OFL.txt"}
        there = {path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*") if path.name in names}
        assert licences == {"LICENSE", *there}

    def test_its_version_is_the_packages(self, wheel: zipfile.ZipFile) -> None:
        (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        assert f"\nVersion: {mvpipe.__version__}\n" in wheel.read(metadata).decode()
        assert "version" in pyproject()["project"]["dynamic"]


class TestLock:
    @staticmethod
    def pins(name: str) -> list[tuple[Requirement, int]]:
        """Requirements of a lock file, each with the number of its hashes."""
        text = (ROOT / ".ci" / name).read_text("utf-8")
        found = re.findall(r"^([a-z0-9][^\\\n]*)((?: \\\n +--hash=\S+)+)$", text, re.MULTILINE)
        return [(Requirement(pin), hashes.count("--hash=")) for pin, hashes in found]

    @pytest.mark.parametrize("name", ["lock.txt", "lock-tests.txt"])
    def test_every_line_is_a_pin_with_hashes(self, name: str) -> None:
        text = (ROOT / ".ci" / name).read_text("utf-8")
        pins = self.pins(name)
        assert all([spec.operator for spec in pin.specifier] == ["=="] for pin, _ in pins)
        assert text.count("--hash=") == sum(count for _, count in pins)
        assert text.count("==") - text.count("== '") - text.count("=='") == len(pins)

    @pytest.mark.parametrize("name", ["lock.txt", "lock-tests.txt"])
    def test_it_names_no_host_and_no_folder(self, name: str) -> None:
        assert not re.search(r"://|@|(?<![\w.])/\w", (ROOT / ".ci" / name).read_text("utf-8"))

    def test_it_holds_what_the_project_asks_for(self) -> None:
        project = pyproject()
        runtime = self.pins("lock.txt")
        tools = runtime + self.pins("lock-tests.txt")
        asked = [(line, runtime) for line in project["project"]["dependencies"]]
        asked += [(line, runtime) for line in project["build-system"]["requires"]]
        asked += [(line, tools) for line in project["dependency-groups"]["dev"]]
        for line, lock in asked:
            wanted = Requirement(line)
            pinned = [pin for pin, _ in lock if canonicalize_name(wanted.name) == canonicalize_name(pin.name)]
            assert pinned, f"{line}: not in the lock; run .ci/lock.py"
            for pin in pinned:
                (spec,) = pin.specifier
                assert wanted.specifier.contains(spec.version), f"{line}: the lock has {pin}; run .ci/lock.py"

    def test_torch_may_be_a_cpu_build(self) -> None:
        """By sha256 pip would prefer the registry's CUDA build to one on the disk; lock.py says why."""
        text = (ROOT / ".ci/lock.txt").read_text("utf-8")
        torch = text.partition("\ntorch==")[2].partition("\ntorchspleeter==")[0]
        assert torch.count("--hash=sha512:") == torch.count("--hash=") > 1
