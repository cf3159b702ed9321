"""Submitting a source that is too long for one transaction, so that a crash costs at most the last batch."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, Unpack

from forebay.db.doors import PASSING, AsyncDoor, Row, door_of
from forebay.db.loads import Batch, ItemLoad
from forebay.db.pool import open_pool, unavailable
from forebay.db.sql import load
from forebay.engine.batching import BatchSize
from forebay.engine.inputs import Encoder, Options, StreamOptions, checked_text, readable
from forebay.errors import InvalidField, RequestError
from forebay.telemetry.tracing import submitting
from forebay.types import Submitted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Pool
    from forebay.engine.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input
T = TypeVar("T")

OnBadRow: TypeAlias = Literal["raise", "error_item"]
_LONGEST_PAUSE = 12.8  # pauses from 0.05 s up to this one make half a minute


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a stream is, counted from its beginning, over all the runs that it took."""

    job_id: int
    rows: int  # of the source
    items: int

    @property
    def duplicates(self) -> int:
        """Rows that were left out since their key was there before."""
        return self.rows - self.items


async def submit_stream(
    dsn_or_pool: str | Pool,
    pipeline: Pipeline[I],
    source: AsyncIterable[I] | Iterable[I],
    *,
    key: str,
    item_key: Callable[[I], str] | None = None,
    on_bad_row: OnBadRow = "raise",
    on_progress: Callable[[StreamProgress], object] | None = None,
    **options: Unpack[StreamOptions],
) -> Submitted:
    """Submit a long source as one job, batch by batch; workers begin with the first batch.

    After a crash the same call, with the same key and the same source, goes on behind the last committed batch. A
    job of that key that is complete is answered without reading the source.

    `item_key` names each item; a row whose key was there before is left out. `on_bad_row="error_item"` turns a row
    that is no valid input into an item in error, instead of stopping at it. `on_progress` may be a coroutine function.

    Raises:
        RequestError: something about it cannot be; names the field, and of a row its place.
        WrongState: another process streams to the same job, or it was cancelled.
        DatabaseUnavailable: the database has been away for too long.
    """
    if on_bad_row not in ("raise", "error_item"):
        raise InvalidField("on_bad_row", "must be 'raise' or 'error_item'")
    checked = Options.checked(key=checked_text("key", key, 500), **options)
    reader = _Reader(pipeline, item_key, on_bad_row)
    async with _pool(dsn_or_pool) as pool:
        stream = _Stream(door_of(pool), pipeline.name, checked)
        with submitting(pipeline.name) as now:
            created = await stream.open(now.trace)
            now.made(stream.job_id)
        if not stream.is_sealed:
            rows = await _behind(source, stream.loaded)
            await _load_all(stream, reader, rows, on_progress)
        return Submitted(stream.job_id, created, stream.total)


async def _load_all(
    stream: _Stream,
    reader: _Reader[I],
    source: AsyncIterator[I],
    on_progress: Callable[[StreamProgress], object] | None,
) -> None:
    size, pending = BatchSize(), list[_SourceRow]()
    while True:
        missing = size.rows - len(pending)
        pending += reader.read([value async for value in _taken(source, missing)], stream.loaded + len(pending))
        if not pending:
            await stream.seal()
            return
        sent = await stream.send(pending, size)
        del pending[:sent]
        if on_progress is not None:
            told = on_progress(StreamProgress(stream.job_id, stream.loaded, stream.total))
            if inspect.isawaitable(told):
                await told


# The source.


@dataclass(frozen=True, slots=True)
class _SourceRow:
    key: str | None
    data: bytes
    fault: str | None = None


class _Reader(Generic[I]):
    """Turns what the source yields into rows that can be stored."""

    def __init__(self, pipeline: Pipeline[I], item_key: Callable[[I], str] | None, on_bad_row: OnBadRow) -> None:
        self._encoder = Encoder(pipeline)
        self._item_key = item_key
        self._stops = on_bad_row == "raise"

    def read(self, values: Sequence[I], first: int) -> list[_SourceRow]:
        try:
            encoded = self._encoder.encode_all(values, first)
            return [
                _SourceRow(self._key_of(value, place), data)
                for place, (value, data) in enumerate(zip(values, encoded, strict=True), first)
            ]
        except RequestError:
            if self._stops:
                raise
        return [self._read_one(value, place) for place, value in enumerate(values, first)]

    def _read_one(self, value: I, place: int) -> _SourceRow:
        try:
            return _SourceRow(self._key_of(value, place), self._encoder.encode(value, f"inputs[{place}]"))
        except RequestError as error:
            return _SourceRow(None, readable(value).encode(), str(error))

    def _key_of(self, value: I, place: int) -> str | None:
        return None if self._item_key is None else checked_text(f"keys[{place}]", self._item_key(value), 500)


async def _behind(source: AsyncIterable[I] | Iterable[I], count: int) -> AsyncIterator[I]:
    """The source without its first `count` rows.

    Raises:
        InvalidField: it has fewer.
    """
    rows = aiter(source) if isinstance(source, AsyncIterable) else _lifted(source)
    skipped = 0
    async for _ in _taken(rows, count):
        skipped += 1
    if skipped < count:
        raise InvalidField("source", f"ends after {skipped} rows, but {count} of it were loaded before")
    return rows


