"""How long the client waits for what: data, so that a test can be in a hurry."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds, and how often something is tried again. Nothing waits for ever.

    Total time is no limit, only time without a sign of life. The figures follow what was measured: a server
    needs 20 s and more to start, minutes with many packs; a node can hold up every answer for a minute.

    Parameters
    ----------
    connect_s : until a connection stands
    answer_s : for the next bytes of an answer
    greet_s : that nobody answers at the address, when nobody ever has
    away_s : that nobody answers at the address, while work is under way
    again_s : between the two looks after which an absent job counts as gone
    quiet_s : without a word on a living WebSocket, until the server is asked all the same
    look_s, look_most_s : between two looks without a WebSocket, the first and the longest
    settle_s : from the news that a job has ended to its record
    start_s : that our job is said to run and nothing is heard of it
    life_s : without a sign of life of our job once it has begun
    stuck_s : that jobs wait and nothing runs
    queue_s : behind others' work of which nothing is heard
    free_s : for the server to free its memory
    cancel_s : for a server to hear that a job is taken back, when the user stops the run
    losses : how often a job that vanished is sent again
    deaths : how many deaths of the server while it ran a job are the job's own fault
    strays : how often a job that ended well, and left no whole film of its own, is sent again
    frees : how often memory is freed for a job that ran out of it
    pieces : how often a download is resumed
    """

    connect_s: float = 10.0
    answer_s: float = 90.0
    greet_s: float = 2.0
    away_s: float = 900.0
    again_s: float = 5.0
    quiet_s: float = 60.0
    look_s: float = 3.0
    look_most_s: float = 10.0
    settle_s: float = 1.0
    start_s: float = 300.0
    life_s: float = 1800.0
    stuck_s: float = 60.0
    queue_s: float = 12 * 3600.0
    free_s: float = 1.5
    cancel_s: float = 1.0
    losses: int = 5
    deaths: int = 2
    strays: int = 3
    frees: int = 1
    pieces: int = 8

    def __post_init__(self) -> None:
        if wrong := [f.name for f in fields(self) if not getattr(self, f.name) > 0]:
            raise ValueError(f"patience: {wrong[0]} must be positive")

    def hurried(self, factor: float) -> Patience:
        """The same with every wait `factor` times as long."""
        waits = {f.name: getattr(self, f.name) * factor for f in fields(self) if f.name.endswith("_s")}
        return replace(self, **waits)
