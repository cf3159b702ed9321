"""Sends claims to the database and repeats those that fail because of the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import REJECTED, release, retry_until_up, terminate
from forebay.engine.db import tasks
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    import asyncio

    from forebay.db.listen import Listener
    from forebay.db.pool import Connection, Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Claim, ClaimCall, Lease
    from forebay.engine.work.leases import LeaseBook

log = get_logger("claimer")


class ClaimSender:
    """Sends the claims of one worker."""

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        leases: LeaseBook,
        *,
        timeout: float,
        reading: list[int],
        listener: Listener | None,
    ) -> None:
        """`reading`: the steps whose claims return the results of other steps, too. `listener`: its connection serves
        express claims; None: the pool serves them, too."""
        self._pool = pool
        self._worker_id = worker_id
        self._clock = clock
        self._leases = leases
        self._timeout = timeout
        self._reading = reading
        self._listener = listener
        self.claim: ClaimCall | None = None  # a dispatcher has one of its own
        self._has_lost_claim = False  # the database may have leases that the book has not

    async def send(self, claims: list[Claim], *, is_express: bool) -> tuple[Connection, list[Lease], asyncio.Event]:
        """Claim; return the connection, which the caller must release, the leases, and the arrival, which the caller
        must note when the leases are in the book."""
        listener = self._listener if is_express else None
        return await retry_until_up(lambda: self._send_once(claims, listener), self._failed, self._timeout)

    async def _send_once(
        self, claims: list[Claim], listener: Listener | None
    ) -> tuple[Connection, list[Lease], asyncio.Event]:
        if self._has_lost_claim:
            await self._leases.release_unknown()
            self._has_lost_claim = False
        lease_s = self._leases.length.value
        conn = None if listener is None else listener.take()
        if conn is None:
            conn = await self._pool.acquire()
        arrival = self._leases.expect_claim()
        try:
            stamp = self._clock.stamp()
            claim = self.claim or tasks.claim
            return conn, await claim(conn, self._worker_id, claims, self._reading, lease_s, stamp), arrival
        except BaseException as error:
            self._leases.note_arrival(arrival)
            await self.release(conn, is_sound=isinstance(error, REJECTED))
            raise

    async def release(self, conn: Connection, *, is_sound: bool = True) -> None:
        if self._listener is None or not self._listener.release(conn):
            await release(self._pool, conn)
        elif not is_sound:
            terminate(conn)  # otherwise the listener might wait for it

    def note_lost(self) -> None:
        """Record that the database may have leases that will not be in the book; the next claim releases them."""
        self._has_lost_claim = True

    def _failed(self, error: BaseException, pause: float) -> None:
        self.note_lost()  # perhaps only its response was lost
        log.warning("claim_repeated", error=one_line(error), pause=pause)
