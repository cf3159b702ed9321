"""Limits without a key in a testbed: what they hold back is due when the clock says so, and nothing waits for ever."""

from __future__ import annotations

from datetime import timedelta

from forebay import Context, Limit, Pipeline
from forebay.testing import ManualClock, testbed


def _pipeline(limit: Limit) -> Pipeline[str]:
    made = Pipeline("limited", str)

    @made.step(limits=[limit])
    async def work(ctx: Context, value: str) -> str:
        return value

    return made


async def test_a_slot_that_another_worker_holds_is_waited_for(dsn: str) -> None:
    clock, made = ManualClock(), _pipeline(Limit("one at a time", concurrency=1))
    async with testbed(dsn, [made], clock=clock) as first, testbed(dsn, [made], clock=clock) as second:
        begun = clock.now()
        await first.submit(made, "a")
        await first.run()  # keeps its slot for the next task
        job = await second.submit(made, "b")
        await second.run()
        assert (await second.item(job)).status == "PENDING"
        await second.finish()
        assert (await second.item(job)).status == "DONE"
        assert clock.now() - begun <= timedelta(seconds=15)


async def test_slots_that_expired_while_the_clock_advanced_are_leased_again(dsn: str) -> None:
    clock, made = ManualClock(), _pipeline(Limit("one at a time", concurrency=1))
    async with testbed(dsn, [made], clock=clock) as bed:
        for value in "abc":
            job = await bed.submit(made, value)
            await bed.run()
            assert (await bed.item(job)).status == "DONE"
            clock.advance(3600)


async def test_a_rate_lets_one_start_after_the_other(dsn: str) -> None:
    clock, made = ManualClock(), _pipeline(Limit("one a minute", rate=1, per=60))
    async with testbed(dsn, [made], clock=clock) as bed:
        begun = clock.now()
        jobs = [await bed.submit(made, value) for value in "abc"]
        await bed.finish()
        assert [(await bed.item(job)).status for job in jobs] == ["DONE"] * 3
        assert timedelta(seconds=110) <= clock.now() - begun <= timedelta(seconds=240)
