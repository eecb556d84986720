"""A language model behind OpenAI's chat completions: asked with a deadline, never trusted."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from mvpipe.errors import SettingsError, ToolError, ToolTimeout

Message = Mapping[str, str]
"""`role` and `content` of one turn of the conversation."""

LONGEST_ANSWER = 1 << 20
"""Bytes; a section's prompts are a few thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the model is, and how long it may think.

    Parameters
    ----------
    url : of the server, such as `http://localhost:11434/v1`
    model : its name there
    key : sent as a bearer token; empty for none
    patience_s : seconds for the whole answer
    """

    url: str
    model: str
    key: str = ""
    patience_s: float = 180.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise SettingsError(
                f"--endpoint: not an address: {self.url}", hint="such as http://localhost:11434/v1"
            )

    @property
    def place(self) -> str:
        """The address that answers."""
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def ask(self, messages: Sequence[Message]) -> str:
        """What the model answers.

        Raises
        ------
        ToolError : it cannot be reached, refuses, or answers with something else than an answer
        ToolTimeout : it took too long
        """
        asked = {"model": self.model, "messages": list(messages), "temperature": 0.7, "stream": False}
        return _content(self.place, self._sent(asked))

    def _sent(self, asked: Mapping[str, Any]) -> bytes:
        until = time.monotonic() + self.patience_s
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            with requests.Session() as http:
                http.trust_env = (
                    False  # a local server is not reached through a proxy, nor with a stored login
                )
                with http.post(
                    self.place,
                    json=asked,
                    headers=headers,
                    timeout=(10, self.patience_s),
                    stream=True,
                    allow_redirects=False,
                ) as reply:
                    return self._body(reply, until)
        except requests.Timeout as exc:
            raise self._late() from exc
        except requests.RequestException as exc:
            raise ToolError(
                f"{self.place}: draft: no answer: {_reason(exc)}",
                hint="is the server running? without --endpoint mvpipe drafts by itself",
            ) from exc

    def _body(self, reply: requests.Response, until: float) -> bytes:
        body = bytearray()
        for piece in reply.iter_content(1 << 14):
            body += piece
            if time.monotonic() > until:
                raise self._late()
            if len(body) > LONGEST_ANSWER:
                raise ToolError(f"{self.place}: draft: an answer of more than {LONGEST_ANSWER >> 20} MiB")
        if reply.status_code != 200:
            said = " ".join(bytes(body).decode("utf-8", "replace").split())[:200]
            raise ToolError(
                f"{self.place}: draft: status {reply.status_code}: {said or 'nothing said'}",
                status=reply.status_code,
                hint="look at the server's own log; the model's name may be wrong",
            )
        return bytes(body)

    def _late(self) -> ToolTimeout:
        return ToolTimeout(
            f"{self.place}: draft: no answer in {self.patience_s:g} s",
            hint="give it longer: --patience SECONDS; what was answered so far is kept",
        )


def _reason(exc: requests.RequestException) -> str:
    if isinstance(exc, requests.ConnectionError):
        return "cannot be reached, or hung up"
    return " ".join(str(exc).split())[:200]


def _content(place: str, body: bytes) -> str:
    """The words of the first choice."""
    try:
        found = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as exc:
        start = " ".join(body[:200].decode("utf-8", "replace").split())
        raise ToolError(
            f"{place}: draft: not a chat completion: found {start[:80]!r}",
            hint="the address ends before /chat/completions, such as http://localhost:11434/v1",
        ) from exc
    if not isinstance(found, str):
        raise ToolError(f"{place}: draft: not a chat completion: its content is no text")
    return found
