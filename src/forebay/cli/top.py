"""`forebay top`: a live view of jobs, queues, failures and workers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from rich.live import Live

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, place_of, run
from forebay.cli._group import Number
from forebay.cli._live import View, as_json
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.engine.db import overview
from forebay.engine.supervise.rates import Rates
from forebay.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from rich.console import Console

    from forebay.db.pool import Connection


@click.command()
@click.option("--once", is_flag=True, help="Show it once and exit.")
@click.option("--interval", type=Number(0.1, 60), default=2.0, show_default=True, help="Seconds between updates.")
@json_option
def top(once: bool, interval: float, as_json: bool) -> None:
    """Watch jobs, queues and workers live.

    Ctrl-C ends it. With --json it prints one JSON object per line and interval. Rates are measured over the interval,
    so the first output waits for it.
    """
    settings = load_settings()
    dsn = find_dsn(settings)
    out = show.console()
    with suppress(KeyboardInterrupt):  # the usual way to end it
        if as_json:
            run(_stream(dsn, interval, once=once))
        elif once or not out.is_terminal:
            run(_print_once(dsn, interval, out))
        else:
            run(_watch(dsn, interval, out))


async def _stream(dsn: str, interval: float, *, once: bool) -> None:
    rates = Rates()
    async with connected(dsn, "forebay top") as conn:
        await migrate.check(conn)
        first = await overview.overview(conn)
        rates.add(first.at, first.settled, first.ended)
        while True:
            await asyncio.sleep(interval)
            seen = await overview.overview(conn)
            rates.add(seen.at, seen.settled, seen.ended)
            click.echo(show.dump(as_json(seen, rates)))
            if once:
                return


async def _print_once(dsn: str, interval: float, out: Console) -> None:
    view = View(f"forebay  {place_of(dsn)}")
    async with connected(dsn, "forebay top") as conn:
        await migrate.check(conn)
        view.add(await overview.overview(conn))
        await asyncio.sleep(interval)
        view.add(await overview.overview(conn))
    out.print(view.draw(200, out.width))


async def _watch(dsn: str, interval: float, out: Console) -> None:
    view = View(f"forebay  {place_of(dsn)}")
    with Live(console=out, screen=True, auto_refresh=False) as live:
        await follow(dsn, view, live, interval)


async def follow(dsn: str, view: View, live: Live, interval: float) -> None:
    """Update a view until cancelled, also while the database is unavailable."""
    while True:
        try:
            async with connected(dsn, "forebay top") as conn:
                await migrate.check(conn)
                await _look_on(conn, view, live, interval)
        except DatabaseUnavailable as error:
            view.trouble = str(error)
            live.update(view.draw(live.console.height, live.console.width), refresh=True)
            await asyncio.sleep(min(interval, 2))


async def _look_on(conn: Connection, view: View, live: Live, interval: float) -> None:
    while True:
        view.add(await overview.overview(conn))
        live.update(view.draw(live.console.height, live.console.width), refresh=True)
        await asyncio.sleep(interval)
