"""Wake-ups: one LISTEN connection per process, checked periodically and replaced when it fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.db.pool import UNAVAILABLE, connect
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger
from forebay.waits import Backoff, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg

log = get_logger("listener")

CHANNEL = "forebay"


async def listen(
    dsn: str, on_message: Callable[[str], None], on_connected: Callable[[], None], *, check_every: float = 10
) -> None:
    """Pass every payload to `on_message`, forever. Messages that are sent while the connection is down are lost, so
    `on_connected` is called after each connect: the caller should then read the tables."""
    backoff = Backoff(0.1, 5)
    while True:
        try:
            conn = await connect(dsn, name="forebay listener")
        except DatabaseUnavailable as error:
            pause = backoff.grow()
            log.warning("listen_failed", error=str(error), pause=pause)
            await asyncio.sleep(pause)
            continue
        backoff.reset()
        ended = _ending(conn)
        try:
            await conn.add_listener(CHANNEL, lambda _conn, _pid, _channel, payload: on_message(str(payload)))
            on_connected()
            while not ended.is_set():
                await wait_for(ended, check_every)
                await conn.fetchval("select 1", timeout=check_every)  # fails on a half-open connection
        except UNAVAILABLE as error:
            log.warning("listen_lost", error=one_line(error))
        finally:
            conn.terminate()


def _ending(conn: asyncpg.Connection[asyncpg.Record]) -> asyncio.Event:
    ended = asyncio.Event()
    conn.add_termination_listener(lambda _conn: ended.set())
    return ended
