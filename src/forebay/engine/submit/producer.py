"""Submitting: the caller's rows and their work are committed together or not at all."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack

from forebay.engine.db.adapters import AsyncAdapter, Row, SyncAdapter, adapter_for, sync_adapter_for
from forebay.engine.db.loads import ItemBatch, ItemLoad
from forebay.engine.db.sql import load
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.engine.submit.inputs import encoder_of
from forebay.engine.submit.options import CheckedOptions, Coalescing, JobOptions, KeyBounds, SubmitOptions, checked_text
from forebay.engine.submit.registration import submit_registered, submit_registered_sync
from forebay.errors import InputTooLarge, InvalidField
from forebay.telemetry.tracing import Submitting, submitting
from forebay.types import Submitted

if TYPE_CHECKING:
    from datetime import timedelta

    from forebay.engine.db.adapters import AsyncConn, SyncConn
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.types import Submit, Unique

I = TypeVar("I")  # noqa: E741 - the input
R = TypeVar("R")

_SHORT = 1000  # up to this number, one statement with arrays is faster than COPY and its round trips
_BATCH = 256  # rows of a block: about a millisecond of encoding
_FIRST = 16  # rows of the first block, while their size is unknown
_BLOCK = 1 << 20  # approximate bytes of a block


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One statement that returns one row."""

    sql: str
    args: Sequence[object]


# The steps of a submit, independent of async or sync: a generator that yields requests and receives their results.
_Plan: TypeAlias = Generator[_Fetch | ItemLoad, Any, R]


async def _perform(adapter: AsyncAdapter, plan: _Plan[R]) -> R:
    answer: Row | None = None
    try:
        while True:
            request = plan.send(answer)
            if isinstance(request, _Fetch):
                answer = await adapter.fetch_row(request.sql, request.args)
            else:
                await adapter.copy_items(request)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _perform_sync(adapter: SyncAdapter, plan: _Plan[R]) -> R:
    answer: Row | None = None
    try:
        while True:
            request = plan.send(answer)
            if isinstance(request, _Fetch):
                answer = adapter.fetch_row(request.sql, request.args)
            else:
                adapter.copy_items(request)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def submit(
    conn: AsyncConn,
    pipeline: Pipeline[I],
    input: I,  # noqa: A002
    *,
    coalesce: bool = False,
    max_wait: float | timedelta | None = None,
    **options: Unpack[SubmitOptions],
) -> Submitted:
    """Submit one item as one job, in the transaction of `conn`.

    If a job with this `key` exists, its id is returned and nothing is written; `unique` limits how long a job keeps its
    key. With `coalesce`, the new input replaces that of a job that has not started. With a `delay`, each such
    submit postpones the job, but at most until `max_wait` seconds after the first.

    Raises:
        RequestError: an argument is invalid; names the field.
        TypeError: the kind of `conn` is not supported.
    """
    checked = CheckedOptions.checked(**options)
    merging = Coalescing.checked(checked, coalesce=coalesce, max_wait=max_wait)
    with submitting(pipeline.name) as now:
        return await submit_registered(
            adapter_for(conn),
            pipeline,
            lambda adapter: _perform(adapter, _submitting(pipeline, input, merging, checked, now)),
        )


def submit_sync(
    conn: SyncConn,
    pipeline: Pipeline[I],
    input: I,  # noqa: A002
    *,
    coalesce: bool = False,
    max_wait: float | timedelta | None = None,
    **options: Unpack[SubmitOptions],
) -> Submitted:
    """Same as `submit`, on a synchronous connection."""
    checked = CheckedOptions.checked(**options)
    merging = Coalescing.checked(checked, coalesce=coalesce, max_wait=max_wait)
    with submitting(pipeline.name) as now:
        return submit_registered_sync(
            sync_adapter_for(conn),
            pipeline,
            lambda adapter: _perform_sync(adapter, _submitting(pipeline, input, merging, checked, now)),
        )


def new_submit(pipeline: Pipeline[I], value: I, **options: Unpack[SubmitOptions]) -> Submit:
    """A job that a step submits with its result.

    Raises: RequestError.
    """
    o = CheckedOptions.checked(**options)
    owner = o.owner if "owner" in options else None
    data = encoder_of(pipeline).encode(value).decode()
    return CheckedSubmit(pipeline.name, data, owner, o.key, o.priority, o.run_at, o.delay, o.meta, *o.unique)


def _submitting(
    pipeline: Pipeline[I], value: I, merging: Coalescing, o: CheckedOptions, now: Submitting
) -> _Plan[Submitted]:
    args = item_arguments(pipeline, value, merging, o, now.trace)
    job_id, created = yield _Fetch(load("submit_item"), args)
    now.made(job_id)
    return Submitted(job_id, created)


def item_arguments(
    pipeline: Pipeline[I], value: I, merging: Coalescing, o: CheckedOptions, trace: str | None = None
) -> tuple[object, ...]:
    """The validated arguments of the statement submit_item.

    Raises: RequestError.
    """
    data = encoder_of(pipeline).encode(value).decode()
    when = (o.priority, o.run_at, o.delay)
    return (
        *(pipeline.name, data, o.owner, o.key, *when, merging.coalesce, o.meta, trace),
        *(merging.max_wait, *_listed(o.unique)),
    )


