"""A fleet over three NATS servers with JetStream, some of which are killed in the middle of the work."""

# demands: S1-120

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import nats
import nats.errors
import nats.js.errors
import pytest

from forebay.engine.submit.results import wait
from forebay.fleet.jetstream import JetStreamDispatcher, JetStreamRunner
from tests.fleet._nats import NatsCluster
from tests.fleet._pipelines import counting
from tests.fleet._polling import assert_once, until
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import asyncpg

    Conn = asyncpg.Connection[Any]


_STREAMS = ("forebay-offer", "forebay-report")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[NatsCluster]:
    servers = NatsCluster(tmp_path, 3)
    servers.start()
    asyncio.run(servers.wait_until_ready())
    yield servers
    servers.kill()


async def _leader(servers: NatsCluster, stream: str) -> int:
    """The node that leads a stream, as soon as its three replicas have the same state."""
    async with asyncio.timeout(60):
        while True:
            with suppress(nats.errors.Error, nats.js.errors.Error, OSError):
                client = await nats.connect(servers.url.split(","), connect_timeout=1, allow_reconnect=False)
                try:
                    cluster = (await client.jetstream(timeout=1).stream_info(stream)).cluster
                finally:
                    await client.close()
                replicas = [] if cluster is None else cluster.replicas or []
                if cluster is not None and cluster.leader and [each.current for each in replicas] == [True, True]:
                    return int(cluster.leader.removeprefix("n"))
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    ("size", "leaders"), [(300, _STREAMS[:1]), pytest.param(20_000, _STREAMS, marks=pytest.mark.soak)]
)
async def test_the_leader_and_then_all_servers_are_killed(
    dsn: str, conn: Conn, cluster: NatsCluster, size: int, leaders: Sequence[str]
) -> None:
    await conn.execute("create table effects (n int primary key)")
    pipeline = counting()
    fleet = Fleet(partial(JetStreamDispatcher, cluster.url), partial(JetStreamRunner, cluster.url))
    options: dict[str, Any] = {"lease_floor_s": 2.0, "sweep_s": 0.2, "grace_s": 0.5}
    async with (
        running(fleet.dispatcher(dsn, pipeline, **options)),
        fleet.working(dsn, pipeline, runners=2, **options),
    ):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(size)])
        await until(conn, f"count(*) >= {size // 10} from effects", 120)
        for stream in leaders:
            leader = await _leader(cluster, stream)
            cluster.kill([leader])
            done = await conn.fetchval("select count(*) from effects")
            await until(conn, f"count(*) >= {min(size, done + size // 10)} from effects", 120)
            cluster.start([leader])
        for stream in _STREAMS:
            await _leader(cluster, stream)
        cluster.kill()
        cluster.start()
        await cluster.wait_until_ready()
        assert (await wait(dsn, job.job_id, timeout=600)).done == size
    await assert_once(conn, size)
