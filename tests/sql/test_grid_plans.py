"""How grids are read: in the order of the key, without a sort, and a few rows of many by their own index."""

# demands: S5-135

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from forebay.pipelines.sheets.db.sql import load
from tests.pipelines._sheets import Line, add_sheet


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    yield conn
    await conn.close()


async def _filled(conn: asyncpg.Connection[Any]) -> int:
    """A large job, of which one row in a thousand is wrong, beside another."""
    lines = [Line({"a": str(n)}, {"title": "x"}, "ERROR" if n % 1000 == 0 else "DONE") for n in range(10_000)]
    await add_sheet(conn, ["a"], lines)
    job = await add_sheet(conn, ["a"], lines)
    await conn.execute("vacuum (analyze) forebay.item")
    return job


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", []) for node in _nodes(child))]


async def _plan(conn: asyncpg.Connection[Any], job: int, *args: object) -> list[dict[str, Any]]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        await conn.execute(load("begin_export"))
        sql = await conn.fetchval(load("grid_query"), job, *args)
        found = json.loads(await conn.fetchval(f"explain (analyze, format json) {sql}"))
    return _nodes(found[0]["Plan"])


@pytest.mark.parametrize("shape", ["plain", "typed", "harmless", "object"])
@pytest.mark.parametrize("shown", [[], ["read", "warnings"]], ids=["usual", "more"])
async def test_rows_are_read_in_order(conn: asyncpg.Connection[Any], shape: str, shown: list[str]) -> None:
    nodes = await _plan(conn, await _filled(conn), shape, 2000, 9000, None, shown)
    kinds = {node["Node Type"] for node in nodes}
    assert not [kind for kind in kinds if "Sort" in kind or "Bitmap" in kind or "Gather" in kind], kinds
    (scan,) = [node for node in nodes if node.get("Relation Name") == "item"]
    assert (scan["Index Name"], scan["Actual Rows"]) == ("item_pkey", 7000)


async def test_a_page_of_a_search_reads_its_rows_by_their_numbers(conn: asyncpg.Connection[Any]) -> None:
    job = await _filled(conn)
    rows = "select count(*) from forebay.search_grid($1, array(select generate_series(5001, 6000)), '{}', '99', 100)"
    read = "select pg_stat_get_xact_tuples_fetched('forebay.item_pkey'::regclass)"
    async with conn.transaction():
        assert await conn.fetchval(rows, job) == 19
        assert await conn.fetchval(read) == 1000
        assert await conn.fetchval("select pg_stat_get_xact_numscans('forebay.item'::regclass)") == 0


async def test_a_few_errors_are_found_by_their_own_index(conn: asyncpg.Connection[Any]) -> None:
    nodes = await _plan(conn, await _filled(conn), "plain", 0, 10_000, ["ERROR", "NOT_FOUND"], [])
    (scan,) = [node for node in nodes if node.get("Relation Name") == "item"]
    assert (scan["Index Name"], scan["Actual Rows"]) == ("item_verdict", 10)
