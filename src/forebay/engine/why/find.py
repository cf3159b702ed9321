"""Finds the reasons for which an item, a job or a queue waits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forebay.engine.db import why as db
from forebay.engine.declare.limit import OWNER_LIMIT, RESERVED_PREFIX
from forebay.engine.why import workers as at_workers
from forebay.engine.why.reason import Answer, Reason, in_order
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection
    from forebay.engine.db.why import (
        AttemptFacts,
        Contention,
        GroupFacts,
        JobFacts,
        Paused,
        StepFacts,
        TaskFacts,
        WaitFacts,
        WorkerFacts,
    )
    from forebay.engine.why.reason import Action, Code

_MOST_SAMPLES = 12  # items of a job that stand for all tasks of a step in one place
_FAILURES = ("ERROR", "NOT_FOUND", "EXPIRED")
_MATTER_WHEN_READY = ("machine_busy", "workers_full", "stuck")
_PLACES = {"leased": 0, "held": 1, "scheduled": 2, "ready": 3}


async def of_item(conn: Connection, job_id: int, n: int, *, now: datetime | None = None) -> Answer:
    """Why an item waits. `now`: the time of a test, else that of the database.

    Raises: NotFoundError.
    """
    job = await db.job(conn, job_id)
    found = await db.item(conn, job_id, n)
    search = await _Search.begin(conn, job, now)
    if found is None:
        if n != 0 or not search.job_steps or job.is_over:
            raise NotFoundError("item", f"there is no item {n} in job {job_id}")
        return Answer(search.at, "PENDING", in_order(search.before_job_steps()))
    status, progress = found
    if status != "PENDING":
        return Answer(search.at, status, [])
    tasks = await db.tasks(conn, job_id, n)
    reasons = [reason async for reason in search.of_tasks(n, tasks, progress)]
    if any(task.place == "leased" for task in tasks):
        status = "PROCESSING"
    return Answer(search.at, status, in_order([*await search.of_state(), *reasons]))


async def of_job(conn: Connection, job_id: int, *, now: datetime | None = None) -> Answer:
    """Why the open items of a job wait: the reasons of some of them, each with the number of tasks that are in the same
    place.

    Raises: NotFoundError.
    """
    job = await db.job(conn, job_id)
    search = await _Search.begin(conn, job, now)
    if job.is_over:
        return Answer(search.at, job.state, [])
    reasons = await search.of_state()
    groups = sorted(await db.groups(conn, job_id), key=lambda group: _PLACES[group.place])
    for group in groups[:_MOST_SAMPLES]:
        reasons += [reason async for reason in search.of_group(group)]
    reasons += search.before_job_steps()
    if not job.sealed:
        reasons.append(Reason("filling", facts={"items": job.total}))
    return Answer(search.at, job.state, in_order(reasons))


async def of_queue(conn: Connection, queue: str, *, now: datetime | None = None) -> Answer:
    """Why the tasks of a queue wait, as far as that does not depend on the task.

    Raises: NotFoundError.
    """
    steps = await db.steps_of_queue(conn, queue)
    search = await _Search.over(conn, None, steps, now)
    reasons: list[Reason] = []
    for step in steps:
        reasons += [reason async for reason in search.of_step(step)]
        reasons += [reason async for reason in search.of_common_limits(step)]
    return Answer(search.at, None, in_order(reasons))


class _Search:
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
    async def begin(cls, conn: Connection, job: JobFacts, now: datetime | None) -> _Search:
        return await cls.over(conn, job, await db.steps_of_version(conn, job.version_id), now)

    @classmethod
    async def over(
        cls, conn: Connection, job: JobFacts | None, steps: Sequence[StepFacts], now: datetime | None
    ) -> _Search:
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
            return [_paused("job_paused", by, facts={}, actions=("resume_job", "cancel_job"))]
        if job is not None and job.state == "CANCELLED":
            return [Reason("cancelling", facts={"left": job.open_items})]
        return []

    async def of_step(self, step: StepFacts) -> AsyncIterator[Reason]:
        """What holds all tasks of a step."""
        if step.paused:
            by = await db.queue_paused(self._conn, step.queue)
            since = None if by is not None else step.updated_at
            yield _paused("queue_paused", by, step, since, facts={"queue": step.queue}, actions=("resume_queue",))
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
                yield _limited("slots_full", step, limit, in_use=use.in_use)
            elif limit["rate"] is not None and use.next_at is not None and use.next_at > self.at:
                yield _limited("rate_limited", step, limit, until=use.next_at)

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
                replace(reason, facts={**reason.facts, **more, "item": str(n)}, actions=_of_all(reason, group))
                async for reason in self.of_tasks(n, tasks, None if found is None else found[1])
            ]
        known = [reason for reason in reasons if reason.code != "unknown"]
        for reason in known or reasons:
            yield reason

    async def of_tasks(
        self, n: int, tasks: Sequence[TaskFacts], progress: Mapping[str, Any] | None
    ) -> AsyncIterator[Reason]:
        """The reasons of the tasks of one item."""
        for task in tasks:
            step = self._steps[task.bit]
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
            yield _paused("item_held", by, step, facts={}, actions=("resume_item", "cancel_item"))
        wait = await db.wait(self._conn, job_id, n, step.bit, self._now)
        if wait is not None:
            yield _signal(step, wait)
        if task.place == "held" or wait is not None:
            return
        yield _scheduled(step, task, await db.last_attempt(self._conn, job_id, n, step.bit))
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
        return Reason("behind", step.name, facts=_known(facts))

    async def _of_key(self, step: StepFacts, task: TaskFacts, owners: int) -> Reason:
        """The limit in whose lane the task waits."""
        name, key = task.limit_name or "", task.limit_key or ""
        limit = at_workers.declared_limits(step, self._workers).get(name, {"name": name})
        use = await db.limit_use(self._conn, name, key, self._now)
        facts: dict[str, Any] = {"in_use": use.in_use, "owners": owners, "ahead": task.ahead}
        if name == OWNER_LIMIT:
            return _limited("owner_limit", step, limit, **facts)
        slots = limit.get("concurrency")
        is_full = slots is not None and use.in_use >= slots
        if is_full or (limit.get("rate") is None and use.next_at is None):
            return _limited("slots_full", step, limit, key=key, **facts)
        return _limited("rate_limited", step, limit, until=use.next_at, key=key, **facts)


def _is_in(group: GroupFacts, task: TaskFacts) -> bool:
    """Whether a task is still where it was when the tasks of its job were counted."""
    return task.bit == group.bit and task.place == group.place


def _of_all(reason: Reason, group: GroupFacts) -> tuple[Action, ...]:
    """What can be done for all tasks of a group at once."""
    if group.tasks == 1:
        return reason.actions
    return tuple(action for action in reason.actions if not action.endswith("_item"))


def _paused(
    code: Code,
    by: Paused | None,
    step: StepFacts | None = None,
    since: datetime | None = None,
    *,
    facts: dict[str, Any],
    actions: Any,
) -> Reason:
    if by is not None:
        facts, since = facts | {"by": by.actor}, by.at
    return Reason(code, None if step is None else step.name, since=since, facts=facts, actions=actions)


def _signal(step: StepFacts, wait: WaitFacts) -> Reason:
    facts = {"signal": wait.signal, "key": wait.key}
    return Reason("waits_for_signal", step.name, until=wait.until, facts=facts, actions=("send_signal", "cancel_item"))


def _scheduled(step: StepFacts, task: TaskFacts, last: AttemptFacts | None) -> Reason:
    """Why a task has a time, from its last attempt."""
    facts: dict[str, Any] = {"attempt": (task.attempt or 0) + 1, "max_attempts": step.max_attempts}
    code: Code = "later"
    if last is not None:
        facts |= {"reason": last.reason, "class": last.error_class}
        if last.outcome in _FAILURES:
            code = "retry"
        elif last.outcome == "THROTTLED":
            code = "limit_reached" if last.error_class is None else "throttled"
        elif last.outcome == "SNOOZED":
            code = "snoozed"
    since = None if last is None else last.ended_at
    return Reason(code, step.name, since=since, until=task.at, facts=_known(facts), actions=("cancel_item",))


def _limited(
    code: Code, step: StepFacts, limit: Mapping[str, Any], *, until: datetime | None = None, **given: Any
) -> Reason:
    facts: dict[str, Any] = {
        "limit": limit["name"].removeprefix(RESERVED_PREFIX),
        "slots": limit.get("concurrency"),
        "rate": limit.get("rate"),
        "per_seconds": limit.get("per") if limit.get("rate") is not None else None,
    }
    return Reason(code, step.name, until=until, facts=_known(facts | given))


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact is not None}
