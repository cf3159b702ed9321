"""The spans of a traced worker: one for each attempt, in the trace of its job, with its claim and its settle.

Spans wrap the worker's callables, and only if tracing is configured; the other modules do not depend on them.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context

from forebay.db.pool import REJECTED, UNAVAILABLE
from forebay.engine.db import tasks
from forebay.engine.work.attempt import HELD_BACK
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

_READ_TIMEOUT = 2.0  # maximum seconds that a claim waits for the traces of its jobs
_REMEMBERED = 4096  # maximum number of cached traces
_NOWHERE = Context()  # spans in this context start a new trace


@dataclass(frozen=True, slots=True)
class _TraceContext:
    """The trace of a lease's job, and the time of the claim."""

    parent: Context
    claimed: int


@dataclass(slots=True)
class _Run:
    """An attempt that is not settled yet."""

    span: Span
    ended: int = 0


class Spans:
    """Creates the spans of one worker."""

    def __init__(self, tracer: Tracer, pool: Pool, clock: Clock) -> None:
        self._tracer = tracer
        self._pool = pool
        self._clock = clock
        self._parents: OrderedDict[int, Context] = OrderedDict()  # by job; the most recently used is last
        self._runs: dict[Attempt, _Run] = {}

    def _now(self) -> int:
        return _nanoseconds(self._clock.wall(self._clock.mark()))

    # -- claim ----------------------------------------------------------------------------------------------------

    async def learn(self, leases: Sequence[Lease]) -> None:
        """Attach the traces of their jobs to leases. A trace that cannot be read in time is replaced by a new one."""
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
            async with asyncio.timeout(_READ_TIMEOUT):
                found = await tasks.traces(self._pool, sorted(jobs))
        except (ForebayError, *REJECTED, *UNAVAILABLE) as error:  # a failure of tracing must not stop the work
            log.warning("traces_not_read", jobs=len(jobs), error=one_line(error))
            return
        for job_id in jobs:
            self._parents[job_id] = context_of(found.get(job_id))

    # -- step -----------------------------------------------------------------------------------------------------

    def calling(self, step: Step[Any, Any], call: Call, running: Callable[[], set[Attempt]]) -> Call:
        """Wrap the call in the span of its attempt."""
        return self._calling_batch(step, call, running) if step.batch_size else self._calling_one(step, call)

    def _calling_one(self, step: Step[Any, Any], call: Call) -> Call:
        async def traced(attempt: Attempt, *args: Any) -> Any:
            with _active(self._begin(step, attempt)):
                return await call(attempt, *args)

        return traced

    def _calling_batch(self, step: Step[Any, Any], call: Call, running: Callable[[], set[Attempt]]) -> Call:
        """Create a span for the call, and one for each attempt, linked to it."""

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
        started = _nanoseconds(self._clock.wall(attempt.started))
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
        """In the trace of the jobs, if they share one; otherwise in a new trace."""
        parents = {id(parent): parent for parent in (attempt.lease.trace_context.parent for attempt in batch)}
        span = self._tracer.start_span(
            f"{_name(step)} batch",
            context=next(iter(parents.values())) if len(parents) == 1 else _NOWHERE,
            kind=SpanKind.CONSUMER,
            attributes={**_attributes(step), "messaging.batch.message_count": len(batch)},
            links=[link for parent in parents.values() for link in _links(get_current_span(parent))],
            start_time=_nanoseconds(self._clock.wall(batch[0].started)),
        )
        for attempt in batch:
            self._begin(step, attempt, _links(span))
        return span

    def _child(self, span: Span, name: str, began: int, ended: int) -> None:
        if span.is_recording():
            self._tracer.start_span(name, context=set_span_in_context(span), start_time=began).end(max(began, ended))

    # -- settle ---------------------------------------------------------------------------------------------------

    def reporting(self, step: Step[Any, Any], report: Callable[[Attempt], None]) -> Callable[[Attempt], None]:
        """Wrap the report: record when the attempt ended."""

        def traced(attempt: Attempt) -> None:
            if attempt.outcome == HELD_BACK:  # it has not begun
                report(attempt)
                return
            if attempt not in self._runs:  # it failed before the call, for example because of its input
                self._begin(step, attempt)
            self._runs[attempt].ended = self._now()
            report(attempt)

        return traced

    def settling(self, on_settled: OnSettled) -> OnSettled:
        """Wrap the handler: end the spans of the settled attempts."""

        def traced(batch: Sequence[Attempt], settled: Settled) -> None:
            on_settled(batch, settled)
            now, stale = self._now(), set(settled.stale)
            for attempt in batch:
                if (run := self._runs.pop(attempt, None)) is not None:
                    self._finish(attempt, run, now, is_stale=(attempt.lease.token, attempt.n) in stale)

        return traced

    def _finish(self, attempt: Attempt, run: _Run, now: int, *, is_stale: bool) -> None:
        """End the span. The outcome is known only now, because rows that a step returns can be rejected when
        written."""
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
        """End the spans of attempts that ended with the worker."""
        for run in self._runs.values():
            run.span.set_status(StatusCode.ERROR, "the worker stopped")
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
