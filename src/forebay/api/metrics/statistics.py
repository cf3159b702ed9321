"""The numbers of the service: exact, from the database, counted at most twice a minute; and those of this process."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest

from forebay.api.metrics import names as catalogue
from forebay.api.metrics.attempt_window import BOUNDS, Window
from forebay.api.metrics.samples import (
    Sheet,
    write_api,
    write_attempts,
    write_depth,
    write_items,
    write_web,
    write_work,
    write_workers,
)
from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import metrics as numbers
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.metrics.process import Meter
    from forebay.api.role_pools import Rooms
    from forebay.db.pool import Connection
    from forebay.engine.db.metrics import ItemCounts, Numbers
    from forebay.engine.db.overview import Depth

log = get_logger("api")

_FRESH = 30.0
_FAILED = 5.0  # seconds in which a count that failed is not tried again: who asks wants to know now
_SOON = 3.0  # seconds within which a database that is there says what time it is
_AWAY = (DatabaseUnavailable, *UNAVAILABLE)


def own_numbers(depth: Sequence[Depth], items: Sequence[ItemCounts]) -> dict[str, Any]:
    """The numbers of one owner's work, under the names of the service's."""
    sheet = Sheet()
    write_depth(sheet, depth)
    write_items(sheet, items)
    return _as_json(sheet)


def _as_json(sheet: Sheet) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {}
    for family in sheet.collect():
        for sample in family.samples:
            found.setdefault(sample.name, []).append({"labels": sample.labels, "value": sample.value})
    return found


class Statistics:
    """What /metrics, /api/statistics and the worker list show."""

    def __init__(self, rooms: Rooms, meter: Meter) -> None:
        self._rooms = rooms
        self._meter = meter
        self._window = Window()
        self._numbers: Numbers | None = None
        self._at = 0.0
        self._failure: Exception | None = None
        self._failed_at = 0.0
        self._lock = asyncio.Lock()

    async def numbers(self) -> Numbers:
        async with self._lock:  # who comes meanwhile gets the same
            if self._numbers is None or time.monotonic() - self._at > _FRESH:
                self._numbers = await self._counted()
                self._at = time.monotonic()
            return self._numbers

    async def _counted(self) -> Numbers:
        if self._failure is not None and time.monotonic() - self._failed_at < _FAILED:
            raise self._failure.with_traceback(None)
        try:
            async with self._rooms.watch.acquire() as conn:
                found = await self._count(conn)
        except _AWAY as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        self._failure = None
        return found

    async def _count(self, conn: Connection) -> Numbers:
        began = time.perf_counter()
        async with asyncio.timeout(_SOON):
            now = await numbers.now(conn)
        self._meter.round_trip(time.perf_counter() - began)
        for since, until in self._window.unread(now):
            self._window.take(since, await numbers.attempts(conn, since, until, BOUNDS))
        self._window.move_on(now)
        return await numbers.numbers(conn, now)

    async def pending_count(self) -> int:
        return (await self.numbers()).pending

    async def exposition(self) -> bytes:
        registry = CollectorRegistry()
        registry.register(await self._sheet())
        return generate_latest(registry)

    async def as_json(self) -> dict[str, Any]:
        return _as_json(await self._sheet())

    async def _sheet(self) -> Sheet:
        """Everything; without a database, what this process knows by itself."""
        sheet = Sheet()
        try:
            found = await self.numbers()
        except _AWAY as error:
            log.warning("numbers_not_counted", error=one_line(error))
            sheet.put(catalogue.DATABASE_UP, 0)
        else:
            sheet.put(catalogue.DATABASE_UP, 1)
            write_work(sheet, found)
            write_attempts(sheet, found, self._window)
            write_workers(sheet, found)
            write_web(sheet, found)
        write_api(sheet, self._meter)
        return sheet
