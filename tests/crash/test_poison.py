"""One task whose rows nobody can write: it fails alone, and the tasks settled together with it are done."""

# demands: S4-99

from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from forebay import Context, Done, Pipeline, Rows, Statement
from forebay.testing import testbed
from forebay.types import Write
from tests.crash._rig import EFFECTS


class Bad(BaseModel):
    n: int
    kind: str


_BAD: dict[str, Write] = {
    "type": Rows("effects", [{"n": "seven"}]),  # refused by the driver, before the server sees it
    "count": Statement("insert into effects (n) values ($1)", (1, 2)),
    "column": Rows("effects", [{"nowhere": 1}]),
    "range": Rows("effects", [{"n": 2**40}]),
    "syntax": Statement("insert"),
}


@pytest.mark.parametrize("kind", _BAD)
async def test_a_write_that_is_refused_fails_alone(dsn: str, kind: str) -> None:
    mixed: Pipeline[Bad] = Pipeline("mixed", Bad)

    @mixed.step()
    async def write(ctx: Context, value: Bad) -> Done[int]:
        good = Rows("effects", [{"job_id": ctx.job_id, "n": ctx.n, "step": ctx.step, "token": ctx.token}])
        return Done(value.n, writes=[_BAD[value.kind] if value.n == 7 else good])

    async with testbed(dsn, [mixed], migrated=True) as bed:
        await bed.pool.execute(EFFECTS)
        job = await mixed.submit_many(bed.pool, [Bad(n=n, kind=kind) for n in range(1, 21)])
        async with asyncio.timeout(60):  # a write that is repeated for ever holds up all that come after it
            await bed.run()
        assert {item.n: item.status for item in await bed.items(job)} == {
            n: "ERROR" if n == 7 else "DONE" for n in range(1, 21)
        }
        assert await bed.pool.fetchval("select count(distinct n) from effects") == 19


async def test_a_write_that_kills_its_connection_fails_alone(dsn: str) -> None:
    """The server is there again each time; without an end to it, nothing of the batch would ever be settled."""
    mixed: Pipeline[Bad] = Pipeline("mixed", Bad)

    @mixed.step()
    async def write(ctx: Context, value: Bad) -> Done[int]:
        good = Rows("effects", [{"job_id": ctx.job_id, "n": ctx.n, "step": ctx.step, "token": ctx.token}])
        deadly = Statement("select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)")
        return Done(value.n, writes=[deadly if value.n == 7 else good])

    async with testbed(dsn, [mixed], migrated=True) as bed:
        await bed.pool.execute(EFFECTS)
        job = await mixed.submit_many(bed.pool, [Bad(n=n, kind="") for n in range(1, 21)])
        async with asyncio.timeout(60):
            await bed.run()
        found = await bed.items(job)
        assert {item.n: item.status for item in found} == {n: "ERROR" if n == 7 else "DONE" for n in range(1, 21)}
        assert found[6].error is not None
        assert found[6].error["reason"] == "the connection was lost 3 times while its rows were written"
        assert await bed.pool.fetchval("select count(distinct n) from effects") == 19
