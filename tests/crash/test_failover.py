"""A primary that is killed or hangs, and a standby that takes its place: everybody finds it, and nothing is lost."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from forebay import Client, SyncClient
from forebay.cli._doctor_database import examine
from forebay.db.addresses import Address, find_addresses
from forebay.db.pool import connected
from forebay.errors import DatabaseUnavailable
from forebay.settings import Settings
from tests._pooler import PGBOUNCER, pgbouncer
from tests._servers import discard, shared_folder
from tests.api._poolers import answering
from tests.crash._replication import Pair
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
)
from tests.crash._steps import Order, letters, orders


@pytest.fixture
async def pair(
    run_folder: Path, worker: str, copy_cluster: Callable[[Path], None], request: pytest.FixtureRequest
) -> AsyncIterator[Pair]:
    folder = shared_folder(run_folder).resolve() / f"pair-{worker}-{abs(hash(request.node.nodeid))}"
    folder.mkdir()
    folder.chmod(0o711)
    async with Pair(folder, copy_cluster) as made:
        yield made


@pytest.mark.parametrize("end", ["freeze", "kill"])
async def test_workers_and_clients_find_the_new_primary(pair: Pair, tmp_path: Path, end: str) -> None:
    """Statements may last a minute here; whoever waits for the old primary must not."""
    async with Watch(pair.dsn) as watch:
        await watch.one(EFFECTS)
        workers = Workers(pair.dsn, tmp_path)
        try:
            job = await submit(watch, orders, 1000)
            worker = workers.start(claim_max="50")
            await eventually(
                "some are done", lambda: watch.one("select done > 100 from forebay.job where id = $1", job)
            )
            accepted: list[int] = []
            submitting = asyncio.create_task(_submit_for_ever(pair.dsn, accepted))
            await eventually("a client is served", lambda: _longer(accepted, 3))
            getattr(pair, end)()
            await pair.promote()
            before = len(accepted)
            await eventually("the client is served again", lambda: _longer(accepted, before + 3), 50)
            submitting.cancel()
            with suppress(asyncio.CancelledError):
                await submitting
            await watch.done([job, *accepted], seconds=50)
            assert len(worker.events("database_failed_over")) == 1
            await workers.stop_all()
            await assert_done_once(watch, {job: 1000}, "weigh", "ship", effect="ship")
        finally:
            workers.end()


async def test_one_address_that_leads_to_the_new_primary(pair: Pair, tmp_path: Path) -> None:
    """As that of a Kubernetes service: connections to the old primary stay open, and nobody answers on them."""
    async with Watch(pair.second.dsn) as watch, Watch(pair.first.dsn) as first, Proxy(pair.first.dsn) as proxy:
        workers = Workers(proxy.dsn, tmp_path)
        try:
            worker = await workers.start().started()
            await first.fetch(EFFECTS)
            before = await submit(first, orders, 1)
            await watch.done([before])
            pair.freeze()
            proxy.lead_to(pair.second.dsn)
            await pair.promote()
            after = await eventually("the new primary accepts work", lambda: submit(watch, orders, 100))
            await watch.done([after], seconds=40)
            assert len(worker.events("database_failed_over")) == 1
            await workers.stop_all()
            await assert_done_once(watch, {before: 1, after: 100}, "weigh", "ship", effect="ship")
        finally:
            workers.end()


async def test_a_worker_goes_on_when_a_failover_has_lost_its_registration(pair: Pair, tmp_path: Path) -> None:
    """Asynchronous replication: the standby lacks the worker, and positions in the queue are given out again."""
    async with Watch(pair.dsn) as watch:
        await watch.fetch(EFFECTS)
        workers = Workers(pair.dsn, tmp_path)
        try:
            await (await workers.start().started()).stop()  # the standby knows the pipelines
            await pair.disconnect()
            worker = await workers.start(poll_s="3").started()
            lost = [await submit(watch, orders, 1) for _ in range(20)]
            await watch.done(lost)
            pair.kill()
            await pair.promote()
            assert await eventually("the jobs are lost", lambda: watch.one("select count(*) = 0 from forebay.job"))
            job = await submit(watch, orders, 5)
            await watch.done([job], seconds=50)
            (_,) = await eventually("the worker is registered", lambda: _events(worker, "worker_registered_again"))
            assert (
                await watch.one("select name from forebay.worker where stopped_at is null")
                == f"{socket.gethostname()}:{worker.pid}"
            )
            await workers.stop_all()
            await assert_done_once(watch, {job: 5}, "weigh", "ship", effect="ship")
        finally:
            workers.end()


@pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer here")
async def test_an_idle_worker_behind_a_pooler_notices_a_failover(pair: Pair, tmp_path: Path) -> None:
    """Its connections to the pooler stay open, and their next statement finds the new primary: that the listener has
    lost the old one is all that tells. Positions in the queue are given out again here, as after lost transactions."""
    async with Watch(pair.dsn) as watch, Proxy(pair.first.dsn) as proxy:
        await watch.fetch(EFFECTS)
        with pgbouncer(proxy.dsn, _subfolder(tmp_path)) as pooler:
            await answering(pooler)
            workers = Workers(pooler, tmp_path)
            behind = {"prepared_statements": "false", "listen_url": pair.dsn}
            try:
                await (await workers.start(**behind).started()).stop()  # the standby knows the pipelines
                await pair.disconnect()
                worker = await workers.start(**behind).started()
                lost = [await submit(watch, orders, 1) for _ in range(20)]
                await watch.done(lost)
                proxy.lead_to(pair.second.dsn)
                pair.kill()
                await pair.promote()
                assert await eventually("the jobs are lost", lambda: watch.one("select count(*) = 0 from forebay.job"))
                job = await submit(watch, orders, 5)
                await watch.done([job], seconds=50)
                await eventually("the worker is registered", lambda: _events(worker, "worker_registered_again"))
                await workers.stop_all()
                await assert_done_once(watch, {job: 5}, "weigh", "ship", effect="ship")
            finally:
                workers.end()


def _subfolder(folder: Path) -> Path:
    made = folder / "pooler"
    made.mkdir()
    return made


async def test_a_former_primary_is_not_used_again(pair: Pair) -> None:
    dsn = pair.dsn
    async with connected(dsn, "tests"):
        pair.freeze()
        await pair.promote()
        async with Watch(pair.dsn) as watch:
            await watch.until("the standby has taken over", "select true", seconds=50)
        discard(pair.second)
        pair.thaw()
        async with Watch(pair.first.dsn) as former:
            await former.until("the old one answers", "select not pg_is_in_recovery()")
        with pytest.raises(DatabaseUnavailable, match="was the primary before another one"):
            async with connected(dsn, "tests"):
                pass


async def _events(worker: WorkerProcess, name: str) -> list[object]:
    return list(worker.events(name))


async def test_doctor_knows_whether_a_failover_loses_work(pair: Pair) -> None:
    async def found(dsn: str) -> tuple[str, str]:
        async with connected(dsn, "tests") as conn:
            findings = [each async for each in examine(conn, dsn, Settings()) if each.about == "replication"]
        return findings[0].level, findings[0].text

    assert await found(pair.dsn) == ("OK", "1 standby, commits wait for one")
    one = "1 standby, commits wait for one; FOREBAY_DATABASE_URL has one address, which has to lead to the primary"
    assert await found(pair.first.dsn) == ("OK", one)
    async with connected(pair.first.dsn, "tests") as conn:
        await conn.execute("set synchronous_commit = local")
        await conn.execute("alter system reset synchronous_standby_names")
        await conn.execute("select pg_reload_conf()")
    lost = "1 standby, but no commit waits for one: a failover loses accepted work"
    await eventually("doctor warns", lambda: _is(found(pair.dsn), ("WARN", lost)))


async def _is(found: Awaitable[object], expected: object) -> bool:
    return await found == expected


async def _longer(found: list[int], than: int) -> bool:
    return len(found) > than


async def _submit_for_ever(dsn: str, accepted: list[int]) -> None:
    """One client with one pool; what it was told is stored has to be there afterwards."""
    async with Client.connect(dsn) as client:
        while True:
            with suppress(*GONE, DatabaseUnavailable):
                accepted.append((await client.submit(letters, Order(number=1))).job_id)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("dsn", "found"),
    [
        ("postgresql://u:p@one/db", [("one", 5432)]),
        ("postgresql://u:p@one:1,two:2/db", [("one", 1), ("two", 2)]),
        ("postgresql://u:p%40@one,[::1]:7/db?sslmode=require", [("one", 5432), ("::1", 7)]),
        ("postgresql:///db?host=one,two&port=1,2", [("one", 1), ("two", 2)]),
        ("postgresql:///db?host=one,two&port=6432", [("one", 6432), ("two", 6432)]),
        ("postgresql:///db?host=/run/postgresql", [("/run/postgresql", 5432)]),
        ("postgresql:///db", []),
    ],
)
def test_the_addresses_of_a_connection_string(dsn: str, found: list[tuple[str, int]]) -> None:
    assert find_addresses(dsn) == tuple(Address(*each) for each in found)


@pytest.mark.parametrize("dsn", ["postgresql://one:x,two/db", "postgresql:///db?host=a,b,c&port=1,2"])
async def test_an_address_that_cannot_be_is_rejected(dsn: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="its address is invalid"):
        async with Client.connect(dsn):
            pass


async def test_an_address_where_nothing_listens_is_passed_over(dsn: str) -> None:
    user, _, place = dsn.rpartition("@")
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    several = f"{user}@127.0.0.1:{port},{place}"
    async with Client.connect(several) as client:
        job = await client.submit(letters, Order(number=1))
    with SyncClient.connect(several) as client_2:
        assert client_2.submit(letters, Order(number=2)).job_id > job.job_id
