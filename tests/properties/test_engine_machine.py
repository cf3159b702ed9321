"""A state machine drives the real engine on a real database against a model: nothing lost, nothing settled twice.

Several simulated workers claim, settle, crash and come back late; people pause, cancel and reprocess; the clock jumps.
After every rule, all that is in the database is compared with what the model says.
"""

# demands: S1-85, S3-47, S3-82, S3-83, S3-84, S4-28, S4-29, S4-72, S4-90

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.properties._bench import Bench, Picture, stamp
from tests.properties._checks import check, check_histories
from tests.properties._machine import LEASE_S, When, drive, picks
from tests.properties._model import Model
from tests.properties._records import (
    MISSING,
    PENDING,
    SHAPE,
    SHAPES,
    Item,
    Job,
    Refused,
    Report,
    Shape,
    Task,
    Wanted,
    WorkerRow,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.db.tasks import Settled
    from tests.properties._records import Settling

SECOND = 1_000_000
DAY = 86_400 * SECOND
START = 1_893_499_200 * SECOND  # 2030-01-01 12:00 UTC
QUEUES = ("fast", "slow")
STEPS = tuple(s.name for shape in SHAPES for s in shape.steps)

shapes = st.sampled_from([*(shape.name for shape in SHAPES), "gather"])
owners = st.sampled_from(("ann", "ben"))
keys = st.sampled_from((None, None, "k", "l"))
delays = st.sampled_from((None, None, None, 5 * SECOND, 600 * SECOND))
quotas = st.sampled_from((1, 2, 3, 5, 700))
row_limits = st.sampled_from((1, 2, 100, 100))
step_sets = st.one_of(st.none(), st.lists(st.sampled_from(STEPS), min_size=1, max_size=3, unique=True))  # none: all
endings = st.lists(
    st.sampled_from(
        (
            "done", "done", "done", "skip", "skip item", "not found", "look again", "retry", "error", "error item",
            "snooze", "snooze 0", "throttled", "cancel", "released",
        )
    ),
    min_size=1,
    max_size=4,
)  # fmt: skip
status_sets = st.sampled_from(
    (("ERROR", "NOT_FOUND"), ("ERROR",), ("SKIPPED",), ("DONE",), ("DONE", "SKIPPED", "NOT_FOUND", "ERROR"))
)


@dataclass
class Hand:
    """What a worker believes to hold: a lease as it was claimed, and what it has reported of it."""

    token: int
    job: int
    step: str
    attempt: int
    open: list[int]
    reported: list[int] = field(default_factory=list[int])


@dataclass
class Worker:
    id: int
    hands: dict[int, Hand] = field(default_factory=dict[int, Hand])
    past: list[Hand] = field(default_factory=list[Hand])  # of which nothing is open any more, or that it gave up


def ending(kind: str, token: int, n: int, now: int) -> Report:
    """A report as the worker would make it."""
    soon = now + 30 * SECOND
    made = {
        "done": Report(token, n, result=token),
        "skip": Report(token, n, "SKIPPED"),
        "skip item": Report(token, n, "SKIPPED", ends_item=True),
        "not found": Report(token, n, "NOT_FOUND", error_class="not_found"),
        "look again": Report(token, n, "NOT_FOUND", again_at=soon, error_class="not_found"),
        "retry": Report(token, n, "ERROR", again_at=soon, error_class="transient"),
        "error": Report(token, n, "ERROR", error_class="data"),
        "error item": Report(token, n, "ERROR", ends_item=True, error_class="permanent"),
        "snooze": Report(token, n, "SNOOZED", again_at=soon + 570 * SECOND, spent=False),
        "snooze 0": Report(token, n, "SNOOZED", again_at=now, spent=False),
        "throttled": Report(token, n, "THROTTLED", again_at=soon, spent=False, error_class="throttled"),
        "cancel": Report(token, n, "CANCELLED", ends_item=True),
        "released": Report(token, n, "RELEASED", again_at=now, spent=False, error_class="config"),
        "void": Report(token, n, "CANCELLED", ends_item=True),
    }
    return made[kind]


when: When[EngineMachine] = When()


class EngineMachine(RuleBasedStateMachine):
    """The rules; `bench` is the database of the test."""

    bench: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.now = START
        self.values = 0
        self.workers: list[Worker] = []
        self.seen: Picture

    @initialize(workers=st.integers(1, 3), first=st.lists(st.tuples(shapes, st.integers(1, 4)), min_size=1, max_size=4))
    def begin(self, workers: int, first: list[tuple[str, int]]) -> None:
        self.bench.clear()
        for number in range(workers):
            self._enlist(f"w{number}")
        for shape, size in first:
            self._submit_many(SHAPE[shape], "ann", None, None, 0, [None] * size)
        self.look()

    def _enlist(self, name: str) -> None:
        worker = Worker(self.bench.enlist(name, self.now))
        self.model.workers[worker.id] = WorkerRow(self.now)
        self.workers.append(worker)

    @property
    def open_jobs(self) -> int:
        return sum(job.finished_at is None for job in self.model.jobs.values())

    def tick(self) -> int:
        """Every rule has a moment of its own."""
        self.now += 1000
        return self.now

    # -- submit -------------------------------------------------------------------------------------------------------

    @rule(name=shapes, owner=owners, key=keys, delay=delays, merge=st.booleans())
    @when(lambda self: self.open_jobs < 6)
    def submit_one(self, name: str, owner: str, key: str | None, delay: int | None, merge: bool) -> None:
        if merge:  # few enough for keys to meet
            name, owner, key = "fork" if name in ("fork", "soft", "chain") else "solo", "ann", "k"
        now, value, shape = self.tick(), self._value(), SHAPE[name]
        run_at = None if delay is None else now + delay
        answer = self.bench.submit(shape, value, now, run_at, owner=owner, key=key, coalesce=merge)
        if merge and key is not None:
            older = self.model.replaceable(shape, owner, key)
            if older is not None:
                assert answer == (older.id, False)
                self.model.replace(older, value, run_at, now)
                return
        elif (known := self.model.keyed(shape, owner, key)) is not None:
            assert answer == (known.id, False)
            return
        assert answer[1]
        self._submitted(Job(answer[0], shape, owner, 1, {1: Item(1, value)}, key, merge), run_at)

    @rule(
        name=shapes, owner=owners, key=keys, delay=delays, priority=st.sampled_from((0, 0, 5)),
        names=st.one_of(
            st.sampled_from((0, 2, 2, 3, 3, 6, 6, 6, 1200)).map(lambda size: [None] * size),
            st.lists(st.sampled_from((None, "a", "b", "c")), max_size=6),
        ),
    )  # fmt: skip
    @when(lambda self: self.open_jobs < 6)
    def submit_many(
        self, name: str, owner: str, key: str | None, delay: int | None, priority: int, names: list[str | None]
    ) -> None:
        if len(names) > 1000:
            if any(job.total > 1000 for job in self.model.jobs.values()):
                names = names[:3]  # one large job is enough
            name = "chain" if name == "chain" else "solo"
        self._submit_many(SHAPE[name], owner, key, delay, priority, names)

    def _submit_many(
        self, shape: Shape, owner: str, key: str | None, delay: int | None, priority: int, names: list[str | None]
    ) -> None:
        now = self.tick()
        run_at = None if delay is None else now + delay
        values = [self._value() for _ in names]
        item_keys = names if any(names) else None
        answer = self.bench.submit_many(
            shape, values, now, run_at, owner=owner, key=key, priority=priority, keys=item_keys
        )
        if (known := self.model.keyed(shape, owner, key)) is not None:
            assert answer == (known.id, False, known.total)
            return
        kept = [v for place, v in enumerate(values) if names[place] is None or names[place] not in names[:place]]
        assert answer[1:] == (True, len(kept))
        items = {n: Item(n, v) for n, v in enumerate(kept, 1)}
        self._submitted(Job(answer[0], shape, owner, len(kept), items, key), run_at)

    @rule(name=shapes, sizes=st.tuples(st.integers(0, 3), st.integers(0, 2)), more=st.booleans())
    @when(lambda self: self.open_jobs < 6)
    def stream(self, name: str, sizes: tuple[int, int], more: bool) -> None:
        """Items that come batch by batch, some of them broken; when nothing more comes the job is sealed."""
        self._stream(name, sizes, more)

    def _stream(self, name: str, sizes: tuple[int, int], more: bool) -> None:
        now = self.tick()
        job = next((j for j in self.model.jobs.values() if not j.sealed), None)
        if job is None:
            job = Job(self.bench.open_stream(SHAPE[name], "ben", now), SHAPE[name], "ben", 0, {}, sealed=False)
            self._submitted(job, None)
        if not more:
            assert self.bench.fetch("select forebay.seal($1, $2, $3)", job.id, job.total, stamp(now)) == (
                self.model.seal(job, now)
            )
        elif any(sizes):
            values = [self._value() for _ in range(sum(sizes))]
            assert self.bench.append(job.id, job.total, values, sizes[1], now) == job.total + len(values)
            self.model.append(job, values, sizes[1], now)

    def _value(self) -> int:
        self.values += 1
        return self.values

    def _submitted(self, job: Job, run_at: int | None) -> None:
        assert job.id not in self.model.jobs
        self.model.submit(job, run_at, self.now)

    # -- claim and settle ---------------------------------------------------------------------------------------------

    @rule(pick=picks, steps=step_sets, quota=quotas, rows=row_limits, skip=st.sampled_from((0, 0, 0, 1)))
    @when(lambda self: self.seen.ready)
    def claim(self, pick: int, steps: Sequence[str] | None, quota: int, rows: int, skip: int) -> None:
        self._claim(self._worker(pick), steps or STEPS, quota, rows, skip)

    @rule(pick=picks, kinds=endings)
    @when(lambda self: self.seen.ready)
    def work_on_all(self, pick: int, kinds: list[str]) -> None:
        """A whole round: what is due, what is ready."""
        self._promote()
        self._reap()
        self.look()
        self.work(pick, None, kinds, 700)

    @rule(pick=picks, steps=step_sets, kinds=endings, quota=quotas)
    @when(lambda self: self.seen.ready)
    def work(self, pick: int, steps: Sequence[str] | None, kinds: list[str], quota: int) -> None:
        """Claim, and end all of it in one settle."""
        worker = self._worker(pick)
        hands = self._claim(worker, steps or STEPS, quota, 100, 0)
        self._settle_hands(worker, hands, kinds)

    @rule(pick=picks, rounds=st.integers(1, 5), kinds=endings)
    def rush(self, pick: int, rounds: int, kinds: list[str]) -> None:
        """Some good rounds, and one as it comes: gets jobs to where they end."""
        for _ in range(rounds):
            self.work_on_all(pick, ["done"])
        self.work_on_all(pick, kinds)

    @rule(pick=picks, kinds=endings, size=st.sampled_from((1, 2, 1000)), late=st.sampled_from((False, False, True)))
    @when(lambda self: any(w.hands or w.past for w in self.workers))
    def settle(self, pick: int, kinds: list[str], size: int, late: bool) -> None:
        """Settle some of what a worker holds, or believes to hold."""
        busy = [w for w in self.workers if w.hands]
        if late or not busy:
            self._settle_late(pick, kinds)
            return
        worker = busy[pick % len(busy)]
        hands = sorted(worker.hands.values(), key=lambda h: h.token)
        offset = pick % len(hands)
        self._settle_hands(worker, hands[offset:] + hands[:offset], kinds, size)

    def _settle_late(self, pick: int, kinds: list[str]) -> None:
        """Report what was reported already, which is stale; or, after having been given up, perhaps in time."""
        late = [(w, h) for w in self.workers for h in w.past]
        if not late:
            return
        worker, hand = late[pick % len(late)]
        if hand.open:
            self._settle_hands(worker, [hand], kinds)
        else:
            n = hand.reported[pick % len(hand.reported)]
            report = ending(kinds[0], hand.token, n, self.tick())
            assert self._settle(worker, [report], {hand.token: hand.step}) == 0

    @rule(pick=picks, name=shapes, late=st.sampled_from((False, False, True)))
    @when(lambda self: self.open_jobs < 6)
    def submit_from_a_step(self, pick: int, name: str, late: bool) -> None:
        """A task ends and submits a job in one transaction: not if its report is stale, or its item has ended."""
        held = [(w, h) for w in self.workers for h in (w.past if late else w.hands.values())]
        if not held:
            return
        worker, hand = held[pick % len(held)]
        n, now, value = (hand.open or hand.reported)[0], self.tick(), self._value()
        report, lease = ending("done", hand.token, n, now), self.model.leases.get(hand.token)
        is_held = lease is not None and n in lease.ns
        parent = self.model.jobs[hand.job] if is_held else None
        is_saved = parent is not None and parent.items[n].status == PENDING
        owner = "ann" if parent is None else parent.owner
        expected = self.model.settle(worker.id, [report], now)
        new = (SHAPE[name], value, owner)
        answer, made = self.bench.settle_and_submit(worker.id, report, hand.step, new, now)
        self._check_settled(answer, expected)
        assert len(made) == is_saved
        for job_id in made:
            self._submitted(Job(job_id, SHAPE[name], owner, 1, {1: Item(1, value)}), None)
        if n in hand.open:
            hand.open.remove(n)
            hand.reported.append(n)
        if not hand.open and hand.token in worker.hands:
            worker.past.append(worker.hands.pop(hand.token))

    @rule(pick=picks, what=st.sampled_from(("heartbeat", "release", "crash", "steal")))
    @when(lambda self: any(w.hands for w in self.workers))
    def hold(self, pick: int, what: str) -> None:
        """Renew, give back, or forget what a worker holds; another worker has no say."""
        busy = [w for w in self.workers if w.hands]
        worker, now = busy[pick % len(busy)], self.tick()
        tokens = sorted(worker.hands)[: 1 + pick % 3]
        if what == "heartbeat":
            renewed = self.bench.heartbeat(worker.id, tokens, LEASE_S, now)
            assert renewed == self.model.heartbeat(worker.id, tokens, int(LEASE_S * SECOND), now)
            for token in set(tokens) - renewed.keys():
                worker.past.append(worker.hands.pop(token))
        elif what == "release":
            released = self.model.release(worker.id, tokens, now)
            assert self.bench.release(worker.id, tokens, now) == released
            worker.past += [worker.hands.pop(token) for token in tokens]
        elif what == "crash":
            worker.past += worker.hands.values()
            worker.hands.clear()
        else:
            assert self.bench.heartbeat(0, tokens, LEASE_S, now) == {}
            assert self.bench.release(0, tokens, now) == 0

    def _worker(self, pick: int) -> Worker:
        return self.workers[pick % len(self.workers)]

    def _claim(self, worker: Worker, steps: Sequence[str], quota: int, rows: int, skip: int) -> list[Hand]:
        """Claims from all lanes of these steps; `skip` puts the watermark behind so many of each lane's runs."""
        now = self.tick()
        discovered = set(self.bench.lanes(steps, now))
        open_lanes = {lane for lane, (_, _, paused) in self.seen.lanes.items() if not paused}
        found = {(r.step, r.lane) for r in self.seen.ready if r.step in steps and r.lane in open_lanes}
        for name in steps:
            lanes, all_lanes = ({lane for s, lane in pairs if s == name} for pairs in (discovered, found))
            assert len(lanes) == self.model.discoverable(name, len(all_lanes), now)
            assert lanes <= all_lanes
        wanted = [Wanted(s, lane, self._head(s, lane, skip), quota, rows) for s, lane in sorted(found)]
        leases = self.bench.claim(worker.id, wanted, LEASE_S, now)
        expected = self.model.predict(wanted, self.seen.ready, open_lanes, now)
        got = {(self.bench.step(e.step_id), e.job_id, e.first_n, e.last_n): e for e in leases}
        assert got.keys() == {(r.step, r.job, r.first, end) for r, end in expected.taken}
        ordered = [got[r.step, r.job, r.first, end] for r, end in expected.taken]
        hands = []
        for (run, end), lease in zip(expected.taken, ordered, strict=True):
            assert (lease.lane_id, lease.seq) == (run.lane, run.seq)
            assert (lease.attempt, lease.rest) == (run.attempt + 1, run.last - end)
            self._check_inputs(lease)
            hands.append(Hand(lease.token, run.job, run.step, lease.attempt, list(range(run.first, end + 1))))
        self.model.claimed(expected, [e.token for e in ordered], worker.id, now, now + int(LEASE_S * SECOND))
        worker.hands |= {hand.token: hand for hand in hands}
        return hands

    def _head(self, step: str, lane: int, skip: int) -> int:
        seqs = sorted(r.seq for r in self.seen.ready if (r.step, r.lane) == (step, lane))
        return seqs[skip - 1] if 0 < skip <= len(seqs) else 0

    def _check_inputs(self, lease: Any) -> None:
        items = self.model.jobs[lease.job_id].items
        still_open = [n for n in range(lease.first_n, lease.last_n + 1) if items[n].status == PENDING]
        assert sorted(lease.ns) == still_open
        for n, text, result in zip(lease.ns, lease.inputs, lease.results or (), strict=True):
            assert n == 0 or text == str(items[n].input)
            assert (result is None) == (not items[n].result)

    def _settle_hands(self, worker: Worker, hands: Sequence[Hand], kinds: list[str], size: int = 1000) -> None:
        now = self.tick()
        reports: dict[tuple[int, int], Report] = {}
        for hand in hands:
            job = self.model.jobs.get(hand.job)
            for n in list(hand.open):
                if len(reports) >= size or (hand.job, n) in reports:
                    continue  # at most one report an item
                gone = job is None or job.items[n].status != PENDING
                kind = "void" if gone and kinds[0] == "done" else kinds[len(reports) % len(kinds)]
                reports[hand.job, n] = ending(kind, hand.token, n, now)
                hand.open.remove(n)
                hand.reported.append(n)
        for hand in hands:
            if not hand.open and hand.token in worker.hands:
                worker.past.append(worker.hands.pop(hand.token))
        if reports:
            self._settle(worker, list(reports.values()), {h.token: h.step for h in hands})

    def _settle(self, worker: Worker, reports: Sequence[Report], step_of: dict[int, str]) -> int:
        expected = self.model.settle(worker.id, reports, self.now)
        answer = self.bench.settle(worker.id, reports, step_of, self.now)
        self._check_settled(answer, expected)
        return answer.settled

    def _check_settled(self, answer: Settled, expected: Settling) -> None:
        assert (answer.settled, sorted(answer.stale)) == (expected.settled, expected.stale)
        assert set(answer.finished_jobs) == expected.finished
        assert {self.bench.step(step) for step, _, _ in answer.woken} == {step for _, step in expected.woken}

    # -- time and sweeps ----------------------------------------------------------------------------------------------

    @rule(
        seconds=st.sampled_from((0, 0, 0, 1, 31, 61, 61, 700, 7200, 31 * 86_400)),
        sweep=st.sampled_from(("promote", "expire", "expire", "reap", "reap", "tidy", "delete", "lose lane", "none")),
    )
    def advance(self, seconds: int, sweep: str) -> None:
        """Time passes, and a sweep comes by."""
        self.now += seconds * SECOND
        sweeps = {
            "promote": self._promote,
            "expire": self._expire,
            "reap": self._reap,
            "tidy": self._tidy,
            "delete": self._delete,
            "lose lane": self._lose_lane,
        }
        if sweep in sweeps:
            sweeps[sweep]()

    def _promote(self) -> None:
        now = self.tick()
        due = [s for s in self.look().scheduled if s.run_at is not None and s.run_at <= now]
        self.model.promote(now)
        assert self.bench.promote(now) == len(due)

    def _expire(self) -> None:
        now = self.tick()
        expected = self.model.expire(now)
        assert self.bench.expire(now) == expected

    def _ask_for_nothing(self) -> None:
        """A job that was deleted, or never was."""
        gone = min(self.model.deleted, default=10**6)
        for verb in ("pause", "resume", "cancel", "reprocess"):
            assert self.bench.verb(verb, self.now, gone) == MISSING

    def _reap(self) -> None:
        now = self.tick()
        expected = self.model.reap_cancelled(now)
        assert self.bench.reap_cancelled(now) == expected

    def _tidy(self) -> None:
        now = self.tick()
        self.bench.tidy(now)
        self.model.close_workers(now, 300 * SECOND, 30 * DAY)

    def _delete(self) -> None:
        now = self.tick()
        self._ask_for_nothing()
        assert self.bench.delete_finished(now, 30) == self.model.delete_finished(now - 30 * DAY)

    def _lose_lane(self) -> None:
        """An owner's lane is gone, as earlier releases left it; the sweep gives its ready runs another."""
        used = {r.lane for runs in (self.seen.leases.values(), self.seen.scheduled) for r in runs}
        idle = [lane for lane, (_, job, _) in self.seen.lanes.items() if job == 0 and lane not in used]
        if idle:
            self.bench.fetch("delete from forebay.lane where id = $1", min(idle))
            self._tidy()

    # -- people -------------------------------------------------------------------------------------------------------

    @rule(
        pick=picks,
        verb=st.sampled_from(("pause", "resume", "cancel", "pause_item", "resume_item", "cancel_item", "queue")),
        n=st.sampled_from((1, 1, 2, 0, 4)),
        queue=st.sampled_from(QUEUES),
        queue_verb=st.sampled_from(("pause", "resume", "resume", "park", "unpark", "unpark")),
    )
    @when(lambda self: self.model.jobs)
    def control(self, pick: int, verb: str, n: int, queue: str, queue_verb: str) -> None:
        """What people do, to a job, an item, or a queue."""
        if verb == "queue":
            self._control_queue(queue, queue_verb)
            return
        job_id, n = self._target(verb, pick, n)
        now = self.tick()
        args: list[Any] = [job_id, n] if verb.endswith("_item") else [job_id]
        if verb in ("cancel", "cancel_item"):
            args.append(now)
        if verb == "cancel":
            args.append(self._in_own_lane(job_id))
        expected: bool | Refused = getattr(self.model, verb)(*args)
        assert self.bench.verb(verb, now, *args[: 1 + verb.endswith("_item")]) == expected

    def _in_own_lane(self, job_id: int) -> list[Task]:
        runs = [r for r in self.seen.ready if r.job == job_id and self.seen.lanes[r.lane][1] == job_id]
        return [Task(job_id, n, r.step) for r in runs for n in range(r.first, r.last + 1)]

    def _target(self, verb: str, pick: int, n: int) -> tuple[int, int]:
        """A job and an item to which the verb applies, if there is one; now and then any."""
        model = self.model
        if pick % 8 == 0:
            return sorted(model.jobs)[pick % len(model.jobs)], n
        places = {
            "pause": [(j.id, n) for j in model.jobs.values() if j.state in ("QUEUED", "RUNNING")],
            "resume": [(j.id, n) for j in model.jobs.values() if j.state == "PAUSED"],
            "cancel": [(j.id, n) for j in model.jobs.values() if j.finished_at is None and j.state != "CANCELLED"],
            "pause_item": [(t.job, t.n) for t, p in model.places.items() if p.kind in ("ready", "scheduled")],
            "resume_item": [(t.job, t.n) for t, p in model.places.items() if p.kind == "held"],
            "cancel_item": [(t.job, t.n) for t in model.places],
        }[verb]
        found = sorted(set(places)) or [(job_id, n) for job_id in sorted(model.jobs)]
        return found[pick % len(found)]

    @rule(
        pick=picks, statuses=status_sets, reset=st.booleans(),
        ns=st.one_of(st.none(), st.none(), st.none(), st.lists(st.integers(0, 4), max_size=3)),
    )  # fmt: skip
    @when(lambda self: any(j.open < j.total for j in self.model.jobs.values()))
    def reprocess(self, pick: int, statuses: tuple[str, ...], reset: bool, ns: list[int] | None) -> None:
        some_ended = sorted(j.id for j in self.model.jobs.values() if j.open < j.total)
        job_id, now = some_ended[pick % len(some_ended)], self.tick()
        there = {i.status for i in self.model.jobs[job_id].items.values() if i.n > 0} - {PENDING}
        if not there & set(statuses) and pick % 4:
            statuses = tuple(sorted(there))
        expected = self.model.reprocess(job_id, statuses, ns, now, reset=reset)
        assert self.bench.verb("reprocess", now, job_id, list(statuses), ns, reset) == expected

    def _control_queue(self, queue: str, verb: str) -> None:
        now = self.tick()
        if verb in ("park", "unpark"):
            reason = "no key" if verb == "park" else None
            self.model.park_queue(queue, reason, now + 30 * SECOND)
            self.bench.park(queue, reason, 30, now)
        else:
            verb += "_queue"
            assert self.bench.verb(verb, now, queue) == self.model.switch_queue(verb, queue)

    # -- what must always be true -------------------------------------------------------------------------------------

    def look(self) -> Picture:
        self.seen = self.bench.look(self.now)
        check_histories(self.seen, self.model)
        return self.seen

    @invariant()
    def agrees(self) -> None:
        check(self.look(), self.model)

    # -- the end ------------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        """Everything is let go, and ends: exactly once."""
        if hasattr(self, "seen") and sys.exc_info()[0] is None:  # else it has failed already
            self._let_everything_go()
            self._drain()
            self._check_the_end()

    def _let_everything_go(self) -> None:
        for queue in QUEUES:
            self._control_queue(queue, "unpark")
            self._control_queue(queue, "resume")
        for job in list(self.model.jobs.values()):
            if not job.sealed:
                self._stream(job.shape.name, (0, 0), more=False)
            if job.state == "PAUSED":
                assert self.bench.verb("resume", self.tick(), job.id) is self.model.resume(job.id) is True
        for task in [t for t, p in self.model.places.items() if p.kind == "held"]:
            job = self.model.jobs[task.job]
            if job.items[task.n].status == PENDING:
                answer = self.model.resume_item(*task[:2])
                assert self.bench.verb("resume_item", self.tick(), *task[:2]) is answer
        self.agrees()

    def _drain(self) -> None:
        """Workers that do their work bring everything to an end, in as many rounds as pipelines are long."""
        for worker in self.workers:
            worker.hands.clear()
        for _ in range(12):
            self.now += 1000 * SECOND
            self._expire()
            self._promote()
            self._reap()
            self.agrees()
            if not self.seen.ready and not self.seen.leases:
                return
            worker = self.workers[0]
            self._settle_hands(worker, self._claim(worker, STEPS, 100_000, 10_000, 0), ["done"])
            while worker.hands:  # items that were in the settle already with another step
                self._settle_hands(worker, list(worker.hands.values()), ["done"])
            self.agrees()
        raise AssertionError(f"still not at an end: {self.seen.ready} {self.seen.scheduled} {self.seen.leases}")

    def _check_the_end(self) -> None:
        for job_id, job in self.seen.jobs.items():
            assert job.finished_at is not None, f"job {job_id} did not end"
        ended: Counter[Task] = Counter()
        for tried, times in self.model.tried.items():
            assert times == 1 or tried.worker == 0, f"{tried} was settled {times} times"
            if tried.outcome == "DONE" and tried.job in self.model.jobs:
                ended[Task(*tried[:3])] += 1
        for task, times in ended.items():
            assert times <= self.model.jobs[task.job].items[task.n].opened, f"{task} was done {times} times"
        note(f"{len(self.model.jobs)} jobs, {self.model.tried.total()} attempts")


def _drive(dsn: str, examples: int, steps: int) -> None:
    with Bench(dsn) as bench:
        drive(EngineMachine, examples=examples, steps=steps, bench=bench)


def test_the_engine_does_what_the_model_says(dsn: str) -> None:
    _drive(dsn, examples=40, steps=50)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_the_engine_does_what_the_model_says_for_long(dsn: str) -> None:
    _drive(dsn, examples=2000, steps=100)
