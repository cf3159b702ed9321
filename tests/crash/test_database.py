"""A database that crashes, drops connections or does not answer: what was answered is there, and workers go on."""

# demands: S2-15, S3-83, S4-64, S4-99

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from forebay.db.listen import CHANNEL, Listener
from forebay.db.pool import connect
from forebay.engine.db import registry
from forebay.settings import Settings
from tests._pooler import PGBOUNCER, pgbouncer
from tests.api._poolers import answering
from tests.crash._rig import (
    EFFECTS,
    GONE,
    Proxy,
    Watch,
    WorkerProcess,
    Workers,
    assert_done_once,
    eventually,
    submit,
    working,
)
from tests.crash._steps import Order, letters, orders

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from forebay.embedded import EmbeddedPostgres
    from tests.conftest import CrashServer

_BACKENDS = "from pg_stat_activity where datname = current_database() and application_name like $1"
_FOR_EVER = 3600.0
_QUICK: dict[str, Any] = {"lease_floor_s": 2.0, "sweep_s": 0.2, "poll_s": 0.2, "grace_s": 5.0}


@asynccontextmanager
async def _durable(server: EmbeddedPostgres, folder: Path) -> AsyncGenerator[tuple[Workers, Watch]]:
    """Workers and questions on a server that may be killed."""
    workers = Workers(server.dsn, folder)
    try:
        async with Watch(server.dsn) as watch:
            await watch.fetch(EFFECTS)
            yield workers, watch
    finally:
        workers.end()


async def _crash(server: EmbeddedPostgres) -> None:
    server.kill()
    await asyncio.to_thread(server.start)


async def _progress(watch: Watch, job: int, done: int) -> bool:
    """Waits until that many items are done; says whether there are more."""
    (row,) = await eventually(
        f"{done} items done",
        lambda: watch.fetch("select done < total as more from forebay.job where id = $1 and done >= $2", job, done),
    )
    return bool(row["more"])


# -- PostgreSQL is killed -------------------------------------------------------------------------------------------


async def test_workers_outlive_crashes_of_postgresql(crash_server: CrashServer, tmp_path: Path) -> None:
    server = crash_server()
    async with _durable(server, tmp_path) as (workers, watch):
        job = await submit(watch, orders, 2000)
        workers.start(claim_max="50")
        workers.start(claim_max="50")
        crashes = 0
        for done in (1, 500, 1000):
            if await _progress(watch, job, done):
                await _crash(server)
                crashes += 1
        assert crashes >= 2
        await watch.done([job])
        await workers.stop_all()
        await assert_done_once(watch, {job: 2000}, "weigh", "ship", effect="ship")


async def test_what_was_answered_before_a_crash_is_there_after_it(crash_server: CrashServer, tmp_path: Path) -> None:
    server = crash_server()
    async with _durable(server, tmp_path) as (workers, watch):
        await registry.register(await watch.conn(), orders.definition())
        workers.start()
        answered: dict[str, int] = {}
        submitting = asyncio.create_task(_submit_steadily(server.dsn, answered, 1200))
        for count in (200, 600):
            await eventually("answers", partial(_at_least, answered, count))
            await _crash(server)
        await submitting
        keys = await watch.fetch("select key, id from forebay.job")
        assert {row["key"]: row["id"] for row in keys} == answered
        await watch.done(answered.values())
        await workers.stop_all()
        await assert_done_once(watch, dict.fromkeys(answered.values(), 1), "weigh", "ship", effect="ship")


async def _at_least(answered: dict[str, int], count: int) -> bool:
    return len(answered) >= count


async def _submit_steadily(dsn: str, answered: dict[str, int], count: int) -> None:
    """One job after the other, each under a key; whoever gets no answer asks again."""
    async with Watch(dsn) as adapter:
        for number in range(count):
            key = f"order-{number}"
            while key not in answered:
                try:
                    submitted = await orders.submit(await adapter.conn(), Order(number=number), key=key)
                except GONE:
                    await asyncio.sleep(0.02)
                else:
                    answered[key] = submitted.job_id


