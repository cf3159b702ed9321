"""The peers that forebay is measured against, as contenders of a drain."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from bench.harness import ROOT, BenchError
from bench.peers.install import Installed, install

HERE = Path(__file__).resolve().parent
DSN_VARIABLE = "BENCH_TARGET_DSN"


@dataclass(frozen=True)
class Peer:
    """An engine behind a script that knows `setup`, `load COUNT` and `work`."""

    name: str
    label: str
    settings: str
    command: tuple[str, ...]
    pending_sql: str
    done_sql: str | None
    drain_items: int | None = None
    extra: tuple[tuple[str, str], ...] = ()

    async def setup(self, dsn: str) -> None:
        await self._run(dsn, "setup")

    async def load(self, dsn: str, count: int) -> None:
        await self._run(dsn, "load", str(count))

    def worker_command(self) -> Sequence[str]:
        return [*self.command, "work"]

    def worker_environment(self, dsn: str) -> dict[str, str]:
        return {
            DSN_VARIABLE: dsn,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict(self.extra),
        }

    async def pending(self, conn: asyncpg.Connection) -> int:
        return int(await conn.fetchval(self.pending_sql))

    async def verify(self, conn: asyncpg.Connection, count: int, *, drained: bool = True) -> None:
        if self.done_sql and (done := await conn.fetchval(self.done_sql)) != count:
            raise BenchError(f"{self.label} records {done} of {count} jobs as done")

    async def _run(self, dsn: str, *arguments: str) -> None:
        environment = os.environ | self.worker_environment(dsn)
        done = await asyncio.to_thread(
            subprocess.run,
            [*self.command, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchError(f"{self.label} {arguments[0]}: {(done.stderr or done.stdout)[-2000:]}")


def installed_peers() -> list[Peer]:
    """Install what is missing into the cache folder; PgQueuer first, then graphile-worker."""
    where = install()
    return [_pgqueuer(where), _graphile(where)]


def _pgqueuer(where: Installed) -> Peer:
    return Peer(
        name="pgqueuer",
        label=f"PgQueuer {where.pgqueuer}",
        settings="run(batch_size=250), asyncpg driver, uvloop, durable tables; enqueue() of 1000",
        command=(str(where.python), str(HERE / "pgqueuer_noop.py")),
        pending_sql="select count(*) from pgqueuer where status in ('queued', 'picked')",
        done_sql="select count(*) from pgqueuer_log where status = 'successful'",
        drain_items=50_000,  # its rate falls with the backlog; this is where it is at its best
    )


def _graphile(where: Installed) -> Peer:
    return Peer(
        name="graphile",
        label=f"graphile-worker {where.graphile}",
        settings="concurrentJobs 24, localQueue.size 5000, completeJobBatchDelay 0; addJobs() of 1000",
        command=(str(where.node), str(HERE / "graphile_noop.mjs")),
        pending_sql="select count(*) from graphile_worker._private_jobs",
        done_sql=None,  # it deletes what is done: nothing pending and every handler run once is all there is
        extra=(("BENCH_NODE_FOLDER", str(where.node_folder)),),
    )
