"""Dispatchers when the database, the broker or another dispatcher fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Pipeline, Retry
from forebay.engine.db import tasks
from forebay.engine.submit.results import wait
from tests.fleet._pipelines import Input

if TYPE_CHECKING:
    import asyncpg

    from tests.fleet._setups import Fleet

    Conn = asyncpg.Connection[Any]


async def test_a_large_input_that_cannot_be_read_at_first(
    dsn: str, conn: Conn, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step with one attempt succeeds: neither the dispatcher's trouble nor that of the broker is one of the step."""
    pipeline: Pipeline[Input] = Pipeline("large", dict)

    @pipeline.step(retry=Retry(attempts=1))
    async def measure(ctx: Context, value: Input) -> int:
        return len(value["text"])

    read, failures = tasks.read_task, [ConnectionResetError("the connection was lost"), ValueError("a defect")]

    async def failing(*args: Any) -> tuple[str, str | None]:
        if failures:
            raise failures.pop()
        return await read(*args)

    monkeypatch.setattr(tasks, "read_task", failing)
    for adapter in ("bullmq", "jetstream"):
        monkeypatch.setattr(f"forebay.fleet.{adapter}.runner_side._INPUT_S", 1)
    async with fleet.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"text": "x" * 100_000})
        assert (await wait(dsn, job.job_id, timeout=60)).done == 1
    assert not failures
    assert json.loads(await conn.fetchval("select result from forebay.item")) == {"measure": 100_000}
