"""Connections whose transactions overlap: each runs one operation, and is committed or rolled back when the test says.

An operation that waits for a lock stays under way; it goes on when the transaction that has the lock ends.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from types import TracebackType

    from asyncpg.transaction import Transaction

    from forebay.db.pool import Connection

T = TypeVar("T")


@dataclass
class Open:
    """A transaction that is open, with the operation that it runs."""

    name: str
    transaction: Transaction
    task: asyncio.Task[Any]
    committed: Callable[[Any], None]  # gets what the operation has answered
    ended: Callable[[], None]  # called after a commit or a rollback


class Transactions:
    """One event loop, some connections for transactions, and one that sees what is committed."""

    def __init__(self, dsn: str, connections: int) -> None:
        self._dsn = dsn
        self._count = connections
        self._runner = asyncio.Runner()
        self._connections: list[Connection] = []
        self.open: list[Open | None] = [None] * connections

    def __enter__(self) -> Transactions:
        self._runner.__enter__()
        self._runner.run(self._connect())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._close())
        self._runner.__exit__(kind, error, trace)

    async def _connect(self) -> None:
        self.watcher: Connection = await asyncpg.connect(self._dsn)
        self._connections = [await asyncpg.connect(self._dsn) for _ in range(self._count)]

    async def _close(self) -> None:
        for conn in (*self._connections, self.watcher):
            conn.terminate()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def fetch(self, sql: str, *args: object) -> list[asyncpg.Record]:
        """What is committed."""
        return self.run(self.watcher.fetch(sql, *args))

    def execute(self, sql: str, *args: object) -> None:
        self.run(self.watcher.execute(sql, *args))

    def reset(self) -> None:
        """Rolls back what a failed example has left open."""
        self.run(self._reset())

    async def _reset(self) -> None:
        found = [each for each in self.open if each is not None]
        self.open[:] = [None] * self._count
        for each in found:
            each.task.cancel()
            await asyncio.wait([each.task])
            await each.transaction.rollback()

    # -- transactions -------------------------------------------------------------------------------------------------

    def begin(
        self,
        place: int,
        name: str,
        operation: Callable[[Connection], Awaitable[Any]],
        committed: Callable[[Any], None],
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Starts an operation in a transaction of its own, and returns when it is done or waits for a lock."""
        self.run(self._begin(place, name, operation, committed, ended))

    async def _begin(
        self,
        place: int,
        name: str,
        operation: Callable[[Connection], Awaitable[Any]],
        committed: Callable[[Any], None],
        ended: Callable[[], None],
    ) -> None:
        conn = self._connections[place]
        transaction = conn.transaction()
        await transaction.start()

        async def work() -> Any:
            return await operation(conn)

        self.open[place] = Open(name, transaction, asyncio.create_task(work()), committed, ended)
        await self._let_run()

    async def _let_run(self) -> None:
        """Returns when all operations are done or wait for a lock."""
        while under_way := [conn for conn, o in zip(self._connections, self.open, strict=True) if o and _runs(o)]:
            pids = [conn.get_server_pid() for conn in under_way]
            waiting = await self.watcher.fetchval(
                "select count(*) from unnest($1::int[]) pid where cardinality(pg_blocking_pids(pid)) > 0", pids
            )
            if waiting == len(pids):
                return

    def can_end(self, place: int) -> bool:
        found = self.open[place]
        return found is not None and not _runs(found)

    def end(self, place: int, *, commit: bool) -> None:
        """Ends a transaction whose operation is done; an operation that failed is a failure of the test."""
        found, self.open[place] = self.open[place], None
        assert found is not None
        self.run(self._end(found, commit=commit))
        found.ended()
        if commit:
            found.committed(found.task.result())

    async def _end(self, found: Open, *, commit: bool) -> None:
        error = found.task.exception()
        await (found.transaction.commit() if commit and error is None else found.transaction.rollback())
        if error is not None:
            raise AssertionError(f"{found.name} failed") from error
        await self._let_run()


def _runs(found: Open) -> bool:
    return not found.task.done()
