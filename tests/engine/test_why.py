"""Why work waits: a real situation for each reason that does not need a running task."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pydantic.alias_generators import to_snake

from forebay import Context, Limit, Pipeline, Retry, Skip, Snooze, TransientError, Wait
from forebay.cli import _why_words
from forebay.engine.declare.resources import Resources, resource
from forebay.engine.limits.client import LimitClient
from forebay.engine.why import find
from forebay.engine.why.reason import CODES, Reason
from forebay.errors import ConfigError, NotFoundError, ResourceError, ThrottledError
from forebay.jobs import submit_stream
from forebay.resources import permitted
from forebay.settings import Settings
from forebay.testing import ManualClock, testbed
from forebay.types import JobSummary
from tests.engine._why import SAMPLED_AT, SAMPLES, asking, codes

orders: Pipeline[str] = Pipeline("orders", str)
HOST = Limit("host", rate=1, per=3600)


@resource
async def permits(given: Resources) -> AsyncGenerator[LimitClient]:
    yield given.limits


@orders.step(retry=Retry(attempts=4, base=60, jitter=False))
async def act(ctx: Context, order: str) -> str | Skip | Snooze | Wait:
    match order:
        case "fails":
            raise TransientError("the line is dead")
        case "throttled":
            raise ThrottledError("acme answered 429", retry_after=90)
        case "snoozes":
            return Snooze(45, "too early")
        case "waits":
            return Wait("paid", key="7", timeout=600)
        case "permitted":
            async with permitted(await ctx.get(permits), HOST):
                return ""
        case "full disk":
            raise ResourceError("no space left")
        case "unset":
            raise ConfigError("no key for acme")
        case _:
            return order


@orders.step(after=act)
async def report(ctx: Context, order: str, acted: str) -> str:
    return acted


@orders.after_all()
async def close(ctx: Context, job: JobSummary) -> int:
    return job.done


async def test_tasks_that_have_a_time(dsn: str, conn: asyncpg.Connection[Any]) -> None:
    ahead = ManualClock(datetime.now(UTC) + timedelta(hours=1))  # no item is submitted after its attempts
    async with asking(dsn, orders, clock=ahead) as ask:
        bed, start, submit = ask.bed, ask.bed.clock.now(), ask.bed.submit
        later = await submit(orders, "later", run_at=start + timedelta(hours=1))
        jobs = {kind: await submit(orders, kind) for kind in ("fails", "throttled", "snoozes", "waits")}
        first, second = await submit(orders, "permitted"), await submit(orders, "permitted")
        await bed.run()

        (reason, blocked) = await ask.item(later)
        assert (reason.code, reason.step, reason.until) == ("later", "act", start + timedelta(hours=1))
        assert (blocked.code, blocked.step, blocked.facts) == ("blocked_by_step", "report", {"needs": ["act"]})
        assert reason.actions == ("start_item", "cancel_item")

        reason = (await ask.item(jobs["fails"]))[0]
        assert (reason.code, reason.since, reason.until) == ("retry", start, start + timedelta(seconds=60))
        expected = {"attempt": 2, "max_attempts": 4, "reason": "the line is dead", "class": "transient"}
        assert reason.facts == expected
        assert ask.said == [
            "act: failed just now: the line is dead; it is tried again in 1 min (attempt 2 of 4).",
            "report: waits for act.",
        ]

        reason = (await ask.item(jobs["throttled"]))[0]
        assert (reason.code, reason.until) == ("throttled", start + timedelta(seconds=90))
        assert reason.facts["reason"] == "acme answered 429"

        reason = (await ask.item(jobs["snoozes"]))[0]
        assert (reason.code, reason.facts["reason"]) == ("snoozed", "too early")

        reason = (await ask.item(jobs["waits"]))[0]
        assert (reason.code, reason.until) == ("waits_for_signal", start + timedelta(seconds=600))
        assert (reason.facts, reason.actions) == ({"signal": "paid", "key": "7"}, ("send_signal", "cancel_item"))
        assert ask.said[0].startswith("act: waits for the signal paid with key 7, at most until ")

        (reached,) = [job for job in (first, second) if (await ask.item(job)) != []]
        reason = (await ask.item(reached))[0]
        assert (reason.code, reason.facts["reason"]) == ("limit_reached", "limit host is reached")

        # For a job of one item, the job's reasons are those of the item, and those of its own steps.
        assert codes(await ask.job(later)) == ["later", "blocked_by_items"]
        (reason,) = await ask.item(later, 0)
        assert (reason.code, reason.step) == ("blocked_by_items", "close")
        assert reason.facts == {"left": 1, "items": 1, "sealed": True}
        with pytest.raises(NotFoundError, match=f"there is no item 2 in job {later.job_id}"):
            await ask.item(later, 2)
        with pytest.raises(NotFoundError, match="there is no job 4711"):
            await ask.item(4711)
        assert await ask.item(first if reached is second else second) == []
        answer = await find.of_item(conn, jobs["snoozes"].job_id, 1, now=start + timedelta(seconds=46))
        assert codes(answer.reasons) == ["snoozed", "due", "blocked_by_step"]
        assert (answer.reasons[1].since, answer.reasons[1].facts) == (start + timedelta(seconds=45), {"leader": True})
    answer = await find.of_item(conn, jobs["fails"].job_id, 1, now=start + timedelta(minutes=2))
    assert codes(answer.reasons) == ["no_worker", "retry", "due", "blocked_by_step"]
    assert (answer.status, answer.reasons[2].facts) == ("PENDING", {"leader": False})


async def test_somebody_has_paused_it(dsn: str) -> None:
    async with asking(dsn, orders) as ask:
        job = await ask.bed.submit(orders, "fine")
        other = await ask.bed.submit(orders, "waits")
        await ask.bed.run()
        held = await ask.bed.submit(orders, "fine")
        await ask.call("select forebay.pause_item($1, 1, 'ada')", held.job_id)
        await ask.call("select forebay.pause_item($1, 1, 'ada')", other.job_id)
        assert await ask.item(job) == []
        (reason, _) = await ask.item(held)
        assert (reason.code, reason.facts, reason.actions) == (
            "item_held",
            {"by": "ada"},
            ("resume_item", "cancel_item"),
        )
        assert codes(await ask.item(other)) == ["item_held", "waits_for_signal", "blocked_by_step"]

        paused = await ask.bed.submit(orders, "fine")
        await ask.call("select forebay.pause($1, 'ben')", paused.job_id)
        await ask.call("select forebay.pause_queue('orders.act', 'root')")
        reasons = await ask.item(paused)
        assert codes(reasons) == ["job_paused", "queue_paused", "blocked_by_step"]
        assert ask.said[0] == "the job was paused by ben just now. `forebay resume 1` resumes it."
        assert (reasons[0].facts, reasons[0].actions) == ({"by": "ben"}, ("resume_job", "cancel_job"))
        assert reasons[1].facts == {"queue": "orders.act", "by": "root"}
        assert codes(await ask.job(paused)) == ["job_paused", "queue_paused", "blocked_by_items"]
        (reason,) = await ask.queue("orders.act")
        assert (reason.code, reason.actions, reason.since is not None) == ("queue_paused", ("resume_queue",), True)
        assert await ask.queue("orders.report") == []
        with pytest.raises(NotFoundError, match=r"there is no queue 'orders\.nothing'"):
            await ask.queue("orders.nothing")


async def test_a_queue_is_parked_and_a_machine_is_full(dsn: str) -> None:
    async with asking(dsn, orders) as ask:
        job = await ask.bed.submit(orders, "full disk")
        worker = ask.bed.worker
        await ask.claim(lambda: worker._claimer.is_held)
        worker._claimer.hold(60)  # it must not end before it is asked about, however busy this machine is
        await worker._settler.drained()
        await ask.report()
        reason = next(reason for reason in await ask.item(job) if reason.code == "machine_busy")
        assert (reason.facts["workers"], reason.facts["share"]) == (1, 1.0)
        assert 0 < reason.facts["held_seconds"] <= 60
        assert "machine_busy" in codes(await ask.queue("orders.act"))

        worker._claimer.hold(0)
        worker._machine.observe(late=0.0, load=12.0, free=0.5)
        await ask.report()
        (reason, _) = await ask.item(job)
        expected = {"share": 0.25, "load": 12.0, "free_memory": 0.5, "lag_ms": 0.0, "held_seconds": 0.0, "workers": 1}
        assert (reason.code, reason.facts) == ("machine_busy", expected)
        worker._machine.observe(late=0.0, load=0.0, free=1.0)
        await ask.call("select forebay.cancel($1)", job.job_id)

        job = await ask.bed.submit(orders, "unset")
        # It is parked a moment before its outcome is sent.
        await ask.claim(lambda: "orders.act" in worker._parking.parked and not worker._claimer._leases)
        reason = (await ask.item(job))[0]
        assert (reason.code, reason.facts) == ("parked", {"queue": "orders.act", "reason": "no key for acme"})
        assert ask.said[0] == "act: queue orders.act is parked: no key for acme; it is tried again in 30 s."
        assert reason.until is not None


async def test_places_in_line(dsn: str) -> None:
    async with asking(dsn, orders) as ask:
        bed = ask.bed
        first = await bed.submit(orders, "1", owner="ann")
        assert codes(await ask.item(first)) == ["unknown", "blocked_by_step"], "only nobody has claimed it yet"
        second = await bed.submit(orders, "2", owner="ann")
        urgent = await orders.submit_many(bed.pool, ["3"] * 5, owner="ben", priority=5)
        await bed.submit(orders, "4", owner="cem")
        (reason, behind, _) = await ask.item(second)
        assert (reason.code, reason.facts) == ("outranked", {"higher": 5, "higher_exact": True, "priority": 0})
        expected = {"ahead": 1, "ahead_exact": True, "share": 0.5, "owners": 1, "priority": 0}
        assert (behind.code, behind.facts) == ("behind", expected)
        assert ask.said[:2] == [
            "act: comes after 5 tasks of a higher priority than 0.",
            "act: is in line behind 1 task of the same owner, who gets 50% beside 1 other owner.",
        ]
        (reason,) = [reason for reason in await ask.item(urgent, 5) if reason.code == "behind"]
        assert (reason.facts["ahead"], reason.facts["owners"], reason.facts["share"]) == (4, 0, 1.0)
        (reason, blocked) = await ask.job(urgent)
        assert (reason.code, reason.facts["tasks"], reason.facts["item"]) == ("behind", 5, "5")
        assert blocked.code == "blocked_by_items"
        await bed.run()
        third = await bed.submit(orders, "5", owner="ann")
        fourth = await bed.submit(orders, "6", owner="ann")
        assert codes(await ask.item(third)) == ["unknown", "blocked_by_step"]
        await bed.worker.report_status()  # how long a task takes is known now
        assert (await ask.item(fourth))[0].facts["seconds"] >= 0


async def test_no_worker_runs_the_step_or_the_version(dsn: str) -> None:
    clock, before, after = ManualClock(), Pipeline("pages", str), Pipeline("pages", str)

    @before.step()
    async def fetch(ctx: Context, page: str) -> str:
        return page

    @before.step(after=fetch)
    async def parse(ctx: Context, page: str, text: str) -> str:
        return text

    @after.step(name="fetch")
    async def fetch_now(ctx: Context, page: str) -> str:
        return page

    @after.step(after=fetch_now)
    async def clean(ctx: Context, page: str, text: str) -> str:
        return text

    @after.step(name="parse", after=clean)
    async def parse_now(ctx: Context, page: str, text: str) -> str:
        return text

    only = Settings(queues="pages.fetch")
    async with asking(dsn, before, clock=clock, settings=only) as ask:
        job = await ask.bed.submit(before, "a")
        await ask.bed.run()
        (reason,) = await ask.item(job)
        assert (reason.code, reason.step, reason.facts) == (
            "no_worker",
            "parse",
            {"queue": "pages.parse", "workers": 1},
        )
        assert reason.actions == ("kickoff",)
        assert codes(await ask.queue("pages.parse")) == ["no_worker"]
        assert await ask.queue("pages.fetch") == []
    async with testbed(dsn, [after], clock=clock, migrated=True) as bed, bed.pool.acquire() as conn:
        (reason,) = (await find.of_item(conn, job.job_id, 1, now=clock.now())).reasons
        assert (reason.code, reason.step, reason.facts["version"]) == ("version_unserved", "parse", 1)


async def test_a_worker_takes_nothing(dsn: str) -> None:
    async with asking(dsn, orders) as ask:
        job = await ask.bed.submit(orders, "fine")
        await ask.bed.worker.report_status()
        await ask.call("update forebay.worker set started_at = now() - interval '1 hour'")
        await ask.call("update forebay.job set updated_at = now() - interval '6 minutes'")
        (reason, _) = await ask.item(job)
        assert (reason.code, reason.facts["worker"].count(":")) == ("stuck", 1)


async def test_a_stream_is_still_being_read(dsn: str) -> None:
    seen: list[list[str]] = []
    async with asking(dsn, orders) as ask:

        async def source() -> AsyncGenerator[str]:
            for n in range(100):
                yield f"row {n}"
                if n == 90:  # the first batch is committed
                    job_id = await ask.call("select max(id) from forebay.job")
                    await ask.bed.run()
                    async with ask.bed.pool.acquire() as conn:
                        reasons = (await find.of_job(conn, job_id, now=ask.bed.clock.now())).reasons
                    seen.append(codes(reasons))
                    assert reasons[-1].facts["items"] >= 64

        await submit_stream(dsn, orders, source(), key="s")
    assert seen == [["blocked_by_items", "filling"]]


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_reason_in_words(sample: dict[str, Any]) -> None:
    def moment(name: str) -> datetime | None:
        return None if sample[name] is None else datetime.fromisoformat(sample[name])

    facts = {to_snake(name): fact for name, fact in sample["facts"].items()}
    reason = Reason(sample["code"], sample["step"], moment("since"), moment("until"), facts)
    assert _why_words.sentence(reason, SAMPLED_AT, job=7) == sample["cli"]


def test_every_code_has_a_situation_and_words() -> None:
    assert tuple(SAMPLES) == CODES
    tests = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("test_why*.py"))
    assert [code for code in CODES if f'"{code}"' not in tests] == []
    assert tuple(_why_words.WORDS) == CODES
