"""The whole doctor against the stand-in, in planted configurations.

`python -m tests.doctor.tables` writes the golden tables anew, to be read before they are committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mvpipe.doctor.diagnose import Diagnosis, Place, diagnose
from mvpipe.doctor.machine import Eyes
from mvpipe.doctor.wanted import Wanted, want
from mvpipe.errors import ToolMissing
from mvpipe.testing.standin import standin
from tests.doctor import files

GOLDEN = Path(__file__).parent / "golden"
MEMORY = "MemTotal: {0} kB\nMemAvailable: {0} kB\nSwapTotal: {1} kB\n"
ADA = "NVIDIA GeForce RTX 4090, 580.95, 8.9, 24564, 24000, 450.00, 450.00, 31.00, 2\n"
BLACKWELL = "NVIDIA GeForce RTX 5060 Ti, 580.95, 12.0, 16311, 15800, 180.00, 180.00, 19.00, 97\n"
SIGNS = "[1] oom-kill: task=python\n[2] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"


def nothing(folder: Path) -> None:
    """Leave the models as they are."""


def damage(folder: Path) -> None:
    """A LoRA whose keys match nothing, Music's VAE, a short file, an unfinished download."""
    files.write_safetensors(folder / "loras" / files.FOUR, files.lora(prefix="transformer."))
    files.padded(folder / "vae/minimax_h3_audio_vae_fp32.safetensors", files.MUSIC_VAE)
    files.write_safetensors(
        folder / "vae/minimax_h3_video_vae_int8_convrot.safetensors", files.VIDEO_VAE, short=9
    )
    (folder / "loras/other.safetensors.part").write_bytes(b"x")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A server, a machine, model files and a graph."""

    flags: Sequence[str] = ()
    version: str = "0.33.0"
    graph: str = "native-ref2va"
    size: tuple[int, int] = (960, 544)
    smi: str = ADA
    dmesg: str = "[0] Linux\n"
    memory: tuple[int, int] = (64, 16)
    battery: str = ""
    models: Callable[[Path], None] | None = None
    served: bool = True


PLANTED = {
    "well": Planted(models=nothing),
    "blackwell-with-sage": Planted(
        flags=("--card", "16gb", "--argv=--use-sage-attention"), smi=BLACKWELL, memory=(32, 2)
    ),
    "harmful-flags": Planted(
        flags=("--argv=--reserve-vram", "--argv=1.0", "--argv=--lowvram", "--argv=--cache-lru", "--argv=2")
    ),
    "cpu": Planted(flags=("--card", "cpu"), smi=""),
    "old-core": Planted(version="0.3.64"),
    "later-core": Planted(version="0.38.0", graph="native-ref2va-lowvram"),
    "pack-missing": Planted(flags=("--packs", "core,kj"), graph="t8-lock-source"),
    "file-missing": Planted(flags=("--without-model", files.FOUR)),
    "multishot": Planted(flags=("--packs", "core,multishot,longmedia"), graph="longmedia-lip-sync"),
    "damaged-files": Planted(models=damage),
    "ailing-machine": Planted(dmesg=SIGNS, memory=(16, 0), battery="Discharging"),
    "small-uploads": Planted(flags=("--max-upload-size", "2"), size=(1376, 768)),
    "no-server": Planted(served=False, smi=""),
}


def eyes(root: Path, planted: Planted) -> Eyes:
    """The machine that is planted."""
    (root / "proc").mkdir(parents=True)
    kib = [gib * 1024**2 for gib in planted.memory]
    (root / "proc/meminfo").write_text(MEMORY.format(*kib))
    supply = root / "sys/class/power_supply/BAT0"
    supply.mkdir(parents=True)
    if planted.battery:
        (supply / "type").write_text("Battery\n")
        (supply / "status").write_text(planted.battery + "\n")

    def run(argv: Sequence[str]) -> str:
        said = {"nvidia-smi": planted.smi, "dmesg": planted.dmesg}.get(argv[0])
        if not said:
            raise ToolMissing(f"{argv[0]}: not found")
        return said

    return Eyes(root=root, run=run, system="Linux")


def table(name: str, scratch: Path) -> str:
    """The doctor's table of a planted configuration, without what differs from run to run."""
    planted = PLANTED[name]
    models = None
    if planted.models:
        models = files.models(scratch / "models")
        planted.models(models)
    wanted = want(planted.graph, size=planted.size)
    seen = eyes(scratch / "machine", planted)
    if not planted.served:
        return _plain(_diagnosed(wanted, "", scratch, models, seen))
    with standin(scratch / "server", version=planted.version, flags=planted.flags) as server:
        return _plain(_diagnosed(wanted, server.url, scratch, models, seen))


def _diagnosed(wanted: Wanted, url: str, scratch: Path, models: Path | None, seen: Eyes) -> Diagnosis:
    place = Place(url=url, folder=scratch, kept=scratch / "kept", models=models, eyes=seen)
    return diagnose(wanted, place)


def _plain(found: Diagnosis) -> str:
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://SERVER", found.text())
    kept = [line for line in text.splitlines() if not re.match(r"(ok|warn|fail)\s+disk\s", line)]
    return (
        "\n".join(re.sub(r"\(\d+ ok, \d+ warn", "(", line) if "result:" in line else line for line in kept)
        + "\n"
    )


def main() -> None:
    """Write every golden table."""
    for name in PLANTED:
        with TemporaryDirectory() as scratch:
            (GOLDEN / f"{name}.txt").write_text(table(name, Path(scratch)), "utf-8")


if __name__ == "__main__":
    main()
