"""What the crash tests share: worker processes to kill, a way to wait, a proxy that loses packets, and the proof."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from forebay.db.pool import UNAVAILABLE, connect
from forebay.engine.db import registry
from forebay.engine.work.worker import Worker
from forebay.errors import DatabaseUnavailable
from tests.cli._forks import Forked

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

    from forebay import Pipeline
    from forebay.settings import Settings
    from tests.crash._steps import Order

# What a connection raises when the database goes away under it; the tests do not rely on the engine's own list.
GONE = (*UNAVAILABLE, asyncpg.InternalClientError, asyncpg.PostgresConnectionError, DatabaseUnavailable)

ROOT = Path(__file__).parents[2]

EFFECTS = "create table effects (job_id bigint, n int, step text, token bigint)"

# Short leases and pauses, so that what a dead worker held comes back while the test looks on.
QUICK = {"lease_floor_s": "1", "sweep_s": "0.2", "poll_s": "0.2", "grace_s": "10", "log_json": "1"}


async def eventually(what: str, ask: Callable[[], Awaitable[Any]], seconds: float = 120) -> Any:
    """Asks until the answer is true, and gives it back; a lost connection counts as no answer yet."""
    end, answer = time.monotonic() + seconds, None
    while time.monotonic() < end:
        with suppress(*GONE):
            answer = await ask()
        if answer:
            return answer
        await asyncio.sleep(0.05)
    raise AssertionError(f"not in {seconds:g} s: {what}; the last answer was {answer!r}")


_BACKENDS = """select pid, state, wait_event_type, wait_event, now() - xact_start as open_for,
    now() - state_change as quiet_for, pg_blocking_pids(pid) as waits_for, left(query, 200) as query
from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"""


class Watch:
    """Questions to the database that outlive its crashes."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._conn: asyncpg.Connection[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._conn is not None:
            self._conn.terminate()

    async def conn(self) -> asyncpg.Connection[asyncpg.Record]:
        if self._conn is None or self._conn.is_closed():
            self._conn = await connect(self.dsn, name="crash test")
        return self._conn

    async def fetch(self, sql: str, *args: object) -> list[asyncpg.Record]:
        return await (await self.conn()).fetch(sql, *args)

    async def one(self, sql: str, *args: object) -> Any:
        return await (await self.conn()).fetchval(sql, *args)

    async def until(self, what: str, sql: str, *args: object, seconds: float = 120) -> Any:
        """Waits until a query says something true."""
        return await eventually(what, lambda: self.one(sql, *args), seconds)

    async def done(self, jobs: Iterable[int], *, seconds: float = 240) -> None:
        """Waits until these jobs have ended."""
        ids = list(jobs)
        try:
            await self.until(
                f"{len(ids)} jobs ended",
                "select count(*) = $2 from forebay.job where id = any($1) and finished_at is not null",
                ids,
                len(ids),
                seconds=seconds,
            )
        except AssertionError:
            for backend in await self.fetch(_BACKENDS):
                print(dict(backend))  # noqa: T201 - what holds what, for whoever reads the failure
            raise


class WorkerProcess:
    """One worker process and what it said; forked, as none of these tests is about how an interpreter starts."""

    def __init__(self, dsn: str, log: Path, settings: dict[str, str]) -> None:
        given = {"pipelines": "tests.crash._steps", "database_url": dsn} | QUICK | settings
        env = {f"FOREBAY_{name.upper()}": value for name, value in given.items()}
        self._log = log
        self.name = log.stem
        with log.open("wb") as out, Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), out.fileno(), out.fileno())
            self.process = Forked(("worker",), ROOT, {**os.environ, **env}, files)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def lives(self) -> bool:
        return not self.process.has_ended()

    @property
    def said(self) -> str:
        return self._log.read_text()

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log lines of one kind."""
        found: list[dict[str, Any]] = []
        for line in self.said.splitlines():
            with suppress(json.JSONDecodeError):
                found.append(json.loads(line))
        return [line for line in found if line.get("event") == name]

    async def started(self) -> Self:
        async def begun() -> bool:
            assert self.lives, f"the worker died: {self.said[-4000:]}"
            return bool(self.events("worker_started"))

        await eventually("the worker began", begun, 60)
        return self

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it as the kernel ends a process when memory is out."""
        self.process.kill()
        self.process.wait()

    async def stop(self) -> int:
        """Ask it to stop; answers its exit code."""
        self.send(signal.SIGTERM)
        return await self.ended()

    async def ended(self, seconds: float = 60) -> int:
        async def code() -> tuple[int] | None:
            return (self.process.wait(),) if self.process.has_ended() else None

        (answer,) = await eventually("the worker ended", code, seconds)
        return int(answer)


