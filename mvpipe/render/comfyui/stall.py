"""A server that answers and does not work: found out once, and known to all that would wait for it.

A node that hangs, and a worker that has died, are mended by a restart alone, and each costs half an hour to
find out. So whoever gives up a job tells the others, and nothing is sent before that job has moved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from mvpipe.render.comfyui.server import Sight


class Stall:
    """What a server was last given up for; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: tuple[str, Sight] | None = None
        self._why = ""

    @property
    def why(self) -> str:
        """Why it was given up, in words; empty while it works as far as anybody knows."""
        return self._why

    def note(self, prompt_id: str, sight: Sight, why: str) -> None:
        """A job was given up where it was seen last. The first who says so is believed."""
        with self._lock:
            if self._found is None:
                self._found, self._why = (prompt_id, sight), why

    def lasts(self, look: Callable[[str], Sight]) -> str:
        """Why it is still given up; empty once that job has moved: a restarted server knows nothing of it.

        Parameters
        ----------
        look : asks the server where a job is
        """
        with self._lock:
            found, why = self._found, self._why
        if found is None:
            return ""
        prompt_id, sight = found
        if look(prompt_id) == sight:
            return why
        with self._lock:
            if self._found == found:
                self._found, self._why = None, ""
        return ""
