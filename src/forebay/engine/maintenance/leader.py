"""The election of the worker that runs the maintenance for all: it holds an advisory lock on its own connection."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.db.pool import UNAVAILABLE, connect
from forebay.engine.db import sweeps
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.settings import Settings

log = get_logger("leader")

# The server ends the session of a leader that sends nothing for so long, and another worker is elected.
_SILENCE = "15s"


class Leader:
    """The part of one worker in the election. Behind a transaction-mode pooler, locks of sessions do not work: there is
    no election without an address past it."""

    def __init__(self, dsn: str, pool: Pool, settings: Settings) -> None:
        self._dsn = settings.session_dsn(dsn)
        self._pool = pool
        self._timeout = settings.command_timeout_s
        self.elects = settings.has_sessions
        self._conn: asyncpg.Connection[asyncpg.Record] | None = None
        self._use = asyncio.Lock()  # a connection runs one statement at a time

    @property
    def is_elected(self) -> bool:
        return not self.elects or (self._conn is not None and not self._conn.is_closed())

    async def run_for_election(self) -> None:
        """Become the leader if there is none."""
        if self.is_elected or not await sweeps.is_leader_missing(self._pool):
            return
        conn = await connect(self._dsn, name="forebay worker maintenance", prepared=True)
        try:
            async with asyncio.timeout(self._timeout):
                elected = await sweeps.take_lead(conn, _SILENCE)
        except BaseException:
            conn.terminate()
            raise
        if elected:
            self._conn = conn
            log.info("leader_elected")
        else:
            conn.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """The leader's own connection; other workers borrow one of the pool."""
        async with self._use:
            conn = self._conn
            if conn is None or conn.is_closed():
                async with self._pool.acquire() as borrowed:
                    yield borrowed
                return
            try:
                async with asyncio.timeout(self._timeout):
                    yield conn
            except (*UNAVAILABLE, asyncio.CancelledError):
                self.step_down()  # the connection may be half open, or in the middle of a statement
                raise

    def step_down(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None
