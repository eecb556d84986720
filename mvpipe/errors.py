"""The failure tree: what can go wrong, which exit code says so, and whether trying again may help.

::

    MvpipeError                            exit   retry
    ├ StoryboardError                        2     no    the user's file; carries file:line:column and field
    ├ SettingsError                          2     no    the user's settings, or an option that makes no sense
    ├ PlanError                              3     no    no legal cut, a cycle, a missing input
    ├ MediaError                             4     no    undecodable, wrong length or rate, not finite
    ├ ToolError                              5     no    argv, status, the end of stderr
    │ ├ ToolMissing, ToolTimeout
    │ └ WeightsMissing                                   a separator whose weights are not here
    ├ BackendError                           6
    │ ├ GraphRejected, RenderFailed                no    names the node or the shot
    │ │ └ Misconfigured                                  take after take fails in the same words
    │ ├ NotRendered                                no    the time or the takes allowed are used up
    │ └ Unreachable, RenderTimeout                 yes   the only retryable ones; build/run.py alone retries
    ├ TakesExhausted                         7     no    the film is made, but some shots are slugs
    ├ VaultError                             8     no    an entry whose bytes left their digest, a full disk
    │ └ ProjectBusy                                      another mvpipe works in this project
    ├ ProofFailed                            9     no    a film that is not what it should be
    ├ CannotJudge                           10     no    a clip, or shots, that only an eye can judge
    ├ NotReady                              11     no    `doctor`: a render must not start
    └ PipelineFault                         12     no    an offset many shots share, a failed control
    Cancelled                              130           Ctrl-C; not an error, but ends the run

A message reads *where: what: what was found*, lower case, without a full stop. The hint says what to do.
Mistakes of mvpipe itself stay `ValueError` or `TypeError` and show a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class MvpipeError(Exception):
    """Anything the user can act on.

    Parameters
    ----------
    message : where: what: what was found
    hint : what to do about it
    """

    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class StoryboardError(MvpipeError):
    """The storyboard says something that cannot be filmed."""

    exit_code = 2


class SettingsError(MvpipeError):
    """The user's settings file, or an option, cannot be used."""

    exit_code = 2


class PlanError(MvpipeError):
    """No legal cut, a cycle in the graph, or an input that is not there."""

    exit_code = 3


class MediaError(MvpipeError):
    """Sound or pictures that are not what they should be."""

    exit_code = 4


class ToolError(MvpipeError):
    """A program mvpipe started has failed.

    Parameters
    ----------
    message : where: what: what was found
    argv : the program's arguments
    status : its exit status
    stderr : all it wrote there
    """

    exit_code = 5

    def __init__(
        self, message: str, *, argv: Sequence[str] = (), status: int = 0, stderr: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.argv = tuple(argv)
        self.status = status
        self.stderr = stderr


class ToolMissing(ToolError):
    """A program or library mvpipe needs is not installed."""


class ToolTimeout(ToolError):
    """A program gave no answer within its deadline."""


class WeightsMissing(ToolError):
    """The weights of a network are not on this machine."""


class BackendError(MvpipeError):
    """A backend could not make a take.

    `retake` says whether another seed may help, `elsewhere` whether another server may; `grows` whether
    all that is as large fails alike at this server, `whole` whether everything does; `pending` whether the
    server may have made it all the same, so that it is to be asked before another one begins.
    """

    exit_code = 6
    retake: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    whole: ClassVar[bool] = False
    pending: ClassVar[bool] = False


class NotRendered(BackendError):
    """It was not tried: the time or the takes allowed are used up, or a stop was asked for."""


class GraphRejected(BackendError):
    """The server refused the filled graph."""


class RenderFailed(BackendError):
    """The backend tried and failed.

    Parameters
    ----------
    sign : the failure without what tells one take from another; empty where no two are compared
    enough : so many takes in a row of one sign are no chance
    """

    retake = True

    def __init__(self, message: str, *, hint: str = "", sign: str = "", enough: int = 3) -> None:
        super().__init__(message, hint=hint)
        self.sign, self.enough = sign, enough


class Misconfigured(RenderFailed):
    """Takes of one kind fail one after the other in the same words: something is wrong that no seed mends."""

    retake = False


class Unreachable(BackendError):
    """The backend does not answer."""

    retryable = True
    pending = True


class RenderTimeout(BackendError):
    """The backend gave no sign of life within its deadline."""

    retryable = True
    pending = True


class TakesExhausted(MvpipeError):
    """No take of a shot passed; the film holds a slug in its place."""

    exit_code = 7


class VaultError(MvpipeError):
    """The vault cannot be written, or an entry's bytes left their digest."""

    exit_code = 8


class ProjectBusy(VaultError):
    """Another mvpipe works in this project."""


class ProofFailed(MvpipeError):
    """A film that is not the plan's frames with the song's own samples."""

    exit_code = 9


class CannotJudge(MvpipeError):
    """A clip, or shots of a film, of which the gate can say nothing: no face, too little voice."""

    exit_code = 10


class NotReady(MvpipeError):
    """The doctor found what a render must not start with."""

    exit_code = 11


class PipelineFault(MvpipeError):
    """Something is wrong that no take is to blame for: many shots share an offset, or the control failed."""

    exit_code = 12


class Cancelled(BaseException):
    """The run was stopped by the user; nothing half-made is kept. Its arguments: what is left elsewhere."""

    exit_code: ClassVar[int] = 130
