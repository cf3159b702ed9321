"""A pipeline changes while its jobs run: workers of several releases start, stop and crash.

Every operation of the engine runs in a transaction of its own, which may stay open beside others and be rolled back.
After every rule the committed rows are checked: each open item has the tasks that the version of its job wants, each
once; a step never runs before its parents; nothing is done twice. Limits with keys send tasks to other lanes. In the
end workers of one release finish everything.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
import pytest
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from forebay.engine.db import registry, tasks
from tests.properties._committed import Committed, StepRow, check, look
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
from tests.properties._releases import CHANGES, FIRST, PIPELINE, Change, Graph, Step, definition
from tests.properties._transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.db.pool import Connection

ADOPT_AFTER_S = 60.0
LONG_S = 315_360_000.0
_TABLES = (
    "attempt", "dead_letter", "item", "job", "lane", "lease", "ready", "scheduled", "tally", "worker", "waiting",
    "kept_signal", "child_change", "busy_lane", "audit", "version_step", "step", "pipeline_version", "pipeline",
    "queue",
)  # fmt: skip

endings = st.lists(
    st.sampled_from(("done", "done", "done", "skip", "retry", "error", "error item", "snooze", "wait", "map")),
    min_size=1,
    max_size=4,
)


@dataclass
class Worker:
    """A process of one release."""

    id: int
    graph: Graph
    version: int
    steps: dict[int, Step]  # by the id of their row
    hands: dict[tuple[int, int], Hand] = field(default_factory=dict[tuple[int, int], "Hand"])  # by token and n
    busy: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])  # those that a settle has


@dataclass(frozen=True)
class Hand:
    """A task that a worker has."""

    lease: tasks.Lease
    n: int
    step: Step
    result_name: str  # of the step in the version of the job


when: When[VersionsMachine] = When()


class VersionsMachine(TransactionMachine):
    """The rules."""

    def __init__(self) -> None:
        super().__init__()
        self.releases: list[Graph] = [FIRST]
        self.bits: dict[str, int] = {}  # of steps, by their id
        self.workers: list[Worker] = []
        self.reopened: Counter[int] = Counter()
        self.results: set[tuple[int, int, str]] = set()  # job, n, id of the step
        self.waited: set[tuple[int, int, int]] = set()
        self.done_by: dict[tuple[int, int], list[StepRow]] = {}  # the version in which an item has ended
        self.seen: Committed

    @initialize(size=st.integers(1, 4), changes=st.lists(st.tuples(picks, st.sampled_from(CHANGES)), max_size=3))
    def begin(self, size: int, changes: list[tuple[int, Change]]) -> None:
        """A job of the first release, in which some releases have followed since."""
        self._clear(_TABLES)
        self._start(0, stays=False)
        self._submit(size, stays=False)
        for pick, change in changes:
            self._start(self._release(self.releases[-1], pick, change), stays=False)
        self.agrees()

    # -- releases and workers -----------------------------------------------------------------------------------------

    @rule(pick=picks, change=st.sampled_from(CHANGES), old=st.sampled_from((False, False, True)), stays=stays_open)
    @when(lambda self: len(self.releases) < 10)
    def deploy(self, pick: int, change: Change, old: bool, stays: bool) -> None:
        """A release changes the newest one, or an old one, and its first worker starts."""
        base = self.releases[pick % len(self.releases)] if old else self.releases[-1]
        self._start(self._release(base, pick, change), stays=stays)

    def _release(self, base: Graph, pick: int, change: Change) -> int:
        graph = change(base, pick % len(base), f"s{len(self.releases)}")
        if graph not in self.releases:
            self.releases.append(graph)
        return self.releases.index(graph)

    @rule(pick=picks, stays=stays_open)
    @when(lambda self: len(self.workers) < 6)
    def start(self, pick: int, stays: bool) -> None:
        """A worker of any release starts, or starts again."""
        self._start(pick % len(self.releases), stays=stays)

    def _start(self, release: int, *, stays: bool) -> None:
        graph, now = self.releases[release], self.tick()

        async def register(conn: Connection) -> tuple[registry.RegisteredVersion, int]:
            version = await registry.register(conn, definition(graph), now)
            found = await registry.register_worker(
                conn, "w", now, versions=[version.id], steps=list(version.steps.values())
            )
            return version, found

        def committed(answer: tuple[registry.RegisteredVersion, int]) -> None:
            version, worker = answer
            steps = {version.steps[step.name]: step for step in graph}
            self.workers.append(Worker(worker, graph, version.id, steps))
            self._check_bits(version.id, graph)

        self._run(f"start of release {release}", register, committed, stays=stays)

    def _check_bits(self, version: int, graph: Graph) -> None:
        """A step has one bit in all versions, and no other step has it."""
        rows = self.transactions.fetch("select name, bit from forebay.version_step where version_id = $1", version)
        names = {row["name"]: row["bit"] for row in rows}
        for step in graph:
            assert self.bits.setdefault(step.id, names[step.name]) == names[step.name], f"{step} has another bit"
        assert len(set(self.bits.values())) == len(self.bits), f"two steps have one bit: {self.bits}"

    @rule(pick=picks, crash=st.booleans())
    @when(lambda self: len(self.workers) > 1)
    def stop(self, pick: int, crash: bool) -> None:
        """A worker stops, and gives back what it has; or it is lost."""
        worker, now = self.workers.pop(pick % len(self.workers)), self.tick()
        if crash:
            return
        tokens = sorted({token for token, _ in worker.hands})

        async def leave(conn: Connection) -> None:
            await conn.fetchval("select forebay.release($1, $2, $3)", worker.id, tokens, now)
            await conn.execute("update forebay.worker set stopped_at = $2 where id = $1", worker.id, now)

        self._run("stop", leave)

    # -- submit, claim, settle ----------------------------------------------------------------------------------------

    @rule(size=st.sampled_from((1, 2, 3, 8)), stays=stays_open)
    @when(lambda self: sum(not job.finished for job in self.seen.jobs.values()) < 5)
    def submit(self, size: int, stays: bool) -> None:
        self._submit(size, stays=stays)

    def _submit(self, size: int, *, stays: bool) -> None:
        now = self.tick()
        sql = "select * from forebay.submit_many($1, array_fill('{}'::jsonb, array[$2::int]), 'ann', now => $3)"
        self._run("submit", lambda conn: conn.fetchrow(sql, PIPELINE, size, now), stays=stays)

    @rule(pick=picks, quota=st.sampled_from((1, 2, 100)), rows=st.sampled_from((2, 100)), stays=stays_open)
    @when(lambda self: self.workers)
    def claim(self, pick: int, quota: int, rows: int, stays: bool) -> None:
        self._claim(self.workers[pick % len(self.workers)], quota, rows, stays=stays)

    def _claim(self, worker: Worker, quota: int, rows: int, *, stays: bool) -> None:
        now = self.tick()

        async def claim(conn: Connection) -> tuple[list[tasks.Lease], list[asyncpg.Record]]:
            lanes = await conn.fetch("select * from forebay.discover($1, $2)", list(worker.steps), now)
            wanted = [tasks.Claim(row["step_id"], row["lane_id"], 0, quota, rows) for row in lanes]
            leases = await tasks.claim(conn, worker.id, wanted, list(worker.steps), LEASE_S, now)
            names = await conn.fetch(
                """select s.version_id, k.name as here, s.name as there
                   from forebay.version_step s join forebay.version_step k on k.bit = s.bit and k.version_id = $2
                   where s.version_id = any($1)""",
                [lease.version_id for lease in leases],
                worker.version,
            )
            return leases, names

        def committed(answer: tuple[list[tasks.Lease], list[asyncpg.Record]]) -> None:
            leases, rows = answer
            names = {(row["version_id"], row["here"]): row["there"] for row in rows}
            self._take(worker, leases, names)

        self._run("claim", claim, committed, stays=stays)

    def _take(self, worker: Worker, leases: Sequence[tasks.Lease], names: dict[tuple[int, str], str]) -> None:
        seen = look(self.transactions)
        for lease in leases:
            step = worker.steps[lease.step_id]
            for n, result in zip(lease.ns, lease.results or (), strict=True):
                self._check_parents(worker, seen, lease, n, names, json.loads(result or "{}"))
                own_name = names[lease.version_id, step.name]
                worker.hands[lease.token, n] = Hand(lease, n, step, own_name)

    def _check_parents(
        self,
        worker: Worker,
        seen: Committed,
        lease: tasks.Lease,
        n: int,
        names: dict[tuple[int, str], str],
        given: dict[str, int],
    ) -> None:
        """All that the function of this worker comes after has ended, and it gets what they returned."""
        item = seen.items[lease.job_id, n]
        if item.status != "PENDING":
            return
        step = worker.steps[lease.step_id]
        for parent in (s for s in worker.graph if s.id in step.after):
            assert item.done & self.bits[parent.id], f"{step} runs before {parent}"
            if (lease.job_id, n, parent.id) in self.results:
                assert names[lease.version_id, parent.name] in given, f"{step} gets no result of {parent}: {given}"

    @rule(pick=picks, kinds=endings, size=st.sampled_from((1, 3, 100)), hold=st.booleans(), stays=stays_open)
    @when(lambda self: any(w.hands.keys() - w.busy for w in self.workers))
    def settle(self, pick: int, kinds: list[str], size: int, hold: bool, stays: bool) -> None:
        having = [w for w in self.workers if w.hands.keys() - w.busy]
        worker = having[pick % len(having)]
        self._settle(worker, kinds, size, hold=hold, stays=stays)

    @rule(pick=picks, kinds=endings)
    @when(lambda self: self.workers)
    def work(self, pick: int, kinds: list[str]) -> None:
        """A worker claims what it can and ends it."""
        worker = self.workers[pick % len(self.workers)]
        self._claim(worker, 100, 100, stays=False)
        self._settle(worker, kinds, 100, hold=False, stays=False)

    @rule(
        pick=picks,
        keys=st.lists(st.sampled_from((("host", "a"), ("host", "b"), ("", ""))), min_size=1, max_size=3),
        size=st.sampled_from((1, 3, 100)),
        stays=stays_open,
    )
    @when(lambda self: any(w.hands.keys() - w.busy for w in self.workers))
    def hold_back(self, pick: int, keys: list[tuple[str, str]], size: int, stays: bool) -> None:
        """Limits do not admit tasks of a worker: they wait in the lanes of their keys, or return to their own."""
        having = [w for w in self.workers if w.hands.keys() - w.busy]
        worker, now = having[pick % len(having)], self.tick()
        chosen = _chosen(worker, size)
        held_back = [(hand.lease, hand.n, *keys[hand.n % len(keys)]) for hand in chosen.values()]
        worker.busy |= chosen.keys()

        def committed(_: list[tasks.Woken]) -> None:
            for place in chosen:
                del worker.hands[place]

        self._run(
            "hold back",
            lambda conn: tasks.wait_for_limits(conn, worker.id, held_back, now),
            committed,
            lambda: worker.busy.difference_update(chosen),
            stays=stays,
        )

    def _settle(self, worker: Worker, kinds: list[str], size: int, *, hold: bool, stays: bool) -> None:
        now, reports, chosen = self.tick(), tasks.Reports(), _chosen(worker, size)
        writes: list[_Write] = []
        for number, (place, hand) in enumerate(chosen.items()):
            kind = self._ending(hand, kinds[number % len(kinds)], now)
            _report(reports, hand, kind)
            writes += [(place, *write) for write in self._wait_writes(hand, kind, now)]
        if not chosen:
            return
        worker.busy |= chosen.keys()
        saved = set[tuple[int, int]]()

        async def settle(conn: Connection) -> tasks.Settled | None:
            try:
                async with conn.transaction():
                    if hold or writes:
                        saved.update(await _write(conn, reports, writes))
                    return await tasks.settle(conn, worker.id, reports, now)
            except asyncpg.SerializationError:  # somebody changes a job whose task maps: the worker settles again
                return None

        def committed(answer: tasks.Settled | None) -> None:
            if answer is None:
                return
            assert answer.settled + len(answer.stale) == len(reports.tokens)
            if hold:
                assert not saved & set(answer.stale)
            for place, hand in chosen.items():
                del worker.hands[place]
                self._note_result(hand)

        self._run("settle", settle, committed, lambda: worker.busy.difference_update(chosen), stays=stays)

    def _note_result(self, hand: Hand) -> None:
        item = look(self.transactions).items[hand.lease.job_id, hand.n]
        if hand.result_name in json.loads(item.result):
            self.results.add((hand.lease.job_id, hand.n, hand.step.id))

    def _ending(self, hand: Hand, kind: str, now: datetime) -> str:
        """How a task ends: one that has mapped ends when its children have; there are not too many jobs."""
        task = (hand.lease.job_id, hand.n, hand.lease.step_id)
        found = self.transactions.run(tasks.read_wait(self.transactions.watcher, *task, now))
        if found is not None and found.children is not None:
            self.waited.add(task)
            return "done" if found.children.is_over else "await"
        is_crowded = sum(not job.finished for job in self.seen.jobs.values()) >= 8
        return "done" if kind == "map" and is_crowded else kind

    def _wait_writes(self, hand: Hand, kind: str, now: datetime) -> list[tuple[str, tuple[Any, ...]]]:
        task = (hand.lease.job_id, hand.n, hand.lease.step_id)
        if kind == "wait":
            self.waited.add(task)
            return [("select forebay.await_signal($1, $2, $3, 'go', $4, 600, $5)", (*task, str(hand.n % 2), now))]
        if kind == "map":
            sql = "select forebay.map_inputs($1, $2, $3, $4, array_fill('{}'::jsonb, array[$5::int]), null, $6)"
            return [(sql, (*task, PIPELINE, 1 + hand.n % 2, now))]
        if kind == "await":
            return [("select forebay.await_children($1, $2, $3, $4)", (*task, now))]
        return [("select forebay.end_wait($1, $2, $3)", task)] if task in self.waited else []

    # -- time, sweeps, people -----------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from((1, 31, 61, 61, 700)), beats=st.sampled_from((True, True, False)))
    def advance(self, seconds: int, beats: bool) -> None:
        """Time passes; workers that are not frozen meanwhile renew their leases."""
        now = self.tick(seconds)
        if beats:
            self._beat(now)

    def _beat(self, now: datetime) -> None:
        for worker in self.workers:
            tokens = sorted({token for token, _ in worker.hands})
            self.transactions.run(
                tasks.renew_leases(self.transactions.watcher, worker.id, tokens, [LEASE_S] * len(tokens), now)
            )

    @rule(
        kind=st.sampled_from(
            ("promote", "expire", "adopt", "adopt", "adopt", "reap", "repair", "signals", "children", "tidy")
        ),
        stays=stays_open,
    )
    def sweep(self, kind: str, stays: bool) -> None:
        self._sweep(kind, stays=stays)

    def _sweep(self, kind: str, *, stays: bool = False) -> None:
        now = self.tick()
        statements = {
            "promote": "select moved from forebay.promote($1)",
            "expire": "select leases from forebay.expire($1)",
            "adopt": f"select forebay.adopt_jobs($1, interval '{ADOPT_AFTER_S} seconds')",
            "reap": "select forebay.reap_cancelled($1)",
            "repair": "select forebay.repair_stranded($1)",
            "signals": "select forebay.sweep_signals($1)",
            "children": "select forebay.sweep_children($1)",
            "tidy": "select forebay.tidy_lanes($1)",
        }
        self._run(kind, lambda conn: conn.fetchval(statements[kind], now), stays=stays)

    @rule(pick=picks, newest=st.booleans())
    def replace_all(self, pick: int, newest: bool) -> None:
        """All workers are replaced by one of the newest release, or of any; the jobs of the others go on by that."""
        self._end_all()
        while self.workers:
            self._stop_last()
        self._start(-1 if newest else pick % len(self.releases), stays=False)
        self._beat(self.tick())
        self._sweep("adopt")
        self._beat(self.tick(61))
        self._sweep("expire")
        self._sweep("adopt")

    def _stop_last(self) -> None:
        worker, now = self.workers.pop(), self.tick()
        self.transactions.execute("update forebay.worker set stopped_at = $2 where id = $1", worker.id, now)

    @rule(
        pick=picks, n=st.integers(0, 2), stays=stays_open,
        verb=st.sampled_from(
            (
                "pause", "resume", "resume", "cancel", "reprocess", "reprocess", "pause_item", "resume_item",
                "cancel_item",
            )
        ),
    )  # fmt: skip
    @when(lambda self: self.seen.jobs)
    def control(self, pick: int, n: int, verb: str, stays: bool) -> None:
        job = sorted(self.seen.jobs)[pick % len(self.seen.jobs)]
        now, args = self.tick(), list[Any]([job, n] if verb.endswith("_item") else [job])
        if verb == "reprocess":
            args.append(["DONE", "ERROR", "SKIPPED", "NOT_FOUND"])
        slots = ", ".join(f"${k}" for k in range(1, len(args) + 1))

        sql = f"select forebay.{verb}({slots}, now => ${len(args) + 1})"

        def committed(answer: Any) -> None:
            if verb == "reprocess" and answer:
                self.reopened[job] += 1
                self.results = {place for place in self.results if place[0] != job}

        self._run(verb, lambda conn: unless_refused(conn, sql, *args, now), committed, stays=stays)

    @rule(key=st.sampled_from(("0", "1")), stays=stays_open)
    def signal(self, key: str, stays: bool) -> None:
        now = self.tick()
        sql = "select forebay.signal('go', $1, owner => 'ann', now => $2)"
        self._run("signal", lambda conn: conn.fetchval(sql, key, now), stays=stays)

    # -- what must always be true -------------------------------------------------------------------------------------

    @invariant()
    def agrees(self) -> None:
        self.seen = look(self.transactions)
        check(self.seen, self.reopened)
        done = {place: item for place, item in self.seen.items.items() if item.status == "DONE"}
        self.done_by = {
            place: self.done_by.get(place, self.seen.versions[self.seen.jobs[item.job].version])
            for place, item in done.items()
        }

    # -- the end ------------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        """Workers of one release finish everything."""
        if not hasattr(self, "seen") or sys.exc_info()[0] is not None:  # it has failed already
            return
        self._end_all()
        while self.workers:
            self._stop_last()
        self.tick(601)  # lost workers may come back for ten minutes: until then, a known release stays behind theirs
        self._start(-1, stays=False)
        self._resume_everything()
        for _ in range(60):
            self._finish_a_round()
            self.agrees()
            if all(job.finished for job in self.seen.jobs.values()):
                break
        self._check_the_end()

    def _resume_everything(self) -> None:
        for job in self.seen.jobs.values():
            if job.state == "PAUSED":
                self.transactions.execute("select forebay.resume($1, now => $2)", job.id, self.tick())
        held = self.transactions.fetch(
            """select i.job_id, i.n from forebay.scheduled s
               join forebay.item i on i.job_id = s.job_id and i.n between s.first_n and s.last_n
               where s.run_at = 'infinity' and i.status = 'PENDING'"""
        )
        for job, n in sorted({(row["job_id"], row["n"]) for row in held}):
            self.transactions.execute("select forebay.resume_item($1, $2, now => $3)", job, n, self.tick())

    def _finish_a_round(self) -> None:
        self._beat(self.tick(61))
        for kind in ("expire", "promote", "reap", "signals", "children", "adopt"):
            self._sweep(kind)
        (worker,) = self.workers
        self._claim(worker, 1000, 1000, stays=False)
        while worker.hands:
            self._settle(worker, ["done"], 1000, hold=False, stays=False)
        self.tick(600)

    def _check_the_end(self) -> None:
        assert all(job.finished for job in self.seen.jobs.values()), f"not at an end: {self.seen.tasks}"
        for place, steps in self.done_by.items():
            item = self.seen.items[place]
            left = [s.name for s in steps if s.after_all == (item.n == 0) and not s.bit & item.done]
            assert left == [], f"{item} is DONE without {left}"
        note(
            f"{len(self.releases)} releases, {len(self.seen.jobs)} jobs, {sum(self.seen.successes.values())} successes"
        )


_Write: TypeAlias = tuple[tuple[int, int], str, tuple[Any, ...]]  # token and n, the statement, its arguments


async def _write(conn: Connection, reports: tasks.Reports, writes: list[_Write]) -> set[tuple[int, int]]:
    """Writes what the tasks that will be saved have to write; returns these tasks."""
    saved = await tasks.hold(conn, reports.tokens, reports.ns)
    for place, sql, args in writes:
        if place in saved:
            await conn.execute(sql, *args)
    return saved


def _chosen(worker: Worker, size: int) -> dict[tuple[int, int], Hand]:
    """Some tasks that a worker has, at most one of each item."""
    by_item: dict[tuple[int, int], tuple[tuple[int, int], Hand]] = {}
    for place in sorted(worker.hands.keys() - worker.busy):
        hand = worker.hands[place]
        by_item.setdefault((hand.lease.job_id, hand.n), (place, hand))
    return dict(list(by_item.values())[:size])


_LATER = ("snooze", "wait", "map", "await")


def _report(reports: tasks.Reports, hand: Hand, kind: str) -> None:
    """The end of a task as a worker reports it."""
    again = {"retry": 30.0, "snooze": 5.0, "wait": 600.0, "map": LONG_S, "await": LONG_S}.get(kind)
    outcome = {"done": None, "skip": "SKIPPED"}.get(kind, "SNOOZED" if kind in _LATER else "ERROR")
    result = json.dumps({hand.result_name: hand.lease.token}) if kind == "done" else None
    place = (hand.lease.token, hand.n)
    report(reports, place, outcome, result=result, again=again, ends_item=kind == "error item")


def _drive(dsn: str, examples: int, steps: int) -> None:
    with Transactions(dsn, CONNECTIONS) as transactions:
        drive(VersionsMachine, examples=examples, steps=steps, transactions=transactions)


def test_jobs_survive_every_change_of_their_pipeline(dsn: str) -> None:
    _drive(dsn, examples=20, steps=40)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_jobs_survive_every_change_of_their_pipeline_for_long(dsn: str) -> None:
    _drive(dsn, examples=2000, steps=80)
