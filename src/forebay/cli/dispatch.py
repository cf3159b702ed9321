"""`forebay dispatch`: offer tasks to the runners of a fleet."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from forebay import open_files, telemetry
from forebay.cli._common import find_dsn, load_own_settings, with_logins
from forebay.cli._fleet import broker_url, check_offered, left_to_workers
from forebay.cli._garbage import collect_garbage_rarely
from forebay.cli._pipelines import log_failures
from forebay.cli.worker import check_queues, on_uvloop, pass_on, stop_on_signals, wait_for_database
from forebay.engine.declare.loading import load_pipelines
from forebay.fleet.brokers import dispatcher_port, produced_jobs
from forebay.fleet.dispatcher import Dispatcher
from forebay.identity.logins import WORKER, login_url
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings

log = get_logger("cli")


@click.command()
@click.option("--queues", help="Serve only these queues, comma-separated.  [FOREBAY_QUEUES]")
@click.option("--pipelines", help="Modules with pipelines, comma-separated.  [FOREBAY_PIPELINES]")
def dispatch(queues: str | None, pipelines: str | None) -> None:
    """Offer tasks to the runners of a fleet.

    It claims, leases and settles tasks, which `forebay runner` runs elsewhere. Two or more of them replace each other.
    It needs FOREBAY_BROKER_URL.
    """
    settings = load_own_settings(queues=queues, pipelines=pipelines)
    url = broker_url(settings)
    loaded = load_pipelines(settings.pipeline_modules)
    log_failures()
    check_queues(settings, loaded)
    if not settings.broker_submits:  # it may submit the jobs of producers, and no more
        check_offered(settings, loaded)
    dsn = login_url(with_logins(settings), WORKER, "") or find_dsn(settings, running=False)
    with telemetry.running(settings, "dispatcher"):
        sys.exit(on_uvloop(_dispatch(settings, dsn, url, loaded)))


async def _dispatch(settings: Settings, dsn: str, url: str, pipelines: Sequence[Pipeline[Any]]) -> int:
    open_files.raise_limit()
    stop = stop_on_signals()
    usable = await wait_for_database(dsn, settings, pipelines, stop)
    if usable is None:
        return 0
    if left := left_to_workers(usable):
        log.info("steps_left_to_workers", steps=left)
    dispatcher = Dispatcher(dsn, usable, dispatcher_port(url), settings=settings)
    stopping = asyncio.create_task(pass_on(stop, dispatcher))
    try:
        async with _submitting(settings, dsn, url, usable, dispatcher):
            running = asyncio.create_task(dispatcher.run())
            await dispatcher.ready_or_failed(running)
            collect_garbage_rarely()
            await running
    finally:
        stopping.cancel()
    return 0


@asynccontextmanager
async def _submitting(
    settings: Settings, dsn: str, url: str, pipelines: Sequence[Pipeline[Any]], dispatcher: Dispatcher
) -> AsyncGenerator[None]:
    """Submit the jobs that producers add to a queue of the broker, if the settings name one."""
    if not settings.broker_submits:
        yield
        return
    submitting = asyncio.create_task(produced_jobs(url, settings.broker_submits, pipelines, dsn).run())
    submitting.add_done_callback(lambda _: dispatcher.stop())  # by a defect: what watches this process restarts it
    try:
        yield
    finally:
        submitting.cancel()
        with suppress(asyncio.CancelledError):
            await submitting