class Workers:
    """The worker processes of one test; none outlives it."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.folder = folder
        self.all: list[WorkerProcess] = []

    def start(self, *, dsn: str | None = None, **settings: str) -> WorkerProcess:
        log = self.folder / f"worker-{len(self.all)}.log"
        worker = WorkerProcess(dsn or self.dsn, log, settings)
        self.all.append(worker)
        return worker

    def end(self) -> None:
        for worker in self.all:
            if worker.lives:
                worker.kill()
            print(f"-- {worker.name} said:\n{worker.said[-6000:]}")  # noqa: T201 - pytest shows it when the test fails

    async def stop_all(self) -> None:
        """All that run stop in good order, and none of them has said anything that it should not."""
        running = [await worker.started() for worker in self.all if worker.lives]
        for worker in running:
            worker.send(signal.SIGTERM)
        codes = [await worker.ended() for worker in running]
        troubles = [worker.said[-4000:] for worker in self.all if "Traceback" in worker.said]
        assert (codes, troubles) == ([0] * len(running), [])


@asynccontextmanager
async def working(dsn: str, settings: Settings) -> AsyncGenerator[Worker]:
    """A worker in this process, for what needs a look inside."""
    from tests.crash._steps import letters, orders, slow

    worker = Worker(dsn, [orders, letters, slow], settings=settings)
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    body = asyncio.current_task()
    assert body is not None
    running.add_done_callback(lambda ended: body.cancel() if ended.exception() else None)  # what killed it is raised
    try:
        yield worker
    finally:
        worker.stop()
        await running


class Proxy:
    """A TCP proxy in front of PostgreSQL that can fail as networks do.

    `lose` makes the connections of now half-open: what either side sends is taken and goes nowhere, and nobody is told;
    new connections work, unless `all_new`. `cut` resets them. `hold_copies` lets a COPY stand in the middle.
    """

    def __init__(self, dsn: str) -> None:
        self._target = urlsplit(dsn)
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lose_new = self._refuse_new = False
        self._trap: re.Pattern[bytes] | None = None
        self._query: bytes | None = None
        self._arrives = False
        self._held_after: int | None = None
        self.held = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def dsn(self) -> str:
        user, _, _ = self._target.netloc.rpartition("@")
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(self._target._replace(netloc=f"{user}@127.0.0.1:{port}"))

    @property
    def open_links(self) -> int:
        return sum(not link.lost for link in self._links)

    def lose(self, *, all_new: bool = False) -> int:
        """Makes every connection half-open; answers how many those were."""
        found = [link for link in self._links if not link.lost]
        for link in found:
            link.lost = True
        self._lose_new = all_new
        return len(found)

    def lose_at(self, text: str, *, arrives: bool = False) -> None:
        """The connection on which a statement with this text is next executed becomes half-open: before the server
        hears of it, or before the client hears the answer."""
        self._trap = re.compile(rb"(__asyncpg_stmt_\w+?__)\0[^\0]*" + re.escape(text.encode()))
        self._arrives = arrives

    def lose_at_query(self, text: str) -> None:
        """The connection on which a query with this text is next sent, as BEGIN is, becomes half-open."""
        self._query = text.encode()

    def hold_copies(self, after: int) -> None:
        """Of the rows that a COPY sends, so many bytes arrive; then `held` is set, and the rest never comes."""
        self._held_after = after

    def cut(self, *, refuse_new: bool = False) -> None:
        for link in list(self._links):
            link.reset()
        self._refuse_new = refuse_new

    def lead_to(self, dsn: str) -> None:
        """New connections go to another server."""
        self._target = urlsplit(dsn)

    def heal(self) -> None:
        """New connections work again; what is lost stays lost."""
        self._lose_new = self._refuse_new = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._link(reader, writer)
        except (OSError, asyncio.CancelledError):  # asyncio logs what is cancelled here
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuse_new:
            writer.transport.abort()
            return
        up_reader, up_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        link = _Link(writer, up_writer)
        link.lost = self._lose_new
        self._links.add(link)
        try:
            # A link that is lost ends only when both sides have given it up.
            await asyncio.gather(
                self._pump(link, reader, up_writer, asks=True), self._pump(link, up_reader, writer, asks=False)
            )
        finally:
            self._links.discard(link)
            link.reset()

    def _springs(self, link: _Link, data: bytes) -> bool:
        """Whether these bytes are the first to be lost. A statement is prepared under a name, then executed by it."""
        if self._query is not None and data.startswith(b"Q") and self._query in data:
            self._query, link.lost = None, True
            return True
        if self._trap is None:
            return False
        if link.trap is not None and link.trap in data:
            self._trap, link.lost = None, True
            return not self._arrives
        if found := self._trap.search(data):
            link.trap = b"\0" + found[1] + b"\0"
        return False

    async def _hold(self, link: _Link, size: int) -> None:
        assert link.left is not None
        link.left -= size
        if link.left < 0:
            self.held.set()
            await link.ended.wait()

    async def _pump(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, asks: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if asks and self._held_after is not None and data.startswith(b"Q") and b"COPY " in data:
                    link.left = self._held_after
                if not asks and link.left is not None:
                    await self._hold(link, len(data))
                if not link.lost and not (asks and self._springs(link, data)):
                    writer.write(data)
                    await writer.drain()
        if not link.lost:
            link.reset()


class _Link:
    """The two connections of one client."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._client = client
        self._server = server
        self.trap: bytes | None = None
        self.left: int | None = None
        self.lost = False
        self.ended = asyncio.Event()

    def reset(self) -> None:
        self.ended.set()
        self._client.transport.abort()
        self._server.transport.abort()


