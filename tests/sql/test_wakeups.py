"""Wake-ups and discovery: who is told about ready tasks, and what is found of paused and parked queues."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from forebay.engine.db.sql import load
from tests.sql._db import START, Db, step

_MARK = "select forebay.mark_busy_lanes($1, $2, $3, $4)"


@pytest.fixture(autouse=True)
async def pipelines(db: Db) -> None:
    await db.register(step("a"))
    await db.register(step("z"), name="other")


async def heard(db: Db) -> asyncio.Queue[str]:
    messages: asyncio.Queue[str] = asyncio.Queue()
    await db.conn.add_listener("forebay", lambda *args: messages.put_nowait(str(args[-1])))
    return messages


async def messages_of(db: Db, messages: asyncio.Queue[str]) -> list[str]:
    """All messages so far, without the numbers of their runs."""
    await db.execute("notify forebay, 'end'")
    found: list[str] = []
    while (message := await messages.get()) != "end":
        found.append(message.rpartition(" ")[0])
    return found


async def submit_one(db: Db, pipeline: str, key: str | None = None) -> None:
    await db.fetch("select forebay.submit($1, '{}', 'ann', key => $2, now => $3)", pipeline, key, db.now)


async def lane(db: Db) -> int:
    return int(await db.one("select id from forebay.lane where job_id = 0"))


async def discovered(db: Db, *names: str) -> set[tuple[str, int]]:
    steps = {await db.step_id(name): name for name in names}
    rows = await db.fetch("select * from forebay.discover($1, $2)", list(steps), db.now)
    return {(steps[row["step_id"]], row["lane_id"]) for row in rows}


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_backlog_of_one_pipeline_silences_no_other_pipeline_of_the_same_owner(db: Db, key: str | None) -> None:
    await submit_one(db, "p")
    a, z, home = await db.step_id("a"), await db.step_id("z"), await lane(db)
    await db.fetch(_MARK, [a], [home], 10.0, db.now)
    messages = await heard(db)
    await submit_one(db, "p", key)
    await db.submit(2)
    assert await messages_of(db, messages) == []
    await submit_one(db, "other", key)
    await db.submit(2, pipeline="other")
    assert await messages_of(db, messages) == [f"ready {z} {home}"] * 2
    db.after(seconds=10)  # the mark has ended
    await submit_one(db, "p")
    assert await messages_of(db, messages) == [f"ready {a} {home}"]


async def test_marks_are_renewed_and_removed_each_by_itself(db: Db) -> None:
    await submit_one(db, "p")
    home = await lane(db)
    marks = "select step_id, until from forebay.busy_lane order by step_id"
    await db.fetch(_MARK, [1, 2], [home, home], 10.0, db.now)
    await db.fetch(_MARK, [1], [home], 0.0, db.now)
    assert [tuple(row) for row in await db.fetch(marks)] == [(2, START + timedelta(seconds=10))]
    db.after(seconds=6)
    await db.fetch(_MARK, [2], [home], 10.0, db.now)
    assert [tuple(row) for row in await db.fetch(marks)] == [(2, START + timedelta(seconds=16))]
    db.after(minutes=5)  # its worker has died
    await db.fetch(_MARK, [1], [home], 0.0, db.now)
    assert await db.fetch(marks) == []


async def test_what_is_passed_on_is_told_only_while_something_is_ready(db: Db) -> None:
    for _ in range(2):
        await submit_one(db, "p")
    a, z, home = await db.step_id("a"), await db.step_id("z"), await lane(db)
    first, second = (row["seq"] for row in await db.fetch("select seq from forebay.ready order by seq"))
    messages: list[str] = []
    await db.conn.add_listener("forebay", lambda *args: messages.append(str(args[-1])))

    async def passed_on(*told: tuple[int, int, int, int]) -> list[str]:
        messages.clear()
        await db.fetch(load("pass_on"), *(list(column) for column in zip(*told, strict=True)))
        await db.fetch("select")  # messages come before the next response
        return [*messages]

    assert await passed_on((a, home, 1, 0)) == [f"pass {a} {home} {first} 0"]
    assert await passed_on((a, home, first, 1), (z, home, 1, 1)) == [f"pass {a} {home} {first} 1"]
    await db.execute("delete from forebay.ready where seq = $1", first)
    assert await passed_on((a, home, 1, 0), (a, home, first, 3)) == [
        f"pass {a} {home} {second} 0", f"pass {a} {home} {first} 3"
    ]  # fmt: skip
    assert await passed_on((a, home, second + 1, 1)) == []


async def test_workers_of_the_release_before_can_still_mark_lanes(db: Db) -> None:
    await submit_one(db, "p")
    await db.fetch("select forebay.mark_busy($1, $2)", [await lane(db)], db.now + timedelta(hours=1))
    messages = await heard(db)
    await submit_one(db, "p")
    assert len(await messages_of(db, messages)) == 1


async def test_paused_queues_are_not_discovered_until_they_are_resumed(db: Db) -> None:
    await submit_one(db, "p")
    await submit_one(db, "other")
    home = await lane(db)
    await db.fetch("select forebay.pause_queue('a', now => $1)", db.now)
    assert await discovered(db, "a", "z") == {("z", home)}
    await db.fetch("select forebay.resume_queue('a', now => $1)", db.now)
    assert await discovered(db, "a", "z") == {("a", home), ("z", home)}


async def test_a_parked_queue_is_discovered_when_it_may_be_tried_again_and_then_only_in_part(db: Db) -> None:
    for n in range(30):
        await db.submit(1, owner=f"owner {n}")
    await submit_one(db, "other")
    await db.fetch("select forebay.park_queue('a', 'wrong key', $1, now => $2)", db.now + timedelta(seconds=30), db.now)
    assert {name for name, _ in await discovered(db, "a", "z")} == {"z"}
    db.after(seconds=30)
    found = await discovered(db, "a", "z")
    assert len([name for name, _ in found if name == "a"]) == 8
    (lease,) = await db.claim("a", lane=min(lane_id for name, lane_id in found if name == "a"))
    assert lease["ns"] == [1]
    assert {name for name, _ in await discovered(db, "a", "z")} == {"z"}  # it is being tried
    await db.fetch("select forebay.unpark_queue('a', now => $1)", db.now)
    assert len(await discovered(db, "a")) == 29


async def test_discovery_does_not_read_the_lanes_of_a_paused_queue(db: Db) -> None:
    for n in range(300):
        await db.submit(1, owner=f"owner {n}")
    await db.execute("vacuum (analyze)")

    async def pages() -> int:
        sql = "explain (analyze, buffers, format json) select * from forebay.discover($1, $2)"
        plan = ""
        for _ in range(2):  # the first call reads the catalogues
            plan = await db.one(sql, [await db.step_id("a")], db.now)
        (read,) = json.loads(plan)
        return int(read["Plan"]["Shared Hit Blocks"]) + int(read["Plan"]["Shared Read Blocks"])

    before = await pages()
    await db.fetch("select forebay.pause_queue('a', now => $1)", db.now)
    assert before > 600
    assert await pages() < 50


async def test_the_commit_of_a_claim_does_not_wait_for_the_disk(db: Db) -> None:
    await db.execute("set synchronous_commit = on")
    await submit_one(db, "p")
    async with db.conn.transaction():
        assert len(await db.claim("a")) == 1
        assert await db.one("show synchronous_commit") == "off"  # when it commits
    assert await db.one("show synchronous_commit") == "on"
