"""A million items through every fault at once: all done, each once. Minutes; `make soak`."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from forebay.engine.db import registry
from tests.crash._rig import EFFECTS, GONE, Proxy, Watch, Workers, assert_done_once
from tests.crash._steps import Order, letters, orders

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from forebay import Pipeline
    from forebay.embedded import EmbeddedPostgres
    from tests.conftest import CrashServer

_LETTERS, _ORDERS, _A_JOB = 980_000, 20_000, 20_000
_SEED = 4662


class Faults:
    """Every fault that the other tests know, one after the other in a random order."""

    def __init__(self, server: EmbeddedPostgres, workers: Workers, watch: Watch, proxy: Proxy) -> None:
        self.server, self.workers, self.watch, self.proxy = server, workers, watch, proxy
        self.count = 0
        self.settings = {"lease_floor_s": "2", "pool_size": "5"}

    def start(self) -> None:
        """One more worker, every second one behind the proxy."""
        behind = len(self.workers.all) % 2 == 1
        self.workers.start(dsn=self.proxy.dsn if behind else None, command_timeout_s="3", **self.settings)

    async def go_on(self) -> AsyncGenerator[int]:
        """Causes one fault at each step."""
        draw = random.Random(_SEED)
        kinds = [self.kill_worker, self.kill_postgres, self.kill_backends, self.lose, self.cut, self.freeze, self.stop]
        for self.count in itertools.count(1):
            with suppress(*GONE):
                await draw.choice(kinds)()
            yield self.count

    def _one(self) -> int:
        """The place of a worker that runs."""
        return next(place for place, worker in enumerate(self.workers.all) if worker.lives)

    async def kill_worker(self) -> None:
        self.workers.all[self._one()].kill()
        self.start()

    async def stop(self) -> None:
        self.workers.all[self._one()].send(signal.SIGTERM)
        self.start()

    async def kill_postgres(self) -> None:
        self.server.kill()
        await asyncio.to_thread(self.server.start)

    async def kill_backends(self) -> None:
        await self.watch.fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'forebay %'"
        )

    async def lose(self) -> None:
        self.proxy.lose()

    async def cut(self) -> None:
        self.proxy.cut()

    async def freeze(self) -> None:
        """Longer than its lease lasts; the leases are taken by others meanwhile."""
        worker = self.workers.all[self._one()]
        worker.send(signal.SIGSTOP)
        held = """select exists (select from forebay.lease l join forebay.worker w on w.id = l.worker_id
                                 where w.name like '%:' || $1::int)"""
        with suppress(AssertionError):  # one that is frozen in a transaction keeps its leases for longer
            await self.watch.until("its leases were taken", f"select not ({held})", worker.pid, seconds=10)
        worker.send(signal.SIGCONT)


async def _submit_all(watch: Watch, pipeline: Pipeline[Order], total: int) -> dict[int, int]:
    """Jobs of some thousand items, each under a key; asked again until there is an answer."""
    jobs: dict[int, int] = {}
    for first in range(0, total, _A_JOB):
        size = min(_A_JOB, total - first)
        values = [Order(number=number) for number in range(first, first + size)]
        while True:
            with suppress(*GONE):
                submitted = await pipeline.submit_many(await watch.conn(), values, key=f"{pipeline.name}-{first}")
                break
            await asyncio.sleep(0.2)
        jobs[submitted.job_id] = size
    return jobs


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_a_million_items_under_all_faults_are_done_once(crash_server: CrashServer, tmp_path: Path) -> None:
    server = crash_server(max_wal_size="1GB")
    workers = Workers(server.dsn, tmp_path)
    try:
        async with Watch(server.dsn) as watch, Watch(server.dsn) as adapter, Proxy(server.dsn) as proxy:
            await watch.fetch(EFFECTS)
            for pipeline in (letters, orders):
                await registry.register(await watch.conn(), pipeline.definition())
            faults = Faults(server, workers, watch, proxy)
            faults.start()
            faults.start()
            submitting = asyncio.create_task(_both(adapter))
            async for _ in faults.go_on():
                # A fault, then some progress, then the next one.
                before = await _ended(watch)
                if submitting.done() and await _is_over(watch):
                    break
                with suppress(AssertionError):
                    await watch.until("progress", f"select ({_ENDED}) > $1", before + 10_000, seconds=20)
                dead = [worker for worker in workers.all if not worker.lives]
                died = [worker.said[-2000:] for worker in dead if worker.process.wait() == 1]
                assert died == []
            sent, written = await submitting
            assert faults.count >= 20
            await workers.stop_all()
            await assert_done_once(watch, sent, "write", "post")
            await assert_done_once(watch, written, "weigh", "ship", effect="ship")
    finally:
        workers.end()


async def _both(adapter: Watch) -> tuple[dict[int, int], dict[int, int]]:
    written = await _submit_all(adapter, orders, _ORDERS)
    return await _submit_all(adapter, letters, _LETTERS), written


_ENDED = "select coalesce(sum(done), 0)::bigint from forebay.job"


async def _ended(watch: Watch) -> int:
    while True:
        with suppress(*GONE):
            return int(await watch.one(_ENDED))
        await asyncio.sleep(0.2)


async def _is_over(watch: Watch) -> bool:
    with suppress(*GONE):
        return bool(await watch.one("select count(*) = 0 from forebay.job where finished_at is null"))
    return False
