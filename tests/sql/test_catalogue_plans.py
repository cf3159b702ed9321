"""What looking things up in a catalogue costs: index scans only, whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from forebay.pipelines.sheets.db.sql import load
from tests.sql._db import Db

# 200,000 products of 400 brands in two catalogues, whose words are shared by many, as words of products are.
_FILL = """
insert into forebay.owner (name) values ('ann'), ('bob');
insert into forebay.catalogue (owner_id, name)
select o.id, 'stock of ' || o.name from forebay.owner o where o.name in ('ann', 'bob');
insert into forebay.product (catalogue_id, owner_id, key, gtin, sku, mpn, text, search, fields)
select c.id, c.owner_id, g::text, lpad(g::text, 14, '0'), 'sku' || g, 'mpn' || g % 50000,
       array_to_string(n.words, ' '), array_to_tsvector(n.words),
       jsonb_build_object('title', array_to_string(n.words, ' '))
from generate_series(1, 200000) g
join forebay.catalogue c on c.id % 2 = g % 2
cross join lateral (
    select array[substr(md5((g % 400)::text), 1, 6), substr(md5((g % 37 + 500)::text), 1, 5),
                 substr(md5((g * 7 % 3400 + 600)::text), 1, 7), substr(md5((g * 13 % 3400 + 600)::text), 1, 4),
                 (g % 90)::text || 'cm'] as words) n;
"""
_TEXT = "select * from forebay.find_products($1, $2, $3, 20)"


@pytest.fixture
async def stock(db: Db) -> Db:
    """Indexes are built when all is there: sorting it in one by one takes minutes."""
    made = await db.fetch(
        """select indexdef, indexname from pg_indexes
           where schemaname = 'forebay' and indexname in ('product_text', 'product_search')"""
    )
    for index in made:
        await db.execute(f"drop index forebay.{index['indexname']}")
    await db.execute(_FILL)
    for index in made:
        await db.execute(index["indexdef"])
    await db.execute("vacuum (analyze) forebay.product, forebay.catalogue")
    return db


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _assert_indexed(plan: dict[str, Any]) -> None:
    found = [node for node in _nodes(plan) if node.get("Relation Name") == "product"]
    assert found
    assert not [node for node in found if node["Node Type"] == "Seq Scan"], json.dumps(plan, indent=1)


async def test_products_are_found_by_indexes(stock: Db) -> None:
    for column, value in (("gtin", "00000000000777"), ("sku", "sku777"), ("mpn", "mpn777")):
        await _numbers(stock, column, value)
    await _texts(stock, fuzzy=False)
    await _texts(stock, fuzzy=True)
    await _others(stock)


async def _numbers(stock: Db, column: str, value: str) -> None:
    owner = await stock.one("select owner_id from forebay.product where key = '777'")
    statement = load(f"find_products_by_{column}")
    (row,) = await stock.fetch(f"explain (analyze, buffers, format json) {statement}", owner, value, 20)
    plan = json.loads(row[0])[0]["Plan"]
    _assert_indexed(plan)
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 60
    assert len(await stock.fetch(statement, owner, value, 20)) == (4 if column == "mpn" else 1)


async def _texts(stock: Db, *, fuzzy: bool) -> None:
    """Exactly, with a letter that is wrong, and with words that no product has."""
    row = await stock.row("select owner_id, text, key from forebay.product where key = '777'")
    words = row["text"].split()
    heard: list[dict[str, Any]] = []

    def hear(_conn: object, message: Any) -> None:
        if "plan:" in str(message.message):
            heard.append(json.loads(str(message.message).partition("plan:")[2]))

    stock.conn.add_log_listener(hear)
    await stock.execute("load 'auto_explain'")
    for name, value in {"log_min_duration": "0", "log_nested_statements": "on", "log_level": "notice"}.items():
        await stock.execute(f"set auto_explain.{name} = {value}")
    await stock.execute("set auto_explain.log_format = json")
    for asked in (words, [words[0] + "x", *words[1:]], ["nowhere", "to", "be", "found"], [*words, "noise", "more"]):
        found = await stock.fetch(_TEXT, row["owner_id"], asked, fuzzy)
        assert len(found) <= (40 if fuzzy else 20)
        if words[-1] in asked:
            assert row["text"] in {json.loads(each["fields"])["title"] for each in found}
    stock.conn.remove_log_listener(hear)
    plans = [plan["Plan"] for plan in heard if "forebay.product" in plan["Query Text"]]
    assert len(plans) >= 7
    for plan in plans:
        _assert_indexed(plan)


async def _others(stock: Db) -> None:
    row = await stock.row("select owner_id, text from forebay.product where key = '777'")
    other = await stock.one("select id from forebay.owner where name in ('ann', 'bob') and id <> $1", row["owner_id"])
    found = await stock.fetch(_TEXT, other, row["text"].split(), True)
    owners = {each["catalogue"] for each in found}
    assert owners <= {await stock.one("select name from forebay.catalogue where owner_id = $1", other)}
