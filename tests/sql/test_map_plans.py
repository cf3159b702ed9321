"""The cost of maps, by their plans: the end of children costs one look-up for each of their jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sql._db import START
from tests.sql.test_plans import Explained, _settle, _with, assert_indexed, explained, filled

if TYPE_CHECKING:
    from tests.sql.test_plans import Plan

__all__ = ["explained", "filled"]

# Each of the first 1,000 jobs has a task that waits for a job of children; 300 of these have one open item, which runs.
_MAPS = """
insert into forebay.job (owner_id, pipeline_id, state, steps, lane_id, total, done, parent_id, parent_n, parent_bit)
select j.owner_id, 1, 'RUNNING', 1, j.lane_id, 2, 1, j.id, 5, 1 from forebay.job j where j.id <= 1000;
insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at)
select c.parent_id, 5, 1, c.owner_id, 'forebay.map', c.id::text, 'infinity' from forebay.job c
where c.parent_id is not null;
insert into forebay.item (job_id, n, owner_id, pipeline_id, input)
select c.id, 2, c.owner_id, 1, '{}' from forebay.job c where c.parent_id is not null;
insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
select 900000 + c.parent_id, 1, c.lane_id, c.id, c.owner_id, 1, 1, now(), now(), '{[2,2]}' from forebay.job c
where c.parent_id <= 300;
analyze
"""


@pytest.fixture
async def mapped(explained: Explained) -> Explained:
    await explained.db.execute(_MAPS)
    return explained


def _rows(plans: list[Plan], table: str) -> int:
    found = _with(plans, table, "Index Scan", "Index Only Scan", "Bitmap Heap Scan")
    return max((node["Actual Rows"] * node["Actual Loops"] for node, _ in found), default=0)


async def test_the_end_of_children_wakes_their_tasks_in_a_fixed_number_of_statements(mapped: Explained) -> None:
    tokens = [900_000 + number for number in range(1, 301)]
    calls = (_settle(tokens, [2] * 300), _settle(tokens[:1], [2]))
    for call in calls:
        await mapped.of(*call)  # the driver reads the types of their columns
    many = await mapped.of(*calls[0])
    assert_indexed(many)
    assert (_rows(many, "waiting"), _rows(many, "scheduled")) == (300, 300)
    wakes = 2 * 300  # a wake-up for each lane is a statement of its own
    assert len(many) <= len(await mapped.of(*calls[1])) + wakes


async def test_children_are_counted_with_a_bound(mapped: Explained) -> None:
    await mapped.db.execute("update forebay.job set parent_id = 7 where parent_id is not null")
    plans = await mapped.of("select forebay.children_of(7, null, 100)")
    assert_indexed(plans)
    assert _rows(plans, "job") <= 101
    counted = await mapped.db.one("select forebay.children_of(7, null, 100) ->> 'is_cut'")
    assert counted == "true"


@pytest.mark.parametrize("call", ["sweep_children($1)", "cancel(1, now => $1)", "delete_finished($1, '1 day')"])
async def test_no_change_reads_all_children(mapped: Explained, call: str) -> None:
    plans = await mapped.of(f"select forebay.{call}", START)
    assert_indexed(plans)
    assert _rows(plans, "job") <= 10