# -- the proof ------------------------------------------------------------------------------------------------------


async def assert_done_once(watch: Watch, jobs: dict[int, int], *steps: str, effect: str | None = None) -> None:
    """Every item of these jobs (id: items) is done, by exactly one attempt a step, and nothing is left over."""
    ids, total = list(jobs), sum(jobs.values())
    stored = await watch.fetch("select id, state, total, done, finished_at from forebay.job where id = any($1)", ids)
    assert {j["id"]: (j["state"], j["total"], j["done"]) for j in stored} == {
        job: ("DONE", size, size) for job, size in jobs.items()
    }
    items = await watch.fetch("select status, count(*) from forebay.item where job_id = any($1) group by 1", ids)
    assert [tuple(row) for row in items] == [("DONE", total)]
    await _assert_attempts(watch, ids, total, steps)
    for table in ("ready", "scheduled", "lease"):
        assert await watch.one(f"select count(*) from forebay.{table} where job_id = any($1)", ids) == 0, table
    if effect is not None:
        await assert_effects(watch, ids, total, effect)


async def _assert_attempts(watch: Watch, ids: list[int], total: int, steps: tuple[str, ...]) -> None:
    """One DONE a task, and besides only what a lost or stopped worker leaves behind."""
    twice = await watch.fetch(
        """select a.n, s.name, a.outcome, a.token, a.worker_id, a.started_at::text, a.ended_at::text
           from forebay.attempt a join forebay.step s on s.id = a.step_id
           where (a.job_id, a.n) in (select d.job_id, d.n from forebay.attempt d
                                     where d.job_id = any($1) and d.outcome = 'DONE'
                                     group by d.job_id, d.n, d.step_id having count(*) > 1)
           order by a.job_id, a.n, a.ended_at limit 30""",
        ids,
    )
    assert [tuple(row) for row in twice] == []
    found = await watch.fetch(
        """select s.name, count(*) filter (where a.outcome = 'DONE') as done,
                  count(distinct (a.job_id, a.n)) filter (where a.outcome = 'DONE') as tasks,
                  array_agg(distinct a.outcome::text)
                      filter (where a.outcome not in ('DONE', 'EXPIRED', 'RELEASED')) as odd
           from forebay.attempt a join forebay.step s on s.id = a.step_id where a.job_id = any($1) group by s.name""",
        ids,
    )
    assert {row["name"]: tuple(row)[1:] for row in found} == dict.fromkeys(steps, (total, total, None))


async def assert_effects(watch: Watch, ids: list[int], total: int, step: str) -> None:
    """One row a task, written by the very attempt that settled it."""
    found = await watch.fetch(
        """select count(*) as rows, count(distinct (e.job_id, e.n)) as tasks, count(a.token) as settled_with_it
           from effects e left join (select a.* from forebay.attempt a join forebay.step s on s.id = a.step_id
                                     where a.outcome = 'DONE' and s.name = $2) a
               on a.job_id = e.job_id and a.n = e.n and a.token = e.token
           where e.job_id = any($1)""",
        ids,
        step,
    )
    assert tuple(found[0]) == (total, total, total)


# -- work -----------------------------------------------------------------------------------------------------------


async def submit(watch: Watch, pipeline: Pipeline[Order], size: int, *, gate: Path | None = None) -> int:
    """Submits a job of this many items; answers its id."""
    from tests.crash._steps import Order

    conn = await watch.conn()
    await registry.register(conn, pipeline.definition())
    orders = [Order(number=number, gate=str(gate or "")) for number in range(size)]
    return (await pipeline.submit_many(conn, orders)).job_id
