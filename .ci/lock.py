"""Write lock.txt and lock-tests.txt: every package pinned and named by hash, for Linux, macOS and Windows.

Run by whoever changes a dependency in pyproject.toml::

    python -m venv lock-env && lock-env/bin/pip install uv && lock-env/bin/python .ci/lock.py

A machine that keeps torch's CPU build for pip should get that one, every other what the registry offers. Of
links that declare a listed hash pip takes no other, whatever their versions; the registry declares sha256.
So torch is listed by sha512: the version decides, `2.13.0+cpu` wins where there is one, and the bytes are
checked all the same. The wheels are fetched for that once per release of torch (some 3 GB).

What is not locked: the CUDA libraries that torch's Linux wheel pins to exact versions itself. Installing the
project adds them where the installed torch asks for them, and nothing where it is a CPU build.
"""

from __future__ import annotations

import re
import subprocess
import sys
from hashlib import sha512
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent

TORCH = "torch==2.13.0"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("manylinux_2_28_x86_64", "macosx_14_0_arm64", "win_amd64")

PULLED_IN_BY_TORCH = ("cuda-", "nvidia-", "triton")

OVERRIDES = f"{TORCH}\nnumpy>=2\n"
"""demucs holds both back on Intel Macs, which today's torch no longer serves."""

BUILD = "hatchling\neditables\n"

HEAD = """\
# Every package by version and hash; made by lock.py, which says how to make it again.
# Install with `pip install --no-deps -r`: the list is complete but for torch's own CUDA libraries.
--only-binary :all:
"""


def compiled(scratch: Path, *extra: str) -> dict[str, str]:
    """Package and marker -> its hashes, for every platform and Python we support."""
    (scratch / "override.in").write_text(OVERRIDES)
    (scratch / "build.in").write_text(BUILD)
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", PYTHONS[0]]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--only-binary", ":all:"]
    command += [
        "--override",
        str(scratch / "override.in"),
        *extra,
        "pyproject.toml",
        str(scratch / "build.in"),
    ]
    text = python(*command)
    pins = re.findall(r"^([a-z0-9][^\n]*?) \\\n((?:    --hash=.*\n)+)", text, re.MULTILINE)
    wanted = {pin: hashes for pin, hashes in pins if "== 'emscripten'" not in pin}
    return {pin: hashes for pin, hashes in wanted.items() if not pin.startswith(PULLED_IN_BY_TORCH)}


def torch_hashes(scratch: Path, sha256s: str) -> str:
    """Torch's hashes by sha512: those in lock.txt already, or those of the wheels, fetched by sha256."""
    known = re.search(rf"^{TORCH} \\\n((?:    --hash=sha512.*\n)+)", lock_text(), re.MULTILINE)
    if known:
        return known[1]
    pinned = scratch / "torch.txt"
    pinned.write_text(f"{TORCH} \\\n{sha256s}")
    found = {fetched(scratch, TORCH)}
    for platform, version in product(PLATFORMS, PYTHONS):
        found.add(fetched(scratch, "-r", str(pinned), "--platform", platform, "--python-version", version))
    return " \\\n".join(f"    --hash=sha512:{digest}" for digest in sorted(found)) + "\n"


def fetched(scratch: Path, *what: str) -> str:
    """The sha512 of the one wheel pip takes."""
    into = scratch / "wheel"
    python(
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-cache-dir",
        "--only-binary",
        ":all:",
        "-d",
        str(into),
        *what,
    )
    (wheel,) = into.iterdir()
    digest = sha512(wheel.read_bytes()).hexdigest()
    wheel.unlink()
    return digest


def python(*module: str) -> str:
    """What a Python module prints."""
    command = [sys.executable, "-m", *module]
    return subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True).stdout


def lock_text() -> str:
    """The lock as it is; empty where there is none."""
    path = HERE / "lock.txt"
    return path.read_text() if path.exists() else ""


def written(pins: dict[str, str]) -> str:
    """The pins as pip reads them."""
    return "".join(f"{pin} \\\n{hashes}" for pin, hashes in pins.items())


def main() -> None:
    """Both files, the second holding only what the first does not."""
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        runtime, everything = compiled(scratch), compiled(scratch, "--group", "dev")
        moved = runtime.keys() - everything.keys()
        if moved:
            raise SystemExit(
                f"the development tools move the pins of {sorted(moved)}: pin them in pyproject.toml"
            )
        tests = {pin: hashes for pin, hashes in everything.items() if pin not in runtime}
        runtime[TORCH] = torch_hashes(scratch, runtime[TORCH])
    (HERE / "lock.txt").write_text(HEAD + written(runtime))
    (HERE / "lock-tests.txt").write_text(HEAD + "-r lock.txt\n" + written(tests))


if __name__ == "__main__":
    main()
