"""What the same PostgreSQL does with no engine on it; the denominators of most ratios.

    W0a  COPY of the rows into a table with one index
    W0d  claim 500 with SKIP LOCKED, complete the 500 by array, no handler
    W0e  one INSERT and its commit on one connection, alone or between BEGIN and COMMIT
    W0f  INSERT + NOTIFY until a listener of this process hears it

The letters are those of the peer benchmark that the bars were taken from.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import asyncpg

from bench.workload import SQL_INPUT, json_inputs

CLAIM_SIZE = 500

CREATE = """
drop table if exists limit_row;
create table limit_row (
    id bigint primary key,
    state smallint not null default 0,
    attempt smallint not null default 0,
    run_at timestamptz not null default now(),
    payload jsonb not null,
    done_at timestamptz
);
"""
CREATE_READY = "create index limit_row_ready on limit_row (id) where state = 0"
FILL = f"insert into limit_row (id, payload) select s, {SQL_INPUT} from generate_series(0, $1::int - 1) s"
CLAIM = """
update limit_row set state = 1, attempt = attempt + 1
where id = any(array(
    select id from limit_row where state = 0 order by id limit $1 for update skip locked))
returning id, payload
"""
COMPLETE = "update limit_row set state = 2, done_at = now() where state = 1 and id = any($1::bigint[])"
INSERT = "insert into limit_row (id, payload) values ($1, $2)"
INSERT_AND_NOTIFY = f"with row as ({INSERT}) select pg_notify('limit', '')"


class LimitError(Exception):
    """A limit did not do the work that it was timed for."""


async def copy_rows(dsn: str, count: int) -> float:
    """W0a, rows a second."""
    rows = list(enumerate(json_inputs(count)))
    async with _Table(dsn) as conn:
        began = time.perf_counter()
        await conn.copy_records_to_table("limit_row", records=rows, columns=["id", "payload"])
        return count / (time.perf_counter() - began)


async def claim_and_complete(dsn: str, count: int) -> float:
    """W0d, tasks a second."""
    async with _Table(dsn, ready=True, rows=count) as conn:
        claim, complete = await conn.prepare(CLAIM), await conn.prepare(COMPLETE)
        seen, began = 0, time.perf_counter()
        while rows := await claim.fetch(CLAIM_SIZE):
            await complete.fetch([row[0] for row in rows])
            seen += len(rows)
        rate = count / (time.perf_counter() - began)
        left = await conn.fetchval("select count(*) from limit_row where state < 2")
        if seen != count or left:
            raise LimitError(f"W0d saw {seen} of {count} rows and left {left}")
        return rate


async def insert_singly(dsn: str, count: int) -> float:
    """W0e with the implicit transaction of one statement, inserts a second."""
    async with _Table(dsn, ready=True) as conn:
        insert, row = await conn.prepare(INSERT), next(json_inputs(1))

        async def one(seq: int) -> None:
            await insert.fetch(seq, row)

        return await _rate_of(one, count)


async def insert_in_transaction(dsn: str, count: int) -> float:
    """W0e between BEGIN and COMMIT, as a caller's own transaction is, inserts a second."""
    async with _Table(dsn, ready=True) as conn:
        insert, row = await conn.prepare(INSERT), next(json_inputs(1))

        async def one(seq: int) -> None:
            async with conn.transaction():
                await insert.fetch(seq, row)

        return await _rate_of(one, count)


async def notify_round_trip(dsn: str, samples: int, interval: float) -> list[float]:
    """W0f, milliseconds of each sample."""
    async with _Table(dsn, ready=True) as conn:
        heard: asyncio.Queue[float] = asyncio.Queue()
        listener = await asyncpg.connect(dsn)
        await listener.add_listener("limit", lambda *_: heard.put_nowait(time.perf_counter()))
        insert, row = await conn.prepare(INSERT_AND_NOTIFY), next(json_inputs(1))
        waits = []
        for seq in range(samples):
            began = time.perf_counter()
            await insert.fetch(seq, row)
            waits.append((await heard.get() - began) * 1e3)
            await asyncio.sleep(interval)
        await listener.close()
        return waits


async def _rate_of(one: Callable[[int], Awaitable[None]], count: int) -> float:
    began = time.perf_counter()
    for seq in range(count):
        await one(seq)
    return count / (time.perf_counter() - began)


class _Table:
    """A connection with a fresh `limit_row`, filled and vacuumed when rows are asked for."""

    def __init__(self, dsn: str, *, ready: bool = False, rows: int = 0) -> None:
        self._dsn, self._ready, self._rows = dsn, ready, rows

    async def __aenter__(self) -> asyncpg.Connection:
        self._conn = conn = await asyncpg.connect(self._dsn)
        await conn.execute(CREATE)
        if self._ready:
            await conn.execute(CREATE_READY)
        if self._rows:
            await conn.execute(FILL, self._rows)
            await conn.execute("vacuum analyze limit_row")
        await conn.execute("checkpoint")
        return conn

    async def __aexit__(self, *_: object) -> None:
        await self._conn.close()
