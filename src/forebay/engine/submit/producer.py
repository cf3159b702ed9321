"""Submitting: the caller's rows and their work are committed together or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, Unpack

from forebay.engine.db.adapters import AsyncAdapter, SyncAdapter, adapter_for, sync_adapter_for
from forebay.engine.db.sql import load
from forebay.engine.submit.bulk import BulkSubmit, key_count_error
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.engine.submit.inputs import encoder_of
from forebay.engine.submit.options import CheckedOptions, Coalescing, JobOptions, KeyBounds, SubmitOptions, checked_text
from forebay.engine.submit.plan import Fetch, perform, perform_sync
from forebay.engine.submit.registration import submit_registered, submit_registered_sync
from forebay.errors import InvalidField
from forebay.telemetry.tracing import Submitting, submitting
from forebay.types import Submitted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from forebay.engine.db.adapters import AsyncConn, SyncConn
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.submit.plan import Plan
    from forebay.types import Submit, Unique

I = TypeVar("I")  # noqa: E741 - the input


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
            lambda adapter: perform(adapter, _submitting(pipeline, input, merging, checked, now)),
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
            lambda adapter: perform_sync(adapter, _submitting(pipeline, input, merging, checked, now)),
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
) -> Plan[Submitted]:
    if o.key is None and o.run_at is None and o.delay is None:  # the usual case
        data = encoder_of(pipeline).encode(value).decode()
        args = (pipeline.name, data, o.owner, o.priority, o.meta, now.trace)
        (ready,) = yield Fetch(load("submit_ready"), args)
        if ready is not None:
            now.made(ready)
            return Submitted(ready, created=True)
    job_id, created = yield Fetch(load("submit_item"), item_arguments(pipeline, value, merging, o, now.trace))
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
        *(merging.max_wait, *o.unique.as_arguments()),
    )


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
    bulk = BulkSubmit(pipeline, inputs, keys, CheckedOptions.checked(**options))
    with submitting(pipeline.name) as now:
        return await submit_registered(adapter, pipeline, lambda at: _submit_bulk(at, bulk, now))


async def _submit_bulk(adapter: AsyncAdapter, bulk: BulkSubmit[I], now: Submitting) -> Submitted:
    if bulk.is_short:
        return await perform(adapter, bulk.sending(now))
    async with adapter.atomic() as inside:
        return await perform(inside, bulk.copying(now))


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
    bulk = BulkSubmit(pipeline, inputs, keys, CheckedOptions.checked(**options))
    with submitting(pipeline.name) as now:
        return submit_registered_sync(adapter, pipeline, lambda at: _submit_bulk_sync(at, bulk, now))


def _submit_bulk_sync(adapter: SyncAdapter, bulk: BulkSubmit[I], now: Submitting) -> Submitted:
    if bulk.is_short:
        return perform_sync(adapter, bulk.sending(now))
    with adapter.atomic() as inside:
        return perform_sync(inside, bulk.copying(now))


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
            adapter, pipeline, lambda at: perform(at, _submitting_jobs(pipeline, *encoded, checked, now))
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
            adapter, pipeline, lambda at: perform_sync(at, _submitting_jobs(pipeline, *encoded, checked, now))
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
        raise key_count_error()
    return encoded, names, bounds


def _submitting_jobs(
    pipeline: Pipeline[I],
    inputs: list[str],
    keys: list[str | None] | None,
    unique: KeyBounds,
    o: CheckedOptions,
    now: Submitting,
) -> Plan[list[Submitted]]:
    args = (
        pipeline.name,
        inputs,
        o.owner,
        keys,
        o.priority,
        o.run_at,
        o.delay,
        o.meta,
        now.trace,
        *unique.as_arguments(),
    )
    job_ids, created = yield Fetch(load("submit_jobs"), args)
    if job_ids:
        now.made(job_ids[0])
    return [Submitted(job_id, is_new) for job_id, is_new in zip(job_ids, created, strict=True)]
