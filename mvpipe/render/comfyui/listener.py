"""The WebSocket: hears of one job what the server tells its client, and comes back when it is cut off.

What is heard wakes whoever waits; it is never the truth. That is asked for over HTTP.
"""

from __future__ import annotations

import logging
import socket
import ssl
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from mvpipe import __version__
from mvpipe.render.comfyui.address import Address
from mvpipe.render.comfyui.news import DROPPED, OPENED, News, read
from mvpipe.render.comfyui.patience import Patience

FOREIGN = (WebSocketException, OSError, EOFError, ValueError)
"""All a handshake can raise: the library's own, the system's, and of an answer that is no HTTP."""

LARGEST = 64 << 20
"""Bytes of a message; previews of video can be large, all else is small."""

WAITING = 4096
"""Frames kept while nobody listens: the server sends to client after client, and must not wait for us."""

_MUTE = logging.Logger("mvpipe.websocket", logging.CRITICAL + 1)  # the library's own writes headers down


class Listener:
    """Listens as one client, for one job at a time. Not for several threads.

    The old socket is closed, and its close waited for, before a new one opens: of two sockets of one client
    the server forgets both when the first goes (protocol section 5).

    Parameters
    ----------
    address, patience : of the server
    client_id : the client its jobs are posted under
    authority : PEM file of the certificates to trust for https
    """

    def __init__(self, address: Address, patience: Patience, client_id: str, authority: str) -> None:
        self.client_id = client_id
        self._address, self._patience = address, patience
        self._authority = authority
        self._stack = ExitStack()
        self._connection: ClientConnection | None = None
        self._pause = 0.0
        self._next = 0.0

    @property
    def hears(self) -> bool:
        """Whether a socket is open."""
        return self._connection is not None

    def open(self) -> bool:
        """Connect, unless it is connected or failed to just now; whether a socket is open."""
        if self._connection is not None or time.monotonic() < self._next:
            return self.hears
        try:
            self._connection = self._stack.enter_context(self._connect())
            self._pause = 0.0
        except FOREIGN:
            self._stack.close()
            self._pause = min(self._patience.look_most_s, 2 * self._pause or self._patience.look_s / 8)
        self._next = time.monotonic() + self._pause
        return self.hears

    def hear(self, prompt_id: str, seconds: float) -> News | None:
        """The next news of a job; None when there was none for so long, or no socket could be had."""
        until = time.monotonic() + seconds
        if not self.hears and self.open():
            return OPENED
        while self.open():
            assert self._connection is not None
            left = until - time.monotonic()
            try:
                message = self._connection.recv(timeout=max(0.0, left))
            except TimeoutError:
                return None
            except (ConnectionClosed, *FOREIGN):
                self.close()
                return DROPPED
            if found := read(message, prompt_id):
                return found
        time.sleep(max(0.0, min(until, self._next) - time.monotonic()))
        return None

    def close(self) -> None:
        """Close the socket and wait for the close; the next `hear` opens another."""
        self._connection = None
        with suppress(*FOREIGN):
            self._stack.close()
        self._stack = ExitStack()

    def _connect(self) -> ClientConnection:
        # a handshake given up too early would leave a socket the server believes in, see above
        wait = self._patience.answer_s
        plug = self._plug()
        try:
            return connect(
                self._address.socket_url("/ws", {"clientId": self.client_id}),
                sock=plug,  # one of our own is not led elsewhere by a redirect
                ssl=self._context() if self._address.secure else None,
                additional_headers=self._address.headers,
                user_agent_header=f"mvpipe/{__version__}",
                compression=None,
                proxy=None,
                open_timeout=wait,
                close_timeout=self._patience.connect_s,
                ping_interval=None,  # a frozen server answers no ping and is not dead
                max_size=LARGEST,
                max_queue=WAITING,
                logger=_MUTE,
            )
        except FOREIGN:
            plug.close()
            raise

    def _plug(self) -> socket.socket:
        parts = urlsplit(self._address.base)
        port = parts.port or (443 if self._address.secure else 80)
        plug = socket.create_connection((parts.hostname or "", port), self._patience.connect_s)
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return plug

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._authority)
