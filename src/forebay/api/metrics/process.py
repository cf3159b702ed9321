"""What the API process measures about itself: its requests, and how its database answers."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_QUICK = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_INGESTS = frozenset((("POST", "/api/jobs"),))
_NO_ROUTE = "none"  # what callers invent must not make new series
_WEIGHT = 0.1  # of the newest round trip in the moving mean


class Distribution:
    """How many values there were up to each bound, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # the last: beyond all bounds
        self.total = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    def observe(self, value: float) -> None:
        self.add(bisect_left(self.bounds, value), 1, value)

    def add(self, bucket: int, count: int, total: float) -> None:
        self.counts[bucket] += count
        self.total += total

    def merge(self, other: Distribution) -> None:
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """An estimate, as Prometheus makes it: values lie evenly within their bucket."""
        wanted, seen, lower = share * self.count, 0, 0.0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            if count and seen + count >= wanted:
                return lower + (bound - lower) * (wanted - seen) / count
            seen, lower = seen + count, bound
        return lower if self.count else None


class Meter:
    """The measurements of one API process since it began."""

    def __init__(self) -> None:
        self.requests: defaultdict[tuple[str, str, str], Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.ingests: defaultdict[str, Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.waits: defaultdict[str, Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.latency: float | None = None
        self.pending_served = 0  # items in the answers of the pending list
        self.forwarded_ignored = 0  # requests whose X-Forwarded-For came from nobody who is trusted

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests[method, route, str(status)].observe(seconds)
        if (method, route) in _INGESTS and status < 300:
            self.ingests[route].observe(seconds)

    def waited(self, room: str, seconds: float) -> None:
        """A connection of this pool was had after so long."""
        self.waits[room].observe(seconds)

    def round_trip(self, seconds: float) -> None:
        """The database answered something that takes no time in itself."""
        self.latency = seconds if self.latency is None else self.latency + _WEIGHT * (seconds - self.latency)


class Timed:
    """Measures every request until its answer begins: a stream then lasts as long as its reader likes."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._meter.answered(*_place(scope), message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, watched)


def _place(scope: Scope) -> tuple[str, str]:
    """The method and the template of the route that answers."""
    method = scope["method"] if scope["method"] in METHODS else "other"
    return method, getattr(scope.get("route"), "path", _NO_ROUTE)
