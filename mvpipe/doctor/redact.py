"""What a bundle must not tell: secrets, home folders, users, hosts, addresses of people.

Every text that leaves goes through `Redactor.clean`. It knows what is known of this machine (its name, its
users, the server's address) and recognises the rest by its form; when in doubt, it takes out.
"""

from __future__ import annotations

import getpass
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mvpipe.render.comfyui.address import SECRET_FLAG

GONE = "***"

NAMED = re.compile(
    r"""(?ix) (?P<name> [\w-]{0,40} (?: api[_-]?key | secret | token | passw(?:or)?d | passwd | bearer
        | authorization | credentials? | cookie | session[_-]?id | private[_-]?key ) [\w-]{0,40} )
    (?P<between> ["']? \s* (?: [:=] | \s ) \s* ["']? (?: bearer \s+ | basic \s+ )? ["']? )
    (?P<value> [^\s"',;&}\]]{3,} )"""
)
"""A secret by the name before it."""

SHAPED = re.compile(
    r"""(?x) \b(?: sk-[A-Za-z0-9_-]{8,} | hf_[A-Za-z0-9]{8,} | gh[pousr]_[A-Za-z0-9]{16,}
        | github_pat_\w{16,} | xox[abprs]-[\w-]{8,} | AKIA[0-9A-Z]{12,} | AIza[\w-]{20,}
        | r8_[A-Za-z0-9]{12,} | npm_[A-Za-z0-9]{16,} | GPU-[0-9a-f]{8}-[0-9a-f-]{20,}
        | eyJ[\w-]{10,}\.[\w-]{6,}(?:\.[\w-]*)? )"""
)
"""A secret by its own form."""

URL = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,15}://)"
    r"(?P<rest>(?:[^\s\"'<>)\],;/\[]*\[[^\s\]/]*\])?[^\s\"'<>)\],;]*)",
    re.IGNORECASE,
)
HOME = re.compile(
    r"(?P<before>/(?:home|Users|data/home|mnt/[a-z]/Users)/|\b[A-Za-z]:\\{1,2}Users\\{1,2})"
    r"(?P<user>[^/\\\s\"':]+(?:(?: [^/\\\s\"':]+){1,3}(?=[/\\]))?)",
    re.IGNORECASE,
)
MOUNT = re.compile(
    r"(?P<before>/(?:run/media|media|Volumes)/|(?<!\S)\\\\)"
    r"(?P<user>[^/\\\s\"':]+(?: [^/\\\s\"':]+)*(?=[/\\]))"
)
MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,80}@[\w-]{1,80}(?:\.[\w-]{1,40}){1,5}")
PROMPT = re.compile(r"(?<![\w.-])[\w.-]{1,80}@[\w.-]{1,80}(?=[:~$# ])")
IP = re.compile(r"(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
IPV6 = re.compile(
    r"(?i)(?<![:\w])(?:(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}|[0-9a-f]{3,4}:(?:[0-9a-f]{1,4}:){0,5}:"
    r"(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?)(?![:\w])(?:%(?:25)?[\w.-]+)?"
)
MAC = re.compile(r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b")
LONG_LINE = 2000
"""Characters of a line that are told."""

COMMON = frozenset(
    {"root", "user", "localhost", "local", "admin", "test", "home", "python", "comfyui", "runner"}
)
"""Names of users and hosts that tell nothing, and that would take half a log with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """Takes out what must not be told.

    Parameters
    ----------
    home : folder that becomes `~`
    names : of users and hosts
    secrets : words that are known to be secret
    """

    home: str = ""
    names: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def clean(self, text: str) -> str:
        """A text that may be shown to anybody; what is beyond the first characters of a line is left out."""
        return "\n".join(self._clean_line(line[:LONG_LINE]) for line in text.splitlines())

    def _clean_line(self, text: str) -> str:
        for secret in sorted(filter(None, self.secrets), key=len, reverse=True):
            text = text.replace(secret, GONE)
        if len(self.home) > 1:
            text = text.replace(self.home, "~").replace(self.home.replace("\\", "\\\\"), "~")
        text = URL.sub(_url, text)
        text = NAMED.sub(lambda m: f"{m['name']}{m['between']}{GONE}", text)
        text = SHAPED.sub(GONE, text)
        for place in (HOME, MOUNT):
            text = place.sub(lambda m: f"{m['before']}{GONE}", text)
        for pattern in (MAIL, PROMPT, MAC, IPV6, IP):
            text = pattern.sub(GONE, text)
        for name in self.names:
            text = re.sub(
                rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", GONE, text, flags=re.IGNORECASE
            )
        return text

    def clean_json(self, value: Any, key: str = "") -> Any:
        """A JSON value that may be shown to anybody."""
        if isinstance(value, str):
            return GONE if value and SECRET_FLAG.search(key) else self.clean(value)
        if isinstance(value, list):
            return [self.clean_json(one, key) for one in value]
        if isinstance(value, dict):
            return {self.clean(name): self.clean_json(one, name) for name, one in value.items()}
        return value


def _url(match: re.Match[str]) -> str:
    """A URL with its port and path alone: who it is, is nobody's business."""
    rest = re.split(r"[?#]", match["rest"], maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    bare = host.rpartition("@")[2]
    name, colon, port = (bare, "", "") if bare.endswith("]") else bare.rpartition(":")
    known = (name or port) in ("127.0.0.1", "localhost", "[::1]", "github.com", "huggingface.co")
    shown = (name or port) if known else GONE
    return f"{match['scheme']}{shown}{f':{port}' if colon and port.isdigit() else ''}{slash}{path}"


def of_this_machine(*, addresses: Iterable[str] = (), secrets: Iterable[str] = ()) -> Redactor:
    """A redactor that knows this machine and these servers.

    Parameters
    ----------
    addresses : of servers, as the user named them
    secrets : words that are known to be secret
    """
    home = Path.home()
    names = {home.name, platform.node(), platform.node().partition(".")[0]}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):  # a user without a name, in a container
        names.discard("")
    hidden = set(secrets)
    for one in addresses:
        parts = urlsplit(one if "://" in one else f"http://{one}")
        names.add(parts.hostname or "")
        hidden |= {parts.username or "", parts.password or ""}
    kept = sorted(
        name for name in names if len(name) > 2 and name.lower() not in COMMON and name != "127.0.0.1"
    )
    return Redactor(home=str(home), names=tuple(kept), secrets=tuple(sorted(hidden - {""})))
