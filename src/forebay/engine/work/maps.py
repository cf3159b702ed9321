"""Maps: the items of a Map are stored while its step runs, start when it is settled, and wake it when they have ended.

A few items are stored in the transaction that settles the step. More are stored in batches, each in a transaction of
its own that checks the lease. If the worker is lost meanwhile, they never start, and a sweep deletes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Collection
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from pydantic_core import from_json

from forebay.engine.db.adapters import adapter_for
from forebay.engine.db.loads import ItemBatch, ItemLoad
from forebay.engine.db.sql import load
from forebay.engine.submit.inputs import encoder_of
from forebay.engine.submit.registration import register_unknown
from forebay.engine.work.attempt import LONGEST_PAUSE, end_wait, result_json
from forebay.errors import DataError, PermanentError, RequestError, TransientError
from forebay.types import ErrorClass, Mapped, Statement

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import ChildCounts, WaitRecord
    from forebay.engine.declare.map import Map
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt

_ROWS = 2000  # of a batch
_BYTES = 1 << 20
_CHUNK = 256  # rows that are read from the source at once: about a millisecond of encoding
_FIRST = 16  # rows that are read first, while their size is unknown

_START = "select forebay.start_children($1, $2, $3)"
_AWAIT = "select forebay.await_children($1, $2, $3, $4)"
_REPEAT = "select forebay.repeat_children($1, $2, $3, $4)"
_FAIL = "select forebay.fail_map($1, $2, $3)"


class Maps:
    """The maps of the steps of one worker."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._adapter = adapter_for(pool)
        self._clock = clock
        self._registered: WeakSet[Pipeline[Any]] = WeakSet()

    async def begin(self, attempt: Attempt, step: Step[Any, Any], value: Map[Any]) -> None:
        """Store the items of a Map, and record that the task waits for them."""
        _check(step, value)
        async with aclosing(_encoded(value)) as batches:
            first = await anext(batches, None)
            if first is None:
                attempt.result = result_json(step, Mapped(), attempt.lease.names)
                return
            await self._register(value.pipeline)
            second = await anext(batches, None)
            if second is None:
                total, start = len(first), self._few(attempt, value, first)
            else:
                stored = _Stored(self, attempt, value.pipeline.name)
                await stored.open()
                await stored.add(first)
                await stored.add(second)
                async for batch in batches:
                    await stored.add(batch)
                total = stored.total
                start = Statement(_START, (stored.job_id, value.max_failed, self._clock.stamp()))
        _wait(attempt, f"waits for {total} items of {value.pipeline.name}", start)

    def _few(self, attempt: Attempt, value: Map[Any], inputs: list[bytes]) -> Statement:
        texts = [data.decode() for data in inputs]
        args = (value.pipeline.name, texts, value.max_failed, self._clock.stamp())
        return Statement(load("map_inputs"), (*_task(attempt), *args))

    async def _register(self, pipeline: Pipeline[Any]) -> None:
        """Register a pipeline of which no worker has started. One without steps is declared elsewhere."""
        if pipeline.steps and pipeline not in self._registered:
            await register_unknown(self._adapter, pipeline)
            self._registered.add(pipeline)

    def resume(self, attempt: Attempt, step: Step[Any, Any], waited: WaitRecord, children: ChildCounts) -> None:
        """Report how the children of a task have ended; it goes on waiting if they have not."""
        about: dict[str, Any] = from_json(waited.payload or "{}")
        most: int | None = about.get("max_failed")
        now = self._clock.stamp()
        mapped = Mapped(
            children.job_id, children.total, children.done, children.skipped, children.not_found, children.error
        )
        if not children.is_over:
            _wait(attempt, _waits_for(children), Statement(_AWAIT, (*_task(attempt), now)))
        elif most is None or mapped.failed <= most:
            attempt.result = result_json(step, mapped, attempt.lease.names)
            end_wait(attempt)
        elif about.get("failed"):  # the item is reprocessed
            _wait(attempt, _waits_for(children), Statement(_REPEAT, (*_task(attempt), now)))
        else:
            reason = (
                f"{mapped.failed} of {mapped.total} items of {children.pipeline} failed (job {mapped.job_id}), "
                f"more than max_failed={most}"
            )
            attempt.fail("ERROR", reason=reason, error_class=ErrorClass.PERMANENT)
            attempt.writes = (Statement(_FAIL, _task(attempt)),)

    async def store(self, load_of_items: ItemLoad, held: tuple[int, int], added: int) -> None:
        """Store one batch, while the worker holds the task.

        Raises: TransientError.
        """
        async with self._adapter.atomic() as adapter:
            await adapter.copy_items(load_of_items)
            counted = await adapter.fetch_row(load("add_children"), (*held, load_of_items.job_id, added))
            if counted is None or not counted[0]:
                raise _lost()

    async def open(self, attempt: Attempt, pipeline: str) -> tuple[int, int, int]:
        """Open the job of the children; return its id, and those of its owner and pipeline.

        Raises: TransientError.
        """
        args = (attempt.lease.token, attempt.n, pipeline, self._clock.stamp())
        row = await self._adapter.fetch_row(load("open_children"), args)
        if row is None:
            raise _lost()
        return row[0], row[1], row[2]


