"""A job whose items arrive in batches: each batch is committed with the position in its source."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, repeat
from typing import TYPE_CHECKING, TypeVar

from forebay.db.pool import database_unavailable
from forebay.engine.db.adapters import RETRYABLE, AsyncAdapter, Row
from forebay.engine.db.loads import ItemBatch, ItemLoad
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError
from forebay.types import Statement

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.engine.submit.batch_size import BatchSize
    from forebay.engine.submit.options import CheckedOptions

T = TypeVar("T")

_LONGEST_PAUSE = 12.8  # the pauses from 0.05 s up to this one add up to half a minute


@dataclass(slots=True)
class SourceRows:
    """Rows of a source, in order, stored as columns and addressed by position."""

    data: list[bytes] = field(default_factory=list[bytes])  # inputs as JSON
    keys: list[str | None] | None = None  # None: no row has one
    faults: dict[int, str] = field(default_factory=dict[int, str])  # the errors of invalid inputs
    writes: dict[int, Statement] = field(default_factory=dict[int, Statement])  # committed with the item of the row

    def __len__(self) -> int:
        return len(self.data)

    def add(self, more: SourceRows) -> None:
        """Append other rows."""
        end = len(self.data)
        if self.keys is None and more.keys is not None:
            self.keys = list[str | None](repeat(None, end))
        if self.keys is not None:  # in place, because rows may be added one by one
            self.keys += more.keys or repeat(None, len(more))
        self.data += more.data
        self.faults |= {place + end: fault for place, fault in more.faults.items()}
        self.writes |= {place + end: write for place, write in more.writes.items()}

    def first(self, count: int) -> SourceRows:
        return SourceRows(
            self.data[:count],
            None if self.keys is None else self.keys[:count],
            {place: fault for place, fault in self.faults.items() if place < count},
            {place: write for place, write in self.writes.items() if place < count},
        )

    def drop(self, count: int) -> None:
        """Remove the first rows."""
        del self.data[:count]
        if self.keys is not None:
            del self.keys[:count]
        self.faults = {place - count: fault for place, fault in self.faults.items() if place >= count}
        self.writes = {place - count: write for place, write in self.writes.items() if place >= count}


class JobStream:
    """One job that is being loaded, and its position."""

    def __init__(self, adapter: AsyncAdapter, run_at: datetime | None = None, delay: float | None = None) -> None:
        self._adapter = adapter
        self._start = run_at, delay
        self._state: tuple[str, Sequence[object]] = "", ()  # the statement that reads its position
        self._unsure = 0  # rows of a batch that may or may not have been committed
        self.job_id = self.owner_id = self.pipeline_id = self.loaded = self.total = 0
        self.is_sealed = False
        self._waited = 0.0  # for a connection

    async def open(self, pipeline: str, options: CheckedOptions, trace: str | None = None) -> bool:
        """Open the job, or find the job with this key; return whether it is new."""
        o = options
        self._state = load("open_stream"), (pipeline, o.owner, o.key, o.priority, o.meta, trace)
        row = await _retry_for_a_while(self._opened)
        self.job_id, created, self.owner_id, self.pipeline_id, self.total, self.loaded, self.is_sealed = row
        return bool(created)

    async def reopen(self, job_id: int) -> None:
        """Continue a job that was opened before.

        Raises: NotFoundError.
        """
        self._state = load("reopen_stream"), (job_id,)
        row = await _retry_for_a_while(self._opened)
        self.job_id, _, self.owner_id, self.pipeline_id, self.total, self.loaded, self.is_sealed = row

    async def send(self, pending: SourceRows, size: BatchSize, *, seal: bool = False) -> int:
        """Commit the first of the pending rows and return how many; fewer at a time while the database has problems.

        With `seal`, the job is sealed in the same transaction.
        """

        async def attempt() -> int:
            if self._unsure and await self._has_committed(self._unsure):
                return self._unsure
            rows, began = pending.first(_fitting(pending, size)), time.monotonic()
            self._unsure, self._waited = len(rows), 0.0
            self.total = await self._commit(rows, began, seal=seal)
            self.loaded += len(rows)
            size.succeeded(len(rows), sum(map(len, rows.data)), time.monotonic() - began, self._waited)
            return len(rows)

        sent = await _retry_for_a_while(attempt, size.failed)
        self._unsure = 0
        return sent

    async def seal(self) -> None:
        """Mark the job as complete."""
        await _retry_for_a_while(lambda: self._adapter.fetch_row(load("seal_job"), (self.job_id, self.loaded)))
        self.is_sealed = True

    async def _opened(self) -> Row:
        row = await self._adapter.fetch_row(*self._state)
        if row is None:
            raise NotFoundError("job", f"there is no job {self._state[1][0]}")
        return row

    async def _has_committed(self, rows: int) -> bool:
        total, loaded = (await self._opened())[4:6]
        if loaded != self.loaded + rows:
            return False
        self.total, self.loaded = total, loaded
        return True

    async def _commit(self, rows: SourceRows, began: float, *, seal: bool = False) -> int:
        """Store one batch and return the resulting number of items."""
        keys = [key for key in rows.keys or () if key is not None]
        async with self._adapter.atomic() as adapter:
            self._waited = time.monotonic() - began
            begun = await adapter.fetch_row(load("begin_batch"), (self.job_id, self.loaded, keys))
            assert begun is not None  # noqa: S101
            batch = _Numbered(rows, begun[0], set(begun[1]))
            await adapter.copy_items(ItemLoad(self.job_id, self.owner_id, self.pipeline_id, batch.good()))
            if rows.faults:
                await adapter.fetch_row(load("insert_broken_items"), (self.job_id, *batch.bad_columns()))
            for statement in batch.writes():
                await adapter.fetch_row(statement.sql, statement.args)
            await adapter.fetch_row(load("append_items"), self._appended(len(rows), batch))
            if seal:
                await adapter.fetch_row(load("seal_job"), (self.job_id, self.loaded + len(rows)))
        return int(begun[0]) + len(batch.places)

    def _appended(self, read: int, batch: _Numbered) -> Sequence[object]:
        starts, ends = batch.runs()
        counts = (read, len(batch.places), len(batch.bad))
        return self.job_id, self.loaded, *counts, starts, ends, *self._start


class _Numbered:
    """The rows of a batch that become items, and their numbers; rows whose key exists are omitted."""

    def __init__(self, rows: SourceRows, total: int, taken: set[str]) -> None:
        self._rows = rows
        self._first = total + 1
        self.places: Sequence[int] = range(len(rows)) if rows.keys is None else _untaken(rows.keys, taken)
        numbered = zip(self.places, range(self._first, self._first + len(self.places)), strict=True)
        self.bad = [(n, place) for place, n in numbered if place in rows.faults] if rows.faults else []

    def good(self) -> list[ItemBatch]:
        rows, ns = self._rows, range(self._first, self._first + len(self.places))
        if rows.keys is None and not self.bad:
            return [ItemBatch(ns, None, rows.data)]
        good = [(n, place) for n, place in zip(ns, self.places, strict=True) if place not in rows.faults]
        keys = None if rows.keys is None else [rows.keys[place] for _, place in good]
        return [ItemBatch([n for n, _ in good], keys, [rows.data[place] for _, place in good])] if good else []

    def bad_columns(self) -> Sequence[object]:
        rows, keys = self._rows, self._rows.keys or [None] * len(self._rows)
        texts = [rows.data[place].decode() for _, place in self.bad]
        named = [keys[place] for _, place in self.bad]
        return [n for n, _ in self.bad], named, texts, [rows.faults[place] for _, place in self.bad]

    def writes(self) -> list[Statement]:
        writes = self._rows.writes
        return [writes[place] for place in self.places if place in writes] if writes else []

    def runs(self) -> tuple[list[int], list[int]]:
        """The first and last numbers of the runs of valid items; an invalid row separates two runs."""
        starts, ends, first = list[int](), list[int](), self._first
        for n, _ in [*self.bad, (self._first + len(self.places), 0)]:
            if n > first:
                starts.append(first)
                ends.append(n - 1)
            first = n + 1
        return starts, ends


def _untaken(keys: Sequence[str | None], taken: set[str]) -> list[int]:
    kept: list[int] = []
    for place, key in enumerate(keys):
        if key is not None:
            if key in taken:
                continue
            taken.add(key)
        kept.append(place)
    return kept


def _fitting(pending: SourceRows, size: BatchSize) -> int:
    """How many of the pending rows fit into one batch."""
    sizes = accumulate(map(len, islice(pending.data, size.rows)))
    return max(1, sum(1 for upto in sizes if upto <= size.most_bytes)) if pending.data else 0


async def _retry_for_a_while(call: Callable[[], Awaitable[T]], on_failure: Callable[[], None] = lambda: None) -> T:
    """Repeat a call while the database is unavailable, for half a minute."""
    pause = 0.05
    while True:
        try:
            return await call()
        except RETRYABLE as error:
            on_failure()
            if pause > _LONGEST_PAUSE:
                raise database_unavailable(error) from error
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
        pause *= 2
