"""Tasks of one key run one at a time, in the order of their submission, whatever happens around them.

Every operation runs in a transaction of its own, which may stay open beside others and be rolled back. After every rule
the committed rows are checked: no key has two tasks in leases, and each open task is in one place. Whenever a task is
claimed, all tasks of its key that were submitted before it have ended. In the end everything ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from forebay.engine.db import order, registry, tasks
from tests.properties._machine import (
    CONNECTIONS,
    LEASE_S,
    TransactionMachine,
    When,
    drive,
    picks,
    report,
    stays_open,
    unless_refused,
)
from tests.properties._transactions import Transactions

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Connection

Place = tuple[int, int]  # a job and an item

_TABLES = (
    "attempt", "dead_letter", "item", "job", "lane", "lease", "ready", "scheduled", "tally", "ordered_task",
    "busy_lane", "audit", "version_step", "step", "pipeline_version", "pipeline", "queue",
)  # fmt: skip

endings = st.lists(
    st.sampled_from(("done", "done", "done", "skip", "retry", "error", "error item", "snooze")), min_size=1, max_size=4
)

_TASKS = """
select i.job_id, i.n, o.name as owner, i.input ->> 'k' as key, j.state,
       i.status = 'PENDING' and (i.done | i.dead) & s.bit = 0 as is_open,
       (select count(*) from forebay.ready r
        where r.step_id = s.id and r.job_id = i.job_id and i.n between r.first_n and r.last_n) as ready,
       (select count(*) from forebay.scheduled r
        where r.step_id = s.id and r.job_id = i.job_id and i.n between r.first_n and r.last_n) as scheduled,
       (select count(*) from forebay.lease l
        where l.step_id = s.id and l.job_id = i.job_id and l.ns @> i.n) as leased,
       exists (select from forebay.ordered_task t
               where t.job_id = i.job_id and t.n = i.n and t.bit = s.bit) as has_place
