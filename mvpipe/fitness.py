"""What each server cannot do: by its own limits, and by what it has answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from mvpipe.build.lane import Ready
from mvpipe.errors import BackendError, GraphRejected, Misconfigured, RenderFailed, Unreachable
from mvpipe.schedule import Ask


@dataclass
class Fitness:
    """What is known of the servers of a fleet.

    Parameters
    ----------
    servers : their names
    """

    servers: Collection[str]
    _takes: dict[str, dict[str, BackendError]] = field(
        default_factory=lambda: defaultdict[str, dict[str, BackendError]](dict), init=False
    )
    _models: dict[str, dict[str, BackendError]] = field(
        default_factory=lambda: defaultdict[str, dict[str, BackendError]](dict), init=False
    )
    _whole: dict[str, BackendError] = field(default_factory=dict[str, BackendError], init=False)
    _ceilings: dict[tuple[str, str], tuple[int, BackendError]] = field(
        default_factory=dict[tuple[str, str], tuple[int, BackendError]], init=False
    )
    _alike: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]], init=False)

    def lacks(self, ready: Ready) -> dict[str, BackendError]:
        """Servers that cannot do a take, each with what it said when that was found out."""
        ask: Ask = ready.hint
        found = {**self._whole, **self._models.get(ask.model, {}), **self._takes.get(ready.key, {})}
        for (server, model), (bulk, error) in self._ceilings.items():
            if model == ask.model and 0 < bulk <= ask.bulk:
                found.setdefault(server, error)
        return found

    def able(self, ready: Ready, names: Collection[str]) -> tuple[str, ...]:
        """Those of some servers that can do a take, and may."""
        lacks, ask = self.lacks(ready), ready.hint
        return tuple(name for name in names if name not in lacks and ask.may_go_to(name))

    def has_failed(self, server: str, ready: Ready) -> bool:
        """Whether a server has failed at this very take."""
        return server in self._takes.get(ready.key, {})

    def hopeless(self, ready: Ready) -> BackendError | None:
        """Why no server can do a take; None where one may."""
        lacks = self.lacks(ready)
        if any(name not in lacks and ready.hint.may_go_to(name) for name in self.servers):
            return None
        return list(lacks.values())[-1]

    def note(self, server: str, ready: Ready, error: BackendError) -> bool:
        """Learn from a take that failed; whether another server should try it."""
        ask: Ask = ready.hint
        self._takes[ready.key][server] = error
        if isinstance(error, GraphRejected):
            self._models[ask.model][server] = error
        elif isinstance(error, Unreachable) or error.whole:
            self._whole[server] = error
        elif error.grows:
            bulk, _ = self._ceilings.get((server, ask.model), (ask.bulk, error))
            self._ceilings[server, ask.model] = min(bulk, ask.bulk), error
        elif not error.elsewhere and not self._repeats(server, ask, error):
            return False
        return self.hopeless(ready) is None

    def well(self, server: str) -> None:
        """A take was made there."""
        self._alike.pop(server, None)

    def forget(self, server: str) -> None:
        """It was away, and may be another one now."""
        self._whole.pop(server, None)
        self._alike.pop(server, None)
        for noted in (*self._takes.values(), *self._models.values()):
            noted.pop(server, None)
        for known in [known for known in self._ceilings if known[0] == server]:
            del self._ceilings[known]

    def _repeats(self, server: str, ask: Ask, error: BackendError) -> bool:
        """Whether a server fails one take after the other in the same words: no seed helps against that."""
        if not isinstance(error, RenderFailed) or not error.sign:
            return False
        sign, many = self._alike.get(server, ("", 0))
        many = many + 1 if sign == error.sign else 1
        self._alike[server] = error.sign, many
        if many < error.enough:
            return False
        self._models[ask.model][server] = Misconfigured(
            f"{error}: {many} takes in a row", hint=error.hint or "look at ComfyUI's own log"
        )
        return True
