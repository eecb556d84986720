"""What the server saw and did, a JSON line each, written at once so that a killed server has told all."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any


class Log:
    """Lines of `log.jsonl`: `start`, `request`, `socket`, `run`, `fault`, `trouble`, with real time `t`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, kind: str, **facts: Any) -> None:
        """One line."""
        line = json.dumps({"t": round(time.time(), 4), "kind": kind, **facts}, default=str)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    """All lines; one that a death cut short is left out."""
    lines = path.read_text("utf-8").split("\n") if path.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
