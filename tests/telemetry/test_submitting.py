"""Submitting in a traced program: the job belongs to the active span, with every kind of connection."""

from __future__ import annotations

from typing import Any

import asyncpg
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from forebay.engine.submit.producer import submit, submit_many, submit_many_sync, submit_sync
from forebay.jobs import submit_stream
from forebay.telemetry import tracing
from forebay.testing import testbed
from tests.engine.test_adapters import every_async_door, every_sync_door
from tests.telemetry._collector import Collector
from tests.telemetry._letters import Letter, letters

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

app = TracerProvider().get_tracer("app")  # of a program that has set OpenTelemetry up for itself


@every_async_door
async def test_a_submit_within_a_span_belongs_to_it(dsn: str, conn: asyncpg.Connection[Any], opened: Any) -> None:
    with app.start_as_current_span("save") as span:
        async with opened(dsn) as own:
            await submit(own, letters, Letter(body="a"))
            await submit_many(own, letters, [Letter(body="a")] * 2)
            await submit_many(own, letters, [Letter(body="a")] * 1500)
    await _all_belong_to(conn, span.get_span_context(), 3)


@every_sync_door
async def test_so_it_does_without_async(dsn: str, conn: asyncpg.Connection[Any], opened: Any) -> None:
    with app.start_as_current_span("save") as span, opened(dsn) as own:
        submit_sync(own, letters, Letter(body="a"))
        submit_many_sync(own, letters, [Letter(body="a")] * 1500)
    await _all_belong_to(conn, span.get_span_context(), 2)


async def test_without_a_transaction_the_next_submit_belongs_to_nothing(
    dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    with app.start_as_current_span("save") as span:
        await submit(conn, letters, Letter(body="a"))
        await submit_stream(dsn, letters, [Letter(body="a")] * 3, key="stream")
    await _all_belong_to(conn, span.get_span_context(), 2)
    last = await submit(conn, letters, Letter(body="a"))
    assert await conn.fetchval("select trace from forebay.job where id = $1", last.job_id) is None


async def test_a_caller_who_does_not_want_a_trace_gets_none(traced: Collector, dsn: str) -> None:
    unwanted = SpanContext(int(TRACE, 16), int(CALLER, 16), is_remote=True, trace_flags=TraceFlags(0))
    async with testbed(dsn, [letters]) as bed:
        with trace.use_span(NonRecordingSpan(unwanted)):
            await letters.submit(bed.pool, Letter(body="a"))
        await bed.finish()
    tracing.stop()
    assert not traced.spans


async def _all_belong_to(conn: asyncpg.Connection[Any], context: SpanContext, jobs: int) -> None:
    found = [row["trace"] for row in await conn.fetch("select trace from forebay.job order by id")]
    assert len(found) == jobs
    assert {text.rsplit("-", 2)[0] for text in found} == {f"00-{context.trace_id:032x}"}
    assert all(int(text[-2:], 16) & TraceFlags.SAMPLED for text in found)
