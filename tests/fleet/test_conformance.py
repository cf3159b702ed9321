"""What holds for tasks holds however they are run: by a worker, and by a fleet over each broker."""

# demands: S1-119, S1-121, S1-122

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from forebay import Context, Limit, Pipeline
from forebay.engine.db import control, limits
from forebay.engine.submit.results import wait
from forebay.testing import testbed
from forebay.types import JobState, Signal, Wait
from tests.fleet import process_steps
from tests.fleet._pipelines import Gate, Input, graph, kinds, passing, waits
from tests.fleet._polling import until

if TYPE_CHECKING:
    import asyncpg

    from tests.fleet._setups import Setup

    Conn = asyncpg.Connection[Any]


async def _rows(conn: Conn, sql: str, *args: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await conn.fetch(sql, *args)]


async def test_every_outcome_is_settled_alike(dsn: str, conn: Conn, setup: Setup) -> None:
    pipeline = kinds()
    await conn.execute("create table notes (id int primary key, at timestamptz, amount numeric, data jsonb, raw bytea)")
    asked = ["done", "none", "not_found", "skip", "skip_item", "cancel", "snooze", "throttled"]
    asked += ["transient", "permanent", "data", "broken", "rows"]
    async with setup.working(dsn, pipeline, sweep_s=0.1):
        job = await pipeline.submit_many(conn, [{"do": name} for name in asked])
        await wait(dsn, job.job_id, timeout=60)
    found = await _rows(
        conn,
        "select n, status::text, result ->> 'do', error ->> 'class', error ->> 'reason' from forebay.item order by n",
    )
    ends = {asked[n - 1]: (status, result, kind, reason) for n, status, result, kind, reason in found}
    text = json.loads(ends["done"][1] or "")
    assert text == {"text": "ä\u2028\U0001f600", "number": 12345678901234567890, "float": 1.5}
    assert ends["none"] == ("DONE", None, None, None)
    assert ends["not_found"] == ("NOT_FOUND", None, "not_found", "nothing there")
    assert ends["skip"][0] == "DONE"
    assert ends["skip_item"][0] == ends["cancel"][0] == "SKIPPED"
    assert ends["snooze"][:2] == ends["throttled"][:2] == ("DONE", "1")  # neither counts as an attempt
    assert ends["transient"] == ("ERROR", None, "transient", "timed out")
    assert ends["permanent"] == ("ERROR", None, "permanent", "no such thing")
    assert ends["data"] == ("ERROR", None, "data", "malformed")
    assert ends["broken"][:3] == ("ERROR", None, "data")
    assert ends["rows"][:2] == ("DONE", "written")
    attempts = dict(
        await _rows(conn, "select n, count(*) from forebay.attempt where outcome <> 'CANCELLED' group by n order by n")
    )
    assert attempts[asked.index("transient") + 1] == 2
    assert attempts[asked.index("permanent") + 1] == 1
    assert attempts[asked.index("throttled") + 1] == 2
    assert await _rows(conn, "select id, at::text, amount::text, data ->> 'a', raw from notes") == [
        (1, "2026-01-01 00:00:00+00", "1.50", "[1]", b"x")
    ]


async def test_a_graph_with_a_batch_step_and_a_fan_in(dsn: str, conn: Conn, setup: Setup) -> None:
    pipeline = graph()
    async with setup.working(dsn, pipeline, runners=2, apart=["graph.total"]):
        job = await pipeline.submit_many(conn, [{"n": n} for n in range(1, 41)])
        done = await wait(dsn, job.job_id, timeout=60)
    assert (done.state, done.done) == (JobState.DONE, 40)
    results = dict(await _rows(conn, "select n, result from forebay.item"))
    assert json.loads(results[0]) == {"total": 820}
    assert json.loads(results[4]) == {"first": 4, "batched": 40, "joined": [4, None]}
    assert json.loads(results[5]) == {"first": 5, "joined": [5, None]}