async def _lifted(source: Iterable[I]) -> AsyncIterator[I]:
    for value in source:
        yield value


async def _taken(source: AsyncIterator[I], count: int) -> AsyncIterator[I]:
    """The next `count` rows; unlike a loop that breaks off, it takes none too many."""
    for _ in range(count):
        try:
            yield await anext(source)
        except StopAsyncIteration:
            return


# The database.


class _Stream:
    """One job that is being loaded, and how far it is."""

    def __init__(self, door: AsyncDoor, pipeline: str, options: Options) -> None:
        self._door = door
        self._pipeline = pipeline
        self._options = options
        self._trace: str | None = None
        self._unsure = 0  # rows of a batch of which is not known whether it has committed
        self.job_id = self.owner_id = self.pipeline_id = self.loaded = self.total = 0
        self.is_sealed = False

    async def open(self, trace: str | None = None) -> bool:
        """Open the job, or find it again; tells whether it is new."""
        self._trace = trace
        row = await _patiently(self._opened)
        self.job_id, created, self.owner_id, self.pipeline_id, self.total, self.loaded, self.is_sealed = row
        return bool(created)

    async def send(self, pending: Sequence[_SourceRow], size: BatchSize) -> int:
        """Commit the first of the pending rows and tell how many; fewer at a time while the database has trouble."""

        async def attempt() -> int:
            if self._unsure and await self._has_committed(self._unsure):
                return self._unsure
            rows, began = _fitting(pending, size), time.monotonic()
            self._unsure = len(rows)
            self.total = await self._commit(rows)
            self.loaded += len(rows)
            size.succeeded(len(rows), _bytes_of(rows), time.monotonic() - began)
            return len(rows)

        sent = await _patiently(attempt, size.failed)
        self._unsure = 0
        return sent

    async def seal(self) -> None:
        """Say that this was all."""
        await _patiently(lambda: self._door.fetch_row(load("seal_job"), (self.job_id, self.loaded)))
        self.is_sealed = True

    async def _opened(self) -> Row:
        o = self._options
        args = (self._pipeline, o.owner, o.key, o.priority, o.meta, self._trace)
        row = await self._door.fetch_row(load("open_stream"), args)
        assert row is not None  # noqa: S101 - a function in FROM answers one row
        return row

    async def _has_committed(self, rows: int) -> bool:
        total, loaded = (await self._opened())[4:6]
        if loaded != self.loaded + rows:
            return False
        self.total, self.loaded = total, loaded
        return True

    async def _commit(self, rows: Sequence[_SourceRow]) -> int:
        """Store one batch and tell how many items there are then."""
        keys = [row.key for row in rows if row.key is not None]
        async with self._door.atomic() as door:
            begun = await door.fetch_row(load("begin_batch"), (self.job_id, self.loaded, keys))
            assert begun is not None  # noqa: S101
            batch = _numbered(rows, begun[0], set(begun[1]))
            await door.copy_items(ItemLoad(self.job_id, self.owner_id, self.pipeline_id, batch.good()))
            if batch.bad:
                await door.fetch_row(load("insert_broken_items"), (self.job_id, *batch.bad_columns()))
            await door.fetch_row(load("append_items"), self._appended(len(rows), batch))
        return int(begun[0]) + len(batch.rows)

    def _appended(self, read: int, batch: _Numbered) -> Sequence[object]:
        starts, ends = batch.runs()
        counts = (read, len(batch.rows), len(batch.bad))
        return self.job_id, self.loaded, *counts, starts, ends, self._options.run_at, self._options.delay


@dataclass(frozen=True, slots=True)
class _Numbered:
    """The rows of a batch that become items, with their numbers."""

    rows: Sequence[tuple[int, _SourceRow]]

    @property
    def bad(self) -> list[tuple[int, _SourceRow]]:
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


def _numbered(rows: Sequence[_SourceRow], total: int, taken: set[str]) -> _Numbered:
    kept: list[_SourceRow] = []
    for row in rows:
        if row.key is not None:
            if row.key in taken:
                continue
            taken.add(row.key)
        kept.append(row)
    return _Numbered(list(enumerate(kept, total + 1)))


def _fitting(pending: Sequence[_SourceRow], size: BatchSize) -> Sequence[_SourceRow]:
    """The first of the pending rows that make one batch."""
    taken, room = 0, size.most_bytes
    for row in islice(pending, size.rows):
        room -= len(row.data)
        if room < 0 and taken:
            break
        taken += 1
    return pending[:taken]


def _bytes_of(rows: Sequence[_SourceRow]) -> int:
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
        await asyncio.sleep(pause)
        pause *= 2


@asynccontextmanager
async def _pool(dsn_or_pool: str | Pool) -> AsyncGenerator[Pool, None]:
    if not isinstance(dsn_or_pool, str):
        yield dsn_or_pool
        return
    async with await open_pool(dsn_or_pool, size=1, name="forebay stream") as pool:
        yield pool
