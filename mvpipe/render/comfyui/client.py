"""The client of one ComfyUI server: makes renders, in spite of all that can happen on the way.

::

    facts, schemas ─► fit ─► uploads ─► record ─► post ─► listen ─► look ─► fetch
                                          ▲                          │ gone, out of memory, not its own file
                                          └──────────────────────────┘ under a new id, so often and no more
"""

from __future__ import annotations

from pathlib import Path

from mvpipe.render.backend import Progress
from mvpipe.render.comfyui.address import Address
from mvpipe.render.comfyui.failures import RESTART, Stalled
from mvpipe.render.comfyui.jobs import Records, State
from mvpipe.render.comfyui.listener import Listener
from mvpipe.render.comfyui.order import Made, Order
from mvpipe.render.comfyui.patience import Patience
from mvpipe.render.comfyui.server import Facts, Server
from mvpipe.render.comfyui.stall import Stall
from mvpipe.render.comfyui.transport import Transport
from mvpipe.render.comfyui.uploads import Uploads


class Client:
    """A client; may be used from several threads.

    Parameters
    ----------
    address : of the server
    records : folder of the jobs' records
    patience : how long to wait for what
    """

    def __init__(self, address: Address, records: Path, patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self.transport = Transport(address, self.patience)
        self.server = Server(self.transport)
        self.uploads = Uploads(self.server)
        self.records = Records(records)
        self.stall = Stall()

    def greet(self) -> Facts:
        """What the server tells of itself, asked now and once: for one clear error before the work begins.

        Raises
        ------
        Unreachable, Refused, NotComfyUI : as named
        Stalled : it answers, and does not work: what was given up there has not moved
        """
        self.server.forget()
        facts = self.server.facts()
        if why := self.stall.lasts(self.server.look):
            raise Stalled(why, hint=RESTART)
        return facts

    def make(self, order: Order, into: Path, tell: Progress) -> Made:
        """Have a render and write its film to `into`.

        What was begun by somebody who died is taken up where it stands.

        Parameters
        ----------
        tell : told of (steps done, of how many) several times a second; raises to stop

        Raises
        ------
        GraphRejected : the server's nodes do not fit the graph, or it refuses it
        Unreachable : nobody answers, for longer than patience has
        RenderTimeout : no sign of life; usually ComfyUI has to be restarted. `Stalled` where that was found
            out before: nothing is sent then
        RenderFailed : it was tried, and failed; `Lasting` where another seed would fail alike, `TooSmall`
            where another server may not
        """
        from mvpipe.render.comfyui.making import Making

        return Making(self, order, tell).run(into)

    def reject(self, key: str) -> None:
        """What was fetched is no good: whoever asks again gets it made anew, not fetched again."""
        job = self.records.read(key, self.server.name)
        self.records.write(job.with_state(State.FAILED))

    def listener(self, client_id: str) -> Listener:
        """A socket of its own for a job."""
        return Listener(self.transport.address, self.patience, client_id, self.transport.authority)

    def close(self) -> None:
        """Let go of its connections."""
        self.transport.close()
