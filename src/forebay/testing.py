"""Testing pipelines: run them to completion on a real database, with a clock that the test controls.

async with testbed(dsn, [articles]) as bed:
    job = await bed.submit(articles, Article(title="…"))
    await bed.finish()                      # skips every pause: retries, snoozes, delays
    assert (await bed.item(job)).status == "DONE"

A single step can be called without a database: `await post(context(attempt=2), Letter(…))`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from forebay.db.migrate import migrate
from forebay.db.pool import open_pool
from forebay.engine.clock import ManualClock
from forebay.engine.db import tasks
from forebay.engine.declare.context import Context
from forebay.engine.declare.loading import parts_needed
from forebay.engine.submit import results
from forebay.engine.work.worker import Worker
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from forebay.db.pool import Connection, Pool
    from forebay.engine.declare.context import Progress
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.resources import Resource
    from forebay.engine.submit.options import SubmitOptions
    from forebay.types import ItemRecord, JobSummary, Mapped, Signal, Submitted

__all__ = ["ManualClock", "Testbed", "context", "testbed"]

I = TypeVar("I")  # noqa: E741 - the input


def context(
    *,
    attempt: int = 1,
    signal: Signal | None = None,
    resources: Mapping[Resource[Any], Any] | None = None,
    children: Sequence[ItemRecord] = (),
    job_id: int = 1,
    n: int = 1,
    step: str = "step",
) -> Context:
    """The context of one attempt, to call a step without a database.

    `ctx.get` returns the objects in `resources`, `ctx.children` the items in `children`, `ctx.call` calls the function
    in this process, and `ctx.progress` does nothing. `ctx.transaction` and `ctx.items` need a testbed.
    """
    made = Context(job_id, n, 1, step, attempt, 1, _UnitServices(resources or {}, children))
    made.signal = signal
    return made


class _UnitServices:
    """The services of a step that runs without a worker."""

    def __init__(self, resources: Mapping[Resource[Any], Any], children: Sequence[ItemRecord]) -> None:
        self._resources = resources
        self._children = children

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        pass

    async def get(self, resource: Resource[Any]) -> Any:
        if resource not in self._resources:
            raise LookupError(f"{resource!r} is missing: pass it as context(resources={{...}})")
        return self._resources[resource]

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        return limited.fn(*args, **kwargs)

    def transaction(self, ctx: Context) -> AbstractAsyncContextManager[Connection]:
        raise RuntimeError("ctx.transaction needs a database: run the step in a testbed")

    async def children(self, ctx: Context, mapped: Mapped) -> AsyncIterator[ItemRecord]:
        for item in self._children:
            yield item


class Testbed:
    """A worker on your database; nothing happens except through `run`, `finish` and the clock."""

    __test__ = False  # pytest collects classes with names like this

    def __init__(self, worker: Worker, clock: ManualClock, pool: Pool) -> None:
        self.worker = worker
        self.clock = clock
        self.pool = pool

    async def submit(self, pipeline: Pipeline[I], value: I, **options: Unpack[SubmitOptions]) -> Submitted:
        """Submit one item; it does not run before `run` or `finish`."""
        return await pipeline.submit(self.pool, value, **options)

    async def run(self) -> None:
        """Run everything that is due at the clock's time, including what steps submit meanwhile."""
        await self.worker.sweep()
        await self.worker.drain()

    async def finish(self, *, limit: timedelta = timedelta(days=365)) -> None:
        """Run everything, advancing the clock to each time at which something is due.

        Raises: TimeoutError if something is due after `limit`.
        """
        end = self.clock.now() + limit
        await self.run()
        while (due := await self.next_due()) is not None:
            if due > end:
                raise TimeoutError(f"something is still due at {due:%Y-%m-%d %H:%M:%S}, after {limit}")
            self.clock.advance(max(0.0, (due - self.clock.now()).total_seconds()) + 1e-3)
            await self.run()

    async def next_due(self) -> datetime | None:
        """When the next retry, snooze or delayed start is due, or the next start that a limit admits.

        Cron schedules, which never end, do not count: for those, advance the clock and call `run`.
        """
        scheduled, start = await tasks.next_scheduled(self.pool), self.worker.next_start()
        due = [] if start is None else [self.clock.now() + timedelta(seconds=start)]
        return min([*due, *([] if scheduled is None else [scheduled])], default=None)

    async def job(self, job: Submitted | int) -> JobSummary:
        """The job's state and counters."""
        return await results.summary(self.pool, job if isinstance(job, int) else job.job_id)

    async def items(self, job: Submitted | int) -> list[ItemRecord]:
        """All items of a job with their results."""
        job_id = job if isinstance(job, int) else job.job_id
        return [item async for item in results.items(self.pool, job_id)]

    async def item(self, job: Submitted | int) -> ItemRecord:
        """The single item of a job."""
        (only,) = await self.items(job)
        return only


@asynccontextmanager
async def testbed(
    dsn: str,
    pipelines: Sequence[Pipeline[Any]],
    *,
    clock: ManualClock | None = None,  # noqa: PT028 - not a test
    migrated: bool = False,  # noqa: PT028
    resources: Mapping[Resource[Any], Resource[Any]] | None = None,  # noqa: PT028
    settings: Settings | None = None,  # noqa: PT028
) -> AsyncGenerator[Testbed]:
    """A testbed on the database at `dsn`, whose schema is migrated first; `resources` replaces resources."""
    if not migrated:
        await migrate(dsn, service=len(parts_needed(pipelines)) > 1)
    clock = clock or ManualClock()
    settings = (settings or Settings()).model_copy(update={"listen": False, "grace_s": 5.0, "poll_s": 3600.0})
    worker = Worker(dsn, pipelines, settings=settings, clock=clock, closed=True, resources=resources)
    running = asyncio.create_task(worker.run())
    try:
        await worker.ready_or_failed(running)
        async with await open_pool(dsn, size=2, name="forebay testbed", prepared=settings.prepared_statements) as pool:
            yield Testbed(worker, clock, pool)
    finally:
        worker.stop()
        await running


testbed.__test__ = False  # type: ignore[attr-defined]
