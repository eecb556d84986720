"""What a server said, and what a status that is no success means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mvpipe.errors import BackendError, Unreachable
from mvpipe.render.comfyui.address import shown
from mvpipe.render.comfyui.failures import Lasting, NotComfyUI, Refused

START_IT = "start ComfyUI there (python main.py --listen), or name another server"
CHECK_IT = "name the address ComfyUI prints when it has started, with the proxy's path if there is one"
AWAY = frozenset({408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 530})
"""Statuses of proxies whose server does not answer, or not now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server said.

    Parameters
    ----------
    where : method and URL, for messages
    status, headers, body : as they came
    """

    where: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as a JSON value.

        Raises
        ------
        NotComfyUI : it is none
        """
        try:
            return json.loads(self.body)
        except ValueError:
            kind = self.headers.get("Content-Type", "").partition(";")[0] or "no type"
            what = f"an answer that is not ComfyUI's: {kind}, {self.words()}"
            raise NotComfyUI(f"{self.where}: {what}", hint=CHECK_IT) from None

    def object(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises
        ------
        NotComfyUI : it is none
        """
        found = self.json()
        if not isinstance(found, dict):
            raise NotComfyUI(f"{self.where}: an answer that is not ComfyUI's: no object", hint=CHECK_IT)
        return found

    def words(self) -> str:
        """The beginning of the body, for a message."""
        text = " ".join(self.body[:400].decode("utf-8", "replace").split())
        return "".join(char for char in text if char.isprintable())[:160] or "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer whose body comes piece by piece."""

    where: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    pieces: Iterator[bytes] = field(repr=False)


def refusal(answer: Answer | Stream) -> BackendError:
    """A status that is no success as a failure of ours; total over all statuses."""
    status, where = answer.status, answer.where
    said = f": {answer.words()}" if isinstance(answer, Answer) else ""
    if status in (401, 403, 407):
        hint = (
            "it wants credentials: give them as a header or in the address; Origin checks are not met by us"
        )
        return Refused(f"{where}: {status}: refused", hint=hint)
    if 300 <= status < 400:
        elsewhere = shown(answer.headers.get("Location", "nowhere"))
        return NotComfyUI(f"{where}: {status}: sends us to {elsewhere}", hint=CHECK_IT)
    if status in (404, 405, 501):
        return NotComfyUI(f"{where}: {status}: no such route", hint=CHECK_IT)
    if status in AWAY:
        what = "a proxy answers, its server does not" if status >= 500 else "not now"
        return Unreachable(f"{where}: {status}: {what}", hint=START_IT)
    if status == 413:
        return Lasting(f"{where}: 413: too large{said}", hint="start ComfyUI with --max-upload-size MIB")
    return Lasting(f"{where}: {status}{said}", hint="look at ComfyUI's own log")


def checked(answer: Answer) -> Answer:
    """A successful answer.

    Raises
    ------
    BackendError : as `refusal` says
    """
    if not 200 <= answer.status < 300:
        raise refusal(answer)
    return answer