async def test_a_worker_waits_for_a_database_that_is_down(crash_server: CrashServer, tmp_path: Path) -> None:
    server = crash_server()
    async with _durable(server, tmp_path) as (workers, watch):
        job = await submit(watch, orders, 20)
        await asyncio.to_thread(server.stop)
        worker = workers.start()

        async def waiting() -> bool:
            assert worker.lives, worker.said
            return bool(worker.events("database_awaited"))

        await eventually("the worker waits", waiting)
        await asyncio.to_thread(server.start)
        await watch.done([job])
        await workers.stop_all()
        await assert_done_once(watch, {job: 20}, "weigh", "ship", effect="ship")


async def test_a_worker_can_be_stopped_while_the_database_is_down(crash_server: CrashServer, tmp_path: Path) -> None:
    server = crash_server()
    async with _durable(server, tmp_path) as (workers, _):
        running, waiting = await workers.start().started(), workers.start()
        await asyncio.to_thread(server.stop)
        waiting.kill()
        waiting = workers.start()
        await eventually("the worker waits", lambda: _said(waiting, "database_awaited"))
        for worker in (running, waiting):
            assert await worker.stop() == 0


async def _said(worker: WorkerProcess, event: str) -> bool:
    return bool(worker.events(event))


# -- connections are killed -----------------------------------------------------------------------------------------


async def test_a_stream_of_terminated_backends_does_no_harm(workers: Workers, watch: Watch) -> None:
    """After each of them the workers get something done, and then comes the next."""
    jobs = [await submit(watch, orders, 10_000)]
    pair = [await workers.start(claim_max="50").started(), await workers.start(claim_max="50").started()]
    killed = done = 0

    async def kill_all() -> bool:
        nonlocal killed, done
        assert [worker.said[-3000:] for worker in pair if not worker.lives] == []
        done, before = await watch.one("select sum(done) from forebay.job where id = any($1)", jobs), done
        if done == 10_000 * len(jobs):  # a fast machine wants more to be disturbed at
            jobs.append(await submit(watch, orders, 10_000))
        if done > before or killed == 0:
            killed += await watch.one(f"select count(pg_terminate_backend(pid)) {_BACKENDS}", "forebay %")
        return killed > 10

    await eventually("they have been killed often", kill_all)
    await watch.done(jobs)
    await workers.stop_all()
    await assert_done_once(watch, dict.fromkeys(jobs, 10_000), "weigh", "ship", effect="ship")


async def test_statements_that_are_cancelled_are_repeated(workers: Workers, watch: Watch) -> None:
    """By an operator, or by a statement_timeout of the role's: no worker ends by it, and no item fails."""
    pair = [await workers.start(claim_max="50").started(), await workers.start(claim_max="50").started()]
    blocker = await connect(watch.dsn)
    cancelled = 0

    async def cancel_all() -> bool:
        nonlocal cancelled
        assert [worker.said[-3000:] for worker in pair if not worker.lives] == []
        cancelled += await watch.one(
            f"select count(pg_cancel_backend(pid)) {_BACKENDS} and wait_event_type = 'Lock'", "forebay %"
        )
        return bool(cancelled >= 20)

    try:
        # Claims that wait for this lock are there to be cancelled, however fast the machine is.
        await blocker.execute("begin; lock table forebay.lease in access exclusive mode")
        job = await submit(watch, orders, 2000)
        await eventually("many have been cancelled", cancel_all)
    finally:
        await blocker.close()
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 2000}, "weigh", "ship", effect="ship")


