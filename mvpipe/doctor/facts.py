"""What was seen of a server, of model files and of a machine: gathered once, frozen, fit for a bundle.

What could not be seen is a value too, with the reason: a check says so rather than guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from mvpipe.doctor.headers import Header

GIB = 1024**3
MIB = 1024**2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unseen:
    """Not visible from here, and why."""

    why: str


NO_SERVER = Unseen("no server was asked: name one with --backend")
ELSEWHERE = Unseen("the server is on another machine")
NO_MODELS = Unseen("name ComfyUI's models folder with --models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device as /system_stats tells it; memory in bytes."""

    name: str
    kind: str
    memory: int
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A ComfyUI server.

    Parameters
    ----------
    url : without secrets
    local : whether it is on this machine
    version, release : as it writes it, and as numbers; empty where it does not say
    argv : its command line, without secrets
    system : `os`, `python_version`, `pytorch_version` and the like, as told
    memory, free : of the host, bytes
    devices : the first is the one that renders
    upload_bytes : the largest request it takes
    nodes : class -> schema, of those asked for that it has
    asked : classes it was asked for
    """

    url: str
    local: bool = False
    version: str = ""
    release: tuple[int, ...] = ()
    argv: tuple[str, ...] = ()
    system: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: int | Unseen = Unseen("the server does not say")
    free: int | Unseen = Unseen("the server does not say")
    devices: tuple[Device, ...] = ()
    upload_bytes: float | Unseen = Unseen("the server does not say")
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]], repr=False)
    asked: frozenset[str] = field(default=frozenset(), repr=False)

    def has(self, name: str) -> bool | Unseen:
        """Whether it has a node class."""
        if name not in self.asked:
            return Unseen(f"the server was not asked for {name}")
        return name in self.nodes

    @property
    def device(self) -> str:
        """Name of the device that renders; empty where it does not say."""
        return self.devices[0].name if self.devices else ""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file whose header cannot be read, and why."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A file below the models folder.

    Parameters
    ----------
    path : below the models folder, with slashes
    size : bytes
    header : what its header says; `Damaged` where it is none; None for kinds that have none we read
    sha256 : of the whole file, in hexadecimal; empty where it was not asked for
    """

    path: str
    size: int
    sha256: str = ""
    header: Header | Damaged | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Its base name."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The first folder below the models folder."""
        return self.path.partition("/")[0] if "/" in self.path else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A graphics card as its own tool tells it: memory in bytes, power in watts, `busy` in [0, 1]."""

    name: str
    driver: str = ""
    capability: str = ""
    memory: int | Unseen = Unseen("its tool does not say")
    free: int | Unseen = Unseen("its tool does not say")
    power_limit: float | Unseen = Unseen("its tool does not say")
    power_default: float | Unseen = Unseen("its tool does not say")
    power_draw: float | Unseen = Unseen("its tool does not say")
    busy: float | Unseen = Unseen("its tool does not say")


@dataclass(frozen=True, slots=True, kw_only=True)
class Battery:
    """Where the power comes from."""

    present: bool
    discharging: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine that mvpipe runs on; sizes in bytes.

    Parameters
    ----------
    system : `Linux`, `Darwin` or `Windows`
    memory, available, swap : of the host
    disk : free, where the film goes
    cards : graphics cards
    kernel : lines of the kernel's log that are known signs, since it booted
    battery : where the power comes from
    """

    system: str
    memory: int | Unseen
    available: int | Unseen
    swap: int | Unseen
    disk: int | Unseen
    cards: tuple[Card, ...] | Unseen
    kernel: tuple[str, ...] | Unseen
    battery: Battery | Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """What the last small render proved.

    Parameters
    ----------
    version : of the server
    recipe : digest of graph, files and settings
    at : when, Unix seconds
    faults : what was wrong; empty if it passed
    step_s : seconds a step
    peak : the most memory of the card that was in use, bytes
    total : memory of the card, bytes
    lora : whether the take changed when the LoRA was left out
    itself, by_seed, by_lora : how far from the first take lies the same seed sampled again, another seed,
        and the first without its LoRA, in levels of brightness, 0 to 255
    """

    version: str
    recipe: str
    at: float
    faults: tuple[str, ...] = ()
    step_s: float | Unseen = Unseen("the server did not say")
    peak: int | Unseen = Unseen("the server did not say")
    total: int | Unseen = Unseen("the server did not say")
    lora: bool | Unseen = Unseen("no LoRA was left out")
    itself: float | Unseen = Unseen("it was not rendered twice")
    by_seed: float | Unseen = Unseen("no other seed was rendered")
    by_lora: float | Unseen = Unseen("no LoRA was left out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that was seen."""

    server: Server | Unseen = NO_SERVER
    machine: Machine | Unseen = Unseen("not looked at")
    models: tuple[ModelFile, ...] | Unseen = NO_MODELS
    canary: Canary | Unseen = Unseen("none was rendered on this server: mvpipe doctor --canary")

    def as_json(self) -> dict[str, Any]:
        """As JSON values: headers by what matters in them, node classes by their names and modules."""
        told: dict[str, Any] = plain(self)
        return told


def plain(value: Any) -> Any:
    """A fact as JSON values; what is not visible becomes `{"not visible": why}`."""
    if isinstance(value, Unseen):
        return {"not visible": value.why}
    if isinstance(value, Header):
        return value.summary()
    if is_dataclass(value):
        return dict(_fields(value)) | (_classes(value) if isinstance(value, Server) else {})
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, tuple | list) else value


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    for one in fields(value):
        if one.name not in ("nodes", "asked"):
            yield one.name, plain(getattr(value, one.name))


def _classes(server: Server) -> dict[str, Any]:
    """The node classes of a server by the modules they come from: their schemas fill a megabyte."""
    nodes = {name: str(schema.get("python_module") or "") for name, schema in sorted(server.nodes.items())}
    return {"nodes": nodes, "absent": sorted(server.asked - server.nodes.keys())}
