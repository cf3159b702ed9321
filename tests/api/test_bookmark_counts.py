"""How often tags and categories are used: exact, whatever happens to bookmarks, and read from narrow indexes only."""

from __future__ import annotations

import json
from typing import Any

from forebay.db.pool import Connection, connect
from forebay.pipelines.bookmarks.db import load
from tests.api._service import Service
from tests.api.test_bookmarks import added, registered

__all__ = ["registered"]  # the fixture

_MANY = """insert into forebay.bookmark (owner_id, url, page_hash, tags, category_id, archived_at, description)
select $1, 'https://example.org/' || n, sha256(n::text::bytea), array['tag ' || n % 50, 'all'], $2,
       case when n % 10 = 0 then now() end, repeat('words ', 200)
from generate_series(1, 20000) n"""
_TRUTH = """select t.tag, count(*) as bookmarks from forebay.bookmark b cross join lateral unnest(b.tags) t(tag)
where b.owner_id = $1 and b.archived_at is null group by t.tag order by count(*) desc, t.tag"""


async def used(client: Any) -> dict[str, int]:
    tags = (await client.get("/api/bookmarks/tags")).json()["tags"]
    return {use["tag"]: use["bookmarks"] for use in tags}


async def test_tags_are_counted_whatever_happens(service: Service) -> None:
    async with service.client("ann") as client, service.client("bob") as bob:
        one = await added(client, "https://example.org/1", tags=["a", "b"])
        two = await added(client, "https://example.org/2", tags=["b"])
        await added(bob, "https://example.org/1", tags=["b", "c"])
        assert await used(client) == {"b": 2, "a": 1}
        await client.patch(f"/api/bookmarks/{one['id']}", json={"tags": ["b", "d"]})
        assert await used(client) == {"b": 2, "d": 1}
        await client.post(f"/api/bookmarks/{one['id']}/archive")
        assert await used(client) == {"b": 1}
        await client.patch(f"/api/bookmarks/{one['id']}", json={"tags": ["e"]})
        assert await used(client) == {"b": 1}
        await client.post(f"/api/bookmarks/{one['id']}/unarchive")
        assert await used(client) == {"b": 1, "e": 1}
        await added(client, "https://example.org/2", tags=["e"])  # again, with one more
        assert await used(client) == {"e": 2, "b": 1}
        await client.delete(f"/api/bookmarks/{two['id']}")
        assert await used(client) == {"e": 1}
        assert await used(bob) == {"b": 1, "c": 1}
    assert await service.admin.fetchval("select count(*) from forebay.bookmark_tag") == 3


async def test_counts_are_read_from_indexes_alone(dsn: str) -> None:
    admin = await connect(dsn, name="test")
    try:
        await _check_plans(admin)
    finally:
        await admin.close()


async def _check_plans(admin: Connection) -> None:
    await admin.execute("set synchronous_commit = on")  # else vacuum cannot be certain yet that all see the rows
    ann = await admin.fetchval("select forebay.owner_id('ann')")
    rivers = await admin.fetchval(
        "insert into forebay.category (owner_id, name) values ($1, 'Rivers') returning id", ann
    )
    await admin.execute(_MANY, ann, rivers)
    await admin.execute("vacuum (analyze) forebay.bookmark")
    await admin.execute("vacuum (analyze) forebay.bookmark_tag")
    truth = [tuple(row) for row in await admin.fetch(_TRUTH, ann)]
    size = await admin.fetchval("select pg_table_size('forebay.bookmark') / 8192")
    async with admin.transaction():
        await admin.execute("select forebay.enter('forebay_api', $1, null)", ann)
        assert [tuple(row) for row in await admin.fetch(load("list_tags"), ann, 1000)] == truth
        (category,) = await admin.fetch(load("list_categories"), ann)
        assert category["bookmarks"] == 18_000
        for query, values in (("list_tags", (ann, 1000)), ("list_categories", (ann,))):
            text = await admin.fetchval(f"explain (analyze, buffers, format json) {load(query)}", *values)
            plan = json.loads(text)[0]["Plan"]
            assert _scans(plan) <= {("Index Only Scan", "bookmark"), ("Index Only Scan", "bookmark_tag")} | _SMALL, plan
            assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < size / 10, plan


_SMALL = {(kind, "category") for kind in ("Seq Scan", "Index Scan", "Bitmap Heap Scan")}


def _scans(node: dict[str, Any]) -> set[tuple[str, str]]:
    own = {(node["Node Type"], node["Relation Name"])} if "Relation Name" in node else set()
    return own.union(*(_scans(child) for child in node.get("Plans", [])))
