"""A pool that knows how long its users have waited for a connection."""

from __future__ import annotations

import time
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolAcquireContext

from forebay.db.pool import UNAVAILABLE, connection_options, database_unavailable, pool_options, set_transaction_timeout

if TYPE_CHECKING:
    from collections.abc import Generator

    from asyncpg.pool import PoolConnectionProxy

    _Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    _Acquiring: TypeAlias = PoolAcquireContext[asyncpg.Record]
    _Lent: TypeAlias = PoolConnectionProxy[asyncpg.Record]
else:
    _Pool, _Acquiring = asyncpg.Pool, PoolAcquireContext

WAIT_BOUNDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class WaitTimes:
    """How many waits there were up to each bound, the last beyond all, and their sum in seconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(WAIT_BOUNDS) + 1)
        self.seconds = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(WAIT_BOUNDS, seconds)] += 1
        self.seconds += seconds

    def describe(self) -> dict[str, Any]:
        return {"counts": self.counts, "seconds": round(self.seconds, 6)}


class MeasuredPool(_Pool):
    """At most `size` connections, and the waits for them."""

    def __init__(self, dsn: str, *, size: int, name: str, prepared: bool, timeout: float) -> None:
        self.waits = WaitTimes()
        super().__init__(
            dsn,
            max_queries=50_000,
            loop=None,
            connection_class=asyncpg.Connection,
            record_class=asyncpg.Record,
            init=partial(set_transaction_timeout, timeout=timeout) if prepared else None,
            **pool_options(size, timeout),
            **connection_options(name, timeout, prepared=prepared),
        )

    def acquire(self, *, timeout: float | None = None) -> _Acquiring:
        return _Measured(self, timeout)


class _Measured(_Acquiring):
    """A connection lent, and its wait measured."""

    def __init__(self, pool: MeasuredPool, timeout: float | None) -> None:
        super().__init__(pool, timeout)
        self._waits = pool.waits

    async def __aenter__(self) -> _Lent:
        came = time.perf_counter()
        conn = await super().__aenter__()
        self._waits.observe(time.perf_counter() - came)
        return conn

    def __await__(self) -> Generator[Any, None, _Lent]:
        came = time.perf_counter()
        conn = yield from super().__await__()
        self._waits.observe(time.perf_counter() - came)
        return conn


async def open_measured_pool(dsn: str, **terms: Any) -> MeasuredPool:
    """Raises: DatabaseUnavailable with the reason and what to check."""
    try:
        pool = MeasuredPool(dsn, **terms)
        await pool
    except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
        raise database_unavailable(error) from error
    return pool
