"""Every fault of Lark, and none of its secrets anywhere."""

# demands: S3-01, S3-02, S3-05, S3-06, S3-12, S3-16, S3-17, S3-20, S3-24, S3-25, S3-35, S3-41, S3-48, S3-53, S3-57
# demands: S3-58, S3-61, S3-84, S3-85, S3-86, S3-88, S3-89, S3-92, S3-93

from __future__ import annotations

import asyncio
import re
from collections import deque
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import structlog

from forebay.db.pool import open_pool
from forebay.pipelines.attachments import db
from tests.pipelines.attachments._fake_lark import SECRET, FakeLark
from tests.pipelines.attachments._world import KEY, World, open_world, scan_folder

# How the next requests for a file end, and how the file ends then.
PLANS: list[tuple[list[str], str]] = [
    ([], "DOWNLOADED"),
    (["500"], "DOWNLOADED"),
    (["truncate"], "DOWNLOADED"),
    (["400"], "DOWNLOADED"),
    (["429", "429", "429", "429"], "DOWNLOADED"),  # being told to wait is no failure
    (["663"], "DOWNLOADED"),
    (["503", "truncate"], "DOWNLOADED"),
    (["404"], "FAILED"),
    (["401"], "DOWNLOADED"),
    (["401", "401"], "FAILED"),
    (["500", "500", "500"], "FAILED"),
    (["truncate", "truncate", "truncate", "500"], "DOWNLOADED"),
]


async def _texts(conn: asyncpg.Connection[Any]) -> str:
    """All rows of all tables."""
    tables = await conn.fetch(
        "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'forebay'"
    )
    rows = [await conn.fetch(f"select t::text as row from {table['name']} t") for table in tables]
    return "\n".join(str(row["row"]) for found in rows for row in found)


def _leaks(text: str, fake: FakeLark) -> list[str]:
    return [each for each in (SECRET, KEY, *fake.issued) if each in text]


@pytest.mark.parametrize("by_token", [True, False], ids=["drive API", "addresses with codes"])
async def test_no_file_is_lost_or_stored_twice(dsn: str, tmp_path: Path, by_token: bool) -> None:
    fake = FakeLark(rate=60 if by_token else 5, quota=20, token_uses=9, by_token=by_token)
    approvals = 4 if by_token else 2
    expected: dict[str, str] = {}
    used: list[tuple[list[str], str]] = []
    for at in range(approvals):
        names = [f"{each}-{at}.pdf" for each in "abc"]
        fake.put(f"A-{at}", *names, size=300_000 if at % 5 == 0 else 2000)
        for which, name in enumerate(names):
            used.append(PLANS[(at * 3 + which) % len(PLANS)])
            faults, end = used[-1]
            fake.faults[f"A-{at}/{name}"] = deque(faults)
            expected[name] = end
    with structlog.testing.capture_logs() as logs:
        async with open_world(dsn, tmp_path, fake, lark_daily_quota=20, lark_rate=50 if by_token else 4) as world:
            await asyncio.gather(*(world.announce(f"A-{at}") for at in range(approvals)))
            repeated = [await world.announce(f"A-{at}") for at in range(approvals)]
            assert [each.status_code for each in repeated] == [200] * approvals
            await world.bed.finish()
            rows = await world.conn.fetch(
                """select a.name, a.status, a.error, a.attempts, i.key, encode(a.sha256, 'hex') as sha
                   from forebay.attachment a join forebay.attachment_instance i on i.id = a.instance_id"""
            )
            assert {row["name"]: row["status"] for row in rows} == expected
            for row in rows:
                if row["status"] == "DOWNLOADED":
                    assert row["sha"] == sha256(fake.contents[f"{row['key']}/{row['name']}"]).hexdigest()
                    assert fake.served[f"{row['key']}/{row['name']}"] == 1
                else:
                    assert row["error"]
                assert row["attempts"] <= 3
            vouchers = {
                row["key"]
                for row in await world.conn.fetch(
                    "select key from forebay.attachment_instance where voucher in ('READY', 'PARTIAL')"
                )
            }
            assert len(vouchers) == approvals
            found = await world.conn.fetchval("select count(*) from forebay.file")
            assert found == list(expected.values()).count("DOWNLOADED") + approvals
            connections = fake.connections()
            leaks = _leaks(await _texts(world.conn), fake)
    assert fake.wrong == []
    assert len(fake.issued) > 1  # tokens have expired on the way
    assert any(fake.ranges)
    assert connections < len(fake.asked) + fake.reads.total()  # they are used again
    assert (leaks, _leaks(str(logs), fake)) == ([], [])
    assert scan_folder(tmp_path, SECRET, KEY, *fake.issued) == []
    events = [each["event"] for each in logs]
    waited = [str(each["error"]) for each in logs if each["event"] == "attachment_waits"]
    if by_token:  # there are more files than that
        assert any(each.startswith("the quota of 20 files in 24 hours is used up until ") for each in waited)
    assert events.count("attachment_downloaded") == list(expected.values()).count("DOWNLOADED")
    assert events.count("attachment_missing") == sum(faults == ["404"] for faults, _ in used)