def _listed(unique: KeyBounds) -> tuple[list[str] | None, float | None]:
    """Some drivers take only lists as arrays."""
    return None if unique.states is None else list(unique.states), unique.period


async def submit_many(
    conn: AsyncConn,
    pipeline: Pipeline[I],
    inputs: Iterable[I],
    *,
    keys: Iterable[str | None] | None = None,
    **options: Unpack[SubmitOptions],
) -> Submitted:
    """Submit many items as one job, in the transaction of `conn`, or in a new one.

    `keys` names the items, one for each input; a second item with the same key is omitted. Inputs are read while they
    are sent, so a generator of millions needs no memory. An error leaves nothing of the job behind.

    Raises:
        RequestError: an argument is invalid; names the field, and the index of an input.
        TypeError: the kind of `conn` is not supported.
    """
    adapter = adapter_for(conn)
    bulk = _Bulk(pipeline, inputs, keys, CheckedOptions.checked(**options))
    with submitting(pipeline.name) as now:
        return await submit_registered(adapter, pipeline, lambda at: _submit_bulk(at, bulk, now))


async def _submit_bulk(adapter: AsyncAdapter, bulk: _Bulk[I], now: Submitting) -> Submitted:
    if bulk.is_short:
        return await _perform(adapter, bulk.sending(now))
    async with adapter.atomic() as inside:
        return await _perform(inside, bulk.copying(now))


def submit_many_sync(
    conn: SyncConn,
    pipeline: Pipeline[I],
    inputs: Iterable[I],
    *,
    keys: Iterable[str | None] | None = None,
    **options: Unpack[SubmitOptions],
) -> Submitted:
    """Same as `submit_many`, on a synchronous connection."""
    adapter = sync_adapter_for(conn)
    bulk = _Bulk(pipeline, inputs, keys, CheckedOptions.checked(**options))
    with submitting(pipeline.name) as now:
        return submit_registered_sync(adapter, pipeline, lambda at: _submit_bulk_sync(at, bulk, now))


def _submit_bulk_sync(adapter: SyncAdapter, bulk: _Bulk[I], now: Submitting) -> Submitted:
    if bulk.is_short:
        return _perform_sync(adapter, bulk.sending(now))
    with adapter.atomic() as inside:
        return _perform_sync(inside, bulk.copying(now))


async def submit_jobs(
    conn: AsyncConn,
    pipeline: Pipeline[I],
    inputs: Iterable[I],
    *,
    keys: Iterable[str | None] | None = None,
    unique: Unique | None = None,
    **options: Unpack[JobOptions],
) -> list[Submitted]:
    """Submit each input as a job of its own, in one round trip and in the transaction of `conn`.

    `keys` are the keys of the jobs, one for each input. If a job with such a key exists, it is returned unchanged;
    `unique` limits how long a job keeps its key.

    Raises:
        RequestError: an argument is invalid; names the field, and the index of an input. Nothing is written.
        TypeError: the kind of `conn` is not supported.
    """
    adapter = adapter_for(conn)
    checked = CheckedOptions.checked(**options)
    encoded = _encoded_jobs(pipeline, inputs, keys, unique)
    with submitting(pipeline.name) as now:
        return await submit_registered(
            adapter, pipeline, lambda at: _perform(at, _submitting_jobs(pipeline, *encoded, checked, now))
        )


def submit_jobs_sync(
    conn: SyncConn,
    pipeline: Pipeline[I],
    inputs: Iterable[I],
    *,
    keys: Iterable[str | None] | None = None,
    unique: Unique | None = None,
    **options: Unpack[JobOptions],
) -> list[Submitted]:
    """Same as `submit_jobs`, on a synchronous connection."""
    adapter = sync_adapter_for(conn)
    checked = CheckedOptions.checked(**options)
    encoded = _encoded_jobs(pipeline, inputs, keys, unique)
    with submitting(pipeline.name) as now:
        return submit_registered_sync(
            adapter, pipeline, lambda at: _perform_sync(at, _submitting_jobs(pipeline, *encoded, checked, now))
        )


def _encoded_jobs(
    pipeline: Pipeline[I], inputs: Iterable[I], keys: Iterable[str | None] | None, unique: Unique | None
) -> tuple[list[str], list[str | None] | None, KeyBounds]:
    bounds = KeyBounds.checked(unique)
    encoded = [data.decode() for data in encoder_of(pipeline).encode_all(list(inputs), 0)]
    if keys is None:
        if unique is not None:
            raise InvalidField("keys", "are required for unique")
        return encoded, None, bounds
    names = [None if key is None else checked_text(f"keys[{place}]", key, 500) for place, key in enumerate(keys)]
    if len(names) != len(encoded):
        raise _key_count_error()
    return encoded, names, bounds


