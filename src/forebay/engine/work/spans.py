"""The spans of a traced worker: one for each attempt, within the trace of its job, with its claim and its settling.

Wired in only where traces are configured, around what the worker does anyway: other workers know nothing of it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context

from forebay.db.pool import REJECTED, UNAVAILABLE
from forebay.engine.db import tasks
from forebay.errors import ForebayError, one_line
from forebay.log import get_logger
from forebay.telemetry.otel import context_of

if TYPE_CHECKING:
    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease, Settled
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.step_calls import Call

log = get_logger("tracing")

OnSettled: TypeAlias = "Callable[[Sequence[Attempt], Settled], None]"

_PATIENCE = 2.0  # seconds that a claim waits for the traces of its jobs
_REMEMBERED = 4096  # jobs whose traces are known
_NOWHERE = Context()  # spans in it begin a trace of their own


@dataclass(frozen=True, slots=True)
class _TraceContext:
    """What a lease is told: the trace of its job, and when it was claimed."""

    parent: Context
    claimed: int


@dataclass(slots=True)
class _Run:
    """An attempt that is not settled yet."""

    span: Span
    ended: int = 0


class Spans:
    """Makes the spans of one worker."""

    def __init__(self, tracer: Tracer, pool: Pool, clock: Clock) -> None:
        self._tracer = tracer
        self._pool = pool
        self._clock = clock
        self._parents: OrderedDict[int, Context] = OrderedDict()  # by job; what was used last is at the end
        self._runs: dict[Attempt, _Run] = {}

    def _now(self) -> int:
        return _nanoseconds(self._clock.wall(time.monotonic()))

    # -- claim ----------------------------------------------------------------------------------------------------

    async def learn(self, leases: Sequence[Lease]) -> None:
        """Tells leases the traces of their jobs. What cannot be found out in time is traced by itself."""
        now = self._now()
        jobs = {lease.job_id for lease in leases}
        if unknown := jobs - self._parents.keys():
            await self._read(unknown)
        for job_id in jobs & self._parents.keys():
            self._parents.move_to_end(job_id)
        for lease in leases:
            lease.trace_context = _TraceContext(self._parents.get(lease.job_id, _NOWHERE), now)
        while len(self._parents) > _REMEMBERED:
            self._parents.popitem(last=False)

    async def _read(self, jobs: set[int]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await tasks.traces(self._pool, sorted(jobs))
        except (ForebayError, *REJECTED, *UNAVAILABLE) as error:  # the work is more important than its picture
            log.warning("traces_not_read", jobs=len(jobs), error=one_line(error))
            return
        for job_id in jobs:
            self._parents[job_id] = context_of(found.get(job_id))

    # -- step -----------------------------------------------------------------------------------------------------

    def calling(self, step: Step[Any, Any], call: Call, running: Callable[[], set[Attempt]]) -> Call:
        """The same call, within the span of its attempt."""
        return self._calling_batch(step, call, running) if step.batch_size else self._calling_one(step, call)

    def _calling_one(self, step: Step[Any, Any], call: Call) -> Call:
        async def traced(attempt: Attempt, *args: Any) -> Any:
            with _active(self._begin(step, attempt)):
                return await call(attempt, *args)

        return traced

    def _calling_batch(self, step: Step[Any, Any], call: Call, running: Callable[[], set[Attempt]]) -> Call:
        """A span for the call, and one for each attempt that is linked to it."""

        async def traced(first: Attempt, *args: Any) -> Any:
            batch = [attempt for attempt in running() if attempt.slot is first.slot]
            span = self._begin_batch(step, batch)
            try:
                with _active(span):
                    return await call(first, *args)
            except Exception as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise
            finally:
                span.end(self._now())

        return traced

    def _begin(self, step: Step[Any, Any], attempt: Attempt, links: Sequence[Link] = ()) -> Span:
        origin: _TraceContext = attempt.lease.trace_context
        started = _nanoseconds(attempt.started)
        span = self._tracer.start_span(
            _name(step),
            context=origin.parent,
            kind=SpanKind.CONSUMER,
            attributes={
                **_attributes(step),
                "forebay.job.id": attempt.lease.job_id,
                "forebay.item.n": attempt.n,
                "forebay.attempt": attempt.lease.attempt,
                "forebay.owner.id": attempt.lease.owner_id,
            },
            links=links,
            start_time=started,
        )
        self._runs[attempt] = _Run(span)
        self._child(span, "claim", min(origin.claimed, started), started)
        return span

    def _begin_batch(self, step: Step[Any, Any], batch: Sequence[Attempt]) -> Span:
        """Within the trace of the jobs, if that is one; else within none of them."""
        parents = {id(parent): parent for parent in (attempt.lease.trace_context.parent for attempt in batch)}
        span = self._tracer.start_span(
            f"{_name(step)} batch",
            context=next(iter(parents.values())) if len(parents) == 1 else _NOWHERE,
            kind=SpanKind.CONSUMER,
            attributes={**_attributes(step), "messaging.batch.message_count": len(batch)},
            links=[link for parent in parents.values() for link in _links(get_current_span(parent))],
            start_time=_nanoseconds(batch[0].started),
        )
        for attempt in batch:
            self._begin(step, attempt, _links(span))
        return span

    def _child(self, span: Span, name: str, began: int, ended: int) -> None:
        if span.is_recording():
            self._tracer.start_span(name, context=set_span_in_context(span), start_time=began).end(max(began, ended))

    # -- settle ---------------------------------------------------------------------------------------------------

    def reporting(self, step: Step[Any, Any], report: Callable[[Attempt], None]) -> Callable[[Attempt], None]:
        """The same report, after noting when the attempt ended."""

        def traced(attempt: Attempt) -> None:
            if attempt not in self._runs:  # it never came to the call, for example because of its input
                self._begin(step, attempt)
            self._runs[attempt].ended = self._now()
            report(attempt)

        return traced

    def settling(self, on_settled: OnSettled) -> OnSettled:
        """The same, and then the spans of what is settled now end."""

        def traced(batch: Sequence[Attempt], settled: Settled) -> None:
            on_settled(batch, settled)
            now, stale = self._now(), set(settled.stale)
            for attempt in batch:
                if (run := self._runs.pop(attempt, None)) is not None:
                    self._finish(attempt, run, now, is_stale=(attempt.lease.token, attempt.n) in stale)

        return traced

    def _finish(self, attempt: Attempt, run: _Run, now: int, *, is_stale: bool) -> None:
        """What became of it is known only now: what a step hands over may be refused when it is written."""
        span = run.span
        span.set_attribute("forebay.outcome", attempt.outcome or "DONE")
        if is_stale:
            span.set_attribute("forebay.stale", True)
        if attempt.outcome is not None and attempt.error_class is not None:
            span.set_attribute("error.type", attempt.error_class)
            if attempt.outcome in ("ERROR", "RELEASED"):
                span.set_status(StatusCode.ERROR, attempt.reason)
        self._child(span, "settle", run.ended, now)
        span.end(run.ended)

    def close(self) -> None:
        """Ends the spans of what went down with the worker."""
        for run in self._runs.values():
            run.span.set_status(StatusCode.ERROR, "the worker went down")
            run.span.end(self._now())
        self._runs.clear()


@contextmanager
def _active(span: Span) -> Generator[None]:
    token = attach(set_span_in_context(span))
    try:
        yield
    finally:
        detach(token)


def _name(step: Step[Any, Any]) -> str:
    return f"{step.pipeline.name}.{step.name}"


def _attributes(step: Step[Any, Any]) -> dict[str, str | int]:
    return {
        "messaging.system": "forebay",
        "messaging.operation.type": "process",
        "messaging.destination.name": step.queue,
    }


def _links(span: Span) -> list[Link]:
    context = span.get_span_context()
    return [Link(context)] if context.is_valid else []


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
