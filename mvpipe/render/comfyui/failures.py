"""Failures of a server that the tree of `mvpipe.errors` does not tell apart."""

from __future__ import annotations

import re

from mvpipe.errors import GraphRejected, RenderFailed, RenderTimeout, Unreachable

RESTART = "restart ComfyUI; then the same command goes on where it stands"
"""What to do with a server that answers and does not work."""


GO_ON = "make room; then the same command goes on where it stands, with all that servers have made"
"""What to do where our own disk does not take it: another server's take would fit no better."""


class NotComfyUI(Unreachable):
    """Something answers at the address, and it is not ComfyUI."""

    retryable = False


class Refused(Unreachable):
    """The server, or a proxy before it, does not let us in: credentials, certificate, Origin."""

    retryable = False


class Hung(RenderTimeout):
    """The server answers, and does not work: what it has of ours was seen there, and is not made."""

    pending = False


class Stalled(Hung):
    """The server was given up before, and nothing has moved there since: there is nothing to wait for."""

    retryable = False


class InputsGone(GraphRejected):
    """The server refuses a graph whose files somebody has removed since they were sent."""


class Lasting(RenderFailed):
    """Any seed would fail alike at this server: another take is not worth trying."""

    retake = False
    elsewhere = True


class TooSmall(Lasting):
    """The server has too little memory for it; another one may have enough, or a smaller size may do."""

    grows = True


class Full(Lasting):
    """The server cannot write what it makes: its disk is full, or not ours to write to."""

    whole = True


class Stopped(Lasting):
    """Somebody stopped the render at the server; not to be repeated without asking."""

    elsewhere = False


_FIGURE = re.compile(r"\d+(\.\d+)?")


def sign(what: str) -> str:
    """A failure in words without what may differ between two that are one: sizes, addresses, times."""
    return _FIGURE.sub("#", what)
