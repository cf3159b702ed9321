"""What lists, counts and the quota of attachments cost, by their plans: bounded, however many files there are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from forebay.db.statements import statements
from tests.sql.test_event_plans import rows_read
from tests.sql.test_plans import Explained, explaining, filled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests._servers import Server
    from tests.sql.test_plans import Plan

__all__ = ["filled"]  # the fixture

load = statements("forebay.pipelines.attachments")

# 10,000 instances of 100 owners with three files each: one in a hundred is pending, as many have failed.
# 20 apps have sent requests in each hour of three days, which is what tidying keeps.
_FILL = """
insert into forebay.attachment_instance (owner_id, source, key, title, state)
select g % 100 + 1, 'lark', 'A-' || g, 'Expenses ' || g, 'APPROVED' from generate_series(0, 9999) g;
insert into forebay.attachment (owner_id, instance_id, key, name, status, error, last_attempt_at)
select i.owner_id, i.id, n::text, n || '.pdf',
       case (i.id / 100) % 100 when 7 then 'PENDING' when 8 then 'FAILED' else 'DOWNLOADED' end,
       case (i.id / 100) % 100 when 8 then 'not found' end, now()
from forebay.attachment_instance i, generate_series(1, 3) n;
insert into forebay.attachment_quota (app, hour, used)
select 'app ' || a, date_trunc('hour', now()) - make_interval(hours => h), 5
from generate_series(1, 20) a, generate_series(0, 72) h;
analyze forebay.attachment, forebay.attachment_instance, forebay.attachment_quota;
"""
_NEWEST = 2**63 - 1


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
async def planned(server: Server, filled: str, request: pytest.FixtureRequest) -> AsyncIterator[Explained]:
    """Statements are planned for their values, or for any."""
    async with explaining(server, filled) as explained:
        await explained.db.execute(_FILL)
        await explained.db.execute(f"set plan_cache_mode = {request.param}")
        yield explained


async def _plans(planned: Explained, name: str, *args: Any) -> list[Plan]:
    await planned.of(load(name), *args)
    assert planned.plans
    return planned.plans


async def test_each_reads_what_it_shows(planned: Explained) -> None:
    """One test, because filling the tables takes most of its time."""
    await _lists(planned)
    await _status_and_quota(planned)


async def _lists(planned: Explained) -> None:
    plans = await _plans(planned, "list_instances", _NEWEST, 20, None, None, None)
    assert rows_read(plans, "attachment_instance") <= 20
    assert rows_read(plans, "attachment") <= 60
    for owner, status in product((7, None), ("PENDING", "FAILED")):
        plans = await _plans(planned, "list_attachments", status, 0, 10, owner)
        assert rows_read(plans, "attachment") <= (1000 if owner is None else 10), (owner, status)
    for name in ("list_attachments_of", "list_open", "list_voucher_files"):
        assert rows_read(await _plans(planned, name, 5), "attachment") <= 3, name


async def _status_and_quota(planned: Explained) -> None:
    assert rows_read(await _plans(planned, "last_attachments", 7), "attachment") <= 3
    assert rows_read(await _plans(planned, "last_attachments", None), "attachment") <= 3 * 101
    assert rows_read(await _plans(planned, "count_attachments", 7), "attachment") <= 300
    plans = await _plans(planned, "take_quota", "app 3", 1000, None)
    assert rows_read(plans, "attachment_quota") <= 26
    # Of all apps: tidying keeps three days of hours, so that the whole table is little to read.
    assert rows_read(await _plans(planned, "read_quota"), "attachment_quota") <= 20 * 73
