"""What a worker reports about the last seconds: attempts per second of each owner, and the outcomes of its steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forebay import Context, Pipeline
from forebay.engine.db import overview
from forebay.engine.db.lanes import attempt_rates
from forebay.engine.work.recent_counts import RecentCounts
from forebay.errors import DataError
from forebay.testing import testbed


def test_counts_leave_the_window() -> None:
    now = 0.0
    counts: RecentCounts[str] = RecentCounts(10.0, lambda: now)
    counts.add("a", 5)
    now = 4.0
    assert counts.totals() == ({"a": 5}, 4.0)
    counts.add("b")
    now = 10.0
    assert counts.totals() == ({"a": 5, "b": 1}, 10.0)
    now = 14.0
    assert counts.totals() == ({"b": 1}, 10.0)  # the part from 0 to 4 is older than the window
    now = 40.0
    assert counts.totals() == ({}, 26.0)


async def test_a_worker_reports_owners_and_outcomes(dsn: str) -> None:
    notes = Pipeline("notes", dict[str, Any])

    @notes.step()
    async def size(ctx: Context, note: dict[str, Any]) -> int:
        if "bad" in note:
            raise DataError("bad")
        return len(note)

    async with testbed(dsn, [notes]) as bed:
        for owner, note in (("ann", {}), ("ann", {}), ("bob", {}), ("bob", {"bad": 1})):
            await bed.submit(notes, note, owner=owner)
        await bed.finish()
        await bed.worker.report_status()
        ids = {row["name"]: row["id"] for row in await bed.pool.fetch("select id, name from forebay.owner")}
        stats = json.loads(await bed.pool.fetchval("select stats from forebay.worker"))
        async with bed.pool.acquire() as conn:
            rates = attempt_rates(await overview.workers(conn))
    assert stats["recent"]["steps"] == {"notes.size": {"succeeded": 3, "failed": 1}}
    assert set(rates.by_owner) == {ids["ann"], ids["bob"]}
    assert rates.total == pytest.approx(sum(rates.by_owner.values()))
    assert rates.share(ids["ann"]) == pytest.approx(0.5, abs=0.01)


async def test_only_the_busiest_owners_are_named(dsn: str) -> None:
    notes = Pipeline("notes", dict[str, Any])

    @notes.step()
    async def size(ctx: Context, note: dict[str, Any]) -> int:
        return len(note)

    async with testbed(dsn, [notes]) as bed:
        await bed.pool.execute("select forebay.submit('notes', '{}', 'owner ' || g) from generate_series(1, 70) g")
        await bed.submit(notes, {}, owner="owner 70")
        await bed.finish()
        await bed.worker.report_status()
        about = json.loads(await bed.pool.fetchval("select stats from forebay.worker"))["recent"]["attempts_per_s"]
        busiest = str(await bed.pool.fetchval("select id from forebay.owner where name = 'owner 70'"))
    assert (len(about["owners"]), max(about["owners"], key=about["owners"].get)) == (64, busiest)
    assert about["others"] > 0
