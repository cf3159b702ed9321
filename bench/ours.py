"""Every call that the benchmark makes into forebay, and nothing else."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import islice
from pathlib import Path

import asyncpg

from bench.harness import BenchError, connected
from bench.noop import KEYED_PIPELINE, OTHER_PIPELINE, PIPELINE, SLEEP_PIPELINE
from bench.workload import SQL_INPUT, input_of, inputs
from forebay.db.migrate import migrate
from forebay.engine.db.registry import register
from forebay.engine.submit.producer import submit, submit_many
from forebay.engine.work.worker import Worker
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from forebay.identity.secrets import hash_password
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.jobs import wait
from forebay.pipelines.sheets.db import grid as grids
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.grid_files import GridFile
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from forebay.services.spreadsheets import XlsxFile
from forebay.settings import Settings
from forebay.storage import open_store

OWNER = "bench"
PENDING = """
select (select coalesce(sum(r.last_n - r.first_n + 1), 0)
        from forebay.ready r join forebay.lane l on l.id = r.lane_id where not l.paused)
     + (select count(*) from forebay.lease)
"""
RECORDS = """
with kept as (
    select count(*) as times, count(*) filter (where outcome = 'DONE' and attempt = 1) as firsts
    from forebay.attempt group by job_id, n),
attempts as (
    select coalesce(sum(times), 0) as attempts, coalesce(sum(firsts), 0) as first_attempts,
           count(*) filter (where times > 1) as repeated
    from kept),
items as (
    select job_id, count(*) as items, count(result) as results
    from forebay.item where status = 'DONE' group by job_id),
jobs as (
    select coalesce(sum(i.items), 0) as items, coalesce(sum(i.results), 0) as results,
           coalesce(sum(j.done), 0) as counted,
           count(*) filter (where j.done <> coalesce(i.items, 0) or j.error + j.skipped + j.not_found > 0)
               as miscounted
    from forebay.job j left join items i on i.job_id = j.id)
select *, (select count(*) from forebay.lease) as leases from attempts, jobs
"""
OPEN_JOBS = "select count(*) from forebay.job where done = total and state <> 'DONE'"
SHEETS = {
    "name": "sheets",
    "steps": [
        {
            "name": "look_up",
            "after": [],
            "optional": False,
            "after_all": False,
            "queue": "sheets.look_up",
            "max_attempts": 3,
            "max_expiries": 3,
        }
    ],
}
TAKEN = """
select extract(epoch from s.read_at - i.created_at)::float8 as seconds, j.total,
       (select count(*) from forebay.item t where t.job_id = j.id) as items
