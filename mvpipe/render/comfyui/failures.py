"""Failures of a server that the tree of `mvpipe.errors` does not tell apart."""

from __future__ import annotations

from mvpipe.errors import RenderFailed, Unreachable


class NotComfyUI(Unreachable):
    """Something answers at the address, and it is not ComfyUI."""

    retryable = False


class Refused(Unreachable):
    """The server, or a proxy before it, does not let us in: credentials, certificate, Origin."""

    retryable = False


class Lasting(RenderFailed):
    """Any seed would fail alike: another take is not worth trying."""

    retake = False


class Stopped(Lasting):
    """Somebody stopped the render at the server; not to be repeated without asking."""