async def test_a_kill_while_a_worker_begins_is_outlived(workers: Workers, watch: Watch) -> None:
    """The first thing that a worker does is to make partitions; here its connection is lost meanwhile."""
    blocker = await connect(watch.dsn)
    await blocker.execute("begin; lock table forebay.attempt_default in access exclusive mode")
    try:
        worker = workers.start()
        await watch.until(
            "the connection that makes partitions is killed",
            f"select count(pg_terminate_backend(pid)) > 0 {_BACKENDS} and wait_event_type = 'Lock'"
            " and query like '%make_partitions%'",
            "forebay worker",
        )
    finally:
        await blocker.close()
    job = await submit(watch, orders, 10)
    await watch.done([job], seconds=30)
    assert worker.lives
    await workers.stop_all()


# -- half-open connections ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trap", ["forebay.claim", "forebay.settle", "forebay.heartbeat", 'into "effects"'])
@pytest.mark.parametrize("arrives", [True, False], ids=["answer_lost", "question_lost"])
async def test_a_half_open_connection_is_noticed_and_replaced(
    workers: Workers, watch: Watch, trap: str, *, arrives: bool
) -> None:
    """Whatever was asked when the packets began to vanish, on that connection alone, the worker goes on without it."""
    async with Proxy(watch.dsn) as proxy:
        job = await submit(watch, orders, 300)
        proxy.lose_at(trap, arrives=arrives)
        workers.start(dsn=proxy.dsn, command_timeout_s="2", lease_floor_s="0.5" if "heart" in trap else "2")
        await watch.done([job], seconds=60)
        await workers.stop_all()
        await assert_done_once(watch, {job: 300}, "weigh", "ship", effect="ship")


async def test_all_connections_half_open_at_once(workers: Workers, watch: Watch) -> None:
    async with Proxy(watch.dsn) as proxy:
        job = await submit(watch, orders, 2000)
        worker = await workers.start(dsn=proxy.dsn, command_timeout_s="2", claim_max="50").started()
        await _progress(watch, job, 1)
        assert proxy.lose(all_new=True) >= 2
        await eventually("the worker noticed", lambda: _said_lost(worker))
        proxy.heal()
        await watch.done([job], seconds=60)
        await workers.stop_all()
        await assert_done_once(watch, {job: 2000}, "weigh", "ship", effect="ship")


async def _said_lost(worker: WorkerProcess) -> bool:
    return any(event in worker.said for event in ("claim_repeated", "settle_repeated", "tick_failed"))


async def test_connections_that_are_cut_again_and_again(workers: Workers, watch: Watch) -> None:
    async with Proxy(watch.dsn) as proxy:
        workers.start(dsn=proxy.dsn, claim_max="50")
        cuts, jobs = 0, list[int]()
        while cuts < 6:  # more jobs, if this test gets too little time to look
            jobs.append(await submit(watch, orders, 1000))
            for done in range(1, 1000, 200):
                if not await _progress(watch, jobs[-1], done):
                    break
                proxy.cut(refuse_new=cuts % 2 == 1)
                proxy.heal()
                cuts += 1
        await watch.done(jobs)
        await workers.stop_all()
        await assert_done_once(watch, dict.fromkeys(jobs, 1000), "weigh", "ship", effect="ship")


async def test_a_claim_whose_answer_is_lost_at_shutdown_is_handed_back(workers: Workers, watch: Watch) -> None:
    """The lease is there, the worker does not know of it, and it would last ten minutes."""
    async with Proxy(watch.dsn) as proxy:
        await submit(watch, orders, 50)
        proxy.lose_at("forebay.claim", arrives=True)
        worker = workers.start(dsn=proxy.dsn, lease_floor_s="600")
        await watch.until("the claim was made", "select count(*) > 0 from forebay.lease")
        assert await worker.stop() == 0
        assert await watch.one("select count(*) from forebay.lease") == 0


# -- wake-ups -------------------------------------------------------------------------------------------------------


