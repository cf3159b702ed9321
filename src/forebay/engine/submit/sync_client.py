"""The client for programs that block: the same methods, on a synchronous connection."""

from __future__ import annotations

import json
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from forebay.db.addresses import find_addresses, wanted_server
from forebay.db.pool import database_unavailable
from forebay.db.tcp import libpq_options
from forebay.engine.db.adapters import sync_adapter_for
from forebay.engine.db.sql import load
from forebay.engine.submit import producer, results
from forebay.engine.submit.job_calls import ENDED_BADLY, KEPT, job_number, reprocess_arguments, signal_arguments
from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from datetime import timedelta

    import psycopg

    from forebay.engine.db.adapters import SyncConn
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.submit.options import JobOptions, SubmitOptions
    from forebay.types import ItemRecord, ItemStatus, JobSummary, Json, Submitted, Unique

I = TypeVar("I")  # noqa: E741 - the input


class SyncClient:
    """Same as `Client`, on a psycopg Connection, or a SQLAlchemy Connection or Session.

    In a transaction, `wait` and `events` never end for a job that the transaction has submitted, because workers see it
    only after the commit. With the isolation level REPEATABLE READ or SERIALIZABLE, they see no changes of any job.
    A connection without autocommit is in a transaction from its first statement on.
    """

    def __init__(self, conn: SyncConn, *, actor: str | None = None) -> None:
        """Raises: TypeError if the kind of `conn` is not supported."""
        self._conn = conn
        self._adapter = sync_adapter_for(conn)
        self._actor = actor

    @classmethod
    @contextmanager
    def connect(cls, dsn: str, *, actor: str | None = None, prepared_statements: bool = True) -> Generator[SyncClient]:
        """A client with a psycopg connection of its own that commits each call: `with SyncClient.connect(dsn) as c`.
        Behind a transaction-mode pooler, pass `prepared_statements=False`.

        Raises: DatabaseUnavailable with the reason and what to check; ForebayError if psycopg is not installed.
        """
        with _connect(dsn) as conn:
            if not prepared_statements:
                conn.prepare_threshold = None
            yield cls(conn, actor=actor)

    def register(self, *pipelines: Pipeline[Any]) -> None:
        """Register the steps of pipelines, so that jobs can be submitted before a worker starts; settings and schedules
        are applied by workers. A submit registers a pipeline that is not known yet."""
        for pipeline in pipelines:
            self._adapter.fetch_row(load("register_version"), (json.dumps(pipeline.definition()), False, None))

    def submit(
        self,
        pipeline: Pipeline[I],
        input: I,  # noqa: A002
        *,
        coalesce: bool = False,
        max_wait: float | timedelta | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit one item as a job. `coalesce` replaces the input of a job with the same key that has not started."""
        return producer.submit_sync(self._conn, pipeline, input, coalesce=coalesce, max_wait=max_wait, **options)

    def submit_many(
        self,
        pipeline: Pipeline[I],
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit many items as one job. `keys` names the items; items with a duplicate key are omitted."""
        return producer.submit_many_sync(self._conn, pipeline, inputs, keys=keys, **options)

    def submit_jobs(
        self,
        pipeline: Pipeline[I],
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        unique: Unique | None = None,
        **options: Unpack[JobOptions],
    ) -> list[Submitted]:
        """Submit each input as a job of its own, in one round trip. `keys` are the keys of the jobs."""
        return producer.submit_jobs_sync(self._conn, pipeline, inputs, keys=keys, unique=unique, **options)

    def job(self, job: Submitted | int) -> JobSummary:
        """The job's state and counters."""
        return self._read(job_number(job))[0]

    def wait(self, job: Submitted | int, timeout: float | None = None) -> JobSummary:
        """Wait for the end of a job. Raises: TimeoutError if it is not over after `timeout` seconds."""
        return deque(self._changes(job_number(job), timeout), maxlen=1)[0]

    def events(self, job: Submitted | int) -> Iterator[JobSummary]:
        """The job's summary now, and again after each change of its state or counters, until its end."""
        return self._changes(job_number(job), None)

    def results(self, job: Submitted | int) -> Iterator[ItemRecord]:
        """The items of a job with the results of their steps, in order; read page by page."""
        job_id, last_n = job_number(job), 0
        while rows := self._adapter.fetch_all(load("list_items"), (job_id, last_n, results.PAGE)):
            for row in rows:
                yield results.read_item(job_id, row)
            last_n = rows[-1][0]
        if last_n == 0:
            self.job(job_id)

    def pause(self, job: Submitted | int) -> bool:
        """Pause a job: its tasks do not start any more. Returns whether that changed anything."""
        return bool(self._call("pause_job", job_number(job), self._actor))

    def resume(self, job: Submitted | int) -> bool:
        """Resume a paused job. Returns whether that changed anything."""
        return bool(self._call("resume_job", job_number(job), self._actor))

    def cancel(self, job: Submitted | int) -> bool:
        """Cancel a job: open items are skipped, running tasks are stopped. Returns whether that changed anything."""
        return bool(self._call("cancel_job", job_number(job), self._actor))

    def reprocess(
        self,
        job: Submitted | int,
        statuses: Iterable[ItemStatus | str] = ENDED_BADLY,
        *,
        ns: Sequence[int] | None = None,
        reset_attempts: bool = True,
        restart: bool = False,
    ) -> int:
        """Run ended items with these statuses again, all or only the items `ns`; return how many."""
        args = reprocess_arguments(job, statuses, ns, reset_attempts, self._actor, restart)
        return int(self._call("reprocess_job", *args) or 0)

    def _changes(self, job_id: int, timeout: float | None) -> Iterator[JobSummary]:
        last = None
        for pause in results.pauses(job_id, timeout):
            time.sleep(pause)
            job, is_over = self._read(job_id)
            if job != last or is_over:
                yield job
            if is_over:
                return
            last = job

    def _read(self, job_id: int) -> tuple[JobSummary, bool]:
        return results.read_job(job_id, self._adapter.fetch_row(load("get_job"), (job_id,)))

    def signal(
        self, name: str, key: str, payload: Json = None, *, owner: str = "default", keep: float | timedelta = KEPT
    ) -> int:
        """Send a signal to the tasks of an owner that wait for this name and key; return how many it reached.

        If none waits, the signal is kept for `keep` seconds: the next task that waits for it gets it at once.
        """
        return int(self._call("send_signal", *signal_arguments(name, key, payload, owner, keep)))

    def _call(self, statement: str, *args: object) -> Any:
        row = self._adapter.fetch_row(load(statement), args)
        return None if row is None else row[0]


def _connect(dsn: str) -> psycopg.Connection[Any]:
    try:
        import psycopg  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ForebayError("SyncClient.connect needs psycopg: pip install 'forebay[psycopg]'") from error
    try:
        # Of several addresses, the driver asks one after the other, and would wait for the first without end.
        options: dict[str, Any] = {"connect_timeout": 3} if len(find_addresses(dsn)) > 1 else {}
        options |= wanted_server(dsn) | libpq_options(dsn)
        return psycopg.connect(dsn, autocommit=True, application_name="forebay client", **options)
    except psycopg.ProgrammingError as error:  # its message has the address
        raise database_unavailable(ValueError()) from error
    except psycopg.Error as error:
        raise database_unavailable(error) from error
