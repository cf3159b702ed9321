"""`forebay worker`: run steps in this process, or in several under a supervisor."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from forebay import open_files, telemetry
from forebay.cli._common import find_dsn, load_own_settings, place_of, with_logins
from forebay.cli._garbage import collect_garbage_rarely
from forebay.cli._group import WholeNumber
from forebay.cli._pipelines import log_failures
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.db.schema_parts import parts_for
from forebay.engine.db import overview
from forebay.engine.declare.loading import load_pipelines, parts_needed
from forebay.engine.supervise.supervisor import Supervisor, report_worker_id, watch_parent
from forebay.engine.work.worker import Worker
from forebay.errors import DatabaseUnavailable, DefinitionError, InvalidField
from forebay.identity.logins import SETTINGS, WORKER, login_url
from forebay.log import get_logger
from forebay.packages import GROUP, package_of, packages
from forebay.waits import Backoff, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings

log = get_logger("cli")


@click.command()
@click.option("--processes", type=WholeNumber(1, 256), help="Number of processes.  [FOREBAY_PROCESSES]")
@click.option("--queues", help="Serve only these queues, comma-separated.  [FOREBAY_QUEUES]")
@click.option("--pipelines", help="Modules with pipelines, comma-separated.  [FOREBAY_PIPELINES]")
def worker(processes: int | None, queues: str | None, pipelines: str | None) -> None:
    """Run the steps of pipelines.

    Ctrl-C or SIGTERM stops it when running steps have ended; a second signal stops it immediately. It waits for a
    database that is not reachable yet.
    """
    settings = load_own_settings(processes=processes, queues=queues, pipelines=pipelines)
    watch_parent(settings.grace_s + 10)
    loaded = load_pipelines(settings.pipeline_modules)
    log_failures()
    check_queues(settings, loaded)
    dsn = login_url(with_logins(settings), WORKER, "") or find_dsn(settings, running=False)
    if settings.processes == 1:
        with telemetry.running(settings, "worker"):
            code = on_uvloop(work_here(settings, dsn, loaded))
    else:
        with telemetry.supervising(settings):
            code = asyncio.run(_work_in_children(settings, dsn))
    sys.exit(code)


def check_queues(settings: Settings, pipelines: Sequence[Pipeline[Any]]) -> None:
    """Raises: InvalidField for a queue without steps: the worker would wait forever."""
    known = {step.queue for pipeline in pipelines for step in pipeline.steps.values()}
    if unknown := settings.queue_names - known:
        raise InvalidField(
            "queues", f"no step uses {', '.join(sorted(unknown))}; the queues are {', '.join(sorted(known))}"
        )


def on_uvloop(work: Any) -> int:
    import uvloop  # noqa: PLC0415 - only worker processes need it

    return int(uvloop.run(work))


async def work_here(settings: Settings, dsn: str, pipelines: Sequence[Pipeline[Any]]) -> int:
    """Run a worker in this process; returns the exit code."""
    open_files.raise_limit()
    stop = stop_on_signals()
    usable = await wait_for_database(dsn, settings, pipelines, stop)
    if usable is None:
        return 0
    worker = Worker(dsn, usable, settings=settings)
    stopping = asyncio.create_task(pass_on(stop, worker))
    running = asyncio.create_task(worker.run())
    try:
        await worker.ready_or_failed(running)
        report_worker_id(worker.worker_id)
        collect_garbage_rarely()
        await running
    finally:
        stopping.cancel()
    if worker.stuck_threads:
        log.warning("threads_abandoned", threads=worker.stuck_threads)
        telemetry.stop()
        os._exit(0)  # all tasks are settled or released; the interpreter would wait for these threads
    return 0


def stop_on_signals() -> asyncio.Event:
    """An event for the first signal; the second ends the process."""
    stop = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            log.warning("worker_aborted", signal=number.name)
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return stop


async def pass_on(stop: asyncio.Event, worker: Worker) -> None:
    await stop.wait()
    log.info("worker_stopping", worker=worker.worker_id)
    worker.stop()


async def wait_for_database(
    dsn: str, settings: Settings, pipelines: Sequence[Pipeline[Any]], stop: asyncio.Event
) -> Sequence[Pipeline[Any]] | None:
    """Wait for a database with a compatible schema; None when stopped before. Returns the pipelines that can run in it:
    not those of installed packages whose part it does not have.

    Raises: SchemaError immediately, because waiting would not help.
    """
    named = parts_for(name for name in settings.pipeline_modules if name != GROUP)
    declared = [(pipeline, package_of(pipeline)) for pipeline in pipelines]
    backoff = Backoff(0.5, 15)
    while not stop.is_set():
        try:
            async with connected(dsn, "forebay worker") as conn:
                await migrate.check(conn, named)
                await migrate.leave_out_unusable(conn, parts_needed(pipelines))
        except DatabaseUnavailable as error:
            pause = backoff.grow()
            log.warning("database_awaited", database=place_of(dsn), reason=str(error), next_try_s=pause)
            await wait_for(stop, pause)
        else:
            return _without_omitted(declared)
    return None


def _without_omitted(declared: Sequence[tuple[Pipeline[Any], str | None]]) -> Sequence[Pipeline[Any]]:
    """The pipelines of these whose package is not omitted.

    Raises: DefinitionError if there are none.
    """
    usable = {package.name for package in packages()}
    left = [pipeline for pipeline, package in declared if package is None or package in usable]
    if len(left) < len(declared):
        log_failures()
    if not left:
        raise DefinitionError("there are no pipelines to run: none of their packages can be used")
    return left


# Several processes.


async def _work_in_children(settings: Settings, dsn: str) -> int:
    return await supervisor_of(settings, dsn).run()


class WorkerSupervisor(Supervisor):
    """A supervisor of workers; `stop` can be awaited."""

    @cached_property
    def stopping(self) -> asyncio.Event:
        return asyncio.Event()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.stopping.set()
        # Always the same signal: it ends a worker that is still importing modules, which counts as a clean end.
        super().stop(signal.SIGTERM)


def supervisor_of(settings: Settings, dsn: str, notice: Callable[[str], None] | None = None) -> WorkerSupervisor:
    """A supervisor of worker processes with these settings; the tasks of a lost one are requeued."""
    host = socket.gethostname()

    async def write_off(pid: int, worker_id: int | None) -> None:
        if notice is not None:
            notice(f"{time.strftime('%H:%M:%S')} worker {host}:{pid} stopped unexpectedly and is being replaced")
        if worker_id is None:  # it had not registered yet, so it had no leases
            return
        try:
            async with connected(dsn, "forebay supervisor") as conn:
                tasks = await overview.mark_worker_dead(conn, worker_id)
        except DatabaseUnavailable as error:
            log.warning("leases_not_taken_back", pid=pid, worker=worker_id, reason=str(error))  # they will expire
        else:
            log.info("leases_taken_back", pid=pid, worker=worker_id, tasks=tasks)

    argv = [sys.executable, "-m", "forebay", "worker", "--processes", "1"]
    # Options reach the children as variables: a URL with a password must not be an argument.
    own = login_url(settings, WORKER, dsn)
    others = {f"FOREBAY_{name.upper()}": "" for name in SETTINGS.values()}  # workers do not need it
    env = (
        os.environ
        | others
        | {
            "FOREBAY_DATABASE_URL": own,
            "FOREBAY_WORKER_DATABASE_URL": own,
            "FOREBAY_DATA_DIR": str(settings.data_dir.absolute()),
            "FOREBAY_PIPELINES": settings.pipelines,
            "FOREBAY_QUEUES": settings.queues,
            "FOREBAY_LOG_LEVEL": settings.log_level,
            "PYTHONUNBUFFERED": "1",
        }
    )
    return WorkerSupervisor(argv, settings.processes, grace=settings.grace_s + 15, on_lost=write_off, env=env)
