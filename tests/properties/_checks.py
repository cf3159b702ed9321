"""What must be true of the database after every rule, and how it compares with the model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.properties._records import PENDING, Place, Task

if TYPE_CHECKING:
    from tests.properties._bench import Picture
    from tests.properties._model import Model


def check(seen: Picture, model: Model) -> None:
    check_places(seen, model)
    check_leases(seen, model)
    check_nothing_is_lost(seen, model)
    check_jobs(seen, model)
    check_items(seen, model)
    check_totals(seen)
    check_lanes(seen, model)
    same(seen.letters, model.letters)


def same(database: Any, model: Any) -> None:
    """Both are equal; if not, says only where they differ: with thousands of tasks nobody finds it else."""
    if database == model:
        return
    if not isinstance(database, dict):
        database, model = dict.fromkeys(database), dict.fromkeys(model)
    only_there = [(k, v) for k, v in database.items() if k not in model or model[k] != v]
    only_here = [(k, v) for k, v in model.items() if k not in database or database[k] != v]
    raise AssertionError(f"in the database: {only_there[:5]}; in the model: {only_here[:5]}")


def check_histories(seen: Picture, model: Model) -> None:
    """Exactly one row for each attempt that ended, and for each thing that people did."""
    assert seen.audit == model.audit
    model.audit.clear()
    same(seen.tried, Counter(model.fresh))
    model.fresh.clear()
    assert seen.all_tried == model.tried.total()


def check_places(seen: Picture, model: Model) -> None:
    """Every task is where the model says, and nowhere else."""
    places: dict[Task, Place] = {}

    def put(job: int, step: str, ns: Any, place: Place) -> None:
        for n in ns:
            task = Task(job, n, step)
            assert task not in places, f"{task} is in two places"
            places[task] = place

    for run in seen.ready:
        if run.job not in model.deleted:
            put(run.job, run.step, range(run.first, run.last + 1), Place("ready", run.attempt))
    for later in seen.scheduled:
        kind: Any = "held" if later.run_at is None else "scheduled"
        place = Place(kind, later.attempt, later.run_at or 0)
        put(later.job, later.step, range(later.first, later.last + 1), place)
    for token, lease in seen.leases.items():
        put(lease.job, lease.step, lease.ns, Place("lease", lease.attempt - 1, token=token))
    for place in model.places.values():
        if place.kind != "scheduled":
            place.run_at = 0
    same(places, model.places)


def check_leases(seen: Picture, model: Model) -> None:
    mine = model.leases
    same(seen.leases.keys(), mine.keys())
    for token, row in seen.leases.items():
        e = mine[token]
        assert (row.worker, row.job, row.step, row.attempt) == (e.worker, e.job, e.step, e.attempt)
        assert (row.cancelled, row.expires_at, row.ns) == (e.cancelled, e.expires_at, e.ns), token


def check_nothing_is_lost(seen: Picture, model: Model) -> None:
    """From the database alone: what an open item can run next is in a hot table, unless its job is cancelled."""
    waiting: dict[tuple[int, int], set[str]] = {}
    for task in model.places:  # these are the database's: check_places has compared them
        waiting.setdefault((task.job, task.n), set()).add(task.step)
    open_items = {job for (job, n), item in seen.items.items() if n > 0 and item.status == PENDING}
    for (job_id, n), item in seen.items.items():
        job = seen.jobs[job_id]
        if item.status != PENDING:
            continue
        assert job.finished_at is None, f"job {job_id} has finished, and its item {n} has not"
        if job.state == "CANCELLED":
            continue
        waits_for_others = n == 0 and job_id in open_items
        shape = model.jobs[job_id].shape
        can_run = set() if waits_for_others else shape.next(n, item.done) - item.dead
        assert waiting.get((job_id, n), set()) == can_run


def check_jobs(seen: Picture, model: Model) -> None:
    same(seen.jobs.keys(), model.jobs.keys())
    statuses = Counter((job, item.status) for (job, n), item in seen.items.items() if n > 0)
    for job_id, row in seen.jobs.items():
        job = model.jobs[job_id]
        counts = tuple(statuses[job_id, s] for s in ("DONE", "SKIPPED", "NOT_FOUND", "ERROR"))
        assert (row.state, row.total, row.counts) == (job.state, job.total, counts), job_id
        assert (row.finished_at, row.started, row.sealed) == (job.finished_at, job.started, job.sealed), job_id
        assert sum(counts) + statuses[job_id, PENDING] == row.total
        assert (row.finished_at is not None) >= (row.state in ("DONE", "FAILED"))


def check_items(seen: Picture, model: Model) -> None:
    there = {
        place: (i.status, i.verdict, sorted(i.done), sorted(i.dead), i.error, i.result, i.input)
        for place, i in seen.items.items()
    }
    here = {
        (job.id, n): (i.status, i.verdict, sorted(i.done), sorted(i.dead), i.error, i.result, i.input)
        for job in model.jobs.values()
        for n, i in job.items.items()
    }
    same(there, here)


def check_totals(seen: Picture) -> None:
    """From the database alone: what is counted for everybody is what a count of all items finds."""
    held = {(lease.job, n) for lease in seen.leases.values() for n in lease.ns}
    found = Counter(
        "PROCESSING" if item.status == PENDING and place in held else item.status
        for place, item in seen.items.items()
        if place[1] > 0
    )
    assert seen.totals == [found[s] for s in ("PENDING", "PROCESSING", "DONE", "SKIPPED", "NOT_FOUND", "ERROR")]


def check_lanes(seen: Picture, model: Model) -> None:
    """Every run is in a lane that is there, and only those of paused jobs wait in a paused one."""
    hot = [(r.job, r.lane) for runs in (seen.ready, seen.scheduled, seen.leases.values()) for r in runs]
    for job_id, lane in hot:
        job = seen.jobs.get(job_id)
        if job is None:
            continue
        assert lane in seen.lanes
        if job.finished_at is None:
            assert job.lane in seen.lanes
            assert not seen.lanes[lane][2] or job.state == "PAUSED"
    for _, job_id, paused in seen.lanes.values():
        row = seen.jobs.get(job_id)
        assert not paused or job_id
        if row is not None and row.finished_at is None:
            assert paused == (row.state == "PAUSED")
