"""Behind a real PgBouncer in transaction mode; `pytest --pooler tests/engine` runs all tests of the engine there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forebay import Client, Context, Pipeline, SyncClient
from forebay.engine.submit.stream import submit_stream
from tests._pooler import PGBOUNCER, pgbouncer, wait_until_it_answers
from tests.engine.test_worker import working

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer here")
async def test_programs_and_workers_share_sessions(dsn: str, tmp_path: Path) -> None:
    """Two connections for all of them, so that statements of one session come from everybody."""
    numbers: Pipeline[int] = Pipeline("numbers", int)

    @numbers.step()
    async def double(ctx: Context, value: int) -> int:
        return 2 * value

    with pgbouncer(dsn, tmp_path) as way:
        wait_until_it_answers(way)
        async with (
            working(way, numbers, prepared_statements=False, listen=False, poll_s=0.05),
            working(way, numbers, prepared_statements=False, listen_url=dsn),
            Client.connect(way, prepared_statements=False) as client,
        ):
            jobs = [await client.submit(numbers, n) for n in range(10)]
            jobs.append(await submit_stream(way, numbers, range(100), key="stream", prepared_statements=False))
            for job in jobs:
                assert (await client.wait(job, timeout=60)).state == "DONE"
        with SyncClient.connect(way, prepared_statements=False) as blocking:
            for _ in range(8):  # psycopg prepares what it has sent five times
                assert blocking.job(jobs[0]).done == 1
