"""Many workers, or many runners of a fleet, on the event loop of the caller, and what they ask of the server."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import psutil

from bench.broker import nats_server
from bench.harness import BenchError
from bench.measure import cpu_seconds
from forebay import Context, Pipeline
from forebay.engine.submit.producer import submit, submit_many
from forebay.engine.work.worker import Worker
from forebay.fleet.brokers import dispatcher_port, runner_port
from forebay.fleet.dispatcher import Dispatcher
from forebay.fleet.step_runner import StepRunner
from forebay.settings import Settings

Input = dict[str, Any]

STARTING = 8  # of them that start at the same time
FLUSH_SECONDS = 11.0  # an idle session reports what it has done after ten seconds
CONNECTIONS = """
select count(*) from pg_stat_activity where datname = current_database() and application_name like 'forebay%'
"""
CLAIMS = "select coalesce(sum(calls), 0)::int from pg_stat_user_functions where funcname = 'claim_tasks'"
LEASED = """
select coalesce(sum((select sum(upper(r) - lower(r)) from unnest(ns) r)), 0)::int from forebay.lease
"""


class Sleeping:
    """A step that sleeps, and the owners and times of its starts."""

    def __init__(self, slots: int, seconds: float) -> None:
        self.owners: list[str] = []
        self.starts: dict[int, float] = {}
        self.pipeline: Pipeline[Input] = Pipeline("fleet", dict)

        @self.pipeline.step(concurrency=(slots, slots))
        async def sleep(_: Context, value: Input) -> None:
            self.owners.append(value["owner"])
            self.starts[value["seq"]] = time.perf_counter()
            await asyncio.sleep(seconds)

    async def load(self, conn: asyncpg.Connection, owner: str, count: int, first: int = 0) -> None:
        values = ({"seq": seq, "owner": owner} for seq in range(first, first + count))
        await submit_many(conn, self.pipeline, values, owner=owner)

    async def submit(self, conn: asyncpg.Connection, owner: str, seq: int) -> None:
        await submit(conn, self.pipeline, {"seq": seq, "owner": owner}, owner=owner)

    async def until_started(self, count: int, seconds: float) -> None:
        """Return when so many tasks have started, or after so many seconds."""
        deadline = time.monotonic() + seconds
        while len(self.owners) < count and time.monotonic() < deadline:  # noqa: ASYNC110 - it polls as the others do
            await asyncio.sleep(0.05)


P = TypeVar("P", Worker, StepRunner)


@asynccontextmanager
async def workers(dsn: str, pipeline: Pipeline[Input], count: int) -> AsyncIterator[Sequence[Worker]]:
    settings = Settings(grace_s=0.1)
    async with _running([Worker(dsn, [pipeline], settings=settings) for _ in range(count)]) as made:
        yield made


@asynccontextmanager
async def runners(dsn: str, pipeline: Pipeline[Input], count: int, folder: Path) -> AsyncIterator[Sequence[StepRunner]]:
    """Runners behind one dispatcher and a NATS server."""
    settings = Settings(grace_s=0.1)
    async with nats_server(folder) as url:
        dispatcher = Dispatcher(dsn, [pipeline], dispatcher_port(url), settings=settings)
        async with (
            _running([dispatcher]),
            _running([StepRunner(runner_port(url), [pipeline], settings=settings) for _ in range(count)]) as made,
        ):
            yield made


@asynccontextmanager
async def _running(made: Sequence[P]) -> AsyncIterator[Sequence[P]]:
    count, running = len(made), list[asyncio.Task[None]]()
    try:
        for start in range(0, count, STARTING):
            new = made[start : start + STARTING]
            running += (tasks := [asyncio.create_task(each.run()) for each in new])
            await asyncio.gather(*(each.ready_or_failed(task) for each, task in zip(new, tasks, strict=True)))
        yield made
    finally:
        for each in made:
            each.stop()
        await asyncio.gather(*running)


@dataclass
class ServerCpu:
    """Seconds of CPU of a server since this was made."""

    postmaster: psutil.Process

    def __post_init__(self) -> None:
        self._before, self._began = cpu_seconds([self.postmaster]), time.perf_counter()

    def seconds(self) -> float:
        return cpu_seconds([self.postmaster]) - self._before

    def cores(self) -> float:
        return self.seconds() / (time.perf_counter() - self._began)


async def all_done(conn: asyncpg.Connection, patience: float = 120.0) -> None:
    """Raises: BenchError if jobs are open after so many seconds."""
    await until(conn, "select not exists (select from forebay.job where finished_at is null)", bool, patience)


async def until(conn: asyncpg.Connection, sql: str, holds: Callable[[Any], bool], patience: float = 60.0) -> None:
    deadline = time.monotonic() + patience
    while not holds(await conn.fetchval(sql)):
        if time.monotonic() > deadline:
            raise BenchError(f"not within {patience:g} s: {sql}")
        await asyncio.sleep(0.05)
