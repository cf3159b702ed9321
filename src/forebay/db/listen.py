"""Wake-ups: one LISTEN connection per process, checked periodically and replaced when it fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NoReturn

from forebay.db.hosts import note_answer
from forebay.db.pool import REJECTED, UNAVAILABLE, connect
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger
from forebay.waits import Backoff, wait_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import asyncpg

    from forebay.db.pool import Connection

log = get_logger("listener")

CHANNEL = "forebay"
_START_TIMEOUT = 10.0  # seconds until a new connection listens; a server may hang after it has accepted one


class Listener:
    """Passes every payload to `on_message`. Messages that are sent while the connection is down are lost, so
    `on_connected` is called after each connect: the caller should then read the tables.

    What has to follow a message at once can use the same connection: it waits for no other user of a pool.
    """

    def __init__(
        self,
        dsn: str,
        on_message: Callable[[str], None],
        on_connected: Callable[[], None],
        *,
        check_every: float = 10,
        prepared: bool = False,
        warm_up: Callable[[Connection], Awaitable[object]] | None = None,
    ) -> None:
        """`prepared`: whether others send statements on this connection often; as in `open_pool`. `warm_up` sends them
        once, on each new connection; if they are rejected, nobody else uses it."""
        self._dsn = dsn
        self._on_message = on_message
        self._on_connected = on_connected
        self._check_every = check_every
        self._prepared = prepared
        self._warm_up = warm_up
        self._conn: asyncpg.Connection[asyncpg.Record] | None = None  # while it listens
        self._is_lent = True
        self._is_used = False

    async def run(self) -> None:
        """Listen forever."""
        backoff = Backoff(0.1, 5)
        while True:
            try:
                conn = await connect(self._dsn, name="forebay listener", prepared=self._prepared)
            except DatabaseUnavailable as error:
                pause = backoff.grow()
                log.warning("listen_failed", error=str(error), pause=pause)
                await asyncio.sleep(pause)
                continue
            try:
                await self._listen(conn)
            except UNAVAILABLE as error:
                if self._conn is not None:  # it has listened
                    backoff.reset()
                pause = backoff.grow()
                log.warning("listen_lost", error=one_line(error), pause=pause)
            finally:
                self._conn, self._is_used = None, False
                conn.terminate()
            await asyncio.sleep(pause)

    async def _listen(self, conn: asyncpg.Connection[asyncpg.Record]) -> NoReturn:
        ended = asyncio.Event()
        conn.add_termination_listener(lambda _conn: ended.set())
        async with asyncio.timeout(_START_TIMEOUT):
            await conn.add_listener(CHANNEL, lambda _conn, _pid, _channel, payload: self._on_message(str(payload)))
            self._is_lent = await self._is_warm(conn)
        self._conn = conn
        self._on_connected()
        while True:
            await wait_for(ended, self._check_every)
            if ended.is_set() or not self._is_used:
                self._is_used = True
                await conn.fetchval("select 1", timeout=self._check_every)  # fails on a half-open connection
                note_answer(conn)
                self._is_used = False

    async def _is_warm(self, conn: Connection) -> bool:
        """Whether the statements of others work here. They do not during some migrations, and for another account; the
        connection then only listens."""
        if self._warm_up is None:
            return True
        try:
            await self._warm_up(conn)
        except UNAVAILABLE:
            raise
        except REJECTED as error:
            log.warning("listener_only_listens", error=one_line(error))
            return False
        return True

    @property
    def is_listening(self) -> bool:
        """Whether messages arrive, as far as is known."""
        return self._conn is not None and not self._conn.is_closed()

    def take(self) -> Connection | None:
        """The connection for one statement; None if it is down, in use or only listens. The caller releases it."""
        if self._conn is None or self._is_used or not self._is_lent or self._conn.is_closed():
            return None
        self._is_used = True
        return self._conn

    def release(self, conn: Connection) -> bool:
        """Return whether it is the connection of this listener."""
        if conn is not self._conn:
            return False
        self._is_used = False
        return True
