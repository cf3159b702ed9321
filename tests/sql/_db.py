"""One connection to a new database, with the engine's functions as short calls and a controlled clock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


def step(name: str, *after: str, **options: Any) -> dict[str, Any]:
    """A step as `register` takes it."""
    return {
        "name": name,
        "after": after,
        "optional": False,
        "after_all": False,
        "queue": name,
        "max_attempts": 3,
        "max_expiries": 2,
    } | options


class Db:
    """The engine in SQL, as one worker and one operator see it."""

    def __init__(self, conn: asyncpg.Connection[asyncpg.Record], dsn: str) -> None:
        self.conn = conn
        self.dsn = dsn
        self.now = START
        self.fetch = conn.fetch
        self.execute = conn.execute

    def after(self, **delta: float) -> datetime:
        """Advance the clock."""
        self.now += timedelta(**delta)
        return self.now

    async def one(self, sql: str, *args: object) -> Any:
        return await self.conn.fetchval(sql, *args)

    async def row(self, sql: str, *args: object) -> dict[str, Any]:
        found = await self.conn.fetchrow(sql, *args)
        assert found is not None
        return dict(found)

    async def register(self, *steps: dict[str, Any], name: str = "p") -> None:
        await self.execute("select forebay.register($1)", json.dumps({"name": name, "steps": steps}))

    async def submit(self, items: int = 1, **options: Any) -> int:
        given = {"pipeline": "p", "owner": "ann", "now": self.now} | options
        names = ", ".join(f"{name} => ${i}" for i, name in enumerate(given, 2))
        return int(
            await self.one(
                f"select job_id from forebay.submit_many(inputs => array_fill('{{}}'::jsonb, array[$1::int]), {names})",
                items,
                *given.values(),
            )
        )

    async def step_id(self, name: str) -> int:
        return int(await self.one("select id from forebay.step where name = $1 order by active desc limit 1", name))

    async def claim(
        self, name: str, quota: int = 10_000, *, worker: int = 1, lease_s: float = 60, lane: int | None = None
    ) -> list[dict[str, Any]]:
        """Claim from all lanes of a step, or from one."""
        pairs = await self.fetch(
            """select distinct step_id, lane_id from forebay.ready
               where step_id = $1 and ($2::bigint is null or lane_id = $2)""",
            await self.step_id(name),
            lane,
        )
        size = len(pairs)
        found = await self.fetch(
            "select * from forebay.claim($1, $2, $3, $4, $5, $6, '{}', $7, $8)",
            worker,
            [p["step_id"] for p in pairs],
            [p["lane_id"] for p in pairs],
            [0] * size,
            [quota] * size,
            [1000] * size,
            lease_s,
            self.now,
        )
        return [dict(row) for row in found]

    async def settle(
        self,
        leases: Sequence[dict[str, Any]],
        outcome: str = "DONE",
        *,
        ns: Sequence[int] | None = None,
        again_at: datetime | None = None,
        spent: bool = True,
        ends_item: bool = False,
        error: str | None = None,
    ) -> dict[str, Any]:
        """Report the same outcome for all tasks of these leases, or for some."""
        tasks = [(e["token"], n) for e in leases for n in e["ns"] or () if ns is None or n in ns]
        size = len(tasks)
        return await self.row(
            "select * from forebay.settle(1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            [token for token, _ in tasks],
            [n for _, n in tasks],
            [outcome] * size,
            [],
            [self.now.timestamp()] * size,
            [again_at] * size,
            [spent] * size,
            [ends_item] * size,
            [error] * size,
            [error] * size,
            self.now,
        )

    async def run(self, name: str, outcome: str = "DONE", **report: Any) -> None:
        """Claim and end all ready tasks of a step."""
        await self.settle(await self.claim(name), outcome, **report)

    async def job(self, job_id: int) -> dict[str, Any]:
        return await self.row("select * from forebay.job where id = $1", job_id)

    async def counters(self, job_id: int) -> tuple[int, int, int, int]:
        """Done, skipped, not found, error of the job, after a comparison with its items."""
        job = await self.job(job_id)
        said = tuple(job[name] for name in ("done", "skipped", "not_found", "error"))
        found = await self.row(
            """select count(*) filter (where status = 'DONE') as done,
                      count(*) filter (where status = 'SKIPPED') as skipped,
                      count(*) filter (where status = 'NOT_FOUND') as not_found,
                      count(*) filter (where status = 'ERROR') as error
               from forebay.item where job_id = $1 and n > 0""",
            job_id,
        )
        assert said == tuple(found.values())
        return said

    async def item(self, job_id: int, n: int = 1) -> dict[str, Any]:
        found = await self.row("select * from forebay.item where job_id = $1 and n = $2", job_id, n)
        return found | {"error": json.loads(found["error"] or "null"), "result": json.loads(found["result"] or "null")}

    async def runs(self, table: str = "ready") -> list[tuple[str, int, int, int]]:
        """The runs in a hot table: step, first, last, attempt."""
        found = await self.fetch(
            f"""select s.name, r.first_n, r.last_n, r.attempt
                from forebay.{table} r join forebay.step s on s.id = r.step_id
                order by s.bit, r.first_n, r.attempt"""
        )
        return [tuple(row) for row in found]

    async def audit(self) -> list[tuple[str, str]]:
        found = await self.fetch("select actor, action from forebay.audit order by id")
        return [(row["actor"], row["action"]) for row in found]
