"""Reading a job: its counters, its items, its changes, and waiting for its end."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from forebay.db.pool import connect
from forebay.engine.db.adapters import AsyncAdapter, Row, adapter_for
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError
from forebay.types import ItemRecord, ItemStatus, JobState, JobSummary

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from forebay.engine.db.adapters import AsyncConn
    from forebay.types import Mapped

PAGE = 100  # items that are read at once
_LONGEST_PAUSE = 1.0


def pauses(job_id: int, timeout: float | None = None) -> Iterator[float]:
    """The seconds before each look at a job: none before the first, then few, then one second. The last look is after
    `timeout` seconds.

    Raises:
        TimeoutError: the last look was in vain.
    """
    end = math.inf if timeout is None else time.monotonic() + timeout
    yield 0.0
    pause = 0.01
    while (left := end - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    raise TimeoutError(f"job {job_id} is not over after {timeout:g} s")


async def summary(conn: AsyncConn, job_id: int) -> JobSummary:
    """The job's state and counters.

    Raises:
        NotFoundError: there is no such job.
    """
    return read_job(job_id, await adapter_for(conn).fetch_row(load("get_job"), (job_id,)))[0]


async def wait(conn_or_dsn: AsyncConn | str, job_id: int, timeout: float | None = None) -> JobSummary:
    """Wait for the end of a job and return its summary; polls often at first, then once a second.

    On a connection inside a transaction, this never ends for a job that the transaction has submitted, because workers
    see it only after the commit. With REPEATABLE READ or SERIALIZABLE, the transaction sees no job change.

    Raises:
        NotFoundError: there is no such job.
        TimeoutError: it is not over after `timeout` seconds.
    """
    async with _opened(conn_or_dsn) as adapter:
        *_, last = [job async for job in _changes(adapter, job_id, timeout)]
        return last


def changes(conn: AsyncConn, job_id: int) -> AsyncIterator[JobSummary]:
    """The job's summary, and again each time that its state or counters have changed, until its end.

    Raises:
        NotFoundError: there is no such job.
    """
    return _changes(adapter_for(conn), job_id)


async def _changes(
    adapter: AsyncAdapter, job_id: int, timeout: float | None = None
) -> AsyncGenerator[JobSummary, None]:
    last = None
    for pause in pauses(job_id, timeout):
        await asyncio.sleep(pause)
        job, is_over = read_job(job_id, await adapter.fetch_row(load("get_job"), (job_id,)))
        if job != last or is_over:
            yield job
        if is_over:
            return
        last = job


async def items(conn: AsyncConn, job_id: int) -> AsyncIterator[ItemRecord]:
    """The items of a job, in order; read page by page, so changes on later pages may be visible.

    Raises:
        NotFoundError: there is no such job.
    """
    adapter, last_n = adapter_for(conn), 0
    while rows := await adapter.fetch_all(load("list_items"), (job_id, last_n, PAGE)):
        for row in rows:
            yield read_item(job_id, row)
        last_n = rows[-1][0]
    if last_n == 0:
        await summary(conn, job_id)


async def items_of_map(conn: AsyncConn, mapped: Mapped) -> AsyncIterator[ItemRecord]:
    """The items that a step has mapped to, in order."""
    if mapped.job_id is not None:
        async for item in items(conn, mapped.job_id):
            yield item


def read_job(job_id: int, row: Row | None) -> tuple[JobSummary, bool]:
    """The job of a row of get_job, and whether it is over.

    Raises:
        NotFoundError: there is no row.
    """
    if row is None:
        raise NotFoundError("job_id", f"there is no job {job_id}")
    number, owner, pipeline, state, total, done, skipped, not_found, error, is_over = row
    counters = (total, done, skipped, not_found, error)
    return JobSummary(number, owner, pipeline, JobState(state), *counters), is_over


def read_item(job_id: int, row: Row) -> ItemRecord:
    """The item of a row of list_items."""
    n, status, value, result, error = row
    return ItemRecord(job_id, n, ItemStatus(status), from_json(value), _json(result) or {}, _json(error))


def _json(text: str | None) -> Any:
    return None if text is None else from_json(text)


@asynccontextmanager
async def _opened(conn_or_dsn: AsyncConn | str) -> AsyncGenerator[AsyncAdapter, None]:
    if not isinstance(conn_or_dsn, str):
        yield adapter_for(conn_or_dsn)
        return
    conn = await connect(conn_or_dsn, name="forebay wait")
    try:
        yield adapter_for(conn)
    finally:
        await conn.close()
