"""The seal on an entry's folder: a record of every file by size and sha256, with a digest of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mvpipe.build.key import Task, canonical, digest, file_digest

RECORD = "entry.json"


def seal(scratch: Path, task: Task, facts: Mapping[str, Any], *, by: str = "") -> None:
    """Write the record of all that lies in a folder, make it read-only, and have it on the disk.

    Parameters
    ----------
    by : who has made it; not in the record where that is empty
    """
    files = {}
    for path in sorted(scratch.iterdir()):
        path.chmod(0o444)
        stat = path.stat()
        files[path.name] = {
            "size": stat.st_size,
            "sha256": file_digest(path),
            "mtime_ns": stat.st_mtime_ns,
        }
        sync(path)
    made = {"task": task.record(), "files": files, "facts": dict(facts), **({"by": by} if by else {})}
    record: dict[str, Any] = json.loads(canonical(made))
    record["seal"] = digest("entry", record)
    sheet = scratch / RECORD
    sheet.write_text(json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    sheet.chmod(0o444)
    sync(sheet)
    sync_folder(scratch)


def read_record(home: Path, key: str) -> tuple[dict[str, Any] | None, str]:
    """A record as sealed, `{task, files, facts}` and maybe `by`; or None, and what is wrong with it."""
    try:
        record = json.loads((home / RECORD).read_text("utf-8"))
        own = record.pop("seal")
        elsewhere = any("/" in name or name in ("", ".", "..", RECORD) for name in record["files"])
        whole = own == digest("entry", record) and digest("task", record["task"]) == key
        whole = whole and record.keys() - {"by"} == {"task", "files", "facts"} and not elsewhere
    except FileNotFoundError:
        return None, f"{RECORD} is missing"
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, f"{RECORD} is not readable"
    if not whole:
        return None, f"{RECORD} left its digest"
    return record, ""


def differs(path: Path, sealed: Mapping[str, Any]) -> str:
    """What is wrong with a file; nothing where it is as sealed: by size and time, else by content."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return f"{path.name} is missing"
    if stat.st_size != sealed["size"]:
        return f"{path.name} has {stat.st_size} bytes, not {sealed['size']}"
    if stat.st_mtime_ns != sealed["mtime_ns"] and file_digest(path) != sealed["sha256"]:
        return f"{path.name} left its digest"
    return ""


def sync(path: Path) -> None:
    """Have a file's bytes on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Have a folder's names on the disk."""
    if os.name == "nt":
        return  # Windows cannot open a folder to sync it; NTFS journals the rename
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
