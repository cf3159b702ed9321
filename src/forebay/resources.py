"""What the steps of one worker share: settings, the database, the egress proxy, the browser, the store."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.engine.declare.limit import HOST_LIMIT, Limit
from forebay.engine.declare.resources import resource

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Pool
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.resources import Resources
    from forebay.engine.limits.client import LimitClient
    from forebay.services.browser import Browser
    from forebay.services.download.partial_file import PartialFile
    from forebay.services.download.receiving import Report
    from forebay.services.egress import Egress, Http, Politeness
    from forebay.settings import Settings
    from forebay.storage import Blobs


# Imported when they are opened: who runs none of these pipelines needs none of their packages, and where one is
# missing, the step that needs it is parked with the command that installs it.


@resource
async def settings(given: Resources) -> AsyncGenerator[Settings]:
    yield given.settings


@resource
async def database(given: Resources) -> AsyncGenerator[Pool]:
    yield given.pool


@resource
async def egress(given: Resources) -> AsyncGenerator[Egress]:
    from forebay.services.egress import open_egress  # noqa: PLC0415

    async with open_egress(given.settings) as opened:
        given.add_description("egress", opened.describe)
        yield opened


@resource
async def http(given: Resources) -> AsyncGenerator[Http]:
    from forebay.services.egress import open_http  # noqa: PLC0415

    async with open_http(await given.get(egress), _politeness(given)) as opened:
        given.add_description("hosts", opened.politeness.totals)
        yield opened


def _politeness(given: Resources) -> Politeness:
    """Limits on requests per host apply to all workers together through the engine's limits, unless disabled."""
    from forebay.services.egress.politeness import Politeness  # noqa: PLC0415

    settings = given.settings
    if not settings.egress_host_shared:
        return Politeness(settings)

    def permit(host: str, delay_s: float) -> AbstractAsyncContextManager[None]:
        rate = 1 / delay_s if delay_s else None
        limit = Limit(HOST_LIMIT, rate=rate, concurrency=settings.egress_host_concurrency, key=str)
        return permitted(given.limits, limit, host)

    return Politeness(settings, permits=permit)


@asynccontextmanager
async def permitted(limits: LimitClient, limit: Limit, value: object = None) -> AsyncGenerator[None]:
    """A permit of a limit that all workers share.

    Raises: LimitReached.
    """
    held = await limits.acquire([limit], value)
    try:
        yield
    finally:
        limits.release(held)


@resource
async def browser(given: Resources) -> AsyncGenerator[Browser]:
    from forebay.services.browser import open_browser  # noqa: PLC0415

    async with open_browser(given.settings, await given.get(egress)) as opened:
        given.add_description("browser", opened.describe)
        yield opened


@resource
async def blobs(given: Resources) -> AsyncGenerator[Blobs]:
    from forebay.storage import Blobs, open_store  # noqa: PLC0415

    yield Blobs(given.pool, open_store(given.settings))


# Transfers over several attempts.


@asynccontextmanager
async def partial_file(ctx: Context, name: str = "") -> AsyncGenerator[PartialFile]:
    """The partial file of a task, which its next attempt on this machine continues; `name` distinguishes several.

    Raises: ThrottledError while an earlier attempt still writes it.
    """
    from forebay.services.download.partial_file import open_partial  # noqa: PLC0415

    path = await (await ctx.get(blobs)).partial_path(ctx.owner_id, f"{ctx.key}-{name}")
    async with open_partial(path) as partial:
        yield partial


def reporting(ctx: Context, note: str) -> Report:
    """Report the progress of a transfer in bytes; the engine computes rate and ETA."""

    def report(done: int, total: int | None) -> None:
        ctx.progress(note=note, bytes_done=done, bytes_total=total)

    return report
