"""`forebay runner`: run the tasks that dispatchers offer, without a database."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from forebay import open_files, telemetry
from forebay.cli._common import load_own_settings
from forebay.cli._fleet import broker_url, check_offered
from forebay.cli._garbage import collect_garbage_rarely
from forebay.cli._pipelines import log_failures
from forebay.cli.worker import check_queues, on_uvloop, stop_on_signals
from forebay.engine.declare.loading import load_pipelines
from forebay.fleet.brokers import runner_port
from forebay.fleet.step_runner import StepRunner
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings

log = get_logger("cli")


@click.command()
@click.option("--queues", help="Serve only these queues, comma-separated.  [FOREBAY_QUEUES]")
@click.option("--pipelines", help="Modules with pipelines, comma-separated.  [FOREBAY_PIPELINES]")
def runner(queues: str | None, pipelines: str | None) -> None:
    """Run the tasks that `forebay dispatch` offers.

    It needs FOREBAY_BROKER_URL, and no database. Ctrl-C or SIGTERM stops it when running steps have ended; a second
    signal stops it immediately.
    """
    settings = load_own_settings(queues=queues, pipelines=pipelines)
    url = broker_url(settings)
    loaded = load_pipelines(settings.pipeline_modules)
    log_failures()
    check_queues(settings, loaded)
    check_offered(settings, loaded)
    with telemetry.running(settings, "runner"):
        sys.exit(on_uvloop(_run(settings, url, loaded)))


async def _run(settings: Settings, url: str, pipelines: Sequence[Pipeline[Any]]) -> int:
    open_files.raise_limit()
    stop = stop_on_signals()
    step_runner = StepRunner(runner_port(url), pipelines, settings=settings)
    running = asyncio.create_task(step_runner.run())
    stopped = asyncio.create_task(stop.wait())
    collect_garbage_rarely()
    await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if stop.is_set():
        log.info("runner_stopping", runner=step_runner.name)
        step_runner.stop()
    await running
    return 0