def _submitting_jobs(
    pipeline: Pipeline[I],
    inputs: list[str],
    keys: list[str | None] | None,
    unique: KeyBounds,
    o: CheckedOptions,
    now: Submitting,
) -> _Plan[list[Submitted]]:
    args = (pipeline.name, inputs, o.owner, keys, o.priority, o.run_at, o.delay, o.meta, now.trace, *_listed(unique))
    job_ids, created = yield _Fetch(load("submit_jobs"), args)
    if job_ids:
        now.made(job_ids[0])
    return [Submitted(job_id, is_new) for job_id, is_new in zip(job_ids, created, strict=True)]


class _Bulk(Generic[I]):
    """The items of a bulk submit: a short list is sent in one statement, a long one with COPY."""

    def __init__(
        self, pipeline: Pipeline[I], inputs: Iterable[I], keys: Iterable[str | None] | None, options: CheckedOptions
    ) -> None:
        self._pipeline = pipeline
        self._options = options
        self._batches = _encoded(pipeline, inputs, keys)
        # Reading this far ahead distinguishes short from long, and finds most errors before any statement.
        self._head: list[ItemBatch] = []
        while self._ahead <= _SHORT and (batch := next(self._batches, None)):
            self._head.append(batch)
        self.is_short = self._ahead <= _SHORT
        self._total = 0

    @property
    def _ahead(self) -> int:
        return self._head[-1].ns[-1] if self._head else 0

    def sending(self, now: Submitting) -> _Plan[Submitted]:
        o = self._options
        inputs = [data.decode() for batch in self._head for data in batch.inputs]
        keys = [key for batch in self._head for key in batch.keys or ()]
        args = (
            self._pipeline.name,
            inputs,
            o.owner,
            o.key,
            o.priority,
            o.run_at,
            o.delay,
            keys or None,
            o.meta,
            now.trace,
            *_listed(o.unique),
        )
        job_id, created, items = yield _Fetch(load("submit_items"), args)
        now.made(job_id)
        return Submitted(job_id, created, items)

    def copying(self, now: Submitting) -> _Plan[Submitted]:
        o = self._options
        args = (
            self._pipeline.name,
            o.owner,
            o.key,
            o.priority,
            self._ahead,
            True,
            o.meta,
            now.trace,
            *_listed(o.unique),
        )
        opened = yield _Fetch(load("open_job"), args)
        job_id, created, owner_id, pipeline_id, total, _, max_bytes = opened
        now.made(job_id)
        if not created:
            return Submitted(job_id, created=False, items=total)
        yield ItemLoad(job_id, owner_id, pipeline_id, self._counted(max_bytes))
        yield _Fetch(load("enqueue_items"), (job_id, self._total, o.run_at, o.delay))
        return Submitted(job_id, created=True, items=self._total)

    def _counted(self, max_bytes: int) -> Iterator[ItemBatch]:
        for batch in chain(self._head, self._batches):
            # The registered pipeline may allow less than the pipeline in this process.
            if max(map(len, batch.inputs)) > max_bytes:
                raise _too_large(batch, max_bytes)
            self._total = batch.ns[-1]
            yield batch


def _encoded(pipeline: Pipeline[I], inputs: Iterable[I], keys: Iterable[str | None] | None) -> Iterator[ItemBatch]:
    """The items in non-empty batches."""
    encoder, source, n, place = encoder_of(pipeline), iter(inputs), 0, 0
    names, seen = None if keys is None else iter(keys), set[str]()
    size = _FIRST
    while values := list(islice(source, size)):
        encoded, kept = encoder.encode_all(values, place), None
        size = max(1, min(_BATCH, _BLOCK * len(values) // sum(map(len, encoded))))
        if names is not None:
            fresh = _new_keys(list(islice(names, len(values))), len(values), place, seen)
            encoded, kept = [encoded[offset] for offset, _ in fresh], [key for _, key in fresh]
        if encoded:
            yield ItemBatch(range(n + 1, n + len(encoded) + 1), kept, encoded)
        n, place = n + len(encoded), place + len(values)
    if names is not None and next(names, _NOTHING) is not _NOTHING:
        raise _key_count_error()


_NOTHING = object()


def _new_keys(keys: list[str | None], wanted: int, place: int, seen: set[str]) -> list[tuple[int, str | None]]:
    """The keys that have not been seen yet, with their offsets."""
    if len(keys) < wanted:
        raise _key_count_error()
    fresh: list[tuple[int, str | None]] = []
    for offset, key in enumerate(keys):
        if key is not None:
            checked_text(f"keys[{place + offset}]", key, 500)
            if key in seen:
                continue
            seen.add(key)
        fresh.append((offset, key))
    return fresh


def _too_large(batch: ItemBatch, max_bytes: int) -> InputTooLarge:
    n, size = next((n, len(data)) for n, data in zip(batch.ns, batch.inputs, strict=True) if len(data) > max_bytes)
    return InputTooLarge("inputs", f"item {n} has {size} bytes; the pipeline takes at most {max_bytes}")


def _key_count_error() -> InvalidField:
    return InvalidField("keys", "must have as many entries as inputs")
