"""Workers that are killed, stopped, frozen and thawed: nothing is lost, nothing happens twice."""

# demands: S1-45, S1-63, S1-76, S1-85, S3-21, S3-82, S4-64, S4-80, S4-81, S4-83, S4-97, S5-08, X-02

from __future__ import annotations

import itertools
import os
import signal
from typing import TYPE_CHECKING, Any

from tests.crash._rig import Watch, WorkerProcess, Workers, assert_done_once, assert_effects, eventually, submit
from tests.crash._steps import letters, orders, slow

if TYPE_CHECKING:
    from pathlib import Path

_HOLDS = """select exists (select from forebay.lease l join forebay.worker w on w.id = l.worker_id
                           where w.name like '%:' || $1::int)"""
_LONG = "600"  # seconds of a lease that cannot run out during a test


async def _begun(gate: Path, count: int) -> set[int]:
    """Waits until so many attempts run at the gate; answers their tokens."""

    async def tokens() -> set[int] | None:
        names = [name for name in os.listdir(gate) if name != "open"]  # noqa: PTH208 - what a Path does blocks here
        return {int(name.partition("-")[2]) for name in names} if len(names) >= count else None

    found: set[int] = await eventually(f"{count} attempts began", tokens)
    return found


async def _holds_or_over(watch: Watch, worker: WorkerProcess, job: int) -> bool:
    """Waits until the worker is in the middle of something; False when there is nothing left to be in."""
    over = "select finished_at is not null from forebay.job where id = $1"

    async def answer() -> str | None:
        if await watch.one(over, job):
            return "over"
        return "holds" if await watch.one(_HOLDS, worker.pid) else None

    return bool(await eventually("the worker holds a lease", answer) == "holds")


async def test_workers_killed_again_and_again_lose_nothing(workers: Workers, watch: Watch) -> None:
    job = await submit(watch, orders, 5000)
    pair = [workers.start(claim_max="100"), workers.start(claim_max="100")]
    kills = 0
    for place in itertools.cycle((0, 1)):
        if kills == 8 or not await _holds_or_over(watch, pair[place], job):
            break
        pair[place].kill()
        pair[place] = workers.start(claim_max="100")
        kills += 1
    await watch.done([job])
    assert kills >= 4
    await workers.stop_all()
    await assert_done_once(watch, {job: 5000}, "weigh", "ship", effect="ship")
    lost = await watch.one("select count(*) from forebay.attempt where outcome = 'EXPIRED' and job_id = $1", job)
    assert lost > 0


async def test_all_workers_killed_at_once_and_the_rest_is_done_by_new_ones(workers: Workers, watch: Watch) -> None:
    job = await submit(watch, orders, 20_000)
    first = [workers.start(claim_max="50"), workers.start(claim_max="50")]
    assert any([await _holds_or_over(watch, worker, job) for worker in first])
    for worker in first:
        worker.kill()
    workers.start()
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 20_000}, "weigh", "ship", effect="ship")


async def test_sigterm_lets_running_steps_end_and_hands_the_rest_back(
    workers: Workers, watch: Watch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    job = await submit(watch, slow, 12, gate=gate)
    worker = await workers.start(lease_floor_s=_LONG).started()
    await _begun(gate, 4)
    worker.send(signal.SIGTERM)

    async def stopping() -> bool:
        return bool(worker.events("worker_stopping"))

    await eventually("the worker heard it", stopping)
    (gate / "open").touch()
    assert await worker.ended() == 0
    assert await watch.one("select count(*) from forebay.lease") == 0
    assert await watch.one("select count(*) from forebay.item where status = 'DONE'") == 4
    assert await watch.one("select count(*) from forebay.worker where stopped_at is not null") == 1
    workers.start(lease_floor_s=_LONG)
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 12}, "wait", effect="wait")
    assert await watch.one("select count(*) from forebay.attempt") == 12


