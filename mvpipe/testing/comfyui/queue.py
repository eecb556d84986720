"""The prompts that wait, the one that runs, and the records of those that ended.

Waiting prompts are tuples on a heap, as in the real server: two of the same number and id cannot be
ordered, and whoever pushes or pops them meets a TypeError with the item already moved.
"""

from __future__ import annotations

import copy
import heapq
import threading
from collections.abc import Callable
from typing import Any

Item = tuple[float, str, dict[str, Any], Any, list[str]]
"""(number, prompt_id, graph, extra_data, outputs_to_execute)."""

HISTORY_LIMIT = 10_000


class Queue:
    """Waiting and running prompts, and history.

    Parameters
    ----------
    changed : called after every change of the queue
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._ready = threading.Condition(threading.RLock())
        self._heap: list[Item] = []
        self._running: dict[int, Item] = {}
        self._taken = 0
        self._flags: dict[str, Any] = {}
        self.history: dict[str, dict[str, Any]] = {}

    def put(self, item: Item) -> None:
        """Queue a prompt.

        Raises
        ------
        TypeError : it cannot be ordered; it is queued all the same, and nobody is told
        """
        with self._ready:
            heapq.heappush(self._heap, item)
            self._changed()
            self._ready.notify()

    def get(self, timeout: float) -> tuple[int, Item] | None:
        """The next prompt, which then runs; None when only a flag was set, or nothing came.

        Raises
        ------
        TypeError : the heap cannot be ordered
        """
        with self._ready:
            if not self._heap and not self._flags:
                self._ready.wait(timeout)
            if not self._heap:
                return None
            item = heapq.heappop(self._heap)
            ticket = self._taken
            self._running[ticket] = copy.deepcopy(item)
            self._taken += 1
            self._changed()
            return ticket, item

    def done(self, ticket: int, record: dict[str, Any] | None) -> None:
        """A prompt has ended; its record goes into history, unless there is none."""
        with self._ready:
            item = self._running.pop(ticket)
            if len(self.history) > HISTORY_LIMIT:
                self.history.pop(next(iter(self.history)))
            if record is not None:
                self.history[item[1]] = {"prompt": list(item), **record}
            self._changed()

    def remaining(self) -> int:
        """Waiting and running."""
        with self._ready:
            return len(self._heap) + len(self._running)

    def current(self) -> tuple[list[Item], list[Item]]:
        """Running, and waiting in heap order, which is not the order in which they will run."""
        with self._ready:
            return list(self._running.values()), copy.deepcopy(self._heap)

    def running_id(self) -> str | None:
        """The prompt id that runs."""
        with self._ready:
            return next((item[1] for item in self._running.values()), None)

    def delete(self, prompt_id: str) -> bool:
        """Take one waiting prompt away; the running one stays."""
        with self._ready:
            for place, item in enumerate(self._heap):
                if item[1] == prompt_id:
                    self._heap.pop(place)
                    heapq.heapify(self._heap)
                    self._changed()
                    return True
        return False

    def clear(self) -> None:
        """Take all waiting prompts away, whosoever they are."""
        with self._ready:
            self._heap.clear()
            self._changed()

    def set_flag(self, name: str, value: Any) -> None:
        """Leave word for the worker; it looks when it is idle."""
        with self._ready:
            self._flags[name] = value
            self._ready.notify()

    def take_flags(self) -> dict[str, Any]:
        """The words left, and leave none."""
        with self._ready:
            flags, self._flags = self._flags, {}
            return flags

    def past(self, max_items: int | None, offset: int) -> dict[str, dict[str, Any]]:
        """A stretch of history in order of completion; without offset the last `max_items`."""
        with self._ready:
            if offset < 0 and max_items is not None:
                offset = len(self.history) - max_items
            found: dict[str, dict[str, Any]] = {}
            for place, (prompt_id, record) in enumerate(self.history.items()):
                if place >= offset:
                    found[prompt_id] = copy.deepcopy(record)
                    if max_items is not None and len(found) >= max_items:
                        break
            return found
