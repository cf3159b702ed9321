"""The client: everything that a program does with jobs, on one async connection or pool."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from forebay.db.pool import open_pool
from forebay.engine.db.adapters import adapter_for
from forebay.engine.db.sql import load
from forebay.engine.submit import producer, results
from forebay.engine.submit.job_calls import ENDED_BADLY, KEPT, job_number, reprocess_arguments, signal_arguments

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
    from datetime import timedelta

    from forebay.engine.db.adapters import AsyncConn
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.submit.options import JobOptions, SubmitOptions
    from forebay.types import ItemRecord, ItemStatus, JobSummary, Json, Submitted, Unique

I = TypeVar("I")  # noqa: E741 - the input


class Client:
    """Submits jobs, waits for them, reads and controls them.

    On a connection, all methods run in its transaction. On an asyncpg pool, each method runs in a transaction of its
    own. A client has no state: create one wherever there is a connection. `actor` is who pauses, cancels and
    reprocesses, for the audit log; the default is the database's user.

    In a transaction, `wait` and `events` never end for a job that the transaction has submitted, because workers see it
    only after the commit. With the isolation level REPEATABLE READ or SERIALIZABLE, they see no changes of any job.

    Methods with a `job` take what a submit returned, or the job's number, and raise NotFoundError if there is no such
    job.
    """

    def __init__(self, conn: AsyncConn, *, actor: str | None = None) -> None:
        """Raises: TypeError if the kind of `conn` is not supported."""
        self._conn = conn
        self._adapter = adapter_for(conn)
        self._actor = actor

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, dsn: str, *, actor: str | None = None, connections: int = 4, prepared_statements: bool = True
    ) -> AsyncGenerator[Client]:
        """A client with a pool of its own: `async with Client.connect(dsn) as client`. Behind a transaction-mode
        pooler, pass `prepared_statements=False`.

        Raises: DatabaseUnavailable with the reason and what to check.
        """
        async with await open_pool(
            dsn, size=connections, name="forebay client", prepared=prepared_statements, at_once=True
        ) as pool:
            yield cls(pool, actor=actor)

    async def register(self, *pipelines: Pipeline[Any]) -> None:
        """Register the steps of pipelines, so that jobs can be submitted before a worker starts; settings and schedules
        are applied by workers. A submit registers a pipeline that is not known yet."""
        for pipeline in pipelines:
            await self._adapter.fetch_row(load("register_version"), (json.dumps(pipeline.definition()), False, None))

    async def submit(
        self,
        pipeline: Pipeline[I],
        input: I,  # noqa: A002
        *,
        coalesce: bool = False,
        max_wait: float | timedelta | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit one item as a job. `coalesce` replaces the input of a job with the same key that has not started.

        Raises: RequestError, which names the field and the reason. Nothing is written in that case.
        """
        return await producer.submit(self._conn, pipeline, input, coalesce=coalesce, max_wait=max_wait, **options)

    async def submit_many(
        self,
        pipeline: Pipeline[I],
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit many items as one job. `keys` names the items; items with a duplicate key are omitted."""
        return await producer.submit_many(self._conn, pipeline, inputs, keys=keys, **options)

    async def submit_jobs(
        self,
        pipeline: Pipeline[I],
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        unique: Unique | None = None,
        **options: Unpack[JobOptions],
    ) -> list[Submitted]:
        """Submit each input as a job of its own, in one round trip. `keys` are the keys of the jobs."""
        return await producer.submit_jobs(self._conn, pipeline, inputs, keys=keys, unique=unique, **options)

    async def job(self, job: Submitted | int) -> JobSummary:
        """The job's state and counters."""
        return await results.summary(self._conn, job_number(job))

    async def wait(self, job: Submitted | int, timeout: float | None = None) -> JobSummary:
        """Wait for the end of a job. Raises: TimeoutError if it is not over after `timeout` seconds."""
        return await results.wait(self._conn, job_number(job), timeout)

    def events(self, job: Submitted | int) -> AsyncIterator[JobSummary]:
        """The job's summary now, and again after each change of its state or counters, until its end."""
        return results.changes(self._conn, job_number(job))

    def results(self, job: Submitted | int) -> AsyncIterator[ItemRecord]:
        """The items of a job with the results of their steps, in order; read page by page."""
        return results.items(self._conn, job_number(job))

    async def pause(self, job: Submitted | int) -> bool:
        """Pause a job: its tasks do not start any more. Returns whether that changed anything.

        Raises: ConflictError if the job has ended.
        """
        return bool(await self._call("pause_job", job_number(job), self._actor))

    async def resume(self, job: Submitted | int) -> bool:
        """Resume a paused job. Returns whether that changed anything."""
        return bool(await self._call("resume_job", job_number(job), self._actor))

    async def cancel(self, job: Submitted | int) -> bool:
        """Cancel a job: open items are skipped, running tasks are stopped. Returns whether that changed anything.

        Raises: ConflictError if the job has ended.
        """
        return bool(await self._call("cancel_job", job_number(job), self._actor))

    async def reprocess(
        self,
        job: Submitted | int,
        statuses: Iterable[ItemStatus | str] = ENDED_BADLY,
        *,
        ns: Sequence[int] | None = None,
        reset_attempts: bool = True,
        restart: bool = False,
    ) -> int:
        """Run ended items with these statuses again, all or only the items `ns`; return how many.

        A DONE item starts from the beginning. Other items keep the results of their completed steps, unless `restart`
        is true.
        """
        args = reprocess_arguments(job, statuses, ns, reset_attempts, self._actor, restart)
        return int(await self._call("reprocess_job", *args) or 0)

    async def signal(
        self, name: str, key: str, payload: Json = None, *, owner: str = "default", keep: float | timedelta = KEPT
    ) -> int:
        """Send a signal to the tasks of an owner that wait for this name and key; return how many it reached.

        If none waits, the signal is kept for `keep` seconds: the next task that waits for it gets it at once.
        """
        return int(await self._call("send_signal", *signal_arguments(name, key, payload, owner, keep)))

    async def _call(self, statement: str, *args: object) -> Any:
        row = await self._adapter.fetch_row(load(statement), args)
        return None if row is None else row[0]
