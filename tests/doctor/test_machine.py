"""A machine is seen as its files and tools tell it; what they do not tell is not visible, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mvpipe.doctor.facts import GIB, MIB, Battery, Facts, Unseen, plain
from mvpipe.doctor.machine import Eyes, look
from mvpipe.errors import ToolError, ToolMissing, ToolTimeout

MEMINFO = "MemTotal:       32761234 kB\nMemAvailable:   20000000 kB\nSwapTotal:       8388604 kB\n"
NVIDIA = "NVIDIA GeForce RTX 5060 Ti, 580.95.05, 12.0, 16311, 15800, 180.00, 180.00, 21.40, 96\n"
ROCM = """{"card0": {"Card Series": "AMD Radeon RX 6650 XT", "VRAM Total Memory (B)": "8573157376",
"VRAM Total Used Memory (B)": "500000000"}, "system": {"Driver version": "6.10.5"}}"""
DMESG = """[    0.1] Linux version 6.8
[ 9001.2] NVRM: Xid (PCI:0000:01:00): 79, pid=4242, GPU has fallen off the bus.
[ 9002.2] oom-kill:constraint=CONSTRAINT_NONE,task=python,pid=4242,uid=1000
[ 9003.0] usb 1-2: new high-speed USB device
"""


def planted(
    tmp_path: Path, said: Mapping[str, str], *, supplies: Mapping[str, tuple[str, str]] | None = None
) -> Eyes:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(MEMINFO)
    for name, (kind, status) in (supplies or {}).items():
        folder = tmp_path / "sys/class/power_supply" / name
        folder.mkdir(parents=True)
        (folder / "type").write_text(kind + "\n")
        (folder / "status").write_text(status + "\n")

    def run(argv: Sequence[str]) -> str:
        if argv[0] not in said:
            raise ToolMissing(f"{argv[0]}: not found")
        return said[argv[0]]

    return Eyes(root=tmp_path, run=run, system="Linux")


def test_all_is_read(tmp_path: Path) -> None:
    supplies = {"AC": ("Mains", ""), "BAT0": ("Battery", "Discharging")}
    found = look(tmp_path, planted(tmp_path, {"nvidia-smi": NVIDIA, "dmesg": DMESG}, supplies=supplies))
    assert not isinstance(found.cards, Unseen)
    (card,) = found.cards
    assert (card.name, card.capability, card.driver) == ("NVIDIA GeForce RTX 5060 Ti", "12.0", "580.95.05")
    assert (card.memory, card.power_limit, card.power_draw, card.busy) == (16311 * MIB, 180, 21.4, 0.96)
    assert found.memory == 32761234 * 1024
    assert found.swap == pytest.approx(8 * GIB, rel=0.01)
    assert found.battery == Battery(present=True, discharging=True)
    assert not isinstance(found.kernel, Unseen)
    assert [line.split("] ")[1][:9] for line in found.kernel] == ["NVRM: Xid", "oom-kill:"]
    assert isinstance(found.disk, int)


def test_what_a_card_does_not_say_is_not_visible(tmp_path: Path) -> None:
    text = "NVIDIA GB10, 580.1, 12.1, [N/A], [N/A], [N/A], [N/A], 18.00, 96\n"
    found = look(tmp_path, planted(tmp_path, {"nvidia-smi": text}))
    assert not isinstance(found.cards, Unseen)
    assert found.cards[0].memory == Unseen("nvidia-smi says [N/A]")
    assert found.cards[0].power_draw == 18


def test_a_radeon_is_seen_through_its_own_tool(tmp_path: Path) -> None:
    found = look(tmp_path, planted(tmp_path, {"rocm-smi": ROCM}))
    assert not isinstance(found.cards, Unseen)
    assert (found.cards[0].name, found.cards[0].memory) == ("AMD Radeon RX 6650 XT", 8573157376)


@pytest.mark.parametrize(
    "error", [ToolMissing("x: not found"), ToolTimeout("x: late"), ToolError("x: status 9")]
)
def test_a_machine_that_tells_nothing(tmp_path: Path, error: ToolError) -> None:
    def run(argv: Sequence[str]) -> str:
        raise error

    found = look(tmp_path, Eyes(root=tmp_path / "nowhere", run=run, system="Darwin"))
    hidden = (found.memory, found.available, found.swap, found.cards, found.kernel, found.battery)
    assert all(isinstance(one, Unseen) for one in hidden)
    assert "no /proc/meminfo on Darwin" in str(plain(found))


def test_the_kernels_log_may_be_had_from_journalctl(tmp_path: Path) -> None:
    found = look(tmp_path, planted(tmp_path, {"journalctl": DMESG}))
    assert not isinstance(found.kernel, Unseen)
    assert len(found.kernel) == 2


def test_facts_are_json_and_say_what_is_not_visible() -> None:
    told = Facts().as_json()
    assert told["models"] == {"not visible": "name ComfyUI's models folder with --models"}
    assert set(told) == {"server", "machine", "models", "canary"}
