"""Where a server is, and the secrets that go with it: shown without them, whatever it is printed into."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from mvpipe.errors import SettingsError

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OURS = frozenset({"origin", "host", "content-length", "content-type", "connection", "upgrade", "range"})
"""Headers that are not the user's to set; a client that is no browser sends no Origin."""

SECRET_FLAG = re.compile(r"key|token|secret|passw|auth", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server as the user named it, its secrets taken apart from what may be shown.

    Parameters
    ----------
    base : scheme, host, port and path prefix, without a slash at its end; may be shown
    query : (name, value) pairs that go with every request; secret
    headers : that go with every request; secret
    authority : PEM file of the certificates to trust for https; None for those of the system
    """

    base: str
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    authority: Path | None = None

    def __str__(self) -> str:
        return self.base

    @property
    def secure(self) -> bool:
        """Whether it is https."""
        return self.base.startswith("https:")

    def url(self, path: str) -> str:
        """Of a route, without the query."""
        return self.base + path

    def socket_url(self, path: str, query: Mapping[str, str]) -> str:
        """Of a WebSocket, with the query; holds secrets."""
        return "ws" + self.base.removeprefix("http") + path + "?" + urlencode([*self.query, *query.items()])


def address(url: str, headers: Mapping[str, str] | None = None, authority: Path | None = None) -> Address:
    """The address a user gave: `http://host:8188`, `https://user:word@host/prefix?token=...`, or `host:8188`.

    Raises
    ------
    SettingsError : not such an address, or a header that cannot be sent; the message holds no secret
    """
    if authority is not None and not authority.is_file():
        raise SettingsError(f"server certificate: {authority}: no such file")
    parts = _split(url.strip())
    sent = _checked(headers or {})
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        sent = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()} | sent
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return Address(
        base=f"{parts.scheme}://{name}{port}{parts.path.rstrip('/')}",
        query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
        headers=sent,
        authority=authority,
    )


def _split(url: str) -> SplitResult:
    whole = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(whole)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.scheme not in ("http", "https") or re.search(r"[\s\x00-\x1f]", whole):
        raise SettingsError(
            f"server address: not one: {shown(url)}", hint="write it like http://127.0.0.1:8188"
        )
    return parts


def shown(url: str) -> str:
    """A URL without what may be secret in it: what stands before an @, and all behind a question mark."""
    scheme, mark, rest = url.partition("://")
    rest = rest if mark else scheme
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return (scheme + mark if mark else "") + host.rpartition("@")[2] + slash + path.rpartition("@")[2]


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name):
            raise SettingsError(
                "server header: its name cannot be sent", hint="write it like X-Api-Key: word"
            )
        if name.lower() in OURS:
            raise SettingsError(f"server header: {name}: set by mvpipe itself")
        if not value.isprintable() or not value.isascii() or value != value.strip():
            raise SettingsError(f"server header: {name}: its value: not plain ASCII on one line")
    return dict(headers)


def without_secrets(argv: list[str]) -> list[str]:
    """A server's command line as it may be kept: without the values of flags that sound secret."""
    kept: list[str] = []
    hide = False
    for word in argv:
        flag, equals, _ = word.partition("=")
        named = word.startswith("-") and bool(SECRET_FLAG.search(flag))
        if hide and not word.startswith("-"):
            kept.append("***")
        else:
            kept.append(f"{flag}=***" if named and equals else shown(word) if "://" in word else word)
        hide = named and not equals
    return kept