class _Stored:
    """The children of one task, as far as they are stored."""

    def __init__(self, maps: Maps, attempt: Attempt, pipeline: str) -> None:
        self._maps, self._attempt, self._pipeline = maps, attempt, pipeline
        self.job_id = self._owner_id = self._pipeline_id = self.total = 0

    async def open(self) -> None:
        self.job_id, self._owner_id, self._pipeline_id = await self._maps.open(self._attempt, self._pipeline)

    async def add(self, inputs: list[bytes]) -> None:
        numbers = range(self.total + 1, self.total + len(inputs) + 1)
        batch = ItemBatch(numbers, None, inputs)
        items = ItemLoad(self.job_id, self._owner_id, self._pipeline_id, [batch])
        await self._maps.store(items, (self._attempt.lease.token, self._attempt.n), len(inputs))
        self.total += len(inputs)


def _lost() -> TransientError:
    return TransientError("the items of the Map were not stored: the worker has lost the task, or they were cancelled")


def _check(step: Step[Any, Any], value: Map[Any]) -> None:
    if not step.maps:
        raise PermanentError(f"step {step.name} returned Map: its return type must contain Map")
    most = cast("object", value.max_failed)
    if most is not None and (not isinstance(most, int) or most < 0):
        raise PermanentError("max_failed of a Map must be a number of items, or None")


def _wait(attempt: Attempt, reason: str, write: Statement) -> None:
    attempt.fail("SNOOZED", reason=reason, retry_in=LONGEST_PAUSE, counts_as_attempt=False)
    attempt.writes = (write,)


def _waits_for(children: ChildCounts) -> str:
    return f"waits for {children.total} items of {children.pipeline}"


def _task(attempt: Attempt) -> tuple[int, int, int]:
    return attempt.job_id, attempt.n, attempt.lease.step_id


async def _encoded(value: Map[Any]) -> AsyncGenerator[list[bytes]]:
    """The items of a Map as JSON, in batches of bounded size.

    Raises: DataError if one is invalid.
    """
    encoder, source = encoder_of(value.pipeline), _Source(value.items)
    batch: list[bytes] = []
    place, size, wanted = 0, 0, _FIRST
    while rows := await source.take(wanted):
        try:
            encoded = encoder.encode_all(rows, place)
        except RequestError as error:
            raise DataError(f"an item of the Map is invalid: {error}") from error
        place += len(rows)
        added = sum(map(len, encoded))
        wanted = max(1, min(_CHUNK, _BYTES * len(rows) // max(1, added)))
        batch += encoded
        size += added
        if len(batch) >= _ROWS or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Source:
    """The items of a Map. A generator may compute or read files, so it runs in a thread."""

    def __init__(self, items: AsyncIterable[Any] | Iterable[Any]) -> None:
        self._later = aiter(items) if isinstance(items, AsyncIterable) else None
        self._now = iter(()) if isinstance(items, AsyncIterable) else iter(items)
        self._is_at_hand = isinstance(items, Collection)

    async def take(self, most: int) -> list[Any]:
        """The next items, at most so many; none at the end."""
        if self._later is not None:
            taken: list[Any] = []
            while len(taken) < most and (value := await anext(self._later, _END)) is not _END:
                taken.append(value)
            return taken
        if self._is_at_hand:
            return list(islice(self._now, most))
        return await asyncio.to_thread(lambda: list(islice(self._now, most)))


_END = object()
