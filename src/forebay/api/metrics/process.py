"""What the API process measures itself: its requests and its database latency."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from forebay.api.metrics import names
from forebay.api.metrics.metric import Distribution

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from forebay.api.metrics.metric import MetricSet

_QUICK = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_INGESTS = frozenset((("POST", "/api/jobs"),))
_NO_ROUTE = "none"  # other methods must not create new series
_WEIGHT = 0.1  # weight of the newest round trip in the moving average


class Meter:
    """The measurements of one API process since it started."""

    def __init__(self) -> None:
        self.requests: defaultdict[tuple[str, str, str], Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.ingests: defaultdict[str, Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.waits: defaultdict[str, Distribution] = defaultdict(lambda: Distribution(_QUICK))
        self.latency: float | None = None
        self.pending_served = 0  # items in responses of the pending list
        self.forwarded_ignored = 0  # requests with an X-Forwarded-For from an untrusted sender

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests[method, route, str(status)].observe(seconds)
        if (method, route) in _INGESTS and status < 300:
            self.ingests[route].observe(seconds)

    def waited(self, pool: str, seconds: float) -> None:
        """A connection of this pool was acquired after this time."""
        self.waits[pool].observe(seconds)

    def round_trip(self, seconds: float) -> None:
        """The database answered a trivial query."""
        self.latency = seconds if self.latency is None else self.latency + _WEIGHT * (seconds - self.latency)


class Timed:
    """Measures every request until its response begins; a stream may last much longer."""

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
    """The method and the template of the route."""
    method = scope["method"] if scope["method"] in METHODS else "other"
    return method, getattr(scope.get("route"), "path", _NO_ROUTE)


def write_api(metrics: MetricSet, meter: Meter) -> None:
    """Add the measurements of this process."""
    for place, seconds in meter.requests.items():
        metrics.put(names.API_REQUESTS, seconds.count, *place)
        metrics.put_histogram(names.API_DURATION, seconds, *place)
    for route, seconds in meter.ingests.items():
        metrics.put_histogram(names.INGEST, seconds, route)
    for pool, seconds in meter.waits.items():
        metrics.put_histogram(names.POOL_WAIT, seconds, pool)
    metrics.put(names.FORWARDED_IGNORED, meter.forwarded_ignored)
    metrics.put(names.PENDING_SERVED, meter.pending_served)
    if meter.latency is not None:
        metrics.put(names.DB_LATENCY, meter.latency)
