"""Submitting a source that is too long for one transaction; a crash loses at most the last batch."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, Unpack

from forebay.db.pool import open_pool
from forebay.engine.db.adapters import adapter_for
from forebay.engine.submit.batch_size import BatchSize
from forebay.engine.submit.inputs import encoder_of, readable
from forebay.engine.submit.job_stream import JobStream, SourceRows
from forebay.engine.submit.options import CheckedOptions, JobOptions, checked_text
from forebay.engine.submit.registration import register_unknown
from forebay.errors import InvalidField, RequestError, UnknownPipeline
from forebay.telemetry.tracing import submitting
from forebay.types import Submitted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Pool
    from forebay.engine.declare.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input

OnBadRow: TypeAlias = Literal["raise", "error_item"]


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """The progress of a stream, counted from its start, over all runs."""

    job_id: int
    rows: int  # rows of the source
    items: int

    @property
    def duplicates(self) -> int:
        """Rows that were omitted because their key exists."""
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
    prepared_statements: bool = True,
    **options: Unpack[JobOptions],
) -> Submitted:
    """Submit a long source as one job, batch by batch; workers start with the first batch.

    After a crash, call it again with the same key and the same source: it continues after the last committed batch. If
    the job with that key is complete, it is returned without reading the source.

    `item_key` names each item; a row whose key exists is omitted. `on_bad_row="error_item"` turns an invalid row into
    an item in error, instead of stopping. `on_progress` may be a coroutine function. With an address behind a
    transaction-mode pooler, pass `prepared_statements=False`.

    Raises:
        RequestError: an argument is invalid; names the field, and the index of a row.
        ConflictError: another process streams to the same job, or it was cancelled.
        DatabaseUnavailable: the database has been unavailable for too long.
    """
    if on_bad_row not in ("raise", "error_item"):
        raise InvalidField("on_bad_row", "must be 'raise' or 'error_item'")
    checked = CheckedOptions.checked(key=checked_text("key", key, 500), **options)
    reader = _RowReader(pipeline, item_key, on_bad_row)
    async with _pool(dsn_or_pool, prepared=prepared_statements) as pool:
        adapter = adapter_for(pool)
        stream = JobStream(adapter, checked.run_at, checked.delay)
        with submitting(pipeline.name) as now:
            try:
                created = await stream.open(pipeline.name, checked, now.trace)
            except UnknownPipeline:
                if not pipeline.steps:
                    raise
                await register_unknown(adapter, pipeline)
                created = await stream.open(pipeline.name, checked, now.trace)
            now.made(stream.job_id)
        if not stream.is_sealed:
            rows = await _skip_rows(source, stream.loaded)
            await _load_all(stream, reader, rows, on_progress)
        return Submitted(stream.job_id, created, stream.total)


async def _load_all(
    stream: JobStream,
    reader: _RowReader[I],
    source: AsyncIterator[I],
    on_progress: Callable[[StreamProgress], object] | None,
) -> None:
    size, pending = BatchSize(), SourceRows()
    while True:
        missing = size.rows - len(pending)
        pending.add(reader.read([value async for value in _take_rows(source, missing)], stream.loaded + len(pending)))
        if not pending:
            await stream.seal()
            return
        pending.drop(await stream.send(pending, size))
        if on_progress is not None:
            result = on_progress(StreamProgress(stream.job_id, stream.loaded, stream.total))
            if inspect.isawaitable(result):
                await result


# -- the source -----------------------------------------------------------------------------------------------


class _RowReader(Generic[I]):
    """Converts the values of the source into rows that can be stored."""

    def __init__(self, pipeline: Pipeline[I], item_key: Callable[[I], str] | None, on_bad_row: OnBadRow) -> None:
        self._encoder = encoder_of(pipeline)
        self._item_key = item_key
        self._stops = on_bad_row == "raise"

    def read(self, values: Sequence[I], first: int) -> SourceRows:
        try:
            encoded = self._encoder.encode_all(values, first)
            return SourceRows(encoded, self._keys(values, first))
        except RequestError:
            if self._stops:
                raise
        rows = SourceRows()
        for place, value in enumerate(values, first):
            rows.add(self._read_one(value, place))
        return rows

    def _read_one(self, value: I, place: int) -> SourceRows:
        try:
            keys = self._keys([value], place)
            return SourceRows([self._encoder.encode(value, f"inputs[{place}]")], keys)
        except RequestError as error:
            return SourceRows([readable(value).encode()], faults={0: str(error)})

    def _keys(self, values: Sequence[I], first: int) -> list[str | None] | None:
        if self._item_key is None:
            return None
        return [checked_text(f"keys[{place}]", self._item_key(value), 500) for place, value in enumerate(values, first)]


async def _skip_rows(source: AsyncIterable[I] | Iterable[I], count: int) -> AsyncIterator[I]:
    """The source without its first `count` rows.

    Raises:
        InvalidField: it has fewer rows.
    """
    rows = aiter(source) if isinstance(source, AsyncIterable) else _as_async(source)
    skipped = 0
    async for _ in _take_rows(rows, count):
        skipped += 1
    if skipped < count:
        raise InvalidField("source", f"ends after {skipped} rows, but {count} rows were loaded before")
    return rows


async def _as_async(source: Iterable[I]) -> AsyncIterator[I]:
    for value in source:
        yield value


async def _take_rows(source: AsyncIterator[I], count: int) -> AsyncIterator[I]:
    """The next `count` rows; unlike a loop with break, it does not consume one row too many."""
    for _ in range(count):
        try:
            yield await anext(source)
        except StopAsyncIteration:
            return


@asynccontextmanager
async def _pool(dsn_or_pool: str | Pool, *, prepared: bool) -> AsyncGenerator[Pool, None]:
    if not isinstance(dsn_or_pool, str):
        yield dsn_or_pool
        return
    async with await open_pool(dsn_or_pool, size=1, name="forebay stream", prepared=prepared) as pool:
        yield pool
