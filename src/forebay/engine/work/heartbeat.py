"""The heartbeat of a worker: renews its leases on a thread with its own event loop and its own connection.

So neither a step that blocks the worker's event loop nor a slow statement of the worker delays a renewal. Only a loop
that has been blocked for longer than the cap of leases is given up: other workers run its tasks.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, UNAVAILABLE, connect
from forebay.engine.db import tasks
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger
from forebay.waits import Backoff

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.clock import Clock
    from forebay.engine.work.leases import LeaseBook
    from forebay.settings import Settings

log = get_logger("heartbeat")

_SHORTEST_TIMEOUT = 1.0  # seconds, also with very short leases
_STOP_SECONDS = 5.0


class Heartbeat:
    """Renews the leases of a LeaseBook four times per lease; the results are handled on the worker's event loop."""

    def __init__(self, dsn: str, worker_id: int, settings: Settings, clock: Clock, leases: LeaseBook) -> None:
        self._dsn = dsn
        self._worker_id = worker_id
        self._clock = clock
        self._leases = leases
        self._prepared = settings.prepared_statements
        self._every = settings.lease_floor_s / 4
        # A connection that does not respond is replaced while the leases still last.
        self._timeout = min(max(_SHORTEST_TIMEOUT, settings.lease_floor_s / 3), settings.command_timeout_s)
        self._conn: Connection | None = None
        self._has_given_up = False  # the leases, because the worker's event loop is blocked
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread; call this on the worker's event loop."""
        self._worker_loop = asyncio.get_running_loop()
        self._thread.start()
        self._begun.wait()

    async def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        await asyncio.to_thread(self._thread.join, _STOP_SECONDS)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._beat_until_cancelled())

    async def _beat_until_cancelled(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio.run runs its coroutine in a task
        self._task, self._loop = task, asyncio.get_running_loop()
        self._begun.set()
        backoff = Backoff(0.05, self._every)
        try:
            while True:
                pause = backoff.pause or self._every * random.uniform(0.8, 1.2)  # noqa: S311 - spreads workers
                await self._sleep(pause)
                await self._beat(backoff)
        finally:
            self._disconnect()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, and record how long this really took: longer if a step held the interpreter."""
        began = time.monotonic()
        await asyncio.sleep(seconds)
        self._leases.length.add_gap(self._every + max(0.0, time.monotonic() - began - seconds))

    async def _beat(self, backoff: Backoff) -> None:
        try:
            await self._renew()
        except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable) as error:
            self._failed(error, backoff)
        except Exception as error:  # a bug in one renewal must not stop the heartbeat
            self._failed(error, backoff, unexpected=True)
        else:
            backoff.reset()

    def _failed(self, error: Exception, backoff: Backoff, *, unexpected: bool = False) -> None:
        self._disconnect()  # it may be half open
        warn = log.exception if unexpected else log.warning
        warn("tick_failed", loop="heartbeat", error=one_line(error), pause=backoff.grow())

    async def _renew(self) -> None:
        due = self._leases.due()
        if not due or self._is_loop_blocked(len(due)):
            return
        now = time.monotonic()
        tokens = [lease.token for lease in due]
        lengths = [self._leases.length.value] * len(due)
        async with asyncio.timeout(self._timeout):
            if self._conn is None:
                self._conn = await connect(
                    self._dsn, name="forebay worker heartbeat", timeout=self._timeout, prepared=self._prepared
                )
            held = await tasks.renew_leases(self._conn, self._worker_id, tokens, lengths, self._clock.stamp())
        for lease in due:
            lease.held_since = now
        self._worker_loop.call_soon_threadsafe(self._leases.note_renewal, tokens, held)

    def _is_loop_blocked(self, leases: int) -> bool:
        """Timeouts of steps do not work on a blocked loop: only the end of its leases frees its tasks."""
        seconds = self._leases.loop_blocked_s()
        if seconds and not self._has_given_up:
            log.critical("event_loop_blocked", seconds=round(seconds), leases=leases, worker=self._worker_id)
        self._has_given_up = seconds > 0
        return self._has_given_up

    def _disconnect(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None
