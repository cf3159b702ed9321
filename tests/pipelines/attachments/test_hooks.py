"""The webhooks of senders: verified, noted with a verdict, and taken once."""

# demands: S3-03, S3-08, S3-09, S3-10, S3-26

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import asyncpg
import structlog

from forebay.api.app import create_app
from forebay.api.submit.first_submits import FirstSubmits
from forebay.pipelines.attachments.steps import attachments
from forebay.settings import Settings
from tests.docs._shell import free_port
from tests.pipelines.attachments._world import World, approval, signed


async def test_each_request_gets_a_verdict(world_of: World) -> None:
    world = world_of
    challenge = {"challenge": "ajls384kdjx98XX", "token": "v", "type": "url_verification"}
    assert (await world.send(challenge)).json() == {"challenge": "ajls384kdjx98XX"}
    # Several at once, as retries of a sender may come: one of them counts.
    answers = await asyncio.gather(*(world.announce("A-1") for _ in range(4)))
    assert [each.status_code for each in answers] == [200] * 4
    assert await world.conn.fetchval("select count(*) from forebay.job") == 1
    other = {"uuid": "u-9", "type": "event_callback", "event": {"type": "leave_approval"}}
    assert (await world.send(other)).status_code == 200
    assert (await world.send(approval("A-2"), key="another")).status_code == 401
    assert (await world.send(approval("A-2"), at=time.time() - 400)).status_code == 401
    listed = (await world.get("deliveries"))["items"]
    assert sorted(each["verdict"] for each in listed) == [
        "ACCEPTED", "CHALLENGE", "DUPLICATE", "DUPLICATE", "DUPLICATE", "IGNORED", "REJECTED", "REJECTED",
    ]  # fmt: skip
    assert listed[0]["reason"] == "the timestamp is more than 300 s from this machine's clock: check both clocks"
    assert [each["event"] for each in listed if each["verdict"] == "IGNORED"] == ["leave_approval"]
    assert {each["ip"] for each in listed} == {"192.0.2.7"}
    page = await world.get("deliveries", pageSize=3, verdict="DUPLICATE")
    assert len(page["items"]) == 3
    assert (await world.get("deliveries", pageSize=3, verdict="DUPLICATE", after=page["next"]))["items"] == []
    assert (await world.get("deliveries", who="bob"))["items"] == []
    assert len((await world.get("deliveries", who="root", source="lark"))["items"]) == 8
    unknown = await world.post(b"{}", {}, "nobody")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "source: there is no sender 'nobody'")


async def test_rejected_requests_are_noted_up_to_a_bound(world_of: World) -> None:
    call = "select forebay.reject_attachments(1, 'lark', 'REJECTED', 'x', 1, null) from generate_series(1, 2)"
    for _ in range(150):
        await world_of.conn.execute(call)
    body, headers = signed(approval("A-1"), key="another")
    assert (await world_of.post(body, headers, "lark")).status_code == 401
    assert await world_of.conn.fetchval("select count(*) from forebay.attachment_delivery") <= 201


async def test_a_delivery_during_a_job_is_not_lost(world_of: World) -> None:
    """The second event comes while the files of the first one are downloaded."""
    world = world_of
    world.fake.put("D-1", "a.pdf")
    await world.announce("D-1", status="PENDING")
    await world.announce("D-1", status="APPROVED")
    await world.bed.finish()
    assert await world.conn.fetchval("select count(*) from forebay.attachment_instance") == 1
    assert world.fake.served == {"D-1/a.pdf": 1}
    await world.conn.execute("update forebay.attachment_instance set seen_at = received_at - interval '1 hour', "
                             "received_at = now() - interval '10 minutes'")  # fmt: skip
    assert await world.conn.fetchval("select submitted from forebay.tidy_attachments(now() - interval '30 days')") == 1
    await world.bed.finish()
    assert world.fake.reads["D-1"] == 2
    assert world.fake.served == {"D-1/a.pdf": 1}


async def test_no_delivery_is_refused_before_the_first_worker(world_of: World) -> None:
    """Nor after the database was replaced, which the API that runs does not notice."""
    world = world_of
    await world.conn.execute("truncate forebay.pipeline cascade")
    assert (await world.announce("F-1")).status_code == 200
    assert [each["verdict"] for each in (await world.get("deliveries"))["items"]] == ["ACCEPTED"]
    assert await world.conn.fetchval("select count(*) from forebay.job") == 1


async def test_an_api_registers_what_is_unknown_when_it_starts(dsn: str, tmp_path: Path) -> None:
    conn = await asyncpg.connect(dsn)
    known = "select count(*) from forebay.pipeline where name = 'attachments'"
    try:
        assert await conn.fetchval(known) == 0
        app = create_app(dsn, Settings(data_dir=tmp_path), [attachments])
        async with app.router.lifespan_context(app):
            assert await conn.fetchval(known) == 1
    finally:
        await conn.close()
    nowhere = f"postgresql://127.0.0.1:{free_port()}/none"
    with structlog.testing.capture_logs() as logs:
        await FirstSubmits(nowhere, Settings(data_dir=tmp_path), [attachments]).register_on_start()
    assert [each["event"] for each in logs] == ["pipelines_not_registered"]
