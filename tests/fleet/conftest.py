"""The brokers of the tests, and the parameters of the tests of conformance."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay.fleet.bullmq import BullMQDispatcher, BullMQRunner
from forebay.fleet.jetstream import JetStreamDispatcher, JetStreamRunner
from tests.fleet._nats import NatsCluster
from tests.fleet._redis import RedisServer
from tests.fleet._setups import Direct, Fleet, Setup

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

_numbers = itertools.count()


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    yield conn
    await conn.close()


@pytest.fixture(scope="session")
def nats_server(run_folder: Path, worker: str) -> Iterator[NatsCluster]:
    """One server, which all tests of this process share."""
    server = NatsCluster(run_folder / f"nats-{worker}", 1)
    server.start()
    asyncio.run(server.wait_until_ready())
    yield server
    server.kill()


@pytest.fixture
def nats_url(nats_server: NatsCluster) -> str:
    """An address with a prefix of the test's own."""
    return f"{nats_server.url}/t{next(_numbers)}"


@pytest.fixture
def jetstream(nats_url: str) -> Fleet:
    return Fleet(partial(JetStreamDispatcher, nats_url), partial(JetStreamRunner, nats_url))


@pytest.fixture(scope="session")
def redis_server(run_folder: Path, worker: str) -> Iterator[RedisServer]:
    """One server, which all tests of this process share."""
    with RedisServer(run_folder / f"redis-{worker}") as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """An address with a prefix of the test's own."""
    return f"{redis_server.url}?prefix=t{next(_numbers)}"


@pytest.fixture
def bullmq(redis_url: str) -> Fleet:
    return Fleet(partial(BullMQDispatcher, redis_url), partial(BullMQRunner, redis_url))


@pytest.fixture(params=["jetstream", "bullmq"])
def fleet(request: pytest.FixtureRequest) -> Fleet:
    """A fleet over each broker."""
    found: Fleet = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def nats_cluster(run_folder: Path, worker: str) -> Iterator[NatsCluster]:
    """Three servers, which all tests of this process share."""
    servers = NatsCluster(run_folder / f"nats-cluster-{worker}", 3)
    servers.start()
    asyncio.run(servers.wait_until_ready())
    yield servers
    servers.kill()


@pytest.fixture
def clustered(nats_cluster: NatsCluster) -> Fleet:
    """A fleet over three servers: each stream has three replicas."""
    url = f"{nats_cluster.url}/t{next(_numbers)}"
    return Fleet(partial(JetStreamDispatcher, url), partial(JetStreamRunner, url))


@pytest.fixture(params=["direct", "jetstream", "bullmq", pytest.param("clustered", marks=pytest.mark.soak)])
def setup(request: pytest.FixtureRequest) -> Setup:
    """Each of the ways to run steps."""
    return Direct() if request.param == "direct" else request.getfixturevalue(request.param)
