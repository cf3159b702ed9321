"""How articles and their tasks are read: a page by its index, whatever the owner and the others have besides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
import pytest_asyncio

from forebay.engine.db import registry
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.steps import articles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import NewDatabase

pytestmark = pytest.mark.asyncio(loop_scope="session")

MANY = 4000
PAGE = 50

_ADD = """
with made as (
    insert into forebay.article (owner_id, slug, title, excerpt, words, embedding)
    select forebay.owner_id($1), 'a' || n, 'Title ' || n, '', 1, case when n % 20 = 0 then 'stale' else 'fresh' end
    from generate_series(1, $2::int) n returning id, owner_id, title)
insert into forebay.article_version (article_id, version, owner_id, title, content)
select m.id, 1, m.owner_id, m.title, 'text' from made m
"""
_ALL_STALE = "update forebay.article set embedding = 'stale' where owner_id = forebay.owner_id('bob')"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def conn(new_database: NewDatabase) -> AsyncIterator[asyncpg.Connection[Any]]:
    """Two owners with thousands of articles; all of bob's have tasks, a few of ann's have none."""
    with new_database() as dsn:
        conn = await asyncpg.connect(dsn)
        await registry.register(conn, articles.definition())
        for owner in ("ann", "bob"):
            await conn.execute(_ADD, owner, MANY)
        await conn.execute("select forebay.put_article_document(id) from forebay.article where id % 4 = 0")
        await conn.execute(_ALL_STALE)
        made = await rows.reindex(conn, await conn.fetchval("select forebay.owner_id('bob')"), -10, "bob")
        assert made is not None
        for table in ("article", "article_version", "article_task", "item", "search_document"):
            await conn.execute(f"vacuum (analyze) forebay.{table}")
        yield conn
        await conn.close()


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", []) for node in _nodes(child))]


async def _scans(conn: asyncpg.Connection[Any], name: str, owner: str, *args: object) -> dict[str, tuple[str, int]]:
    """The index that a statement reads each table by, and how many rows of it; a plan for any values, as workers and
    the API keep them."""
    async with conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', forebay.owner_id($1)::text, true)", owner)
        await conn.execute("set local plan_cache_mode = force_generic_plan")
        found = json.loads(await conn.fetchval(f"explain (analyze, format json) {rows.load(name)}", *args))
    nodes = _nodes(found[0]["Plan"])
    return {
        node["Relation Name"]: (node.get("Index Name", node["Node Type"]), node["Actual Rows"] * node["Actual Loops"])
        for node in nodes
        if "Relation Name" in node
    }


async def _reads(conn: asyncpg.Connection[Any], owner: str, sql: str, *args: object) -> dict[str, tuple[int, int]]:
    """For tables that a routine reads: how often the whole of it, and how many entries of its indexes."""
    counted = """
        select c.relname, pg_stat_get_xact_numscans(c.oid) as whole,
               (select coalesce(sum(pg_stat_get_xact_tuples_returned(i.indexrelid)), 0)::int
                from pg_index i where i.indrelid = c.oid) as entries
        from pg_class c where c.oid = any('{forebay.article,forebay.search_document}'::regclass[])"""
    async with conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', forebay.owner_id($1)::text, true)", owner)
        before = {row["relname"]: (row["whole"], row["entries"]) for row in await conn.fetch(counted)}
        await conn.fetch(sql, *args)
        after = {row["relname"]: (row["whole"], row["entries"]) for row in await conn.fetch(counted)}
    return {name: (whole - before[name][0], read - before[name][1]) for name, (whole, read) in after.items()}


async def test_a_page_of_articles_reads_a_page(conn: asyncpg.Connection[Any]) -> None:
    whole, read = (await _reads(conn, "ann", rows.load("find_articles"), None, None, None, PAGE))["article"]
    assert (whole, read) == (0, PAGE)


async def test_articles_that_are_not_fresh_are_found_by_their_own_index(conn: asyncpg.Connection[Any]) -> None:
    whole, read = (await _reads(conn, "ann", rows.load("find_articles"), ["stale"], None, None, PAGE))["article"]
    assert whole == 0
    assert PAGE <= read <= PAGE * 2  # of 4,000, of which one in twenty is stale


async def test_the_articles_of_a_batch_are_read_by_their_ids(conn: asyncpg.Connection[Any]) -> None:
    ids = [row["id"] for row in await conn.fetch("select id from forebay.article where id % 4 = 0 limit 32")]
    reads = await _reads(conn, "ann", rows.load("prepare_articles"), ids)
    assert reads["article"][0] == reads["search_document"][0] == 0
    assert reads["article"][1] <= 2 * len(ids)
    assert reads["search_document"][1] <= 2 * len(ids)


async def test_a_page_of_tasks_reads_a_page(conn: asyncpg.Connection[Any]) -> None:
    scans = await _scans(conn, "list_tasks", "bob", 2**62, 2**31 - 1, None, None, PAGE)
    assert scans["article_task"][0] in ("article_task_newest", "article_task_pkey")
    assert scans["article_task"][1] <= PAGE + 1
    assert scans["item"][1] <= PAGE + 1


async def test_the_log_of_an_article_reads_its_tasks(conn: asyncpg.Connection[Any]) -> None:
    article = await conn.fetchval("select article_id from forebay.article_task order by article_id desc limit 1")
    assert (await _scans(conn, "list_log", "bob", article, PAGE))["article_task"] == ("article_task_of", 1)


async def test_versions_and_exports_are_read_in_order(conn: asyncpg.Connection[Any]) -> None:
    article = await conn.fetchval("select min(id) from forebay.article")
    owner = await conn.fetchval("select forebay.owner_id('ann')")
    versions = await _scans(conn, "list_versions", "ann", article, rows.NEWEST, PAGE)
    assert versions["article_version"] == ("article_version_pkey", 1)
    exported = await _scans(conn, "export_articles", "ann", owner, 0, PAGE)
    assert exported["article"] == ("article_newest", PAGE)
