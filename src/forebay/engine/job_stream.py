"""A job whose items come batch by batch: each batch is committed with how far its source was read."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from forebay.db.doors import PASSING, AsyncDoor, Row
from forebay.db.loads import Batch, ItemLoad
from forebay.db.pool import unavailable
from forebay.db.sql import load
from forebay.errors import NotThere

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.engine.batching import BatchSize
    from forebay.engine.inputs import Options
    from forebay.types import Statement

T = TypeVar("T")

_LONGEST_PAUSE = 12.8  # pauses from 0.05 s up to this one make half a minute


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row of a source: its input as JSON, and what is wrong with it, if something is."""

    key: str | None
    data: bytes
    fault: str | None = None
    writes: Sequence[Statement] = ()  # commit with the row, if it becomes an item


class JobStream:
    """One job that is being loaded, and how far it is."""

    def __init__(self, door: AsyncDoor, run_at: datetime | None = None, delay: float | None = None) -> None:
        self._door = door
        self._start = run_at, delay
        self._state: tuple[str, Sequence[object]] = "", ()  # the statement that says how far it is
        self._unsure = 0  # rows of a batch of which is not known whether it has committed
        self.job_id = self.owner_id = self.pipeline_id = self.loaded = self.total = 0
        self.is_sealed = False
        self._waited = 0.0  # for a connection

    async def open(self, pipeline: str, options: Options, trace: str | None = None) -> bool:
        """Open the job, or find the one that has this key; tells whether it is new."""
        o = options
        self._state = load("open_stream"), (pipeline, o.owner, o.key, o.priority, o.meta, trace)
        row = await _patiently(self._opened)
        self.job_id, created, self.owner_id, self.pipeline_id, self.total, self.loaded, self.is_sealed = row
        return bool(created)

    async def reopen(self, job_id: int) -> None:
        """Go on with a job that was opened before.

        Raises: NotThere.
        """
        self._state = load("reopen_stream"), (job_id,)
        row = await _patiently(self._opened)
        self.job_id, _, self.owner_id, self.pipeline_id, self.total, self.loaded, self.is_sealed = row

    async def send(self, pending: Sequence[SourceRow], size: BatchSize) -> int:
        """Commit the first of the pending rows and tell how many; fewer at a time while the database has trouble."""

        async def attempt() -> int:
            if self._unsure and await self._has_committed(self._unsure):
                return self._unsure
            rows, began = _fitting(pending, size), time.monotonic()
            self._unsure, self._waited = len(rows), 0.0
            self.total = await self._commit(rows, began)
            self.loaded += len(rows)
            size.succeeded(len(rows), _bytes_of(rows), time.monotonic() - began, self._waited)
            return len(rows)

        sent = await _patiently(attempt, size.failed)
        self._unsure = 0
        return sent

    async def seal(self) -> None:
        """Say that this was all."""
        await _patiently(lambda: self._door.fetch_row(load("seal_job"), (self.job_id, self.loaded)))
        self.is_sealed = True

    async def _opened(self) -> Row:
        row = await self._door.fetch_row(*self._state)
        if row is None:
            raise NotThere("job", f"there is no job {self._state[1][0]}")
        return row

    async def _has_committed(self, rows: int) -> bool:
        total, loaded = (await self._opened())[4:6]
        if loaded != self.loaded + rows:
            return False
        self.total, self.loaded = total, loaded
        return True

    async def _commit(self, rows: Sequence[SourceRow], began: float) -> int:
        """Store one batch and tell how many items there are then."""
        keys = [row.key for row in rows if row.key is not None]
        async with self._door.atomic() as door:
            self._waited = time.monotonic() - began
            begun = await door.fetch_row(load("begin_batch"), (self.job_id, self.loaded, keys))
            assert begun is not None  # noqa: S101
            batch = _numbered(rows, begun[0], set(begun[1]))
            await door.copy_items(ItemLoad(self.job_id, self.owner_id, self.pipeline_id, batch.good()))
            if batch.bad:
                await door.fetch_row(load("insert_broken_items"), (self.job_id, *batch.bad_columns()))
            for statement in [each for _, row in batch.rows for each in row.writes]:
                await door.fetch_row(statement.sql, statement.args)
            await door.fetch_row(load("append_items"), self._appended(len(rows), batch))
        return int(begun[0]) + len(batch.rows)

    def _appended(self, read: int, batch: _Numbered) -> Sequence[object]:
        starts, ends = batch.runs()
        counts = (read, len(batch.rows), len(batch.bad))
        return self.job_id, self.loaded, *counts, starts, ends, *self._start


@dataclass(frozen=True, slots=True)
class _Numbered:
    """The rows of a batch that become items, with their numbers."""

    rows: Sequence[tuple[int, SourceRow]]

    @property
    def bad(self) -> list[tuple[int, SourceRow]]:
        return [(n, row) for n, row in self.rows if row.fault is not None]

    def good(self) -> list[Batch]:
        rows = [(n, row) for n, row in self.rows if row.fault is None]
        if not rows:
            return []
        return [Batch([n for n, _ in rows], [row.key for _, row in rows], [row.data for _, row in rows])]

    def bad_columns(self) -> Sequence[object]:
        rows = self.bad
        texts = [row.data.decode() for _, row in rows]
        return [n for n, _ in rows], [row.key for _, row in rows], texts, [row.fault for _, row in rows]

    def runs(self) -> tuple[list[int], list[int]]:
        """Where runs of items that can be claimed start and end: a row in error divides them."""
        ns = {n for n, row in self.rows if row.fault is None}
        return sorted(n for n in ns if n - 1 not in ns), sorted(n for n in ns if n + 1 not in ns)


def _numbered(rows: Sequence[SourceRow], total: int, taken: set[str]) -> _Numbered:
    kept: list[SourceRow] = []
    for row in rows:
        if row.key is not None:
            if row.key in taken:
                continue
            taken.add(row.key)
        kept.append(row)
    return _Numbered(list(enumerate(kept, total + 1)))


def _fitting(pending: Sequence[SourceRow], size: BatchSize) -> Sequence[SourceRow]:
    """The first of the pending rows that make one batch."""
    taken, room = 0, size.most_bytes
    for row in islice(pending, size.rows):
        room -= len(row.data)
        if room < 0 and taken:
            break
        taken += 1
    return pending[:taken]


def _bytes_of(rows: Sequence[SourceRow]) -> int:
    return sum(len(row.data) for row in rows)


async def _patiently(call: Callable[[], Awaitable[T]], on_failure: Callable[[], None] = lambda: None) -> T:
    """Repeats a call while the database is away, for half a minute."""
    pause = 0.05
    while True:
        try:
            return await call()
        except PASSING as error:
            on_failure()
            if pause > _LONGEST_PAUSE:
                raise unavailable(error) from error
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - so that not all come back at once
        pause *= 2