async def test_a_step_waits_for_a_signal(dsn: str, conn: Conn, setup: Setup) -> None:
    pipeline = waits(Pipeline("waits", dict))
    async with setup.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"n": 1}, owner="anna")
        await until(conn, "count(*) = 1 from forebay.waits")
        assert await control.signal(conn, "answer", "1", {"x": 1}, "anna", 0) == 1
        await wait(dsn, job.job_id, timeout=30)
    assert await conn.fetchval("select result ->> 'ask' from forebay.item") == "{'x': 1}"


async def test_a_step_waits_for_a_large_signal(dsn: str, conn: Conn, setup: Setup) -> None:
    """As long as a signal may be: in the offer of the task, it would be longer than a message of the broker."""
    pipeline: Pipeline[Input] = Pipeline("waits", dict)

    @pipeline.step()
    async def ask(ctx: Context, value: Input) -> Signal | Wait | int:
        return Wait("answer", "1") if ctx.signal is None else len(ctx.signal.payload["text"])

    async with setup.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"n": 1}, owner="anna")
        await until(conn, "count(*) = 1 from forebay.waits")
        assert await control.signal(conn, "answer", "1", {"text": '"' * 500_000}, "anna", 0) == 1
        await wait(dsn, job.job_id, timeout=60)
    assert await conn.fetchval("select result ->> 'ask' from forebay.item") == "500000"


async def test_large_inputs_and_results(dsn: str, conn: Conn, setup: Setup) -> None:
    """Larger than a message of the broker may be."""
    pipeline: Pipeline[Input] = Pipeline("large", dict, max_input_bytes=8 << 20)

    @pipeline.step()
    async def twice(ctx: Context, value: Input) -> str:
        return 2 * str(value["text"])

    @pipeline.step(after=twice)
    async def measure(ctx: Context, value: Input, text: str) -> list[int]:
        return [len(value["text"]), len(text)]

    async with setup.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"text": "0123456789" * 120_000})
        await wait(dsn, job.job_id, timeout=60)
    assert await conn.fetchval("select result ->> 'measure' from forebay.item") == "[1200000, 2400000]"


