"""Every fault the server can be told to have: its name, when it strikes, what it reproduces.

§ is a section of the protocol as measured. A fault strikes at its moment, as often as it was ordered; its
figures are real seconds. `mends` says that a careful client gets the same take in the end, without help and
without another seed; only such faults are drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MOMENTS = (
    "request", "prompt", "upload", "view", "socket", "message",
    "start", "node", "step", "sample", "save", "end",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A fault by name.

    Parameters
    ----------
    name : its switch
    moment : one of MOMENTS: when it can strike
    says : what it reproduces, and where the protocol says so
    figures : its figures and their defaults
    mends : whether a careful client ends with the same take
    """

    name: str
    moment: str
    says: str
    figures: dict[str, Any] = field(default_factory=dict)
    mends: bool = False


def _kind(name: str, moment: str, says: str, *, mends: bool = False, **figures: Any) -> Kind:
    return Kind(name=name, moment=moment, says=says, figures=figures, mends=mends)


_NETWORK = (
    _kind("reset", "request", "§8 the connection breaks before anything was done", mends=True, path=""),
    _kind("slow-answer", "request", "§5 a GET took up to 1.6 s while the worker freed memory",
          mends=True, seconds=0.3, path=""),
    _kind("door-closed", "request", "§1 connection refused, and the same server is back later: a proxy, a "
          "network, a full backlog; `path` picks the request that is still answered",
          mends=True, seconds=0.5, path=""),
    _kind("forbidden", "request", "§1 403 and an empty body: Origin or Sec-Fetch-Site", path=""),
    _kind("not-comfyui", "request", "an answer that is not ComfyUI: 200 and a page of HTML", path=""),
    _kind("bad-gateway", "request", "a proxy stands, the server behind it does not: 502 and HTML",
          mends=True, path=""),
)  # fmt: skip

_PROMPT = (
    _kind("post-late", "prompt", "§8 time-out of POST /prompt: queued all the same; answered `seconds` later",
          mends=True, seconds=1.0),
    _kind("post-lost", "prompt", "§9.6 a POST that never arrived: no answer, nothing queued", mends=True),
    _kind("post-reset", "prompt", "§9.4 queued, and the connection breaks before the answer", mends=True),
    _kind("post-500", "prompt", "§4 500 text, yet queued (as with equal number and id)", mends=True),
    _kind("half-accepted", "prompt", "§4 200 with node_errors: an output node was dropped, the rest runs"),
    _kind("foreign-first", "prompt", "§8 foreign prompts ahead: `count` of `seconds` each, from no client",
          mends=True, count=1, seconds=0.2),
    _kind("queue-cleared", "prompt", "§7 somebody posts {\"clear\": true} just after", mends=True),
)  # fmt: skip

_FILES = (
    _kind("upload-full", "upload", "§8 disk full at an upload: 500"),
    _kind("upload-renamed", "upload", "§3 the answer's name is not the one asked for", mends=True),
    _kind("view-cut", "view", "§9.8 a download ends before Content-Length", mends=True, bytes=1000),
    _kind("view-gone", "view", "§6 the file that a record names is gone: 404"),
)

_SOCKET = (
    _kind("socket-refused", "socket", "§9.5 no WebSocket to be had: 403 at the handshake", mends=True),
    _kind("socket-drop", "message", "§8 WebSocket closes with 1006, HTTP still fine", mends=True),
    _kind("socket-mute", "message", "§5 the forgotten socket: open, answers pings, no more messages",
          mends=True),
    _kind("messages-lost", "message", "§5 messages for a client that is away are dropped", mends=True),
)  # fmt: skip

_WORK = (
    _kind("die", "node", "§8 the process dies in a node (`at`: sampler, a class, or \"\"), after step `step`",
          mends=True, at="sampler", step=1),
    _kind("freeze", "step", "§8 a node holds the GIL: no answer, no message; requests wait, act later",
          mends=True, seconds=0.5),
    _kind("slow-loop", "step", "§8 the event loop stalls at each step", mends=True, seconds=0.05),
    _kind("worker-dies", "start", "§8 the worker thread is dead, HTTP goes on"),
    _kind("hang", "step", "§8 one prompt running for ever; interrupts have no effect"),
    _kind("interrupted", "step", "§8 interrupted, not by us"),
    _kind("out-of-memory", "node", "§6 torch.OutOfMemoryError in a node of class `at`; `until_free` keeps it "
          "until /free {free_memory}", mends=True, at="sampler", until_free=True),
    _kind("out-of-memory-plain", "node", "§6 RuntimeError: CUDA out of memory, from packs", mends=True,
          at="sampler", until_free=False),
    _kind("node-error", "node", "§8 error, other: a node raises", at="sampler"),
    _kind("input-gone", "start", "§6 an input file deleted after validation: av.error.FileNotFoundError"),
    _kind("disk-full", "save", "§8 disk full: an error in SaveVideo"),
    _kind("no-rights", "save", "§8 missing rights: an error in SaveVideo"),
    _kind("record-lost", "end", "§2 {} for a deleted record: the run ended and history knows nothing",
          mends=True),
)  # fmt: skip

_RESULT = (
    _kind("stale-file", "start", "§6 fully cached run: success at once, naming an earlier prompt's file"),
    _kind("stale-file-gone", "start", "§6 the same, and that file is gone from the disk: /view 404"),
    _kind("instant", "start", "a render that took no time: success, no progress, one frozen picture"),
    _kind("frames-short", "sample", "§6 success with too few frames; `frames` of them", frames=7),
    _kind("file-damaged", "save", "a file that ends early though the record says success", bytes=2000),
    _kind("sound-missing", "sample", "§6 success without an audio stream"),
    _kind("sound-silent", "sample", "§6 success with silence"),
    _kind("sound-constant", "sample", "success with a constant instead of sound", level=0.25),
    _kind("sound-short", "sample", "§6 success with half the sound"),
    _kind("sound-nan", "sample", "§6 NaN audio is an error in SaveVideo: Input contains (near) NaN"),
    _kind("sound-nan-stored", "sample", "NaN samples in the file (a container with float PCM)"),
    _kind("lock-ignored", "sample", "the sampler makes its own sound in spite of the zero mask"),
    _kind("lora-ignored", "sample", "h3.md 0.8: a LoRA whose keys do not match loads and raises nothing"),
    _kind("seed-ignored", "sample", "two seeds give the same picture"),
    _kind("shimmer", "sample", "a card that does not compute the same sum twice alike: every render "
          "differs a little from all others, by up to `level` of 255", level=2),
    _kind("black", "sample", "a black picture"),
    _kind("frozen", "sample", "one picture for the whole clip"),
)  # fmt: skip

CATALOGUE: dict[str, Kind] = {
    kind.name: kind for kind in (*_NETWORK, *_PROMPT, *_FILES, *_SOCKET, *_WORK, *_RESULT)
}


def describe() -> str:
    """The catalogue as a table for the terminal."""
    return "\n".join(
        f"{kind.name:20} {kind.moment:8} {'mends' if kind.mends else '':6} {kind.says}"
        + (f"  {kind.figures}" if kind.figures else "")
        for kind in CATALOGUE.values()
    )
