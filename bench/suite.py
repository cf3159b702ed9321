"""The groups in their order; one that fails is reported and does not end the others."""

import time
from collections.abc import Awaitable, Callable, Iterable

import asyncpg

from bench.groups import (
    articles,
    attachments,
    backlog,
    bookmarks,
    detection,
    drain,
    fairness,
    hosts,
    latency,
    media,
    memory,
    provider,
    search,
    service,
    sharing,
    sheets,
    snapshot,
    speech,
    submit,
    web,
)
from bench.harness import BenchError, Context
from bench.http_client import HttpError
from bench.limits import LimitError, claim_and_complete

GROUPS: dict[str, Callable[[Context], Awaitable[None]]] = {
    "drain": drain.run,
    "submit": submit.run,
    "latency": latency.run,
    "memory": memory.run,
    "backlog": backlog.run,
    "fairness": fairness.run,
    "sharing": sharing.run,
    "snapshot": snapshot.run,
    "hosts": hosts.run,
    "service": service.run,
    "bookmarks": bookmarks.run,
    "media": media.run,
    "attachments": attachments.run,
    "sheets": sheets.run,
    "provider": provider.run,
    "search": search.run,
    "articles": articles.run,
    "web": web.run,
    "detection": detection.run,
    "speech": speech.run,
}


async def run(context: Context, chosen: Iterable[str]) -> None:
    await _warm_up(context)
    for name in chosen:
        began = time.monotonic()
        context.say(f"{name}: started")
        try:
            await GROUPS[name](context)
        except (BenchError, LimitError, HttpError, OSError, EOFError, asyncpg.PostgresError) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            context.report.failures.append(f"{name}: {reason}")
            context.say(f"{name}: FAILED: {error}")
        context.say(f"{name}: ended after {time.monotonic() - began:.0f} s")


async def _warm_up(context: Context) -> None:
    """Work that is not counted: the first to touch the server's memory would pay for all."""
    await claim_and_complete(await context.server.fresh("bench_limits"), context.sizes.drain_items)