from forebay.sheet s join forebay.intake_file f on f.job_id = s.job_id join forebay.job i on i.id = f.intake_job_id
join forebay.job j on j.id = s.job_id
where s.job_id = $1
"""
LOAD_BATCH = 1000
OWNERS = 1000
# One owner, or that many.
SUBMIT_SINGLES = f"""
select forebay.submit($1, {SQL_INPUT}, case when $5::int = 1 then $2::text else $2 || ' ' || s % $5 end)
from generate_series($3::int, $4::int) s
"""
# The runs and leases of so many one-item jobs, as they come and go while workers process them.
COME_AND_GO = (
    """insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
       select s.id, o.lane_id, 0, o.id, 1, 1
       from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id and p.name = $1,
            (select forebay.lane_id(o.id, 0, 0::smallint) as lane_id, o.id from forebay.owner_id($2) o(id) offset 0) o,
            generate_series(1, $3::int)""",
    "delete from forebay.ready where job_id = 0",
    """insert into forebay.lease
           (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
       select forebay.next_token(), 0, 0, 0, 0, 0, 1, now(), now() + interval '10 s', '{[1,1]}'
       from generate_series(1, $1::int)""",
    "delete from forebay.lease where job_id = 0",
)
Submit = Callable[[int], Awaitable[None]]
Ingest = Callable[[Path, int], Awaitable[float]]


class Forebay:
    """The engine under test, as a contender of drains and as the door that items come in by."""

    name = "forebay"

    async def setup(self, dsn: str) -> None:
        """Create the schema in an empty database, and make the pipelines known."""
        await migrate(dsn, service=True)
        async with connected(dsn) as conn:
            for pipeline in (PIPELINE, OTHER_PIPELINE, SLEEP_PIPELINE, KEYED_PIPELINE):
                await register(conn, pipeline.definition())

    async def load(self, dsn: str, count: int) -> None:
        """Submit one job of `count` items, numbered from 0, by the bulk door."""
        async with connected(dsn) as conn:
            await submit_many(conn, PIPELINE, inputs(count), owner=OWNER)

    async def bulk_submit(self, dsn: str, count: int) -> float:
        """The same with the inputs at hand; the seconds that the submit itself took."""
        values = list(inputs(count))
        async with connected(dsn) as conn:
            began = time.perf_counter()
            await submit_many(conn, PIPELINE, values, owner=OWNER)
            return time.perf_counter() - began

    @asynccontextmanager
    async def submitter(self, dsn: str, owner: str = OWNER, *, in_block: bool = False) -> AsyncIterator[Submit]:
        """A function that submits item `seq` on the caller's one connection: as one statement that commits itself,
        or in a transaction block of the caller's."""
        async with connected(dsn) as conn:

            async def submit_one(seq: int) -> None:
                await submit(conn, PIPELINE, input_of(seq), owner=owner)

            async def submit_in_block(seq: int) -> None:
                async with conn.transaction():
                    await submit_one(seq)

            yield submit_in_block if in_block else submit_one

    @asynccontextmanager
    async def other_submitter(self, dsn: str) -> AsyncIterator[Submit]:
        """The same for another pipeline of the same owner."""
        async with connected(dsn) as conn:

            async def submit_one(seq: int) -> None:
                await submit(conn, OTHER_PIPELINE, input_of(seq), owner=OWNER)

            yield submit_one

    async def submit_sleep(self, conn: asyncpg.Connection, seq: int, seconds: float, owner: str) -> None:
        """Submit a task that takes this long."""
        await submit(conn, SLEEP_PIPELINE, {"seq": seq, "seconds": seconds}, owner=owner)

    async def load_keyed(self, dsn: str, count: int) -> None:
        """Submit one job of `count` items that have one key of a limit."""
        async with connected(dsn) as conn:
            await submit_many(conn, KEYED_PIPELINE, inputs(count), owner=OWNER)

    async def submit_keyed(self, conn: asyncpg.Connection, seq: int, owner: str) -> None:
        """Submit a task with the same key."""
        await submit(conn, KEYED_PIPELINE, input_of(seq), owner=owner)

    async def load_paused_queue(self, dsn: str, owners: int) -> None:
        """Pause the queue, and submit one task for each of so many owners."""
        async with connected(dsn) as conn:
            queue = await conn.fetchval("select queue from forebay.step where name = 'noop'")
            await conn.execute("select forebay.pause_queue($1)", queue)
            sql = f"select count(forebay.submit($1, {SQL_INPUT}, 'owner ' || s)) from generate_series(1, $2::int) s"
            await conn.fetchval(sql, PIPELINE.name, owners)

    @asynccontextmanager
    async def worker_here(self, dsn: str) -> AsyncIterator[None]:
        """A worker on the event loop of the caller."""
        worker = Worker(dsn, [PIPELINE])
        running = asyncio.create_task(worker.run())
        await worker.ready_or_failed(running)
        try:
            yield
        finally:
            worker.stop()
            await running

    async def park_paused(self, dsn: str, count: int) -> None:
        """Submit `count` items in a job that is paused."""
        async with connected(dsn) as conn:
            submitted = await submit_many(conn, PIPELINE, inputs(count), owner=OWNER)
            await conn.execute("select forebay.pause($1)", submitted.job_id)

    async def load_paused(self, dsn: str, count: int, size: int) -> list[int]:
        """Submit `count` items, numbered from 0, in paused jobs of `size`; the jobs."""
        jobs: list[int] = []
        values = inputs(count)
        async with connected(dsn) as conn:
            for _ in range(0, count, size):
                submitted = await submit_many(conn, PIPELINE, islice(values, size), owner=OWNER)
                await conn.execute("select forebay.pause($1)", submitted.job_id)
                jobs.append(submitted.job_id)
        return jobs

    async def resume(self, conn: asyncpg.Connection, job_id: int) -> None:
        await conn.execute("select forebay.resume($1)", job_id)

    async def park_future(self, dsn: str, count: int) -> None:
        """Submit `count` items that may start tomorrow."""
        async with connected(dsn) as conn:
            await submit_many(conn, PIPELINE, inputs(count), owner=OWNER, delay=timedelta(days=1))

    async def come_and_go(self, dsn: str, count: int) -> None:
        """Leave the dead rows that the processing of so many one-item jobs leaves in the hot tables."""
        add_runs, delete_runs, add_leases, delete_leases = COME_AND_GO
        async with connected(dsn) as conn:
            await conn.execute(add_runs, PIPELINE.name, OWNER, count)
            await conn.execute(delete_runs)
            await conn.execute(add_leases, count)
            await conn.execute(delete_leases)

    def worker_command(self) -> Sequence[str]:
        """One production worker process, all features on, with a step that does nothing."""
        return [sys.executable, "-m", "bench.noop_worker"]

    def worker_environment(self, dsn: str) -> dict[str, str]:
        return {"FOREBAY_DATABASE_URL": dsn}

    async def api_token(self, dsn: str, name: str = "caller", password: str | None = None) -> str:
        """A token of a new account, whose owner has no limits but those of the settings."""
        async with connected(dsn) as conn:
            account = await identity.add_account(
                conn, name, "user", await hash_password(password) if password else None
            )
            if account is None:
                raise BenchError("the account was there before")
            return await make_token(conn, account.id, "bench", ["read", "write"])

    def api_command(self) -> Sequence[str]:
        return [sys.executable, "-m", "forebay", "api", "--port"]

    def api_environment(self, dsn: str) -> dict[str, str]:
        unlimited = {"FOREBAY_SUBMITS_PER_MINUTE": "100000000", "FOREBAY_MAX_OPEN_JOBS": "100000000"}
        return {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "bench.noop"} | unlimited

    def web_environment(self, dsn: str, folder: Path) -> dict[str, str]:
        """The same with the packages whose pages are looked at."""
        both = {"FOREBAY_PIPELINES": "bench.noop,forebay.pipelines", "FOREBAY_DATA_DIR": str(folder)}
        return self.api_environment(dsn) | both

    async def pending(self, conn: asyncpg.Connection) -> int:
        """How many tasks are ready or leased: none of a paused job, none of the future."""
        return int(await conn.fetchval(PENDING))

    async def verify(self, conn: asyncpg.Connection, count: int, *, drained: bool = True) -> None:
        """Each of `count` items done once, with result and attempt; the counters of the jobs exact."""
        found = dict(await conn.fetchrow(RECORDS) or {})
        expected = dict.fromkeys(("items", "results", "attempts", "first_attempts", "counted"), count)
        expected |= dict.fromkeys(("repeated", "miscounted", "leases"), 0)
        if wrong := {name: found[name] for name, value in expected.items() if found[name] != value}:
            raise BenchError(f"{count} items were done, but the records say {wrong}")
        if drained and (open_jobs := await conn.fetchval(OPEN_JOBS)):
            raise BenchError(f"{open_jobs} jobs have all their items done and are not DONE")

    # Sheets.

    @asynccontextmanager
    async def intake(self, dsn: str, folder: Path) -> AsyncIterator[Ingest]:
        """A function that takes in a file, and tells the seconds from its being safe until all rows were committed."""
        settings = Settings(data_dir=folder)
        worker = Worker(dsn, [sheet_intake], settings=settings)
        running = asyncio.create_task(worker.run())
        await worker.ready_or_failed(running)
        try:
            async with connected(dsn) as conn:
                await register(conn, sheets.definition())

                async def ingest(path: Path, rows: int) -> float:
                    new = LocalFile(NewFile(path.name, path.stat().st_size), path)  # noqa: ASYNC240
                    added = await submit_file(FILES, conn, open_store(settings), OWNER, new, FileTerms())
                    return await _taken(conn, added.job_id, rows)

                yield ingest
        finally:
            worker.stop()
            await running

    async def load_sheet(self, conn: asyncpg.Connection, columns: Sequence[str], rows: str, owner: str = OWNER) -> int:
        """A sheet whose items are the rows of a query: number, input, result."""
        await register(conn, SHEETS)
        job = await conn.fetchval(
            "select job_id from forebay.add_sheet(forebay.owner_id($1), 'bench.csv', 1, '{}')", owner
        )
        await conn.execute("update forebay.sheet set columns = $2, kind = 'csv' where job_id = $1", job, list(columns))
        await conn.execute(
            f"""insert into forebay.item (job_id, n, owner_id, pipeline_id, status, input, result)
                select j.id, r.n, j.owner_id, j.pipeline_id, 'DONE', r.input, r.result
                from forebay.job j, ({rows}) r where j.id = $1""",
            job,
        )
        await conn.execute(
            "update forebay.job set total = (select max(n) from forebay.item where job_id = $1) where id = $1", job
        )
        return int(job)

    async def end_sheet(self, conn: asyncpg.Connection, job: int) -> None:
        """All its rows are done."""
        await conn.execute("update forebay.sheet set read_at = now() where job_id = $1", job)
        await conn.execute(
            """update forebay.job set state = 'DONE', done = total, sealed = true, started_at = now(),
                                      finished_at = now() where id = $1""",
            job,
        )

    async def submit_watched(self, conn: asyncpg.Connection, owner: str, jobs: int) -> list[int]:
        """So many jobs of a thousand items that nobody works on."""
        submitted = [await submit_many(conn, PIPELINE, inputs(1000), owner=owner) for _ in range(jobs)]
        return [each.job_id for each in submitted]

    async def count_one_done(self, conn: asyncpg.Connection, job: int) -> None:
        """Change a job as the end of an item does, so that an event tells of it."""
        sql = "update forebay.job set done = done + 1, updated_at = clock_timestamp() where id = $1"
        await conn.execute(sql, job)

    async def cells_of(self, conn: asyncpg.Connection, job: int, count: int) -> str:
        """The statement that makes the cells of its grid."""
        return str(await conn.fetchval("select forebay.grid_query($1, 'plain', 0, $2)", job, count))

    async def export_csv(
        self, conn: asyncpg.Connection, job: int, sink: Callable[[bytes], Coroutine[object, object, None]]
    ) -> int:
        """Write its grid; answers the rows."""
        async with grids.reading(conn, job, grids.GridSelection()) as grid:
            file = GridFile(grid, "csv")
            await file.write(sink, lambda _rows, _upto: None)
        return file.rows

    def write_workbook(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
        """Write rows as a workbook; answers its bytes."""
        file = XlsxFile(columns)
        return sum(len(file.write(batch)) for batch in batched(rows)) + len(file.close())


class SingleJobs(Forebay):
    """The same engine with one job for each item: what an application submits, and what the peers know as a job."""

    owners = 1

    async def load(self, dsn: str, count: int) -> None:
        async with connected(dsn) as conn:
            for start in range(0, count, LOAD_BATCH):
                upto = min(start + LOAD_BATCH, count) - 1
                await conn.fetch(SUBMIT_SINGLES, PIPELINE.name, OWNER, start, upto, self.owners)


class SingleJobsOfOwners(SingleJobs):
    """The same for many owners."""

    owners = OWNERS


def batched(rows: Iterable[Sequence[str]], size: int = 1000) -> Iterator[list[Sequence[str]]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


async def _taken(conn: asyncpg.Connection, job: int, rows: int) -> float:
    reading = await conn.fetchval("select intake_job_id from forebay.intake_file where job_id = $1", job)
    await wait(conn, reading, timeout=600)
    row = await conn.fetchrow(TAKEN, job)
    assert row is not None
    seconds, total, items = row
    if not total == items == rows:
        raise BenchError(f"{items} of {rows} rows were taken in; {total} were counted")
    return float(seconds)
