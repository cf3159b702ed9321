"""The writes of steps, in the order in which they were returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import Context, Done, NotFound, Pipeline, Retry, Rows, Skip, Statement
from forebay.engine.db.writes import Writer
from forebay.errors import DataError, TransientError
from forebay.testing import testbed

if TYPE_CHECKING:
    from forebay.types import Write


class Size(BaseModel):
    weight: int


@pytest.fixture
async def table(conn: asyncpg.Connection[Any]) -> str:
    await conn.execute("create domain note as jsonb; create table t (id int primary key, size int, extra note)")
    return "t"


async def _rows(conn: asyncpg.Connection[Any]) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await conn.fetch("select id, size, extra from t order by id")]


async def test_a_statement_between_rows_sees_those_before_it_only(conn: asyncpg.Connection[Any], table: str) -> None:
    writes: list[Write] = [
        Rows(table, [{"id": 1, "size": 1}]),
        Rows(table, [{"id": 2, "size": 1}]),
        Statement("update t set size = size + 10"),
        Rows(table, [{"id": 3, "size": 1}]),
    ]
    await Writer().apply(conn, writes)
    assert await _rows(conn) == [(1, 11, None), (2, 11, None), (3, 1, None)]


async def test_rows_of_one_shape_go_in_one_round_trip(conn: asyncpg.Connection[Any], table: str) -> None:
    writer = Writer()
    await writer.apply(conn, [Rows(table, [{"id": 0, "size": 0}])])
    with patch.object(type(conn), "executemany", autospec=True, side_effect=type(conn).executemany) as asked:
        await writer.apply(conn, [Rows(table, [{"id": n, "size": n}]) for n in range(1, 100)])
    assert asked.call_count == 1
    assert len(await _rows(conn)) == 100


async def test_rows_of_other_shapes_go_apart(conn: asyncpg.Connection[Any], table: str) -> None:
    writes: list[Write] = [
        Rows(table, []),
        Rows(table, [{"id": 1, "size": 1}]),
        Rows(table, [{"id": 1, "size": 2}], on_conflict="ignore"),
        Rows(table, [{"id": 1, "size": 3}], on_conflict=["id"]),
        Rows(table, [{"size": 4, "id": 4}]),
    ]
    await Writer().apply(conn, writes)
    assert await _rows(conn) == [(1, 3, None), (4, 4, None)]


async def test_json_is_written_as_such_through_a_domain_too(conn: asyncpg.Connection[Any], table: str) -> None:
    rows: list[dict[str, object]] = [
        {"id": 1, "extra": {"a": [1]}},
        {"id": 2, "extra": '"text"'},
        {"id": 3, "extra": None},
    ]
    await Writer().apply(conn, [Rows(table, rows)])
    assert await _rows(conn) == [(1, None, '{"a": [1]}'), (2, None, '"text"'), (3, None, None)]


@pytest.mark.parametrize(("size", "stored"), [({"w": 1}, '{"w": 1}'), (7, "7")], ids=["driver", "server"])
async def test_a_table_that_changed_is_looked_at_again(
    conn: asyncpg.Connection[Any], table: str, size: object, stored: str
) -> None:
    writer = Writer()
    await writer.apply(conn, [Rows(table, [{"id": 1, "size": 1}])])
    await conn.execute("alter table t alter column size type jsonb using to_jsonb(size)")
    rows = [Rows(table, [{"id": 2, "size": size}])]
    with pytest.raises(asyncpg.OutdatedSchemaCacheError, match=r"^the columns of t may have changed$"):
        await writer.apply(conn, rows)
    await writer.apply(conn, rows)
    assert await conn.fetchval("select size from t where id = 2") == stored


async def test_a_column_that_changes_its_type_under_a_worker_costs_no_item(
    conn: asyncpg.Connection[Any], dsn: str, table: str
) -> None:
    sizes: Pipeline[Size] = Pipeline("sizes", Size)

    @sizes.step()
    async def weigh(ctx: Context, size: Size) -> Done[int]:
        weight: object = size.weight if size.weight < 2 else {"w": size.weight}
        return Done(size.weight, writes=[Rows(table, [{"id": size.weight, "size": weight}])])

    async with testbed(dsn, [sizes], migrated=True) as bed:
        await bed.submit(sizes, Size(weight=1))
        await bed.finish()
        await conn.execute("alter table t alter column size type jsonb using to_jsonb(size)")
        await bed.submit(sizes, Size(weight=2))
        await bed.finish()
    assert [tuple(row) for row in await conn.fetch("select id, size from t order by id")] == [(1, "1"), (2, '{"w": 2}')]


async def test_steps_that_do_not_end_well_hand_rows_over_too(
    dsn: str, conn: asyncpg.Connection[Any], table: str
) -> None:
    """Each with its attempt: a task that failed twice has written twice."""
    weigh: Pipeline[Size] = Pipeline("weigh", Size)

    @weigh.step(retry=Retry(attempts=2))
    async def step(ctx: Context, size: Size) -> Done[int] | NotFound | Skip:
        row = Rows(table, [{"id": size.weight * 10 + ctx.attempt, "size": size.weight}])
        if size.weight == 1:
            return NotFound("no such weight", writes=[row])
        if size.weight == 2:
            return Skip("weighs nothing", writes=[row])
        if size.weight == 3:
            raise DataError("weighs too much").writing(row)
        raise TransientError("the scales swing").writing(row)

    async with testbed(dsn, [weigh], migrated=True) as bed:
        job = await weigh.submit_many(bed.pool, [Size(weight=weight) for weight in (1, 2, 3, 4)])
        await bed.finish()
        assert [item.status for item in await bed.items(job)] == ["NOT_FOUND", "DONE", "ERROR", "ERROR"]
    assert [row[0] for row in await _rows(conn)] == [11, 21, 31, 41, 42]
