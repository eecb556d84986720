"""What can be seen of the machine mvpipe runs on: /proc and /sys, the cards' own tools, the kernel's log."""

from __future__ import annotations

import csv
import json
import platform
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvpipe.doctor.facts import MIB, Battery, Card, Machine, Unseen
from mvpipe.errors import ToolError

NVIDIA = (
    "name", "driver_version", "compute_cap", "memory.total", "memory.free", "power.limit",
    "power.default_limit", "power.draw", "utilization.gpu",
)  # fmt: skip
SIGNS = re.compile(
    r"oom-kill|Out of memory: Kill|NVRM: Xid|GPU has fallen off the bus|0x00000051"
    r"|amdgpu.*(?:reset|hang|timeout)|soft lockup|hung_task|blocked for more than",
    re.IGNORECASE,
)
"""Lines of a kernel's log that say why a render died."""

MOST_LINES = 40
PATIENCE_S = 20.0


def _run(argv: Sequence[str]) -> str:
    from mvpipe.tools import process

    return process.run(argv, deadline_s=PATIENCE_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyes:
    """How a machine is looked at, so that a test can show another.

    Parameters
    ----------
    root : where /proc and /sys are
    run : what a program prints; raises ToolError
    system : as `platform.system` says
    """

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str] = _run
    system: str = platform.system()


def look(folder: Path, eyes: Eyes | None = None) -> Machine:
    """The machine; whatever cannot be seen says why.

    Parameters
    ----------
    folder : where the film goes
    """
    eyes = eyes or Eyes()
    memory = _memory(eyes)
    return Machine(
        system=eyes.system,
        memory=_figure(memory, "MemTotal"),
        available=_figure(memory, "MemAvailable"),
        swap=_figure(memory, "SwapTotal"),
        disk=_disk(folder),
        cards=_cards(eyes),
        kernel=_kernel(eyes),
        battery=_battery(eyes),
    )


def _memory(eyes: Eyes) -> dict[str, int] | Unseen:
    try:
        text = (eyes.root / "proc/meminfo").read_text("utf-8")
    except OSError:
        return Unseen(f"no /proc/meminfo on {eyes.system}")
    return {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}


def _figure(found: dict[str, int] | Unseen, name: str) -> int | Unseen:
    return found if isinstance(found, Unseen) else found.get(name, Unseen(f"/proc/meminfo has no {name}"))


def _disk(folder: Path) -> int | Unseen:
    there = next((one for one in (folder, *folder.absolute().parents) if one.exists()), folder)
    try:
        return shutil.disk_usage(there).free
    except OSError as exc:
        return Unseen(f"{(exc.strerror or str(exc)).lower()}")


def _cards(eyes: Eyes) -> tuple[Card, ...] | Unseen:
    try:
        query = f"--query-gpu={','.join(NVIDIA)}"
        return read_nvidia(eyes.run(["nvidia-smi", query, "--format=csv,noheader,nounits"]))
    except ToolError as exc:
        lost = exc
    try:
        return read_rocm(eyes.run(["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"]))
    except (ToolError, ValueError):
        return Unseen(f"neither nvidia-smi nor rocm-smi answers: {str(lost).splitlines()[0][:120]}")


def read_nvidia(text: str) -> tuple[Card, ...]:
    """The cards from nvidia-smi's table."""
    rows = (
        dict(zip(NVIDIA, (cell.strip() for cell in row), strict=False))
        for row in csv.reader([*text.splitlines()])
    )
    return tuple(_nvidia(row) for row in rows if row.get("name"))


def _nvidia(row: dict[str, str]) -> Card:
    def number(name: str, unit: float = 1.0) -> float | Unseen:
        text = row.get(name, "")
        return float(text) * unit if re.fullmatch(r"\d+(\.\d+)?", text) else Unseen(f"nvidia-smi says {text}")

    def size(name: str) -> int | Unseen:
        found = number(name, MIB)
        return found if isinstance(found, Unseen) else int(found)

    return Card(
        name=row["name"],
        driver=row.get("driver_version", ""),
        capability=row.get("compute_cap", ""),
        memory=size("memory.total"),
        free=size("memory.free"),
        power_limit=number("power.limit"),
        power_default=number("power.default_limit"),
        power_draw=number("power.draw"),
        busy=number("utilization.gpu", 0.01),
    )


def read_rocm(text: str) -> tuple[Card, ...]:
    """The cards from rocm-smi's JSON.

    Raises
    ------
    ValueError : it is none
    """
    told = json.loads(text)
    if not isinstance(told, dict):
        raise ValueError("not an object")
    return tuple(_rocm(card) for name, card in sorted(told.items()) if name.startswith("card"))


def _rocm(card: dict[str, Any]) -> Card:
    total, used = (card.get(f"VRAM Total {what}Memory (B)", "") for what in ("", "Used "))
    known = str(total).isdecimal() and str(used).isdecimal()
    name = card.get("Card Series") or card.get("Card series") or card.get("Card Model") or "AMD card"
    if not known:
        return Card(name=str(name))
    return Card(name=str(name), memory=int(total), free=int(total) - int(used))


def _kernel(eyes: Eyes) -> tuple[str, ...] | Unseen:
    for argv in (["dmesg"], ["journalctl", "-k", "-b", "--no-pager", "-q"]):
        try:
            text = eyes.run(argv)
        except ToolError:
            continue
        if text.strip():
            return tuple(
                [line.strip()[:300] for line in text.splitlines() if SIGNS.search(line)][-MOST_LINES:]
            )
    return Unseen("the kernel's log is not readable by this user: sudo dmesg")


def _battery(eyes: Eyes) -> Battery | Unseen:
    folder = eyes.root / "sys/class/power_supply"
    if not folder.is_dir():
        return Unseen(f"no /sys/class/power_supply on {eyes.system}")
    states = [_line(supply / "status") for supply in folder.iterdir() if _line(supply / "type") == "Battery"]
    return Battery(present=bool(states), discharging="Discharging" in states)


def _line(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return ""
