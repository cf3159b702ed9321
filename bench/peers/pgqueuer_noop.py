"""PgQueuer with a job that does nothing: `setup`, `load COUNT`, `work`. Runs in the peers' environment."""
# mypy: disable-error-code="import-not-found, untyped-decorator"

import json
import os
import sys
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench.probe import Probe
from bench.workload import json_inputs

BATCH = 250
LOAD_BATCH = 1000


async def setup(conn: asyncpg.Connection) -> None:
    await Queries(AsyncpgDriver(conn)).install()


async def load(conn: asyncpg.Connection, count: int) -> None:
    queries = Queries(AsyncpgDriver(conn))
    for start in range(0, count, LOAD_BATCH):
        size = min(LOAD_BATCH, count - start)
        payloads: list[bytes | None] = [text.encode() for text in json_inputs(size, start)]
        await queries.enqueue(["noop"] * size, payloads, [0] * size)


async def work(conn: asyncpg.Connection) -> None:
    probe, queuer = Probe.from_environment(), PgQueuer(AsyncpgDriver(conn))

    @queuer.entrypoint("noop")
    async def noop(job: Job) -> None:
        probe.hit(json.loads(job.payload or b"{}")["seq"])

    await queuer.run(batch_size=BATCH, dequeue_timeout=timedelta(seconds=5))


async def main(command: str, count: str = "0") -> None:
    conn = await asyncpg.connect(os.environ["BENCH_TARGET_DSN"])
    if command == "setup":
        await setup(conn)
    elif command == "load":
        await load(conn, int(count))
    else:
        await work(conn)


uvloop.run(main(*sys.argv[1:]))