async def test_a_slow_file_is_cut_off_and_the_others_do_not_wait(dsn: str, tmp_path: Path) -> None:
    fake = FakeLark(stall=asyncio.Event())
    fake.put("S-1", "slow.pdf", "quick.pdf")
    fake.faults["S-1/slow.pdf"] = deque(["slow"])
    async with open_world(dsn, tmp_path, fake, timeout_s=1.0) as world:
        await world.announce("S-1")
        slow: dict[str, Any] | None = None
        while slow is None or not slow["attempts"]:  # files start one after the other, in any order
            if slow is not None:
                world.clock.advance(0.3)
            await world.bed.run()
            _, slow = sorted((await world.detail("S-1"))["allFiles"], key=lambda each: each["name"])
        assert (slow["status"], slow["attempts"]) == ("PENDING", 1)
        assert "did not answer within " in slow["error"]
        assert slow["nextRetryAt"] is not None
        why = (await world.detail("S-1"))["why"]
        assert re.search(r" of 2 files (is|are) not downloaded yet; the next try is at ", why)
        await world.bed.finish()
        found = await world.detail("S-1")
        assert (found["voucher"], found["files"]["downloaded"]) == ("READY", 2)
        assert fake.stall is not None
        fake.stall.set()


async def test_what_the_form_does_not_have_is_skipped(dsn: str, tmp_path: Path) -> None:
    fake = FakeLark()
    fake.put("M-1", "there.pdf", "later.pdf")
    form = fake.forms["M-1"]
    form[2]["value"] = ["there.pdf", "", "later.pdf"]
    form[2]["ext"] = "there.pdf,nowhere.pdf,later.pdf"
    fake.faults["M-1/later.pdf"] = deque(["500"])
    async with open_world(dsn, tmp_path, fake) as world:
        with structlog.testing.capture_logs() as logs:
            await world.announce("M-1")
            await world.bed.run()
            form[2]["value"] = ["there.pdf", "", ""]  # it was taken out before its second attempt
            await world.bed.finish()
            detail = await world.detail("M-1")
        assert (detail["skipped"], detail["files"]) == (1, {"pending": 0, "downloaded": 1, "failed": 1})
        assert detail["allFiles"][1]["error"] == "the form no longer has the file later.pdf"
        assert [each["name"] for each in logs if each["event"] == "attachment_skipped"] == ["nowhere.pdf"]


async def test_an_app_that_lark_does_not_know_waits_for_its_operator(dsn: str, tmp_path: Path) -> None:
    fake = FakeLark()
    fake.put("C-1", "a.pdf")
    async with open_world(dsn, tmp_path, fake, lark_app_secret="another") as world:
        await world.announce("C-1")
        await world.bed.run()
        parked = await world.conn.fetchval("select parked from forebay.queue where parked is not null")
        told = "Lark does not know the app (10014): check FOREBAY_ATTACHMENTS_LARK_APP_ID and its secret"
        assert parked == told
        async with world.service.client("ann") as client:
            job = (await world.detail("C-1"))["waitingJobId"]
            why = (await client.get(f"/api/jobs/{job}/why")).json()
        assert why["reasons"][0]["code"] == "parked"


async def test_an_approval_that_lark_does_not_have(world_of: World) -> None:
    await world_of.announce("N-1")
    await world_of.bed.finish()
    detail = await world_of.detail("N-1")
    assert detail["problem"].startswith("the form could not be read: ")
    assert detail["why"] == detail["problem"]


async def test_the_quota_is_that_of_any_24_hours(dsn: str) -> None:
    now = datetime(2026, 11, 18, 10, 30, tzinfo=UTC)
    async with await open_pool(dsn, size=2, name="forebay tests") as pool:
        hours = (0, 0, 23, 24)
        taken = [await db.take_quota(pool, "app", 4, now + timedelta(hours=each)) for each in hours]
        assert taken == [None] * 4
        until = await db.take_quota(pool, "app", 4, now + timedelta(hours=24))
        assert until == datetime(2026, 11, 19, 11, tzinfo=UTC)
        assert await db.take_quota(pool, "app", 4, now + timedelta(hours=25)) is None
        assert await db.take_quota(pool, "other", 4, now) is None
