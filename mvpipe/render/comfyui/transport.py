"""HTTP to one server: every call has time-outs, every failure is one of ours and holds no secret."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests
from requests import exceptions as foreign
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from mvpipe import __version__
from mvpipe.errors import BackendError, RenderTimeout, Unreachable
from mvpipe.render.comfyui.address import Address
from mvpipe.render.comfyui.answers import CHECK_IT, START_IT, Answer, Stream
from mvpipe.render.comfyui.failures import Lasting, NotComfyUI, Refused
from mvpipe.render.comfyui.patience import Patience

PIECE = 1 << 16


class Transport:
    """Calls to one server; may be used from several threads.

    Parameters
    ----------
    address : where it is
    patience : how long to wait for it
    """

    def __init__(self, address: Address, patience: Patience) -> None:
        self.address = address
        self.patience = patience
        self._session = requests.Session()
        # neither proxies nor passwords from the environment or ~/.netrc: only the command line reads it
        self._session.trust_env = False
        self._session.headers.update({"User-Agent": f"mvpipe/{__version__}", **address.headers})
        self._session.verify = self.authority

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        file: tuple[str, bytes, Mapping[str, str]] | None = None,
    ) -> Answer:
        """What the server says, whatever its status.

        Parameters
        ----------
        body : sent as JSON where it is not None
        file : (name, content, form fields) of an upload

        Raises
        ------
        Unreachable, Refused, NotComfyUI, RenderTimeout, Lasting : as `of_exception` says
        """
        where = f"{method} {self.address.url(path)}"
        options: dict[str, Any] = {} if body is None else {"json": body}
        if file is None:
            got = self._call(method, path, where, query, **options)
        else:
            name, content, fields = file
            parts = {"image": (name, content, "application/octet-stream")}
            got = self._call(method, path, where, query, files=parts, data=dict(fields))
        return Answer(where=where, status=got.status_code, headers=got.headers, body=got.content)

    @contextmanager
    def fetch(
        self, path: str, *, query: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Iterator[Stream]:
        """An answer to be read piece by piece inside the block.

        Raises
        ------
        Unreachable, Refused, NotComfyUI, RenderTimeout, Lasting : as for `ask`; also from the pieces
        """
        where = f"GET {self.address.url(path)}"
        # a coded answer has the length of its coding, and could not be resumed
        wanted = {"Accept-Encoding": "identity", **(headers or {})}
        got = self._call("GET", path, where, query, headers=wanted, stream=True)
        try:
            yield Stream(where=where, status=got.status_code, headers=got.headers, pieces=_pieces(got, where))
        finally:
            got.close()

    @property
    def authority(self) -> str:
        """PEM file of the certificates that are trusted."""
        return str(self.address.authority or DEFAULT_CA_BUNDLE_PATH)

    def close(self) -> None:
        """Let go of its connections."""
        self._session.close()

    def _call(
        self, method: str, path: str, where: str, query: Mapping[str, str] | None, **options: Any
    ) -> requests.Response:
        pairs = [*self.address.query, *(query or {}).items()]
        wait = (self.patience.connect_s, self.patience.answer_s)
        try:
            return self._session.request(
                method,
                self.address.url(path),
                params=pairs,
                timeout=wait,
                allow_redirects=False,  # a redirect would carry our headers to somebody else
                **options,
            )
        except FOREIGN as exc:
            raise of_exception(exc, where) from None  # its own text holds the whole URL, secrets and all


def _pieces(got: requests.Response, where: str) -> Iterator[bytes]:
    try:
        yield from got.iter_content(PIECE)
    except FOREIGN as exc:
        raise of_exception(exc, where) from None


# urllib3's own, which requests lets through here and there; its stubs do not tell of it
_BENEATH: type[Exception] = foreign.BaseHTTPError  # type: ignore[attr-defined]

FOREIGN = (foreign.RequestException, _BENEATH, UnicodeError)
"""All that requests can raise; the last comes from the encoding of host names."""


def of_exception(exc: Exception, where: str) -> BackendError:
    """A failure of `requests` as ours; total over all it can raise.

    =============================================  ==================================
    certificate; a URL or header nobody can send   Refused
    no bytes in time                               RenderTimeout, may be tried again
    an answer that cannot be read                  NotComfyUI
    a mistake of ours                              Lasting
    no connection, a broken one, anything else     Unreachable, may be tried again
    =============================================  ==================================
    """
    if isinstance(exc, foreign.SSLError):
        return _of_tls(exc, where)
    for kinds, make in _TABLE:
        if isinstance(exc, kinds):
            return make(type(exc).__name__, where)
    return Unreachable(f"{where}: {_reason(exc)}", hint=START_IT)


def _late(name: str, where: str) -> BackendError:
    return RenderTimeout(f"{where}: no answer in time", hint="a node may hold it up: look at ComfyUI's log")


def _not_sent(name: str, where: str) -> BackendError:
    return Refused(f"{where}: cannot be called: {name}", hint=CHECK_IT)


def _unreadable(name: str, where: str) -> BackendError:
    return NotComfyUI(f"{where}: an answer that is not ComfyUI's: {name}", hint=CHECK_IT)


def _mistake(name: str, where: str) -> BackendError:
    return Lasting(f"{where}: {name}", hint="a mistake of mvpipe; please report it")


Kinds = tuple[type[Exception], ...]

_TABLE: tuple[tuple[Kinds, Callable[[str, str], BackendError]], ...] = (
    ((foreign.ConnectTimeout,), lambda name, where: Unreachable(f"{where}: no connection", hint=START_IT)),
    ((foreign.Timeout,), _late),
    (
        (
            foreign.URLRequired, foreign.MissingSchema, foreign.InvalidSchema, foreign.InvalidURL,
            foreign.InvalidHeader, UnicodeError,
        ),
        _not_sent,
    ),
    ((foreign.InvalidJSONError, foreign.ContentDecodingError, foreign.TooManyRedirects), _unreadable),
    ((foreign.StreamConsumedError, foreign.UnrewindableBodyError), _mistake),
)  # fmt: skip


def _of_tls(exc: BaseException, where: str) -> Refused:
    found = next((e for e in _chain(exc) if isinstance(e, ssl.SSLError)), None)
    if isinstance(found, ssl.SSLCertVerificationError):
        what = f"its certificate is not trusted: {found.verify_message}"
        return Refused(f"{where}: {what}", hint="name the PEM file of the authority that signed it")
    reason = (found.reason if found else None) or "no secure connection"
    return Refused(f"{where}: {reason.replace('_', ' ').lower()}", hint="is it http:// instead of https://?")


def _reason(exc: BaseException) -> str:
    """Why there is no connection, in the system's words; never in those of requests."""
    for found in _chain(exc):
        if isinstance(found, OSError) and not isinstance(found, foreign.RequestException) and found.strerror:
            return found.strerror.lower()
    return f"the connection broke ({type(exc).__name__})"


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """An exception and all it was made of."""
    line, met = [exc], set[int]()
    while line:
        one = line.pop(0)
        if id(one) in met:
            continue
        met.add(id(one))
        yield one
        inside = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        line += [other for other in inside if isinstance(other, BaseException)]
