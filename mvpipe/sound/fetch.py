"""One file from the model hub. The asking is done by this file run as a program, which a deadline can end.

A hub that cannot be reached is otherwise waited for 24 s (name not resolved) to many minutes (packets
dropped), in calls that no time-out of a library covers whole.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

STARTUP_S = 6.0
"""Seconds allowed for a Python to start and import the hub's library, on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A file the hub has.

    Parameters
    ----------
    repo, file : where
    commit : the revision this is about
    sha256 : of its bytes; empty for a small file, which the hub knows by another hash
    size : in bytes
    """

    repo: str
    file: str
    commit: str
    sha256: str
    size: int


def ask(repo: str, file: str, reach_s: float, endpoint: str = "") -> Offer:
    """What the hub says about a file.

    Raises
    ------
    ToolError, ToolTimeout : it cannot be reached in time, or has no such file
    """
    said = _ask("ask", repo, file, endpoint, str(reach_s), deadline_s=reach_s + STARTUP_S)
    commit, etag, size = said.split()
    return Offer(repo=repo, file=file, commit=commit, sha256=etag if len(etag) == 64 else "", size=int(size))


def bring(offer: Offer, folder: Path, file_s: float, endpoint: str = "") -> None:
    """The file into the folder, whole or not at all; one that broke off goes on where it stopped.

    Raises
    ------
    ToolError, ToolTimeout : it did not come, or not in time
    """
    _ask("bring", offer.repo, offer.file, endpoint, offer.commit, str(folder), deadline_s=file_s + STARTUP_S)


def _ask(*words: str, deadline_s: float) -> str:
    from mvpipe.errors import ToolError, ToolTimeout
    from mvpipe.tools import process

    try:
        # -P: the folder of this file holds modules named like others'
        return process.run([sys.executable, "-P", __file__, *words], deadline_s=deadline_s)
    except ToolTimeout as exc:
        raise ToolTimeout(f"model hub: no answer in {deadline_s:.0f} s") from exc
    except ToolError as exc:
        last = (exc.stderr.strip().splitlines() or ["it said nothing"])[-1]
        last = "it cannot be reached" if "ConnectError" in last else last
        raise ToolError(f"model hub: {last}", argv=exc.argv, status=exc.status, stderr=exc.stderr) from exc


def cached(repo: str, file: str) -> Path | None:
    """A file in the hub's own cache, where another program may have put it."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, file)
    return Path(found) if isinstance(found, str) else None


def main(verb: str, repo: str, file: str, endpoint: str, *rest: str) -> None:
    """Do what `ask` and `bring` want, without credentials; errors go to stderr."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    if verb == "ask":
        url = hf_hub_url(repo, file, endpoint=endpoint or None)
        offer = get_hf_file_metadata(url, token=False, timeout=float(rest[0]), endpoint=endpoint or None)
        sys.stdout.write(f"{offer.commit_hash} {offer.etag} {offer.size}")
    else:
        commit, folder = rest
        hf_hub_download(repo, file, revision=commit, local_dir=folder, token=False, endpoint=endpoint or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
