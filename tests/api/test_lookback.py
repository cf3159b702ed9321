"""A look goes back to the oldest transaction that may yet commit something."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg

from forebay.api.events.hub import Pace
from forebay.api.events.lookback import Lookback
from forebay.engine.db.changes import TransactionWindow
from tests.api._service import Service
from tests.api._streams import Live, socketed

START = datetime(2030, 1, 1, tzinfo=UTC)


def moment(second: float, oldest: int, coming: int) -> TransactionWindow:
    return TransactionWindow(START + timedelta(seconds=second), oldest, coming)


def seconds(when: datetime) -> float:
    return (when - START).total_seconds()


def test_it_moves_with_the_clock_while_nothing_lasts() -> None:
    lookback = Lookback(START, timedelta(seconds=2), timedelta(seconds=60))
    assert seconds(lookback.seen_to) == -60
    assert seconds(lookback.reached(moment(0, 10, 10))) == -2
    assert seconds(lookback.reached(moment(1, 11, 11))) == -1
    assert seconds(lookback.reached(moment(9, 11, 11))) == 7
    assert seconds(lookback.seen_to) == -60  # until somebody has looked that far


def test_it_waits_for_a_transaction_that_lasts() -> None:
    lookback = Lookback(START, timedelta(seconds=2), timedelta(seconds=60))
    lookback.reached(moment(0, 10, 10))
    assert seconds(lookback.reached(moment(5, 10, 11))) == -2  # transaction 10 has begun, and lasts
    assert seconds(lookback.reached(moment(500, 10, 40))) == -2
    assert seconds(lookback.reached(moment(501, 38, 41))) == 3  # what came after it, and lasts, is as old as that
    assert seconds(lookback.reached(moment(502, 40, 42))) == 498


def test_it_does_not_wait_for_ever() -> None:
    lookback = Lookback(START, timedelta(seconds=2), timedelta(seconds=60))
    assert seconds(lookback.reached(moment(0, 7, 10))) == -60
    assert seconds(lookback.reached(moment(7200, 7, 99))) == 3600


async def test_a_job_that_is_committed_late_is_told_now_and_to_who_comes_back(service: Service) -> None:
    service.app.state.hub.pace = Pace(poll=0.02, far=0.2, far_every=0.05, tick=0.1)
    async with socketed(service) as live:
        conn = await asyncpg.connect(service.dsn)
        try:
            async with asyncio.timeout(60):
                await _commit_late(live, conn)
        finally:
            await conn.close()


async def _commit_late(live: Live, conn: asyncpg.Connection[asyncpg.Record]) -> None:
    async with live.reading("ann") as reader:
        async with conn.transaction():
            job = await conn.fetchval("select job_id from forebay.submit('pages', '{}', owner => 'ann')")
            while await conn.fetchval(
                "select clock_timestamp() - updated_at < interval '3 s' from forebay.job where id = $1", job
            ):
                assert (await reader.expect()).kind == "tick"
        before = reader.last_id
        await reader.until_told(str(job))
    async with live.reading("ann", after=before) as again:
        await again.until_told(str(job))
