"""What is committed while pipelines change: read in one statement, and checked without a model of how it got there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.properties._transactions import Transactions

_LOOK = """
select
  (select json_agg(json_build_array(id, coalesce(version_id, -pipeline_id), state, total, done, skipped, not_found,
     error, job_steps <> 0, finished_at is not null, parent_id is not null and not sealed)) from forebay.job) as jobs,
  (select json_agg(json_build_array(job_id, n, status, done, dead, coalesce(result, '{}')::text))
     from forebay.item) as items,
  (select json_agg(json_build_array(t.job_id, t.first_n, t.last_n, t.step_id)) from (
     select r.job_id, r.first_n, r.last_n, r.step_id from forebay.ready r
     union all
     select s.job_id, s.first_n, s.last_n, s.step_id from forebay.scheduled s
     union all
     select l.job_id, lower(r), upper(r) - 1, l.step_id from forebay.lease l, unnest(l.ns) r) t) as tasks,
  (select json_agg(json_build_array(d.job_id, d.n, d.bit, d.times)) from (
     select a.job_id, a.n, s.bit, count(*) as times from forebay.attempt a join forebay.step s on s.id = a.step_id
     where a.outcome = 'DONE' group by 1, 2, 3) d) as successes,
  (select json_agg(json_build_array(version_id, bit, step_id, needs, after_all, name))
     from forebay.version_step) as steps
"""


class StepRow(NamedTuple):
    version: int
    bit: int
    id: int
    needs: int
    after_all: bool
    name: str


class JobRow(NamedTuple):
    id: int
    version: int
    state: str
    total: int
    done: int
    skipped: int
    not_found: int
    error: int
    has_job_steps: bool
    finished: bool
    is_unstarted: bool  # children whose task was cancelled before it could start them: a sweep deletes them


class ItemRow(NamedTuple):
    job: int
    n: int
    status: str
    done: int
    dead: int
    result: str


class TaskRow(NamedTuple):
    job: int
    first: int
    last: int
    step: int


@dataclass
class Committed:
    jobs: dict[int, JobRow]
    items: dict[tuple[int, int], ItemRow]
    tasks: list[TaskRow]
    successes: dict[tuple[int, int, int], int]  # job, n, bit
    versions: dict[int, list[StepRow]]


def look(transactions: Transactions) -> Committed:
    (found,) = transactions.fetch(_LOOK)
    row = {name: json.loads(value or "[]") for name, value in found.items()}
    versions: dict[int, list[StepRow]] = {}
    for step in row["steps"]:
        versions.setdefault(step[0], []).append(StepRow(*step))
    return Committed(
        {job[0]: JobRow(*job) for job in row["jobs"]},
        {(item[0], item[1]): ItemRow(*item) for item in row["items"]},
        [TaskRow(*task) for task in row["tasks"]],
        {(job, n, bit): count for job, n, bit, count in row["successes"]},
        versions,
    )


def check(seen: Committed, reopened: Mapping[int, int]) -> None:
    check_tasks(seen)
    check_jobs(seen)
    for (job, n, bit), times in seen.successes.items():
        assert times <= 1 + reopened.get(job, 0), f"step {bit} of item {n} of job {job} was done {times} times"


def check_tasks(seen: Committed) -> None:
    """An open item has exactly the tasks that it can run next by the version of its job, each once."""
    tasks: Counter[tuple[int, int, int]] = Counter()
    for task in seen.tasks:
        tasks.update((task.job, n, task.step) for n in range(task.first, task.last + 1))
    has_open = {job for (job, n), item in seen.items.items() if n > 0 and item.status == "PENDING"}
    by_item: dict[tuple[int, int], Counter[int]] = {}
    for (job_id, n, step), times in tasks.items():
        by_item.setdefault((job_id, n), Counter())[step] = times
    for place, item in seen.items.items():
        job = seen.jobs[item.job]
        if item.status != "PENDING":
            continue
        assert not job.finished, f"{job} has finished, and {item} has not"
        if job.state != "CANCELLED":
            waits = job.is_unstarted or (item.n == 0 and item.job in has_open)
            expected = Counter[int]() if waits else Counter(next_steps(seen.versions[job.version], item))
            found = by_item.get(place, Counter[int]())
            assert found == expected, f"{item} of {job} has the tasks {found}, not {expected}"


def next_steps(version: list[StepRow], item: ItemRow) -> list[int]:
    ended = item.done | item.dead
    return [s.id for s in version if s.after_all == (item.n == 0) and not s.bit & ended and not s.needs & ~item.done]


def check_jobs(seen: Committed) -> None:
    """The counters of a job are those of its items, and it has finished when all of them have ended."""
    found = Counter((item.job, item.status) for item in seen.items.values() if item.n > 0)
    for job in seen.jobs.values():
        said = (job.done, job.skipped, job.not_found, job.error)
        assert said == tuple(found[job.id, s] for s in ("DONE", "SKIPPED", "NOT_FOUND", "ERROR")), job
        own = seen.items.get((job.id, 0))
        own_ended = not job.has_job_steps or (own is not None and own.status != "PENDING")
        if job.finished:
            assert sum(said) == job.total, job
            assert own_ended or job.state == "CANCELLED", job
        elif sum(said) == job.total and job.state != "CANCELLED":
            assert not own_ended or own is None, f"all of {job} has ended"
