"""What it costs to look for events, by the plans: indexes only, and as many rows as have changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay.engine.db.sql import load
from tests.sql.test_plans import Explained, assert_indexed, explaining, filled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests._servers import Server
    from tests.sql.test_plans import Plan

__all__ = ["filled"]  # the fixture

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SINCE = NOW - timedelta(seconds=60)

# Of 5,000 jobs, half have ended; in the last minute 1 in 100 has changed, of those half have ended.
_CHANGE = f"""
update forebay.job set updated_at = '{NOW}'::timestamptz - interval '1 hour';
update forebay.job set updated_at = '{NOW}'::timestamptz - interval '1 second' where id % 100 < 2;
update forebay.job set finished_at = updated_at where id % 2 = 0;
update forebay.item set progress = '{{"fraction": 0.5}}' where n = 9;
update forebay.attempt set ended_at = '{NOW}' where job_id = 5 and n = 9;
vacuum (full, analyze) forebay.job;
vacuum (full, analyze) forebay.item;
vacuum (analyze) forebay.attempt;
"""


async def _change(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    for statement in _CHANGE.strip().split(";\n"):
        await conn.execute(statement)
    await conn.close()


@pytest.fixture(scope="session")
def changed(server: Server, filled: str) -> str:
    """The same template after some changes."""
    return server.template("forebay_event_plans", _change, base=filled)


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
async def looked(server: Server, changed: str, request: pytest.FixtureRequest) -> AsyncIterator[Explained]:
    """Statements are planned for their values, or for any."""
    async with explaining(server, changed) as explained:
        await explained.db.execute(f"set plan_cache_mode = {request.param}")
        yield explained


async def plans_of(looked: Explained, query: str, *args: object) -> list[Plan]:
    await looked.of(load(query), *args)
    return looked.plans


def rows_read(plans: list[Plan], table: str) -> int:
    """How many rows of a table were looked at, those that did not fit included."""
    found = 0.0
    stack: list[dict[str, Any]] = [plan["Plan"] for plan in plans]
    while stack:
        node = stack.pop()
        stack += node.get("Plans", [])
        if node.get("Relation Name") == table:
            seen = (
                node["Actual Rows"]
                + node.get("Rows Removed by Filter", 0)
                + node.get("Rows Removed by Index Recheck", 0)
            )
            found += seen * node["Actual Loops"]
    return round(found)


@pytest.mark.parametrize(("owners", "everyone"), [([7], False), (list(range(1, 51)), False), ([], True)])
async def test_changed_jobs(looked: Explained, owners: list[int], everyone: bool) -> None:
    plans = await plans_of(looked, "changed_jobs", owners, everyone, SINCE, 0, 5000)
    assert_indexed(plans)
    assert rows_read(plans, "job") <= 110  # a hundred have changed


async def test_whole_jobs(looked: Explained) -> None:
    assert_indexed(await plans_of(looked, "show_jobs", list(range(1, 201))))


async def test_attempts_that_ended(looked: Explained) -> None:
    assert_indexed(await plans_of(looked, "list_attempted_items", [5, 10, 15], SINCE, 5000))


async def test_digests_read_what_ended_lately(looked: Explained) -> None:
    """Not the attempts of a large job, and no items."""
    await looked.db.execute(
        "insert into forebay.attempt (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at,"
        " ended_at)"
        " select 5, g, 1, 1, 'DONE', 5, 1, 0, $1, $1 from generate_series(1, 60000) g",
        NOW - timedelta(hours=2),
    )
    await looked.db.execute("analyze forebay.attempt")
    await looked.db.execute("select brin_summarize_new_values('forebay.attempt_default_ended_at_idx')")
    plans = await looked.of("select * from forebay.attempted_spans($1, $2, $3)", [5, 10], SINCE, 20_000)
    assert_indexed(plans)
    assert rows_read(plans, "item") == 0
    assert rows_read(plans, "attempt_default") < 20_000  # some ranges of pages, not the sixty thousand


async def test_deleted_jobs(looked: Explained) -> None:
    await looked.db.execute(
        "insert into forebay.deleted_jobs select $1::timestamptz - g * interval '1 minute', 7, array[g]"
        " from generate_series(1, 5000) g",
        NOW,
    )
    await looked.db.execute("analyze forebay.deleted_jobs")
    plans = await plans_of(looked, "list_deleted_jobs", [7], False, SINCE - timedelta(minutes=5), 100)
    assert rows_read(plans, "deleted_jobs") <= 10


async def test_items_that_changed(looked: Explained) -> None:
    plans = await plans_of(looked, "list_touched_items", 5, 0, SINCE, 5000)
    assert_indexed(plans)
    assert rows_read(plans, "item") == 10


async def test_progress(looked: Explained) -> None:
    plans = await plans_of(looked, "list_progress", [5, 10], 500)
    assert_indexed(plans, allowed=("lease",))
    assert rows_read(plans, "item") <= 4  # those that run


async def test_catching_up_costs_a_page(looked: Explained) -> None:
    """All that there is was missed; one page of it is read, not all."""
    await looked.db.execute("update forebay.job set finished_at = finished_at + id * interval '1 ms'")
    plans = await plans_of(looked, "changed_jobs", [7], False, NOW - timedelta(days=1), 0, 20)
    assert_indexed(plans)
    assert rows_read(plans, "job") <= 100