async def test_sigterm_without_grace_hands_back_what_runs(workers: Workers, watch: Watch, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    job = await submit(watch, slow, 12, gate=gate)
    worker = await workers.start(lease_floor_s=_LONG, grace_s="0").started()
    await _begun(gate, 4)
    assert await worker.stop() == 0
    assert await watch.one("select count(*) from forebay.lease") == 0
    left = await watch.fetch("select sum(last_n - first_n + 1), max(attempt) from forebay.ready")
    assert tuple(left[0]) == (12, 0)
    (gate / "open").touch()
    workers.start(lease_floor_s=_LONG)
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 12}, "wait", effect="wait")


async def test_sigterm_in_the_middle_of_a_drain_leaves_no_lease(workers: Workers, watch: Watch) -> None:
    """A claim may be on its way when the signal comes; with long leases, what it took would be stuck."""
    job = await submit(watch, letters, 60_000)
    for _ in range(5):
        worker = await workers.start(lease_floor_s=_LONG).started()
        if not await _holds_or_over(watch, worker, job):
            break
        assert await worker.stop() == 0
        assert await watch.one("select count(*) from forebay.lease") == 0
    workers.start(lease_floor_s=_LONG)
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 60_000}, "write", "post")
    assert await watch.one("select count(*) from forebay.attempt where outcome = 'EXPIRED'") == 0


async def test_a_killed_worker_leaves_nothing_of_its_transactions(
    workers: Workers, watch: Watch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    job = await submit(watch, slow, 4, gate=gate)
    killed = workers.start()
    await _begun(gate, 4)
    killed.kill()
    (gate / "open").touch()
    workers.start()
    await watch.done([job])
    await workers.stop_all()
    await assert_done_once(watch, {job: 4}, "wait", effect="wait")


async def test_a_worker_that_wakes_after_its_lease_was_taken_changes_nothing(
    workers: Workers, watch: Watch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    job = await submit(watch, slow, 4, gate=gate)
    sleeper = await workers.start().started()
    first = await _begun(gate, 4)
    sleeper.send(signal.SIGSTOP)
    taker = await workers.start().started()
    second = await _begun(gate, 8) - first
    assert second
    (gate / "open").touch()
    await watch.done([job])
    await assert_effects(watch, [job], 4, "wait")
    before = await _contents(watch)
    sleeper.send(signal.SIGCONT)
    await watch.until(
        "its reports were counted as stale",
        "select stale = 4 from forebay.worker where name like '%:' || $1::int",
        sleeper.pid,
    )
    assert await _contents(watch) == before
    await assert_done_once(watch, {job: 4}, "wait", effect="wait")
    settled_by = await watch.fetch(
        "select distinct a.token, w.name from forebay.attempt a join forebay.worker w on w.id = a.worker_id "
        "where a.outcome = 'DONE'"
    )
    assert first.isdisjoint(row["token"] for row in settled_by)
    assert {row["name"].rpartition(":")[2] for row in settled_by} == {str(taker.pid)}
    assert sleeper.events("reports_stale")
    # It goes on as a worker like any other.
    await workers.all[1].stop()
    more = await submit(watch, orders, 10)
    await watch.done([more])
    await workers.stop_all()


async def _contents(watch: Watch) -> list[Any]:
    """Everything that a report could change."""
    tables = ("effects", "forebay.item", "forebay.attempt", "forebay.job", "forebay.ready", "forebay.lease")
    return [await watch.fetch(f"select t::text from {table} t order by 1") for table in tables]


async def test_workers_frozen_in_the_middle_of_a_drain_do_no_harm(workers: Workers, watch: Watch) -> None:
    """One may be frozen in the middle of a transaction: the others wait until the server has ended it."""
    job = await submit(watch, orders, 1000)
    frozen = await workers.start(claim_max="50", command_timeout_s="2").started()
    assert await _holds_or_over(watch, frozen, job)
    frozen.send(signal.SIGSTOP)
    workers.start()
    await watch.done([job])
    frozen.send(signal.SIGCONT)
    await watch.until("it lives again", _SEEN_LATELY, frozen.pid)
    await workers.stop_all()
    await assert_done_once(watch, {job: 1000}, "weigh", "ship", effect="ship")


_SEEN_LATELY = """select exists (select from forebay.worker w where w.name like '%:' || $1::int
                                 and w.seen_at > (select max(finished_at) from forebay.job))"""
