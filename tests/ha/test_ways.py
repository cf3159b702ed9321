"""The same behind HAProxy, and behind PgBouncer in transaction mode: one address, which leads to the primary.

HAProxy is not everywhere: PgBouncer is tested without it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ha._load import TTL, load, report
from tests.ha._ways import haproxy, pgbouncer, pgbouncer_alone, program

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ha.conftest import NewCluster

pytestmark = pytest.mark.soak


async def test_behind_haproxy(new_cluster: NewCluster, tmp_path: Path) -> None:
    program("haproxy")
    async with new_cluster() as cluster:
        with haproxy(cluster, tmp_path) as address:
            async with load(cluster.dsn, tmp_path, through=address) as work:
                node = await cluster.primary()
                recovery = await work.loses_primary(node.freeze)
                node.thaw()
                await cluster.complete()
                report("HAProxy, freeze", recovery, await work.finish())
                assert max(recovery.accepted, recovery.settled) <= 1.5 * TTL


async def test_behind_pgbouncer_without_haproxy(new_cluster: NewCluster, tmp_path: Path) -> None:
    program("pgbouncer")
    async with new_cluster() as cluster, pgbouncer_alone(cluster, tmp_path) as pooler:
        settings = {"prepared_statements": "false", "listen_url": cluster.dsn}
        async with load(cluster.dsn, tmp_path, through=pooler, **settings) as work:
            node = await cluster.primary()
            recovery = await work.loses_primary(node.kill)
            assert await cluster.primary() is not node
            cluster.restart(node)
            await cluster.complete()
            report("PgBouncer alone, kill", recovery, await work.finish())
            assert max(recovery.accepted, recovery.settled) <= 1.5 * TTL


async def test_behind_pgbouncer(new_cluster: NewCluster, tmp_path: Path) -> None:
    program("pgbouncer")
    async with new_cluster() as cluster:
        with haproxy(cluster, tmp_path) as address, pgbouncer(address, tmp_path) as pooler:
            settings = {"prepared_statements": "false", "listen_url": cluster.dsn}
            async with load(cluster.dsn, tmp_path, through=pooler, **settings) as work:
                node = await cluster.primary()
                recovery = await work.loses_primary(node.kill)
                cluster.restart(node)
                await cluster.complete()
                report("PgBouncer, kill", recovery, await work.finish())
                assert max(recovery.accepted, recovery.settled) <= 1.5 * TTL
