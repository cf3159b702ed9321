"""The search for the reasons of one answer: of the job, of its steps, and of tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forebay.engine.db import why as db
from forebay.engine.declare.limit import OWNER_LIMIT
from forebay.engine.why import workers as at_workers
from forebay.engine.why.made import known, limited, paused, scheduled, signalled
from forebay.engine.why.reason import Reason

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection
    from forebay.engine.db.why import Contention, GroupFacts, JobFacts, StepFacts, TaskFacts, WorkerFacts
    from forebay.engine.why.reason import Action

_MATTER_WHEN_READY = ("machine_busy", "workers_full", "stuck")


class Search:
    """What one answer needs to know."""

    def __init__(
        self,
        conn: Connection,
        job: JobFacts | None,
        steps: Sequence[StepFacts],
        workers: Sequence[WorkerFacts],
        *,
        now: datetime | None,
        at: datetime,
    ) -> None:
        self.at = at
        self._conn = conn
        self._job = job
        self._steps = {step.bit: step for step in steps}
        self._workers = workers
        self._now = now

    @classmethod
    async def begin(cls, conn: Connection, job: JobFacts, now: datetime | None) -> Search:
        return await cls.over(conn, job, await db.steps_of_version(conn, job.version_id), now)

    @classmethod
    async def over(
        cls, conn: Connection, job: JobFacts | None, steps: Sequence[StepFacts], now: datetime | None
    ) -> Search:
        at = now or await db.clock(conn)
        return cls(conn, job, steps, await db.workers(conn, now), now=now, at=at)

    @property
    def job_steps(self) -> list[StepFacts]:
        """The steps that begin when all items have ended."""
        return [step for step in self._steps.values() if step.after_all]

    def before_job_steps(self) -> list[Reason]:
        job = self._job
        if job is None or (job.sealed and not job.open_items):
            return []
        facts = {"left": job.open_items, "items": job.total, "sealed": job.sealed}
        return [Reason("blocked_by_items", step.name, facts=facts) for step in self.job_steps]

    # -- the job, and steps ---------------------------------------------------------------------------------------

    async def of_state(self) -> list[Reason]:
        """What holds the whole job."""
        job = self._job
        if job is not None and job.state == "PAUSED":
            by = await db.paused(self._conn, job.id)
            return [paused("job_paused", by, facts={}, actions=("resume_job", "cancel_job"))]
        if job is not None and job.state == "CANCELLED":
            return [Reason("cancelling", facts={"left": job.open_items})]
        return []

    async def of_step(self, step: StepFacts) -> AsyncIterator[Reason]:
        """What holds all tasks of a step."""
        if step.paused:
            by = await db.queue_paused(self._conn, step.queue)
            since = None if by is not None else step.updated_at
            yield paused("queue_paused", by, step, since, facts={"queue": step.queue}, actions=("resume_queue",))
        if step.parked is not None:
            facts = {"queue": step.queue, "reason": step.parked}
            yield Reason("parked", step.name, until=step.probe_at, facts=facts)
        for reason in at_workers.missing(step, self._job, self._workers):
            yield reason
        for reason in at_workers.busy(step, self._workers):
            yield reason

    async def of_common_limits(self, step: StepFacts) -> AsyncIterator[Reason]:
        """Limits without keys, which hold all tasks of a step."""
        for name, limit in at_workers.declared_limits(step, self._workers).items():
            if limit["keyed"]:
                continue
            use = await db.limit_use(self._conn, name, "", self._now)
            if limit["concurrency"] is not None and use.in_use >= limit["concurrency"]:
                yield limited("slots_full", step, limit, in_use=use.in_use)
            elif limit["rate"] is not None and use.next_at is not None and use.next_at > self.at:
                yield limited("rate_limited", step, limit, until=use.next_at)

    # -- tasks ----------------------------------------------------------------------------------------------------

    async def of_group(self, group: GroupFacts) -> AsyncIterator[Reason]:
        """The reasons of the first and the last of these tasks, for all of them; those of the last, if the first is
        next."""
        assert self._job is not None  # noqa: S101 - only jobs have groups
        more = {"tasks": group.tasks, "tasks_exact": not group.is_cut}
        reasons: list[Reason] = []
        for n in sorted({group.first_n, group.last_n}):
            found = await db.item(self._conn, self._job.id, n)
            tasks = [task for task in await db.tasks(self._conn, self._job.id, n) if _is_in(group, task)]
            reasons += [
                replace(reason, facts={**reason.facts, **more, "item": str(n)}, actions=_of_job(reason))
                async for reason in self.of_tasks(n, tasks, None if found is None else found[1])
            ]
        told = [reason for reason in reasons if reason.code != "unknown"]
        for reason in told or reasons:
            yield reason

    async def of_tasks(
        self, n: int, tasks: Sequence[TaskFacts], progress: Mapping[str, Any] | None
    ) -> AsyncIterator[Reason]:
        """The reasons of the tasks of one item."""
        for task in tasks:
            step = self._steps.get(task.bit)
            if step is None:  # the job has just changed to another version
                continue
            if task.place == "blocked":
                open_bits = {other.bit for other in tasks}
                needed = [each.name for bit, each in self._steps.items() if bit & step.needs and bit in open_bits]
                yield Reason("blocked_by_step", step.name, facts={"needs": needed})
            elif task.place == "leased":
                yield at_workers.holding(step, task, self._workers, progress, self.at)
            else:
                async for reason in self._of_waiting(n, step, task):
                    yield reason

    async def _of_waiting(self, n: int, step: StepFacts, task: TaskFacts) -> AsyncIterator[Reason]:
        """A task that no worker has. What holds the step matters in every case; how busy its workers are, only if the
        task is ready."""
        is_ready = task.place == "ready"
        reasons = [reason async for reason in self.of_step(step) if is_ready or reason.code not in _MATTER_WHEN_READY]
        if is_ready:
            reasons += [reason async for reason in self._of_ready(step, task)]
        elif task.place is not None:
            reasons += [reason async for reason in self._of_scheduled(n, step, task)]
        for reason in reasons or [Reason("unknown", step.name)]:
            yield reason

    async def _of_scheduled(self, n: int, step: StepFacts, task: TaskFacts) -> AsyncIterator[Reason]:
        assert self._job is not None  # noqa: S101 - only jobs have tasks
        job_id = self._job.id
        if task.place == "held":
            by = await db.paused(self._conn, job_id, n)
            yield paused("item_held", by, step, facts={}, actions=("resume_item", "cancel_item"))
        wait = await db.wait(self._conn, job_id, n, step.bit, self._now)
        if wait is not None:
            yield signalled(step, wait)
        if task.place == "held" or wait is not None:
            return
        yield scheduled(step, task, await db.last_attempt(self._conn, job_id, n, step.bit))
        if task.at is not None and task.at <= self.at:
            yield Reason("due", step.name, since=task.at, facts={"leader": await db.has_leader(self._conn)})

    async def _of_ready(self, step: StepFacts, task: TaskFacts) -> AsyncIterator[Reason]:
        assert self._job is not None  # noqa: S101 - only jobs have tasks
        others = await db.contention(self._conn, step, self._job, task)
        if task.limit_name:
            yield await self._of_key(step, task, others.owners)
        async for reason in self.of_common_limits(step):
            yield reason
        if others.higher:
            facts = {"higher": others.higher, "higher_exact": not others.is_cut, "priority": task.priority}
            yield Reason("outranked", step.name, facts=facts)
        if task.ahead or task.is_cut:
            yield self._behind(step, task, others)

    def _behind(self, step: StepFacts, task: TaskFacts, others: Contention) -> Reason:
        assert self._job is not None  # noqa: S101 - only jobs have tasks
        share = self._job.weight / (self._job.weight + others.weights)
        rate = at_workers.rate(step, self._workers)
        facts = {
            "ahead": task.ahead,
            "ahead_exact": not task.is_cut,
            "share": round(share, 4),
            "owners": others.owners,
            "priority": task.priority,
            "seconds": round(task.ahead / (rate * share), 1) if rate and task.ahead is not None else None,
        }
        return Reason("behind", step.name, facts=known(facts))

    async def _of_key(self, step: StepFacts, task: TaskFacts, owners: int) -> Reason:
        """The limit in whose lane the task waits."""
        name, key = task.limit_name or "", task.limit_key or ""
        limit = at_workers.declared_limits(step, self._workers).get(name, {"name": name})
        use = await db.limit_use(self._conn, name, key, self._now)
        facts: dict[str, Any] = {"in_use": use.in_use, "owners": owners, "ahead": task.ahead}
        if name == OWNER_LIMIT:
            return limited("owner_limit", step, limit, **facts)
        slots = limit.get("concurrency")
        is_full = slots is not None and use.in_use >= slots
        if is_full or (limit.get("rate") is None and use.next_at is None):
            return limited("slots_full", step, limit, key=key, **facts)
        return limited("rate_limited", step, limit, until=use.next_at, key=key, **facts)


def _is_in(group: GroupFacts, task: TaskFacts) -> bool:
    """Whether a task is still where it was when the tasks of its job were counted."""
    return task.bit == group.bit and task.place == group.place


def _of_job(reason: Reason) -> tuple[Action, ...]:
    """What can be done for the job: actions on an item are offered where that item is shown."""
    return tuple(action for action in reason.actions if not action.endswith("_item"))
