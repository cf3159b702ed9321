"""The worker of the previous release, from the history of the repository, on this schema and beside this worker."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay import Client, Context, Limit, Pipeline, Retry, TransientError, Wait
from tests.compat import _worker_program
from tests.compat.test_previous_release import working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.db.pool import Connection

COMMIT = "1e57549ba17d0178c2323ce269736cb4f0424ee5"
"""The previous release: the last commit before migration 0027 of the engine. It is set anew when a release is made."""

ROOT = Path(__file__).parents[2]
_KINDS = ("plain", "retried", "awaited")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the previous release."""
    archive = subprocess.run(["git", "archive", COMMIT, "src/forebay"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.fail(
            f"the source of the previous release is read from the history of the repository, in which commit {COMMIT} "
            f"is missing: `git fetch --unshallow` adds it ({archive.stderr.decode().strip()})"
        )
    folder = tmp_path_factory.mktemp("previous")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        wanted = [file for file in files if file.name.endswith((".py", ".sql"))]
        files.extractall(folder, wanted, filter="data")
    return folder / "src"


@asynccontextmanager
async def previous_worker(dsn: str, source: Path) -> AsyncIterator[int]:
    """A running worker of the previous release; its id."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error::SyntaxWarning", _worker_program.__file__, dsn,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        started = (await process.stdout.readline()).decode().split()
        assert Path(started[0]).is_relative_to(source)
        yield int(started[1])
    finally:
        process.stdin.close()
        await process.stdout.read()
        assert await process.wait() == 0


def shop_of_now() -> Pipeline[dict[str, str]]:
    """Has a step more between the first two, and another name for the last."""
    shop: Pipeline[dict[str, str]] = Pipeline("shop", dict)

    @shop.step(retry=Retry(attempts=3, base=0.01))
    async def pick(ctx: Context, value: dict[str, str]) -> str:
        if value["kind"] == "retried" and ctx.attempt == 1:
            raise TransientError("the shelf is empty")
        return "pick"

    @shop.step(after=pick)
    async def weigh(ctx: Context, value: dict[str, str], picked: str) -> str:
        return "weigh"

    @shop.step(after=weigh, limits=[Limit("shop packers", concurrency=2, key=lambda value: str(value["kind"]))])
    async def pack(ctx: Context, value: dict[str, str], weighed: str) -> str:
        return "pack"

    @shop.step(after=pack, renamed_from="send")
    async def ship(ctx: Context, value: dict[str, str], packed: str) -> str | Wait:
        if value["kind"] == "awaited" and ctx.signal is None:
            return Wait("paid", key="all")
        return "ship"

    return shop


_OPEN = "select count(*) from forebay.job where finished_at is null"
_WAITING = "select count(*) from forebay.waiting where signalled_at is null"
_DONE = """
select a.job_id, s.bit, count(*) as times, count(distinct a.n) as items
from forebay.attempt a join forebay.step s on s.id = a.step_id where a.outcome = 'DONE' group by 1, 2"""
_RAN = """
select array_agg(distinct s.bit order by s.bit) from forebay.attempt a join forebay.step s on s.id = a.step_id
where a.worker_id = any($1) and a.outcome = 'DONE'"""


async def test_the_worker_of_the_previous_release_works_and_restarts_beside_this_one(dsn: str, source: Path) -> None:
    conn = await asyncpg.connect(dsn)
    inputs = [{"kind": kind} for kind in _KINDS for _ in range(20)]
    async with asyncio.timeout(90):
        async with previous_worker(dsn, source) as first:
            old = await Client(conn).submit_many(_worker_program.shop, inputs)
            await _until(conn, f"({_WAITING}) = 20")
            async with working(dsn, shop_of_now()) as mine:
                new = await Client(conn).submit_many(shop_of_now(), inputs)
                await _until(conn, f"({_WAITING}) = 40")
        async with working(dsn, shop_of_now()) as again, previous_worker(dsn, source) as second:
            newest = await Client(conn).submit_jobs(shop_of_now(), [{"kind": "plain"}])
            await Client(conn).signal("paid", "all")
            await _until(conn, f"({_OPEN}) = 0")
    done = {(row["job_id"], row["bit"]): (row["times"], row["items"]) for row in await conn.fetch(_DONE)}
    assert set(done.values()) == {(60, 60), (1, 1)}
    steps = [sum(job_id == job.job_id for job_id, _ in done) for job in (old, new, *newest)]
    assert steps == [3, 4, 4], "each job went by its own version"
    assert await conn.fetchval(_RAN, [first, second]) == [1, 2, 4]
    assert {4, 8} <= set(await conn.fetchval(_RAN, [mine.worker_id, again.worker_id])), "also tasks that waited"
    for table in ("ready", "scheduled", "lease", "waiting"):
        assert await conn.fetchval(f"select count(*) from forebay.{table}") == 0, table
    await conn.close()


async def _until(conn: Connection, condition: str) -> Any:
    while not await conn.fetchval(f"select {condition}"):  # noqa: ASYNC110 - in the server
        await asyncio.sleep(0.02)