from forebay.item i join forebay.owner o on o.id = i.owner_id join forebay.job j on j.id = i.job_id
join forebay.step s on s.name = 'sorted' order by 1, 2
"""


@dataclass
class Submission:
    """When its transaction began and was committed, in the order of the test."""

    began: int
    committed: int


@dataclass
class Worker:
    id: int
    hands: dict[tuple[int, int], tasks.Lease] = field(default_factory=dict[tuple[int, int], "tasks.Lease"])
    busy: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])


when: When[OrderMachine] = When()


class OrderMachine(TransactionMachine):
    """The rules."""

    def __init__(self) -> None:
        super().__init__()
        self.moments = count(1)
        self.workers: list[Worker] = []
        self.ids = count(1)
        self.jobs: dict[int, Submission] = {}
        self.reopened: set[int] = set()  # jobs of which items ran again: these have no order among the others
        self.without_place: set[Place] = set()  # items that were paused before their key was known
        self.steps: dict[str, int] = {}

    @initialize()
    def begin(self) -> None:
        self._clear(_TABLES)
        options = {"after": [], "optional": False, "after_all": False, "max_attempts": 3, "max_expiries": 3}
        steps = [
            {"name": "sorted", "queue": "sorted", "ordered": True} | options,
            {"name": "beside", "queue": "beside"} | options,
        ]
        definition = {"name": "p", "steps": steps}
        version = self.transactions.run(registry.register(self.transactions.watcher, definition, self.now))
        self.steps = version.steps
        self.workers = [Worker(next(self.ids)) for _ in range(2)]

    # -- submit, order, claim, settle ---------------------------------------------------------------------------------

    @rule(
        keys=st.lists(st.sampled_from(("x", "x", "y", None)), min_size=1, max_size=4),
        owner=st.sampled_from(("ann", "ann", "ben")),
        priority=st.sampled_from((0, 0, 5)),
        stays=stays_open,
    )
    @when(lambda self: len(self.jobs) < 8)
    def submit(self, keys: list[str | None], owner: str, priority: int, stays: bool) -> None:
        now, began = self.tick(), next(self.moments)
        inputs = [json.dumps({"k": key}) for key in keys]
        sql = "select job_id from forebay.submit_many('p', $1::text[]::jsonb[], $2, priority => $3, now => $4)"

        def committed(job_id: int) -> None:
            self.jobs[job_id] = Submission(began, next(self.moments))

        self._run("submit", lambda conn: conn.fetchval(sql, inputs, owner, priority, now), committed, stays=stays)

    @rule(quota=st.sampled_from((1, 2, 100)), stays=stays_open)
    def order(self, quota: int, stays: bool) -> None:
        self._order(quota, stays=stays)

    def _order(self, quota: int = 1000, *, stays: bool = False) -> None:
        now = self.tick()

        async def put_in_order(conn: Connection) -> None:
            rows = await conn.fetch(
                """select distinct r.step_id, r.lane_id from forebay.ready r join forebay.lane l on l.id = r.lane_id
                   where r.step_id = $1 and l.limit_name = ''""",
                self.steps["sorted"],
            )
            states = await order.lock(conn, [(row["step_id"], row["lane_id"]) for row in rows])
            pairs = [pair for pair, state in states.items() if state == "locked"]
            taken = await order.take_unordered(conn, pairs, quota, with_meta=False)
            keys = [json.loads(task.input)["k"] if task.input else None for task in taken]
            await order.order_tasks(conn, taken, keys, now)

        self._run("order", put_in_order, stays=stays)

    @rule(pick=picks, quota=st.sampled_from((1, 2, 100)), stays=stays_open)
    def claim(self, pick: int, quota: int, stays: bool) -> None:
        self._claim(self.workers[pick % len(self.workers)], quota, stays=stays)

    def _claim(self, worker: Worker, quota: int = 1000, *, stays: bool = False) -> None:
        now, steps = self.tick(), list(self.steps.values())

        async def claim(conn: Connection) -> list[tasks.Lease]:
            lanes = await conn.fetch("select * from forebay.discover($1, $2)", steps, now)
            wanted = [tasks.Claim(row["step_id"], row["lane_id"], 0, quota, 100) for row in lanes]
            return await tasks.claim(conn, worker.id, wanted, steps, LEASE_S, now)

        def committed(leases: list[tasks.Lease]) -> None:
            for lease in leases:
                for n in range(lease.first_n, lease.last_n + 1):
                    worker.hands[lease.token, n] = lease
            self._check_order({(e.job_id, n) for e in leases if e.step_id == self.steps["sorted"] for n in e.ns})

        self._run("claim", claim, committed, stays=stays)

    def _check_order(self, claimed: set[Place]) -> None:
        """No earlier task of the same key is open, unless it runs again, or was paused before its key was known."""
        rows = self.transactions.fetch(_TASKS)
        for task in rows:
            place = (task["job_id"], task["n"])
            if place not in claimed or task["key"] is None or not task["leased"]:
                continue
            for other in rows:
                earlier = (other["job_id"], other["n"])
                if (
                    (other["owner"], other["key"]) == (task["owner"], task["key"])
                    and other["is_open"]
                    and other["state"] != "CANCELLED"
                    and earlier[0] not in self.reopened
                    and earlier not in self.without_place
                    and self._is_before(earlier, place)
                ):
                    raise AssertionError(f"{place} was claimed before {earlier}: {rows}")

    def _is_before(self, a: Place, b: Place) -> bool:
        if a[0] == b[0]:
            return a[1] < b[1]
        return self.jobs[a[0]].committed < self.jobs[b[0]].began

    @rule(pick=picks, kinds=endings, size=st.sampled_from((1, 3, 100)), stays=stays_open)
    def settle(self, pick: int, kinds: list[str], size: int, stays: bool) -> None:
        self._settle(self.workers[pick % len(self.workers)], kinds, size, stays=stays)

    def _settle(self, worker: Worker, kinds: list[str], size: int = 1000, *, stays: bool = False) -> None:
        now, reports = self.tick(), tasks.Reports()
        chosen: dict[tuple[int, int], Place] = {}
        for hand in sorted(worker.hands.keys() - worker.busy):
            place = (worker.hands[hand].job_id, hand[1])
            if len(chosen) < size and place not in chosen.values():
                chosen[hand] = place
                _report(reports, hand, kinds[len(chosen) % len(kinds)])
        if not chosen:
            return
        worker.busy |= chosen.keys()

        def committed(_: tasks.Settled) -> None:
            for hand in chosen:
                worker.hands.pop(hand, None)

        def ended() -> None:
            worker.busy -= chosen.keys()

        self._run("settle", lambda conn: tasks.settle(conn, worker.id, reports, now), committed, ended, stays=stays)

    @rule(pick=picks, kinds=endings)
    def work(self, pick: int, kinds: list[str]) -> None:
        """A worker puts in order what it finds, claims what it can, and ends it."""
        worker = self.workers[pick % len(self.workers)]
        self._order()
        self._claim(worker)
        self._settle(worker, kinds)

    @rule(pick=picks)
    def crash(self, pick: int) -> None:
        """A worker is lost with what it has."""
        self.workers[pick % len(self.workers)] = Worker(next(self.ids))

    # -- operators and the sweep --------------------------------------------------------------------------------------

    @rule(pick=picks, what=st.sampled_from(("cancel", "pause", "resume", "reprocess")), stays=stays_open)
    @when(lambda self: self.jobs)
    def change_job(self, pick: int, what: str, stays: bool) -> None:
        job_id, now = sorted(self.jobs)[pick % len(self.jobs)], self.tick()
        if what == "reprocess":
            self.reopened.add(job_id)
            sql = "select forebay.reprocess($1, '{ERROR,SKIPPED,DONE}', now => $2)"
        else:
            sql = f"select forebay.{what}($1, now => $2)"
        self._run(what, lambda conn: unless_refused(conn, sql, job_id, now), stays=stays)

    @rule(pick=picks, n=st.integers(1, 4), what=st.sampled_from(("cancel", "pause", "resume")), stays=stays_open)
    @when(lambda self: self.jobs)
    def change_item(self, pick: int, n: int, what: str, stays: bool) -> None:
        job_id, now = sorted(self.jobs)[pick % len(self.jobs)], self.tick()
        sql = f"select forebay.{what}_item($1, $2, now => $3)"

        def committed(_: None) -> None:
            for task in self.transactions.fetch(_TASKS):
                if task["scheduled"] and not task["has_place"]:
                    self.without_place.add((task["job_id"], task["n"]))

        self._run(f"{what} item", lambda conn: unless_refused(conn, sql, job_id, n, now), committed, stays=stays)

    @rule(seconds=st.sampled_from((1.0, 61.0)), stays=stays_open)
    def sweep(self, seconds: float, stays: bool) -> None:
        now = self.tick(seconds)
        for sql in ("expire($1)", "promote($1)", "reap_cancelled($1)", "sweep_order(0, 0, $1)"):
            self._run(sql, partial(_call, sql=sql, now=now), stays=stays)

    @invariant()
    def agrees(self) -> None:
        held: dict[tuple[str, str], int] = {}
        for task in self.transactions.fetch(_TASKS):
            if task["key"] is not None:
                key = (task["owner"], task["key"])
                held[key] = held.get(key, 0) + task["leased"]
            if task["is_open"] and task["state"] != "CANCELLED":
                assert task["ready"] + task["scheduled"] + task["leased"] == 1, task
        assert all(number <= 1 for number in held.values()), held

    def teardown(self) -> None:
        if not self.steps:
            return
        self._end_all()
        for row in self.transactions.fetch("select id from forebay.job where state = 'PAUSED' order by id"):
            self.transactions.execute("select forebay.resume($1)", row["id"])
        for row in self.transactions.fetch(
            "select distinct s.job_id, s.first_n from forebay.scheduled s where s.run_at = 'infinity' order by 1, 2"
        ):
            self.transactions.run(
                unless_refused(
                    self.transactions.watcher, "select forebay.resume_item($1, $2)", row["job_id"], row["first_n"]
                )
            )
        self.workers = [Worker(next(self.ids))]
        for _ in range(60):
            if not self.transactions.fetch("select from forebay.job where finished_at is null"):
                break
            self.sweep(61.0, stays=False)
            self.work(0, ["done"])
        left = self.transactions.fetch("select id from forebay.job where finished_at is null")
        assert not left, f"not at an end: {self.transactions.fetch(_TASKS)}"
        assert not self.transactions.fetch("select from forebay.ordered_task"), "keys are left"


async def _call(conn: Connection, sql: str, now: datetime) -> None:
    await conn.fetch(f"select * from forebay.{sql}", now)


def _report(reports: tasks.Reports, hand: tuple[int, int], kind: str) -> None:
    again = {"retry": 30.0, "snooze": 5.0}.get(kind)
    outcome = {"done": None, "skip": "SKIPPED", "snooze": "SNOOZED"}.get(kind, "ERROR")
    report(reports, hand, outcome, again=again, ends_item=kind == "error item")


def _drive(dsn: str, examples: int, steps: int) -> None:
    with Transactions(dsn, CONNECTIONS) as transactions:
        drive(OrderMachine, examples=examples, steps=steps, transactions=transactions)


def test_tasks_of_a_key_run_one_at_a_time_in_order(dsn: str) -> None:
    _drive(dsn, examples=15, steps=40)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_tasks_of_a_key_run_one_at_a_time_in_order_for_long(dsn: str) -> None:
    _drive(dsn, examples=2000, steps=80)
