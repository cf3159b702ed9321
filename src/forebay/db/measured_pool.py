"""A pool that measures how long its users wait for a connection."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import asyncpg
from asyncpg.pool import PoolAcquireContext

from forebay.db.pool import UNAVAILABLE, connection_options, database_unavailable, pool_options, set_transaction_timeout
from forebay.db.tcp import KeepaliveConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from asyncpg.pool import PoolConnectionProxy

    from forebay.db.pool import Connection

    _Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    _Acquire: TypeAlias = PoolAcquireContext[asyncpg.Record]
    Acquired: TypeAlias = PoolConnectionProxy[asyncpg.Record]
else:
    _Pool, _Acquire = asyncpg.Pool, PoolAcquireContext

P = TypeVar("P", bound="MeasuredPool")

WAIT_BOUNDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class WaitTimes:
    """The number of waits up to each bound, the last beyond all bounds, and their sum in seconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(WAIT_BOUNDS) + 1)
        self.seconds = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(WAIT_BOUNDS, seconds)] += 1
        self.seconds += seconds

    def describe(self) -> dict[str, Any]:
        return {"counts": self.counts, "seconds": round(self.seconds, 6)}


class MeasuredPool(_Pool):
    """At most `size` connections. Each wait is passed to `waited` in seconds; without it, `waits` collects them."""

    def __init__(
        self,
        dsn: str,
        *,
        size: int,
        name: str,
        prepared: bool,
        timeout: float,
        waited: Callable[[float], None] | None = None,
        session: Mapping[str, str] | None = None,
    ) -> None:
        self.waits = WaitTimes()
        self.waited = waited or self.waits.observe
        self._has_sessions = prepared
        self._timeout = timeout
        options = connection_options(name, timeout, prepared=prepared)
        options["server_settings"] |= session or {}
        super().__init__(
            dsn,
            max_queries=50_000,
            loop=None,
            connection_class=KeepaliveConnection,
            record_class=asyncpg.Record,
            init=self._begin,
            **pool_options(size, timeout, prepared=prepared),
            **options,
        )

    def acquire(self, *, timeout: float | None = None) -> _Acquire:
        return MeasuredAcquire(self, timeout)

    async def _begin(self, conn: Connection) -> None:
        """Initialize a new connection. Behind a transaction-mode pooler, the session is not ours."""
        if self._has_sessions:
            await set_transaction_timeout(conn, timeout=self._timeout)


class MeasuredAcquire(_Acquire):
    """An acquired connection, with the wait for it measured."""

    def __init__(self, pool: MeasuredPool, timeout: float | None) -> None:
        super().__init__(pool, timeout)
        self._waited = pool.waited

    async def __aenter__(self) -> Acquired:
        came = time.perf_counter()
        conn = await super().__aenter__()
        self._waited(time.perf_counter() - came)
        return conn

    def __await__(self) -> Generator[Any, None, Acquired]:
        came = time.perf_counter()
        conn = yield from super().__await__()
        self._waited(time.perf_counter() - came)
        return conn


async def opened(make: Callable[[], P]) -> P:
    """Open the pool that `make` creates.

    Raises: DatabaseUnavailable with the reason and what to check.
    """
    try:
        pool = make()
        await pool
    except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
        raise database_unavailable(error) from error
    return pool
