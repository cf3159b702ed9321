"""What the engine should do, in plain Python: the model that the state machine holds against the database.

Everything here says what must be true after a verb, not how the SQL gets there. The few things that depend on the order
of runs (which tasks a claim gets) are predicted from the runs that were seen before the claim.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.properties._records import (
    ENDED,
    ENDING,
    MAX_ATTEMPTS,
    MAX_EXPIRIES,
    MISSING,
    PENDING,
    QUEUE_OF,
    RANK,
    SHAPES,
    Claimed,
    Item,
    Job,
    Lease,
    Place,
    Queue,
    Refused,
    Report,
    Run,
    Settling,
    Shape,
    Task,
    Tried,
    Wanted,
    WorkerRow,
    worst,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Model:
    """The engine's state, and its verbs."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.deleted: set[int] = set()
        self.places: dict[Task, Place] = {}
        self.leases: dict[int, Lease] = {}
        self.lost: Counter[Task] = Counter()  # expiries of a task since it last ended
        self.tried: Counter[Tried] = Counter()
        self.fresh: list[Tried] = []  # those since the last check
        self.letters: dict[Task, int] = {}  # dead letters, with the attempt
        self.audit: list[tuple[str, int | None, int | None]] = []
        self.queues = {s.queue: Queue() for shape in SHAPES for s in shape.steps}
        self.workers: dict[int, WorkerRow] = {}
        self.keys: dict[tuple[str, str, str], int] = {}

    # -- submit -------------------------------------------------------------------------------------------------------

    def keyed(self, shape: Shape, owner: str, key: str | None) -> Job | None:
        """The job that has this key."""
        found = None if key is None else self.keys.get((shape.name, owner, key))
        return None if found is None else self.jobs[found]

    def submit(self, job: Job, run_at: int | None, now: int) -> None:
        self.jobs[job.id] = job
        if job.key is not None and not job.coalesces:
            self.keys[job.shape.name, job.owner, job.key] = job.id
        if job.total == 0 and job.sealed:
            job.state, job.started, job.finished_at = "DONE", True, now
        self._enqueue(job, run_at, now)

    def _enqueue(self, job: Job, run_at: int | None, now: int) -> None:
        for n in job.items:
            for step in job.shape.next(n, ()):
                self._put(Task(job.id, n, step), 0, run_at, now)

    def append(self, job: Job, values: Sequence[int], broken: int, now: int) -> None:
        """More items of a stream; the last of them are no valid inputs."""
        for place, value in enumerate(values, 1):
            item = job.items[job.total + place] = Item(job.total + place, value)
            if place > len(values) - broken:
                item.status = item.verdict = "ERROR"
                item.dead, item.error = set(job.shape.mask(1)), "data"
            else:
                for step in job.shape.next(item.n, ()):
                    self._put(Task(job.id, item.n, step), 0, None, now)
        job.total += len(values)

    def seal(self, job: Job, now: int) -> str:
        job.sealed = True
        if job.open == 0:
            job.started = True
            if job.total and job.shape.job_steps:
                self._start_own(job, now)
                job.state = "RUNNING" if job.state == "QUEUED" else job.state
            else:
                job.finished_at = now
                job.state = self._verdict(job, None)
        return job.state

    def _verdict(self, job: Job, own: str | None) -> str:
        """How a job has ended: badly when nothing of it succeeded and something failed, or its own item."""
        none_done = job.count("DONE") == 0 and job.count("ERROR") > 0
        return "FAILED" if own in ("ERROR", "NOT_FOUND") or none_done else "DONE"

    def _put(self, task: Task, attempt: int, run_at: int | None, now: int) -> None:
        assert task not in self.places, f"{task} would be in two places"
        later = run_at is not None and run_at > now
        self.places[task] = Place("scheduled", attempt, run_at or 0) if later else Place("ready", attempt)

    def replaceable(self, shape: Shape, owner: str, key: str) -> Job | None:
        """The job whose input a coalescing submit replaces: the newest of that key, if no worker has touched it."""
        same = [
            j
            for j in self.jobs.values()
            if j.coalesces and (j.shape, j.owner, j.key) == (shape, owner, key) and j.finished_at is None
        ]
        if not same:
            return None
        job = max(same, key=lambda j: j.id)
        roots = [self.places.get(Task(job.id, 1, step)) for step in shape.next(1, ())]
        untouched = all(p is not None and p.kind != "lease" and p.attempt == 0 for p in roots)
        paused = {p is not None and p.kind == "held" for p in roots}
        # One that is paused in part has been in a worker's hands.
        return job if job.state == "QUEUED" and untouched and len(paused) == 1 else None

    def replace(self, job: Job, value: int, run_at: int | None, now: int) -> None:
        job.items[1].input = value
        kinds = {p.kind for t, p in self.places.items() if t.job == job.id}
        if "held" in kinds or kinds == {"ready"}:
            return  # it stays paused, or keeps its place
        self._cut(job.id)
        self._enqueue(job, None if "ready" in kinds else run_at, now)

    # -- claim --------------------------------------------------------------------------------------------------------

    def discoverable(self, step: str, lanes: int, now: int) -> int:
        """How many of the lanes in which a step has ready tasks are discovered."""
        queue = self.queues[QUEUE_OF[step]]
        if queue.parked is None:
            return 0 if queue.paused else lanes
        return 0 if queue.paused or queue.probe_at > now else min(lanes, 8)

    def predict(self, wanted: Sequence[Wanted], runs: Iterable[Run], open_lanes: set[int], now: int) -> Claimed:
        """What a claim does with these runs: first come, first served within a lane."""
        by_pair: dict[tuple[str, int], list[Run]] = {}
        for run in sorted(runs, key=lambda r: r.seq):
            by_pair.setdefault((run.step, run.lane), []).append(run)
        answer = Claimed()
        for w in wanted:
            name = QUEUE_OF[w.step]
            queue = self.queues[name]
            is_closed = queue.parked is not None and (queue.probe_at > now or name in answer.probed)
            if queue.paused or is_closed or w.lane not in open_lanes:
                continue
            seen = [r for r in by_pair.get((w.step, w.lane), ()) if r.seq > w.head]
            quota, before = w.quota if queue.parked is None else 1, len(answer.taken)
            if w.max_rows <= 8:
                self._take_few(answer, seen, quota, w.max_rows)
                probed = len(answer.taken) > before
            else:
                self._take(answer, seen[: w.max_rows], quota)
                probed = bool(seen)
            if queue.parked is not None and probed:
                answer.probed.add(name)
        return answer

    def _take(self, answer: Claimed, seen: Sequence[Run], quota: int) -> None:
        """Looks at all that was seen, and takes as much as it may."""
        for run in seen:
            if not self._put_aside(answer, run) and quota > 0:
                quota -= self._lend(answer, run, quota)

    def _take_few(self, answer: Claimed, seen: list[Run], quota: int, max_rows: int) -> None:
        """Looks at a few runs, no further than it takes; again as long as some of them were put aside."""
        while seen:
            few, seen = seen[:max_rows], seen[max_rows:]
            aside = 0
            for run in few:
                if self._put_aside(answer, run):
                    aside += 1
                elif quota == 0:
                    return
                else:
                    quota -= self._lend(answer, run, quota)
            if aside == 0 or quota == 0:
                return

    def _put_aside(self, answer: Claimed, run: Run) -> bool:
        """Whether the run is of a job that is paused, cancelled, or no more."""
        job = self.jobs.get(run.job)
        if job is not None and job.state == "PAUSED":
            answer.set_aside.append(run)
        elif job is not None and job.state == "CANCELLED":
            answer.dropped.append(run)
        return job is None or job.state in ("PAUSED", "CANCELLED")

    def _lend(self, answer: Claimed, run: Run, quota: int) -> int:
        end = min(run.last, run.first + quota - 1)
        answer.taken.append((run, end))
        return end - run.first + 1

    def claimed(self, answer: Claimed, tokens: Sequence[int], worker: int, now: int, expires_at: int) -> None:
        """The claim went as predicted; tokens come in the order of `taken`."""
        for name in answer.probed:
            self.queues[name].probe_at = now + 30_000_000  # nobody else tries for half a minute
        for run in answer.dropped:
            for n in range(run.first, run.last + 1):
                del self.places[Task(run.job, n, run.step)]
        for (run, end), token in zip(answer.taken, tokens, strict=True):
            ns = set(range(run.first, end + 1))
            lease = Lease(token, worker, run.job, run.step, run.attempt + 1, ns, now, expires_at)
            self.leases[token] = lease
            for n in ns:
                place = self.places[Task(run.job, n, run.step)]
                assert (place.kind, place.attempt) == ("ready", run.attempt)
                self.places[Task(run.job, n, run.step)] = Place("lease", run.attempt, token=token)

    # -- settle -------------------------------------------------------------------------------------------------------

    def settle(self, worker: int, reports: Sequence[Report], now: int, *, known: bool = True) -> Settling:
        """Ends attempts; reports whose lease does not hold the task are stale. At most one report an item."""
        valid = [r for r in reports if r.token in self.leases and r.n in self.leases[r.token].ns]
        stale = sorted((r.token, r.n) for r in reports if r not in valid)
        woken: set[tuple[int, str]] = set()
        saved: dict[int, list[Item]] = {}
        for report in valid:
            lease = self.leases[report.token]
            self._let_go(lease, report.n)
            task = Task(lease.job, report.n, lease.step)
            item = self.jobs[lease.job].items[report.n]
            outcome = report.outcome if item.status == PENDING else "CANCELLED"  # its end has no effect
            self._log(task, lease.attempt, outcome, worker, lease.token if known else 0)
            if item.status == PENDING:
                if report.again_at is not None:
                    self._put(task, lease.attempt - (not report.spent), report.again_at, now)
                    if report.again_at <= now:
                        woken.add((task.job, task.step))
                woken |= self._save(item, lease, report, now)
                saved.setdefault(lease.job, []).append(item)
        finished: set[int] = set()
        for job_id, items in saved.items():
            over, own_turn = self._tally(self.jobs[job_id], items, now)
            woken |= own_turn
            if over:
                finished.add(job_id)
        return Settling(len(valid), stale, finished, woken)

    def _log(self, task: Task, attempt: int, outcome: str, worker: int, token: int) -> None:
        row = Tried(*task, attempt, outcome, worker, token)
        self.tried[row] += 1
        self.fresh.append(row)
        self.jobs[task.job].attempted = True
        if outcome == "EXPIRED":
            self.lost[task] += 1
        elif outcome in ENDING:
            self.lost[task] = 0

    def _let_go(self, lease: Lease, n: int) -> None:
        lease.ns.remove(n)
        self.places.pop(Task(lease.job, n, lease.step), None)
        if not lease.ns:
            del self.leases[lease.token]

    def _save(self, item: Item, lease: Lease, report: Report, now: int) -> set[tuple[int, str]]:
        """Writes a report to its item; answers which steps can run now."""
        job = self.jobs[lease.job]
        shape, name, mask = job.shape, lease.step, job.shape.mask(item.n)
        step_ends_well = report.outcome == "SKIPPED" or shape.by_name[name].optional
        well = report.outcome == "DONE" or (step_ends_well and not report.ends_item)
        verdict = "DONE"
        if report.again_at is None and not well:
            verdict = report.outcome if report.outcome in ("ERROR", "NOT_FOUND") else "SKIPPED"
        item.note_error(name, report.error_class, verdict, well=well, ends=report.again_at is None)
        if report.result is not None:
            item.result[name] = report.result
        if report.again_at is not None:
            return set()
        if well:
            item.done.add(name)
        else:
            item.dead |= set(mask) if report.ends_item else {name} | shape.downstream(name)
            item.verdict = worst(item.verdict, verdict)
            if report.outcome == "ERROR":
                self.letters[Task(job.id, item.n, name)] = lease.attempt
        if item.done | item.dead >= mask:
            item.status = item.verdict
            item.forget_error_when_done()
            return set()
        if name not in item.done:
            return set()
        ready = {s for s in shape.next(item.n, item.done) - item.dead if name in shape.by_name[s].after}
        for step in ready:
            self._put(Task(job.id, item.n, step), 0, None, now)
        return {(job.id, step) for step in ready}

    def _tally(self, job: Job, saved: Sequence[Item], now: int) -> tuple[bool, set[tuple[int, str]]]:
        """The job's state after these items were written; whether it is over, and what its own item runs now."""
        closed = any(i.n > 0 and i.status != PENDING for i in saved)
        own = next((i.status for i in saved if i.n == 0 and i.status != PENDING), None)
        if not closed and own is None and job.state != "QUEUED" and job.started:
            return job.finished_at is not None, set()
        job.started = True
        all_closed = job.sealed and job.open == 0
        over = all_closed and (not job.shape.job_steps or own is not None or self._own_gave_up(job))
        job.finished_at = now if over else None
        if job.state != "CANCELLED":
            if over:
                job.state = self._verdict(job, own)
            elif job.state == "QUEUED":
                job.state = "RUNNING"
        if closed and all_closed and job.shape.job_steps and job.state != "CANCELLED":
            return over, self._start_own(job, now)
        return over, set()

    def _own_gave_up(self, job: Job) -> bool:
        """Whether a cancelled job's own item will not run any more, or never did."""
        if job.state != "CANCELLED":
            return False
        return 0 not in job.items or job.items[0].status != PENDING

    def _start_own(self, job: Job, now: int) -> set[tuple[int, str]]:
        before = job.items.get(0)
        own = Item(0, 0)
        if before is not None:
            own.result, own.opened = before.result, before.opened + 1
            self._forgive(job.id, 0)
        job.items[0] = own
        steps = job.shape.next(0, ())
        for step in steps:
            self._put(Task(job.id, 0, step), 0, None, now)
        return {(job.id, step) for step in steps}

    def _forgive(self, job_id: int, n: int) -> None:
        for task in [t for t in self.letters if t.job == job_id and t.n == n]:
            del self.letters[task]

    # -- leases -------------------------------------------------------------------------------------------------------

    def heartbeat(self, worker: int, tokens: Sequence[int], lease_us: int, now: int) -> dict[int, bool]:
        row = self.workers.get(worker)
        if row is not None:
            row.seen_at, row.stopped_at = max(row.seen_at, now), None
        answer: dict[int, bool] = {}
        for token in tokens:
            lease = self.leases.get(token)
            if lease is not None and lease.worker == worker:
                lease.expires_at = max(lease.expires_at, now + lease_us)
                answer[token] = lease.cancelled
        return answer

    def _open_ns(self, lease: Lease) -> list[int]:
        items = self.jobs[lease.job].items
        return sorted(n for n in lease.ns if items[n].status == PENDING)

    def _settle_cancelled(self, leases: Sequence[Lease], now: int) -> int:
        given_up = [
            (lease, ns)
            for lease in sorted(leases, key=lambda e: (e.job, e.token))
            if (lease.cancelled or self.jobs[lease.job].state == "CANCELLED") and (ns := self._open_ns(lease))
        ]
        for lease, ns in given_up:
            items = self.jobs[lease.job].items
            self.settle(lease.worker, [self._give_up(lease.token, items[n]) for n in ns], now)
        return sum(len(ns) for _, ns in given_up)

    def _give_up(self, token: int, item: Item) -> Report:
        """The end of an item that is not wanted any more."""
        return Report(token, item.n, "CANCELLED", ends_item=True, error_class="cancelled")

    def release(self, worker: int, tokens: Iterable[int], now: int) -> int:
        mine = [e for t in sorted(set(tokens)) if (e := self.leases.get(t)) and e.worker == worker]
        released = self._settle_cancelled(mine, now)
        for lease in mine:
            ns = self._open_ns(lease)
            self._drop_lease(lease)
            for n in ns:
                self._put(Task(lease.job, n, lease.step), lease.attempt - 1, None, now)
            released += len(ns)
        return released

    def _drop_lease(self, lease: Lease) -> None:
        for n in list(lease.ns):
            self._let_go(lease, n)

    def expire(self, now: int) -> tuple[int, int, int, int]:
        """Leases, requeued, failed, cancelled."""
        gone = sorted((e for e in self.leases.values() if e.expires_at <= now), key=lambda e: e.token)
        cancelled = self._settle_cancelled(gone, now)
        hopeless = [
            (lease, n)
            for lease in sorted(gone, key=lambda e: (e.job, e.token))
            for n in self._open_ns(lease)
            if self.lost[Task(lease.job, n, lease.step)] >= MAX_EXPIRIES
        ]
        for lease, n in hopeless:
            self.settle(lease.worker, [Report(lease.token, n, "ERROR", error_class="transient")], now)
        requeued = 0
        for lease in gone:
            ns = self._open_ns(lease)
            self._drop_lease(lease)
            for n in ns:
                task = Task(lease.job, n, lease.step)
                self._log(task, lease.attempt, "EXPIRED", lease.worker, lease.token)
                self._put(task, lease.attempt - 1, None, now)
            requeued += len(ns)
        return len(gone), requeued, len(hopeless), cancelled

    def promote(self, now: int) -> None:
        for place in self.places.values():
            if place.kind == "scheduled" and place.run_at <= now:
                place.kind = "ready"

    # -- jobs ---------------------------------------------------------------------------------------------------------

    def _cut(self, job_id: int, ns: Iterable[int] | None = None, *, leases: bool = False) -> list[tuple[Task, Place]]:
        """Takes the tasks of these items, or of all, out of the hot tables."""
        chosen = None if ns is None else set(ns)
        kinds = ("ready", "scheduled", "held", "lease") if leases else ("ready", "scheduled", "held")
        cut = [
            (t, p)
            for t, p in self.places.items()
            if t.job == job_id and p.kind in kinds and (chosen is None or t.n in chosen)
        ]
        for task, place in cut:
            if place.kind == "lease":
                self._let_go(self.leases[place.token], task.n)
            else:
                del self.places[task]
        return cut

    def pause(self, job_id: int) -> bool | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return MISSING
        if job.state == "PAUSED":
            return False
        if job.state not in ("QUEUED", "RUNNING"):
            return ENDED
        job.state = "PAUSED"
        self.audit.append(("pause", job_id, None))
        return True

    def resume(self, job_id: int) -> bool | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return MISSING
        if job.state in ("QUEUED", "RUNNING"):
            return False
        if job.state != "PAUSED":
            return ENDED
        job.started = job.started or job.attempted or any(e.job == job_id for e in self.leases.values())
        job.state = "RUNNING" if job.started else "QUEUED"
        self.audit.append(("resume", job_id, None))
        return True

    def cancel(self, job_id: int, now: int, own: Iterable[Task]) -> bool | Refused:
        """`own`: the tasks in the job's own lane. Claims drop those in its owner's lane."""
        job = self.jobs.get(job_id)
        if job is None:
            return MISSING
        if job.state == "CANCELLED":
            return False
        if job.finished_at is not None:
            return ENDED
        later = [t for t, p in self.places.items() if t.job == job_id and p.kind in ("scheduled", "held")]
        for task in (*own, *later):
            del self.places[task]
        for lease in self._leases_of(job_id):
            lease.cancelled = True
        self._end_open_items(job, now)
        self.audit.append(("cancel", job_id, None))
        return True

    def _leases_of(self, job_id: int) -> list[Lease]:
        return [e for e in self.leases.values() if e.job == job_id]

    def _end_open_items(self, job: Job, now: int) -> int:
        """Ends what is open and in no worker's hands."""
        held = {n for e in self._leases_of(job.id) for n in e.ns}
        ended = [i for i in job.items.values() if i.status == PENDING and i.n not in held]
        for item in ended:
            if RANK[item.verdict] <= RANK["SKIPPED"]:
                item.error = "cancelled"
            item.verdict = item.status = worst(item.verdict, "SKIPPED")
            item.dead |= job.shape.mask(item.n) - item.done
        job.state, job.sealed = "CANCELLED", True
        # It ends when the last of its running tasks has ended, its own item's too.
        if job.open == 0 and self._own_gave_up(job):
            job.finished_at = now
        return len(ended)

    def reap_cancelled(self, now: int) -> int:
        ended = 0
        for job in sorted(self.jobs.values(), key=lambda j: j.id):
            if job.state != "CANCELLED" or job.finished_at is not None:
                continue
            later = [t for t, p in self.places.items() if t.job == job.id and p.kind in ("scheduled", "held")]
            for task in later:
                del self.places[task]
            leases = self._leases_of(job.id)
            for lease in leases:
                lease.cancelled = True
            if job.open > sum(len(e.ns) for e in leases) or not self._own_gave_up(job):
                ended += self._end_open_items(job, now)
        return ended

    def reprocess(
        self, job_id: int, statuses: Sequence[str], ns: Sequence[int] | None, now: int, *, reset: bool
    ) -> int | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return MISSING
        if job.state == "CANCELLED" and job.finished_at is None:
            held = {n for e in self._leases_of(job.id) for n in e.ns}
            if any(i.status == PENDING and i.n in held for i in job.items.values()):
                return ENDED
            self._end_open_items(job, now)
        again = [
            i
            for i in job.items.values()
            if i.n > 0 and i.status in statuses and (ns is None or i.n in ns)
            and job.shape.next(i.n, () if i.status == "DONE" else i.done)
        ]  # fmt: skip
        if not again:
            return self._reprocess_own(job, statuses, ns, 0 if reset else MAX_ATTEMPTS - 1, now)
        self._cut(job_id, [0, *(i.n for i in again)], leases=True)
        for item in again:
            self._reopen(job, item, 0 if reset else MAX_ATTEMPTS - 1, now)
        if job.state != "PAUSED":
            job.state = "RUNNING"
        job.finished_at = None
        self.audit.append(("reprocess", job_id, None))
        return len(again)

    def _reprocess_own(
        self, job: Job, statuses: Sequence[str], ns: Sequence[int] | None, attempt: int, now: int
    ) -> int:
        """Runs the job's own item again, if that is what failed; items that run again would bring it with them."""
        own = job.items.get(0)
        wanted = own is not None and own.status in statuses and own.status != "DONE" and (ns is None or 0 in ns)
        if own is None or not wanted or job.finished_at is None:
            return 0
        self._cut(job.id, [0], leases=True)
        self._reopen(job, own, attempt, now)
        job.state, job.finished_at = "RUNNING", None
        self.audit.append(("reprocess", job.id, None))
        return 1

    def _reopen(self, job: Job, item: Item, attempt: int, now: int) -> None:
        if item.status == "DONE":
            item.done, item.result = set(), {}
        item.status, item.verdict, item.dead, item.error, item.failed_step = PENDING, "DONE", set(), None, None
        item.opened += 1
        self._forgive(job.id, item.n)
        for step in job.shape.next(item.n, item.done):
            self._put(Task(job.id, item.n, step), attempt, None, now)

    # -- items --------------------------------------------------------------------------------------------------------

    def _open_item(self, job_id: int, n: int) -> Item | Refused:
        if job_id not in self.jobs or n not in self.jobs[job_id].items:
            return MISSING
        item = self.jobs[job_id].items[n]
        return item if item.status == PENDING else ENDED

    def pause_item(self, job_id: int, n: int) -> bool | Refused:
        item = self._open_item(job_id, n)
        if isinstance(item, Refused):
            return item
        mine = [p for t, p in self.places.items() if (t.job, t.n) == (job_id, n) and p.kind != "lease"]
        if not mine:
            return ENDED
        fresh = [p for p in mine if p.kind != "held"]
        for place in fresh:
            place.kind = "held"
        if fresh:
            self.audit.append(("pause_item", job_id, n))
        return bool(fresh)

    def resume_item(self, job_id: int, n: int) -> bool | Refused:
        item = self._open_item(job_id, n)
        if isinstance(item, Refused):
            return item
        held = [p for t, p in self.places.items() if (t.job, t.n) == (job_id, n) and p.kind == "held"]
        for place in held:
            place.kind = "ready"
        if held:
            self.audit.append(("resume_item", job_id, n))
        return bool(held)

    def cancel_item(self, job_id: int, n: int, now: int) -> bool | Refused:
        job = self.jobs.get(job_id)
        if job is not None and n in job.items:
            it = job.items[n]
            if (it.status, it.error) == ("SKIPPED", "cancelled"):
                return False
        item = self._open_item(job_id, n)
        if isinstance(item, Refused):
            return item
        assert job is not None
        self._cut(job_id, [n])
        holders = sorted((e for e in self._leases_of(job_id) if n in e.ns), key=lambda e: e.token)
        if holders:
            lease = holders[0]
        else:  # the engine makes a lease to settle it by
            step = next(s.name for s in job.shape.steps if s.name in job.shape.mask(n) - item.done - item.dead)
            lease = self.leases[-1] = Lease(-1, 0, job_id, step, 0, {n}, now, now)
            self.places[Task(job_id, n, step)] = Place("lease", token=-1)
        self.settle(lease.worker, [self._give_up(lease.token, item)], now, known=bool(holders))
        self._cut(job_id, [n], leases=True)
        self.audit.append(("cancel_item", job_id, n))
        return True

    # -- queues, housekeeping -----------------------------------------------------------------------------------------

    def switch_queue(self, verb: str, name: str) -> bool:
        queue, wanted = self.queues[name], verb == "pause_queue"
        if queue.paused == wanted:
            return False
        queue.paused = wanted
        self.audit.append((verb, None, None))
        return True

    def park_queue(self, name: str, reason: str | None, probe_at: int) -> None:
        queue = self.queues[name]
        if queue.parked != reason:
            self.audit.append(("unpark_queue" if reason is None else "park_queue", None, None))
        queue.parked, queue.probe_at = reason, probe_at

    def close_workers(self, now: int, lost_after: int, forget_after: int) -> None:
        for worker, row in list(self.workers.items()):
            if row.stopped_at is None and row.seen_at < now - lost_after:
                row.stopped_at = now
                for lease in self.leases.values():
                    if lease.worker == worker:
                        lease.expires_at = min(lease.expires_at, now)
            if row.stopped_at is not None and row.stopped_at < now - forget_after:
                del self.workers[worker]

    def delete_finished(self, horizon: int) -> int:
        """Deletes jobs that finished before; answers how many rows of jobs and items."""
        deleted = 0
        for job in list(self.jobs.values()):
            if job.finished_at is None or job.finished_at >= horizon:
                continue
            self._cut(job.id, leases=True)
            for task in [t for t in self.letters if t.job == job.id]:
                del self.letters[task]
            del self.jobs[job.id]
            self.keys = {k: v for k, v in self.keys.items() if v != job.id}
            self.deleted.add(job.id)
            deleted += 1 + len(job.items)
        return deleted