async def test_wakeups_work_again_after_the_listener_was_killed(dsn: str, watch: Watch) -> None:
    """Polling is off in this worker: only a wake-up, or the look that follows a new LISTEN, finds work."""
    async with working(dsn, Settings.model_validate(_QUICK | {"poll_s": _FOR_EVER})):
        await watch.until("it listens", f"select count(*) > 0 {_BACKENDS}", "forebay listener")
        await watch.done([await submit(watch, letters, 5)])
        await watch.one(f"select count(pg_terminate_backend(pid)) {_BACKENDS}", "forebay listener")
        await watch.done([await submit(watch, letters, 5)])  # by the look, if the wake-up went into the void
        await watch.until("it listens again", f"select count(*) > 0 {_BACKENDS}", "forebay listener")
        for _ in range(3):
            await watch.done([await submit(watch, letters, 5)])


@pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer here")
async def test_wakeups_arrive_past_a_pooler(dsn: str, watch: Watch, tmp_path: Path) -> None:
    """Polling is off in this worker, and the pooler passes no notifications on."""
    with pgbouncer(dsn, tmp_path) as way:
        await answering(way)
        past = {"listen_url": dsn, "prepared_statements": False, "poll_s": _FOR_EVER}
        async with working(way, Settings.model_validate(_QUICK | past)):
            await watch.until("it listens", f"select count(*) > 0 {_BACKENDS}", "forebay listener")
            for _ in range(3):
                await watch.done([await submit(watch, letters, 5)])


async def test_without_listen_polling_finds_work(dsn: str, watch: Watch) -> None:
    async with working(dsn, Settings.model_validate(_QUICK | {"listen": False})):
        await watch.done([await submit(watch, letters, 5)])
        assert await watch.one(f"select count(*) {_BACKENDS}", "forebay listener") == 0
        await watch.done([await submit(watch, letters, 5)])


async def test_a_half_open_listener_does_not_keep_work_from_being_found(dsn: str, watch: Watch) -> None:
    """A poll finds it, although the one before has timed out."""
    settings = Settings.model_validate(_QUICK | {"command_timeout_s": 1.0})
    async with Proxy(dsn) as proxy, working(proxy.dsn, settings):
        await watch.until("it listens", f"select count(*) > 0 {_BACKENDS}", "forebay listener")
        proxy.lose()
        await watch.done([await submit(watch, letters, 5)], seconds=60)


async def test_a_half_open_listener_is_replaced_and_what_it_missed_is_read(dsn: str, watch: Watch) -> None:
    """It finds out by itself: its owner is called to read the tables, and the next message arrives."""
    messages, connected = asyncio.Queue[str](), asyncio.Queue[None]()
    async with Proxy(dsn) as proxy, asyncio.timeout(60):
        listener = Listener(proxy.dsn, messages.put_nowait, lambda: connected.put_nowait(None), check_every=0.2)
        listening = asyncio.create_task(listener.run())
        await connected.get()
        assert proxy.lose() == 1
        await watch.one("select pg_notify($1, 'missed')", CHANNEL)
        await connected.get()
        await watch.one("select pg_notify($1, 'heard')", CHANNEL)
        assert await messages.get() == "heard"
        listening.cancel()
        await asyncio.wait([listening])


async def test_a_frozen_server_is_waited_for(crash_server: CrashServer, tmp_path: Path) -> None:
    """Backends that hang (a stuck disk, a paused machine) and go on: nothing is done twice."""
    import psutil

    server = crash_server()
    async with _durable(server, tmp_path) as (workers, watch):
        job = await submit(watch, orders, 1500)
        worker = await workers.start(command_timeout_s="2", claim_max="50").started()
        await _progress(watch, job, 1)
        backends = [row["pid"] for row in await watch.fetch(f"select pid {_BACKENDS}", "forebay %")]
        processes = [psutil.Process(pid) for pid in backends if psutil.pid_exists(pid)]
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        try:
            await eventually("the worker noticed", lambda: _said_lost(worker))
        finally:
            for process in processes:
                process.send_signal(signal.SIGCONT)
        await watch.done([job], seconds=60)
        await workers.stop_all()
        await assert_done_once(watch, {job: 1500}, "weigh", "ship", effect="ship")
