"""Blocked threads do not keep other steps from running."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline, Retry
from forebay.engine.submit.results import wait
from forebay.engine.work.threads import Threads, threads_needed
from tests.engine.test_worker import working


async def test_stuck_threads_are_replaced() -> None:
    threads, go = Threads(4), threading.Event()
    try:
        for stuck in range(1, 11):  # more than there are threads
            begun = threading.Event()
            running = asyncio.create_task(threads.run(lambda begun=begun: (begun.set(), go.wait(60))))
            await asyncio.to_thread(begun.wait, 60)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert threads.stuck == stuck
            assert await threads.run(lambda: "others run") == "others run"
    finally:
        go.set()
        threads.close()


async def test_what_has_not_begun_is_simply_dropped() -> None:
    threads, go, ran = Threads(1), threading.Event(), threading.Event()
    first = asyncio.create_task(threads.run(go.wait, 60))
    second = asyncio.create_task(threads.run(ran.set))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go.set()
    assert await first is True
    assert threads.stuck == 0
    assert not ran.is_set()
    threads.close()


def test_there_is_a_thread_for_each_slot() -> None:
    many: Pipeline[dict[str, int]] = Pipeline("many", dict)

    @many.step(kind="thread", concurrency=(1, 100))
    def first(ctx: Context, value: dict[str, int]) -> None: ...

    @many.step(kind="thread", concurrency=(1, 20))
    def second(ctx: Context, value: dict[str, int]) -> None: ...

    @many.step(concurrency=(1, 500))
    async def third(ctx: Context, value: dict[str, int]) -> None: ...

    assert threads_needed(many.steps.values(), reserve=2) == 124
    assert threads_needed([], reserve=2) == 1


async def test_waiting_for_a_thread_does_not_count_as_running(
    dsn: str, conn: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second call waits for the only thread until it is past a timeout that starts too early."""
    queued: Pipeline[dict[str, int]] = Pipeline("queued", dict)
    begin, go = threading.Event(), threading.Event()

    @queued.step(kind="thread", timeout=30, retry=Retry(attempts=1), concurrency=(2, 2))
    def step(ctx: Context, value: dict[str, int]) -> None:
        begin.set()
        go.wait(60)

    monkeypatch.setattr("forebay.engine.work.step_runtime.threads_needed", lambda *_: 1)
    async with working(dsn, queued) as worker:
        job = await queued.submit_many(conn, [{"n": 1}, {"n": 2}])
        (executor,) = worker._executors.values()
        await asyncio.to_thread(begin.wait, 60)
        await worker.poll()
        (begun,) = (attempt for attempt in executor.running if attempt.deadline < float("inf"))
        executor.stop_overdue(begun.deadline - 1)
        assert len(executor.running) == 2
        go.set()
        assert (await wait(dsn, job.job_id, timeout=60)).done == 2
