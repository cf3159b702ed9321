"""Submits of many items as one job: encoded in batches, and sent in one statement or with COPY."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Generic, TypeVar

from forebay.engine.db.loads import ItemBatch, ItemLoad
from forebay.engine.db.sql import load
from forebay.engine.submit.inputs import encoder_of
from forebay.engine.submit.options import CheckedOptions, checked_text
from forebay.engine.submit.plan import Fetch
from forebay.errors import InputTooLarge, InvalidField
from forebay.types import Submitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.submit.plan import Plan
    from forebay.telemetry.tracing import Submitting

I = TypeVar("I")  # noqa: E741 - the input

_SHORT = 1000  # up to this number, one statement with arrays is faster than COPY and its round trips
_BATCH = 256  # rows of a block: about a millisecond of encoding
_FIRST = 16  # rows of the first block, while their size is unknown
_BLOCK = 1 << 20  # approximate bytes of a block


class BulkSubmit(Generic[I]):
    """The items of a bulk submit: a short list is sent in one statement, a long one with COPY."""

    def __init__(
        self, pipeline: Pipeline[I], inputs: Iterable[I], keys: Iterable[str | None] | None, options: CheckedOptions
    ) -> None:
        self._pipeline = pipeline
        self._options = options
        self._batches = encoded_batches(pipeline, inputs, keys)
        # Reading this far ahead distinguishes short from long, and finds most errors before any statement.
        self._head: list[ItemBatch] = []
        while self._ahead <= _SHORT and (batch := next(self._batches, None)):
            self._head.append(batch)
        self.is_short = self._ahead <= _SHORT
        self._total = 0

    @property
    def _ahead(self) -> int:
        return self._head[-1].ns[-1] if self._head else 0

    def sending(self, now: Submitting) -> Plan[Submitted]:
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
            *o.unique.as_arguments(),
        )
        job_id, created, items = yield Fetch(load("submit_items"), args)
        now.made(job_id)
        return Submitted(job_id, created, items)

    def copying(self, now: Submitting) -> Plan[Submitted]:
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
            *o.unique.as_arguments(),
        )
        opened = yield Fetch(load("open_job"), args)
        job_id, created, owner_id, pipeline_id, total, _, max_bytes = opened
        now.made(job_id)
        if not created:
            return Submitted(job_id, created=False, items=total)
        yield ItemLoad(job_id, owner_id, pipeline_id, self._counted(max_bytes))
        yield Fetch(load("enqueue_items"), (job_id, self._total, o.run_at, o.delay))
        return Submitted(job_id, created=True, items=self._total)

    def _counted(self, max_bytes: int) -> Iterator[ItemBatch]:
        for batch in chain(self._head, self._batches):
            # The registered pipeline may allow less than the pipeline in this process.
            if max(map(len, batch.inputs)) > max_bytes:
                raise _too_large(batch, max_bytes)
            self._total = batch.ns[-1]
            yield batch


def encoded_batches(
    pipeline: Pipeline[I], inputs: Iterable[I], keys: Iterable[str | None] | None
) -> Iterator[ItemBatch]:
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
        raise key_count_error()


_NOTHING = object()


def _new_keys(keys: list[str | None], wanted: int, place: int, seen: set[str]) -> list[tuple[int, str | None]]:
    """The keys that have not been seen yet, with their offsets."""
    if len(keys) < wanted:
        raise key_count_error()
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


def key_count_error() -> InvalidField:
    return InvalidField("keys", "must have as many entries as inputs")