async def test_batches_that_one_message_cannot_hold(dsn: str, conn: Conn, setup: Setup) -> None:
    """Because of their inputs, and because of their number."""
    pipeline: Pipeline[Input] = Pipeline("batches", dict)
    calls: list[int] = []

    @pipeline.batch_step(size=200, linger=30.0)
    async def measure(ctx: Context, values: Sequence[Input]) -> list[int]:
        calls.append(len(values))
        return [len(value["text"]) for value in values]

    other: Pipeline[Input] = Pipeline("numbers", dict)

    @other.batch_step(size=1500, linger=30.0)
    async def count(ctx: Context, values: Sequence[Input]) -> list[int]:
        return [value["n"] + 1 for value in values]

    async with setup.working(dsn, pipeline, other):
        long = await pipeline.submit_many(conn, [{"text": "x" * 7000}] * 200)
        many = await other.submit_many(conn, [{"n": n} for n in range(1500)])
        for job in (long, many):
            await wait(dsn, job.job_id, timeout=60)
    assert calls == [200]
    assert await _rows(conn, "select distinct result from forebay.item where job_id = $1 and n > 0", long.job_id) == [
        ('{"measure": 7000}',)
    ]
    numbers = "select sum((result ->> 'count')::int), count(*) from forebay.item where job_id = $1 and n > 0"
    assert await _rows(conn, numbers, many.job_id) == [(1500 * 1501 // 2, 1500)]
    assert await _rows(conn, "select count(*) from forebay.attempt where outcome <> 'DONE'") == [(0,)]


async def test_a_delayed_job_waits_for_its_time(dsn: str, conn: Conn, setup: Setup) -> None:
    """The server has the clock of this machine."""
    pipeline: Pipeline[Input] = Pipeline("delayed", dict)
    starts: dict[str, float] = {}

    @pipeline.step()
    async def step(ctx: Context, value: Input) -> None:
        starts[value["n"]] = time.time()

    async with setup.working(dsn, pipeline):
        began = time.time()
        late = await pipeline.submit(conn, {"n": "late"}, delay=1.5)
        await pipeline.submit(conn, {"n": "soon"})
        assert (await wait(dsn, late.job_id, timeout=60)).done == 1
    assert starts.keys() == {"soon", "late"}
    assert starts["late"] - began >= 1.5


async def test_a_step_in_a_process_of_its_own(dsn: str, conn: Conn, setup: Setup) -> None:
    """What it returns and raises, and its timeout."""
    pipeline = process_steps.pipeline
    async with setup.working(dsn, pipeline):
        job = await pipeline.submit_many(conn, [{"do": name} for name in ("return", "raise", "hang")])
        await wait(dsn, job.job_id, timeout=60)
    ends = await _rows(conn, "select result ->> 'apart', error ->> 'reason' from forebay.item where n > 0 order by n")
    assert int(ends[0][0]) != os.getpid()
    assert ends[1] == (None, "malformed")
    assert ends[2] == (None, "timed out after 2 s")


async def test_progress_is_written_while_the_step_runs(dsn: str, conn: Conn, setup: Setup) -> None:
    pipeline: Pipeline[Input] = Pipeline("steady", dict)
    go = asyncio.Event()

    @pipeline.step()
    async def step(ctx: Context, value: Input) -> int:
        ctx.progress(0.5, "half\0way")
        await go.wait()
        return 1

    async with setup.working(dsn, pipeline):
        job = await pipeline.submit(conn, {"n": 1})
        await until(conn, "progress is not null from forebay.item")
        progress = await conn.fetchval("select progress from forebay.item")
        assert json.loads(progress) == {"note": "half\N{REPLACEMENT CHARACTER}way", "step": "step", "fraction": 0.5}
        go.set()
        await wait(dsn, job.job_id, timeout=30)


async def test_higher_priorities_and_later_owners_do_not_wait_behind_a_backlog(
    dsn: str, conn: Conn, setup: Setup
) -> None:
    """What was submitted later overtakes all of the backlog that is not running."""
    gate = Gate(concurrency=(2, 2))
    async with setup.working(dsn, gate.pipeline) as worker:
        backlog = await gate.pipeline.submit_many(conn, [{"n": "late"}] * 50, owner="anna")
        assert await gate.begun() == await gate.begun() == "late"
        urgent = await gate.pipeline.submit_many(conn, [{"n": "urgent"}] * 2, owner="anna", priority=5)
        other = await gate.pipeline.submit(conn, {"n": "other"}, owner="bert")
        await worker.poll()
        gate.go.set()
        for job in (backlog, urgent, other):
            await wait(dsn, job.job_id, timeout=60)
    # Those that run, and what is claimed or offered already.
    assert gate.runs.index("urgent") <= 6
    assert gate.runs.index("other") <= 8


@pytest.mark.soak  # on a busy machine, the share of the first half varies by more than this allows
async def test_owners_share_by_weight(dsn: str, conn: Conn, setup: Setup) -> None:
    pipeline: Pipeline[Input] = Pipeline("shared", dict)
    runs: list[str] = []

    @pipeline.step(concurrency=(8, 8))
    async def step(ctx: Context, value: Input) -> None:
        runs.append(value["owner"])
        await asyncio.sleep(0.01)

    async with testbed(dsn, [pipeline], migrated=True) as bed:
        jobs = [
            await pipeline.submit_many(bed.pool, [{"owner": owner}] * 200, owner=owner) for owner in ("anna", "bert")
        ]
    await conn.execute("select forebay.set_owner_weight('anna', 3)")
    async with setup.working(dsn, pipeline):
        for job in jobs:
            await wait(dsn, job.job_id, timeout=60)
    assert len(runs) == 400
    assert 1.8 < runs[:200].count("anna") / runs[:200].count("bert") < 4.5


async def test_pause_resume_and_cancel_reach_tasks_that_are_out(dsn: str, conn: Conn, setup: Setup) -> None:
    gate, probe = Gate(concurrency=(3, 3)), passing()
    few = {"claim_min": 1, "claim_max": 3}  # tasks that are claimed already run in spite of a pause
    async with setup.working(dsn, gate.pipeline, probe, lease_floor_s=2.0, **few) as worker:
        job = await gate.pipeline.submit_many(conn, [{"n": n} for n in range(1, 31)])
        doomed = await gate.pipeline.submit(conn, {"n": "doomed"}, owner="bert", priority=5)
        begun = {await gate.begun() for _ in range(3)}
        while "doomed" not in begun:  # an extra slot of another owner, or the next one
            gate.let_go()
            begun.add(await gate.begun())
        assert await control.pause(conn, job.job_id, "admin")
        assert await control.cancel(conn, doomed.job_id, "admin")
        async with asyncio.timeout(30):
            while "doomed" not in gate.cancelled:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        gate.go.set()
        await until(conn, "count(*) = 0 from forebay.lease")
        paused = len(gate.runs)
        assert paused < 31
        assert await control.resume(conn, job.job_id, "admin")
        await worker.poll()
        assert (await wait(dsn, job.job_id, timeout=60)).done == 30
        assert (await wait(dsn, doomed.job_id, timeout=30)).state == JobState.CANCELLED
        assert await control.pause_queue(conn, "gate.hold", "admin")
        later = await gate.pipeline.submit(conn, {"n": "later"})
        await _goes_through(dsn, conn, probe)
        assert "later" not in gate.runs
        await control.resume_queue(conn, "gate.hold", "admin")
        await wait(dsn, later.job_id, timeout=30)


async def _goes_through(dsn: str, conn: Conn, probe: Pipeline[Input]) -> None:
    """Let tasks go the whole way: what was submitted before them, and could run, has been claimed."""
    job = await probe.submit_many(conn, [{}] * 10)
    assert (await wait(dsn, job.job_id, timeout=60)).done == 10


async def test_limits_hold(dsn: str, conn: Conn, setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task needs a start that the database has granted, and begins after its time; never more than two run at a
    time for a key."""
    pipeline: Pipeline[Input] = Pipeline("limited", dict)
    granted = _granted_starts(monkeypatch)
    starts: list[float] = []
    running = {"a": 0, "b": 0}
    most = {"a": 0, "b": 0}

    @pipeline.step(limits=[Limit("rate", rate=40, per=1), Limit("key", concurrency=2, key=lambda value: value["key"])])
    async def step(ctx: Context, value: Input) -> None:
        starts.append(time.time())
        key = value["key"]
        running[key] += 1
        most[key] = max(most[key], running[key])
        await asyncio.sleep(0.02)
        running[key] -= 1

    async with setup.working(dsn, pipeline, runners=2):
        job = await pipeline.submit_many(conn, [{"key": "ab"[n % 2]} for n in range(60)])
        assert (await wait(dsn, job.job_id, timeout=60)).done == 60
    assert all(count <= 2 for count in most.values())
    granted.sort()
    assert all(later - earlier > 1 / 40 - 1e-4 for earlier, later in pairwise(granted))
    # The server is on this machine and has its clock. The way through the broker only makes a start later.
    late = [start - at for start, at in zip(sorted(starts), granted, strict=False)]
    assert len(late) == 60
    assert min(late) > -0.005


def _granted_starts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times of the starts that the database grants, by its clock, as they come."""
    starts: list[float] = []
    take_tokens = limits.take_tokens

    async def taking(pool: Any, asks: Any, *args: Any) -> list[limits.TokenGrant]:
        grants = await take_tokens(pool, asks, *args)
        for ask, grant in zip(asks, grants, strict=True):
            starts.extend(grant.starts_at + n * ask.interval for n in range(grant.granted))
        return grants

    monkeypatch.setattr(limits, "take_tokens", taking)
    return starts


async def test_a_stop_lets_running_tasks_end_and_hands_the_rest_back(dsn: str, conn: Conn, setup: Setup) -> None:
    gate = Gate(concurrency=(2, 2))
    async with setup.working(dsn, gate.pipeline, grace_s=0.2):
        await gate.pipeline.submit_many(conn, [{"n": n} for n in range(20)])
        await gate.begun()
        await gate.begun()
    assert await conn.fetchval("select count(*) from forebay.lease") == 0
    assert await _rows(conn, "select coalesce(sum(last_n - first_n + 1), 0) from forebay.ready") == [(20,)]
    gate.go.set()
    async with setup.working(dsn, gate.pipeline):
        assert (await wait(dsn, 1, timeout=60)).done == 20
    assert await conn.fetchval("select max(attempt) from forebay.attempt where outcome = 'DONE'") == 1
