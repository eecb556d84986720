"""A bundle for a bug report: the end of the log, what was recognised, facts and versions, without secrets."""

from __future__ import annotations

import io
import json
import platform
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mvpipe import __version__
from mvpipe.doctor.faults import Explained
from mvpipe.doctor.redact import Redactor
from mvpipe.errors import SettingsError

LOG_BYTES = 512 * 1024
"""Of the end of a log."""

README = """\
A report by mvpipe explain. Secrets, home folders, names of users and hosts and addresses were taken out;
please read it once before you attach it, since prompts and names of files are in it.

log.txt         the end of the log or text that was asked about
explained.json  what was recognised, or the nearest that is known
facts.json      what is visible of the server, its model files, and this machine
versions.json   mvpipe, Python, system
"""


def versions() -> dict[str, str]:
    """What runs here; no name of a machine."""
    return {
        "mvpipe": __version__,
        "python": sys.version.split()[0],
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
    }


def bundle_files(
    text: str,
    found: Sequence[Explained],
    near: Sequence[str],
    facts: Mapping[str, Any] | None,
    redactor: Redactor,
) -> dict[str, str]:
    """The files of a bundle by name, redacted."""
    explained = {"recognised": [one.as_json() for one in found], "nearest": list(near)}
    values: dict[str, Any] = {"explained.json": explained, "versions.json": versions()}
    if facts is not None:
        values["facts.json"] = dict(facts)
    told = {name: json.dumps(redactor.clean_json(value), indent=1) + "\n" for name, value in values.items()}
    return {"README.txt": README, "log.txt": redactor.clean(text[-LOG_BYTES:]) + "\n", **told}


def write_bundle(path: Path, files: Mapping[str, str]) -> None:
    """Write a bundle as a zip file.

    Raises
    ------
    SettingsError : it is there already, or cannot be written
    """
    if path.exists():
        raise SettingsError(f"--bundle: {path}: is there already", hint="name another file")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in files.items():
            stream.writestr(name, content)
    try:
        path.write_bytes(packed.getvalue())
    except OSError as exc:
        raise SettingsError(f"--bundle: {path}: {(exc.strerror or str(exc)).lower()}") from exc
