"""A primary that is killed, hangs, is cut off or hands over: clients and workers find the next one, nothing is lost."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from forebay.db import migrate
from forebay.db.pool import UNAVAILABLE, connected
from forebay.db.schema_parts import ENGINE
from forebay.errors import DatabaseUnavailable
from tests.crash._rig import Watch
from tests.ha._load import TTL, load, report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ha.conftest import NewCluster

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("end", ["kill", "freeze"])
async def test_a_primary_that_ends_or_hangs(new_cluster: NewCluster, tmp_path: Path, end: str) -> None:
    async with new_cluster() as cluster, load(cluster.dsn, tmp_path) as work:
        node = await cluster.primary()
        recovery = await work.loses_primary(getattr(node, end))
        assert await cluster.primary() is not node
        if end == "freeze":
            node.thaw()
        else:
            cluster.restart(node)
        await cluster.complete()  # the old one has been rewound and follows
        await work.goes_on()
        report(end, recovery, await work.finish())
        assert max(recovery.accepted, recovery.settled) <= 1.5 * TTL


async def test_a_primary_that_is_cut_off_and_comes_back(new_cluster: NewCluster, tmp_path: Path) -> None:
    _needs_cables()
    async with new_cluster(cables=True) as cluster, load(cluster.dsn, tmp_path) as work:
        node = await cluster.primary()
        recovery = await work.loses_primary(lambda: cluster.cut(node))
        cluster.heal(node)
        await cluster.complete()
        await work.goes_on()
        assert await cluster.primary() is not node
        report("cut off", recovery, await work.finish())
        assert max(recovery.accepted, recovery.settled) <= 1.5 * TTL


async def test_a_primary_that_hands_over(new_cluster: NewCluster, tmp_path: Path) -> None:
    async with new_cluster() as cluster, load(cluster.dsn, tmp_path) as work:
        recovery = await work.loses_primary(cluster.switch_over)
        await cluster.complete()
        report("switchover", recovery, await work.finish())
        assert max(recovery.accepted, recovery.settled) <= TTL


async def test_a_migration_during_which_the_primary_is_killed(new_cluster: NewCluster) -> None:
    """Each migration is a transaction of its own: what has been applied stays, and the next run does the rest."""
    async with new_cluster(migrated=False) as cluster:
        node = await cluster.primary()
        migrating = asyncio.create_task(_migrate_until_done(cluster.dsn))
        async with Watch(cluster.dsn) as watch, Watch(cluster.dsn) as reader:
            await watch.until("there are tables", "select to_regclass('forebay.job') is not null")
            await reader.fetch("begin")
            await reader.fetch("lock forebay.job in access share mode")
            await watch.until("a migration waits for the reader", _WAITS)
            before = await watch.one("select max(version) from forebay.migration")
            node.kill()
            await migrating
            async with connected(cluster.dsn, "tests") as conn:
                await migrate.check(conn, [ENGINE])
            assert await watch.one("select max(version) from forebay.migration") > before
        report("migration, kill", f"{before} migrations applied before, the rest by the next run")


_WAITS = """select exists (select from pg_stat_activity
    where application_name = 'forebay migrate' and wait_event_type = 'Lock')"""


async def _migrate_until_done(dsn: str) -> None:
    while True:
        with suppress(DatabaseUnavailable, *UNAVAILABLE):
            await migrate.migrate(dsn)
            return
        await asyncio.sleep(1)


async def test_asynchronous_replication_loses_work_but_doubles_none(new_cluster: NewCluster, tmp_path: Path) -> None:
    """What the standbys did not have is gone, and numbers of jobs are given out again. The engine goes on."""
    _needs_cables()
    async with new_cluster(cables=True, synchronous=False) as cluster, load(cluster.dsn, tmp_path) as work:
        node = await cluster.primary()
        standbys = [each for each in cluster.nodes if each is not node]
        before: dict[int, float] = {}

        async def end() -> None:
            for standby in standbys:
                cluster.cut(standby)
            await work.goes_on(40)
            before.update(await work.tokens())
            node.kill()
            cluster.cut(node)  # the kernel would still send what the primary has written
            for standby in standbys:
                cluster.heal(standby)

        recovery = await work.loses_primary(end)
        cluster.heal(node)
        cluster.restart(node)
        await cluster.complete(synchronous=False)
        counts = await work.finish(may_lose=True)
        after = await work.tokens()
        assert counts.lost > 0
        assert {token: after[token] for token in before.keys() & after.keys()} == {
            token: before[token] for token in before.keys() & after.keys()
        }, "a token was given out twice"
        report("asynchronous, kill", recovery, counts, f"{len(before.keys() - after.keys())} settlements lost")


def _needs_cables() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can cut a network: this test makes network namespaces")
