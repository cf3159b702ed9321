"""`forebay up`: start PostgreSQL, the API and workers with one command."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.live import Live

from forebay import log, telemetry
from forebay.cli import _data_dir, _guide, _hang_up, api
from forebay.cli import _show as show
from forebay.cli._chromium import install_chromium
from forebay.cli._common import add_logins, load_own_settings, place_of, unknown_variables
from forebay.cli._group import WholeNumber
from forebay.cli._live import View
from forebay.cli._pipelines import make_known
from forebay.cli._ports import choose_port
from forebay.cli._server import keep_running, locked_data_dir, recover, running_postgres, short
from forebay.cli._stages import stage
from forebay.cli.top import follow
from forebay.cli.worker import check_queues, supervisor_of
from forebay.db import migrate
from forebay.db.pool import as_forebay_errors, connected
from forebay.embedded import EmbeddedPostgres
from forebay.embedded.system import opened_log
from forebay.engine.db import overview
from forebay.engine.declare.loading import load_pipelines
from forebay.errors import DatabaseUnavailable
from forebay.identity.logins import SETTINGS, close_temporary, login_urls, make_logins, open_public
from forebay.packages import GROUP, failures, leave_out, packages

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from rich.console import Console

    from forebay.cli._guide import Guide
    from forebay.db.pool import Connection
    from forebay.engine.db.overview import Overview
    from forebay.packages import Failure
    from forebay.settings import Settings

_LOG_LIMIT = 16 * 2**20
_EXAMPLE = "forebay.example"
_DEMO_OWNER = "admin"  # the first administrator sees the demo after signing in


@click.command()
@click.option("--processes", type=WholeNumber(1, 256), help="Number of worker processes.  [FOREBAY_PROCESSES]")
@click.option("--pipelines", help="Modules with pipelines, comma-separated.  [FOREBAY_PIPELINES]")
@click.option("--port", type=WholeNumber(0, 65535), help="Port of the API; 0: a free one.  [FOREBAY_API_PORT]")
@click.option("--demo/--no-demo", default=True, help="Submit example jobs if the database has none.")
def up(processes: int | None, pipelines: str | None, port: int | None, demo: bool) -> None:
    """Start PostgreSQL, the API and workers.

    PostgreSQL runs in FOREBAY_DATA_DIR; FOREBAY_DATABASE_URL selects another server. Ctrl-C stops everything; the next
    start continues the work, also after a crash.
    """
    settings = load_own_settings(processes=processes, pipelines=pipelines, api_port=port)
    check_queues(settings, load_pipelines(settings.pipeline_modules))
    out = show.console()
    print_warnings(out)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until the supervisor takes over
    _hang_up.interrupt_on_hang_up()
    with ExitStack() as running:
        running.enter_context(telemetry.supervising(settings))
        running.enter_context(locked_data_dir(settings.data_dir))
        chosen, moved = choose_port(settings) if api.is_installed() else (None, "")
        install_chromium(settings, out)
        server = running.enter_context(running_postgres(settings, out)) if settings.dsn is None else None
        dsn = settings.dsn or (server.dsn if server else "")
        asyncio.run(_prepare(settings, dsn, out, demo=demo and _EXAMPLE in settings.pipeline_modules))
        if server:
            settings = add_logins(settings, asyncio.run(_make_logins(server)))
        guide = asyncio.run(_guide.make(settings, dsn, chosen, moved, for_a_person=out.is_terminal))
        running.enter_context(_data_dir.serving(settings.data_dir, guide.address))
        _data_dir.remember(settings.data_dir)
        code = asyncio.run(_work(settings, dsn, server, out, chosen, guide))
        _hang_up.ignore_hang_up()
    out.print("Stopped. `forebay up` continues the work.")
    sys.exit(code)


def print_warnings(out: Console) -> None:
    """Print problems that do not prevent the start: misspelt variables, and packages that failed to load."""
    for sentence in unknown_variables().values():
        _print_warning(out, sentence)
    _print_omitted(out, failures())


def _print_omitted(out: Console, packages: Iterable[Failure]) -> None:
    for failure in packages:
        _print_warning(out, f"{failure}. {failure.fix[0].upper()}{failure.fix[1:]}")


def _print_warning(out: Console, sentence: str) -> None:
    out.print(sentence, style="yellow", soft_wrap=True, markup=False)


async def _prepare(settings: Settings, dsn: str, out: Console, *, demo: bool) -> None:
    if settings.dsn:
        with stage(out, "Database") as now:
            async with connected(dsn, "forebay up"):
                now.result = place_of(dsn)
    known = failures()
    with stage(out, "Schema") as now:
        async with as_forebay_errors():
            applied = await migrate.ensure_service(dsn)
        now.result = f"{show.plural(applied, 'migration')} applied" if applied else "up to date"
    _print_omitted(out, [failure for failure in failures() if failure not in known])
    if not settings.dsn:
        await recover(dsn, out)
    if demo:
        await _submit_demo(settings, dsn, out)


async def _make_logins(server: EmbeddedPostgres) -> dict[str, str]:
    """Create the accounts of the API and the workers; returns their addresses by setting."""
    passwords = server.make_login_passwords(SETTINGS)
    await make_logins(server.dsn, passwords)
    await open_public(server.dsn)
    await close_temporary(server.dsn)
    return login_urls(server.dsn, passwords)


async def _submit_demo(settings: Settings, dsn: str, out: Console) -> None:
    """Submit the example jobs on the first start; idempotency keys prevent duplicates after a crash."""
    from forebay.example import demo_texts, texts  # noqa: PLC0415 - only needed here

    async with connected(dsn, "forebay up") as conn:
        if await overview.has_jobs(conn):
            return
        with stage(out, "Demo") as now:
            await make_known(conn, settings, texts)
            job = await texts.submit_many(conn, demo_texts(), owner=_DEMO_OWNER, key="demo")
            now.result = f"job {job.job_id} with {show.plural(job.items, 'text')}"
            if GROUP in settings.pipeline_modules:
                now.result += "".join(f", {told}" for told in await _package_demos(conn, settings))


async def _package_demos(conn: Connection, settings: Settings) -> list[str]:
    told: list[str | None] = []
    for package in packages():
        try:
            if (submit_demo := package.submit_demo()) is not None:
                told.append(await submit_demo(conn, settings, _DEMO_OWNER))
        except Exception as error:  # any error of the package
            leave_out(package, error)
    return [text for text in told if text is not None]


# Working.


async def _work(
    settings: Settings, dsn: str, server: EmbeddedPostgres | None, out: Console, port: int | None, guide: Guide
) -> int:
    """Run the API and the workers and show their progress until stopped."""
    log_file = settings.data_dir / "worker.log"
    workers = "the worker is" if settings.processes == 1 else "the workers are"
    view = View(
        f"forebay {metadata.version('forebay')}",
        folded=True,
        starting=f"{workers} starting",
        footer=f"Ctrl-C stops.  Data: {short(settings.data_dir.absolute())}  Logs: {short(log_file.absolute())}",
    )

    def notice(text: str) -> None:
        view.notices.append(text)

    def started() -> None:
        if not out.is_terminal:
            out.print(guide.plain(), soft_wrap=True)

    with _logs_to(log_file, settings) if out.is_terminal else nullcontext():
        supervisor = supervisor_of(settings, dsn, notice)
        _hang_up.stop_on_hang_up(supervisor)
        supervised = asyncio.create_task(supervisor.run())
        serving = None if port is None else api.supervisor_of(settings, dsn, port)
        served = asyncio.create_task(serving.run()) if serving else None
        care = [asyncio.create_task(_guide.keep_fresh(guide, view, settings, dsn, port, started))]
        care += [asyncio.create_task(keep_running(server, notice))] if server else []
        await _show_until(supervisor.stopping, supervised, dsn, view, out)
        with stage(out, f"Stopping {show.plural(settings.processes, 'worker')} and the API"):
            if serving:
                serving.stop()
            code = max(await supervised, await served if served else 0)
        for task in care:
            task.cancel()
            await asyncio.wait({task})
    return code


async def _show_until(stop: asyncio.Event, supervised: asyncio.Task[int], dsn: str, view: View, out: Console) -> None:
    """Show progress until the supervisor stops."""
    showing = asyncio.create_task(_draw(dsn, view, out) if out.is_terminal else _report(dsn, out))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({showing, stopping, supervised}, return_when=asyncio.FIRST_COMPLETED)
    for task in (showing, stopping):
        task.cancel()
    await asyncio.wait({showing, stopping})
    if not showing.cancelled() and (error := showing.exception()):
        if isinstance(error, OSError):  # the terminal was closed; nohup lets the work go on
            _hang_up.leave_terminal()
        out.print(f"[red]the view failed:[/red] {error}")
        await asyncio.wait({supervised})


async def _draw(dsn: str, view: View, out: Console) -> None:
    with Live(console=out, auto_refresh=False, vertical_overflow="crop") as live:
        await follow(dsn, view, live, 1.0)


async def _report(dsn: str, out: Console, interval: float = 3.0) -> None:
    """Print progress as lines, for logs and pipes: on changes, at most every few seconds."""
    view, before = View(""), ""
    while True:
        with suppress(DatabaseUnavailable):  # the workers log it
            async with connected(dsn, "forebay up") as conn:
                while True:
                    seen = await overview.overview(conn)
                    view.add(seen)
                    line = _line(seen, view)
                    if line != before:
                        out.print(line, soft_wrap=True)
                    before = line
                    await asyncio.sleep(interval)
        await asyncio.sleep(interval)


def _line(seen: Overview, view: View) -> str:
    """One line about the first unfinished job and all steps."""
    waiting = sum(depth.waiting for depth in seen.depth)
    running = sum(depth.leased for depth in seen.depth)
    alive = sum(worker.alive for worker in seen.workers)
    parts = [f"{show.number(waiting)} tasks waiting, {show.number(running)} running on {show.plural(alive, 'worker')}"]
    for job in seen.jobs[:1]:
        counts = f"{show.counts(job)} of {show.plural(job.total, 'item')}"
        parts.insert(0, f"job {job.id} {job.pipeline} {job.state}: {counts}")
        parts += [f"ETA {show.between(seen.at, job.eta)}"] * (job.eta is not None)
    if waiting or running:
        parts.insert(1, show.rate(view.rates.items, "items"))
    return "; ".join(parts)


@contextmanager
def _logs_to(file: Path, settings: Settings) -> Generator[None]:
    """Send the logs of this process and its children to a file, because the view uses the terminal."""
    if file.exists() and file.stat().st_size > _LOG_LIMIT:
        file.replace(file.with_suffix(".log.1"))
    kept = os.dup(2)
    with opened_log(file) as opened:
        os.dup2(opened.fileno(), 2)
    log.configure(settings.log_level, json_lines=settings.log_json)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        log.configure(settings.log_level, json_lines=settings.log_json)
