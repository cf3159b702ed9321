"""Reading a job: its counters, its items, and waiting for its end."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from forebay.db.pool import connect
from forebay.engine.db.adapters import AsyncAdapter, Row, adapter_for
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError
from forebay.types import ItemRecord, ItemStatus, JobState, JobSummary

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from forebay.engine.db.adapters import AsyncConn

_PAGE = 100
_LONGEST_PAUSE = 1.0


async def summary(conn: AsyncConn, job_id: int) -> JobSummary:
    """The job's state and counters.

    Raises:
        NotFoundError: there is no such job.
    """
    return (await _read_job(adapter_for(conn), job_id))[0]


async def wait(conn_or_dsn: AsyncConn | str, job_id: int, timeout: float | None = None) -> JobSummary:
    """Wait for the end of a job and return its summary; polls often at first, then once a second.

    Raises:
        NotFoundError: there is no such job.
        TimeoutError: it is not over after `timeout` seconds.
    """
    async with asyncio.timeout(timeout), _opened(conn_or_dsn) as adapter:
        pause = 0.01
        while True:
            job, is_over = await _read_job(adapter, job_id)
            if is_over:
                return job
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)


async def items(conn: AsyncConn, job_id: int) -> AsyncIterator[ItemRecord]:
    """The items of a job, in order; read page by page, so changes on later pages may be visible."""
    adapter, last_n = adapter_for(conn), 0
    while rows := await adapter.fetch_all(load("list_items"), (job_id, last_n, _PAGE)):
        for row in rows:
            yield _item(job_id, row)
        last_n = rows[-1][0]


async def _read_job(adapter: AsyncAdapter, job_id: int) -> tuple[JobSummary, bool]:
    row = await adapter.fetch_row(load("get_job"), (job_id,))
    if row is None:
        raise NotFoundError("job_id", f"there is no job {job_id}")
    number, owner, pipeline, state, total, done, skipped, not_found, error, is_over = row
    counters = (total, done, skipped, not_found, error)
    return JobSummary(number, owner, pipeline, JobState(state), *counters), is_over


def _item(job_id: int, row: Row) -> ItemRecord:
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
