"""Adaptive limits that are tuned by measured latencies; used for the engine's steps and for remote hosts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Ewma:
    """An exponentially weighted mean, with its variance."""

    alpha: float = 0.2
    mean: float | None = None
    variance: float = 0.0

    def add(self, value: float) -> None:
        if self.mean is None:
            self.mean = value
            return
        difference = value - self.mean
        self.mean += self.alpha * difference
        self.variance = (1 - self.alpha) * (self.variance + self.alpha * difference * difference)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.variance)


class Concurrency:
    """An adaptive limit: increases by one while latency stays in its band, decreases by a tenth under back-pressure.

    It decides once per window of completions. The latency is that of successes; a window of rejected attempts decreases
    the limit by a tenth without any success.
    """

    def __init__(self, least: int, most: int, *, start: int = 8) -> None:
        self.least, self.most = least, most
        self.limit = float(min(most, max(least, start)))
        self.latency = Ewma(alpha=0.4)
        self._window_sum = 0.0
        self._window = 0
        self._reached = False
        self._pushed_back = 0

    @property
    def value(self) -> int:
        return int(self.limit)

    def add_pressure(self) -> None:
        """Record back-pressure from the remote service or this machine: a throttled or timed-out attempt."""
        self._pushed_back += 1
        if self._pushed_back >= self.value:
            self.drop()

    def drop(self) -> None:
        """Decrease the limit by a tenth immediately, because there may be no successes to decide by."""
        self.limit = max(self.least, self.limit * 0.9)
        self._begin_window()

    def begin_again(self) -> None:
        """Decrease the limit to its minimum, after an outage."""
        self.drop()
        self.limit = float(self.least)

    def add(self, count: int, seconds: float, running: int) -> None:
        """Record `count` successes that took `seconds` in total, while `running` tasks ran."""
        self._window_sum += seconds
        self._window += count
        self._reached = self._reached or running >= self.value
        if self._window >= self.value:
            self._decide()

    def _decide(self) -> None:
        mean = self._window_sum / self._window
        band = self.latency
        # Latencies well below a millisecond are local noise, not back-pressure.
        slow = band.mean is not None and mean > 0.001 and mean >= band.mean + 2.5 * max(band.deviation, band.mean * 0.1)
        if self._pushed_back or slow:
            self.limit = max(self.least, self.limit * 0.9)
        elif self._reached:
            self.limit = min(self.most, self.limit + 1)
        band.add(mean)
        self._begin_window()

    def _begin_window(self) -> None:
        self._window_sum, self._window, self._reached, self._pushed_back = 0.0, 0, False, 0

    def describe(self) -> dict[str, float | None]:
        return {
            "limit": self.value,
            "least": self.least,
            "most": self.most,
            "latency_ms": milliseconds(self.latency.mean),
        }


class FailureSpike:
    """How much longer retries wait while most attempts fail: a service that is down is called less and less."""

    _ALPHA = 0.02  # weight of one attempt; about the last fifty count
    _ENOUGH = 20  # attempts before it has an effect
    _USUAL = 0.5  # share of failures up to which it has no effect
    _LONGEST = 4.0

    def __init__(self) -> None:
        self.share = 0.0
        self._seen = 0

    def add(self, *, failed: int = 0, succeeded: int = 0) -> None:
        self._seen = min(self._ENOUGH, self._seen + failed + succeeded)
        self.share *= (1 - self._ALPHA) ** succeeded
        self.share = 1 - (1 - self.share) * (1 - self._ALPHA) ** failed

    @property
    def spacing(self) -> float:
        """By what the pause before a retry is multiplied."""
        if self._seen < self._ENOUGH or self.share <= self._USUAL:
            return 1.0
        return 1 + (self._LONGEST - 1) * (self.share - self._USUAL) / (1 - self._USUAL)

    def describe(self) -> dict[str, float]:
        return {"share": round(self.share, 3), "spacing": round(self.spacing, 2)}


_ACCEPTED_SLOWDOWN = (
    1.5  # acceptable latency relative to the latency without a queue: less would leave the service idle
)
_PROBE_AFTER = 30  # windows after which the latency without a queue is measured again


class ProbingConcurrency(Concurrency):
    """The same for one service that is called continuously: finds the concurrency that the service can handle.

    More concurrency only causes a queue at the service and increases the latency. The latency without a queue is
    measured periodically with half the concurrency, and immediately when responses become much slower: if they are
    still slow with half the concurrency, the service itself has become slow, and the previous limit is kept. After an
    outage the limit doubles up to half of the previous limit, and then increases by one.
    """

    def __init__(self, least: int, most: int, *, start: int = 8) -> None:
        super().__init__(least, most, start=start)
        self._base: float | None = None
        self._windows = 0
        self._probe: tuple[float, float] | None = None  # the previous limit and latency
        self._unsettled = 0  # windows with responses to requests from before the change
        self._regained = 0.0  # up to this limit, which is known to be safe, the limit doubles

    def drop(self) -> None:
        self._regained = max(self._regained, self.limit / 2)
        super().drop()
        self._probe = None

    def _decide(self) -> None:
        mean = self._window_sum / self._window
        self._windows += 1
        if self._probe is not None:
            self._unsettled -= 1
            if self._unsettled < 0:
                self._end_probe(mean, *self._probe)
        elif self._pushed_back:
            self.limit = max(self.least, self.limit * 0.9)
        else:
            self._adjust(mean)
        self.latency.add(mean)
        self._begin_window()

    def _end_probe(self, mean: float, limit: float, before: float) -> None:
        """Throughput is limit / latency: set the limit that keeps the throughput without a queue, plus a margin."""
        self._probe, self._windows, self._base = None, 0, mean
        self._set(min(limit * 1.1, limit * mean / before * 1.25) + 1)

    def _adjust(self, mean: float) -> None:
        if self._base is None or mean < self._base:
            self._base = mean if self._base is None else self._base + 0.3 * (mean - self._base)
        is_slow = mean > 2 * _ACCEPTED_SLOWDOWN * self._base
        if self.limit >= 2 and (is_slow or (self._windows >= _PROBE_AFTER and mean > 1.1 * self._base)):
            self._probe, self._unsettled = (self.limit, mean), 2
            self._set(self.limit / 2)
        elif is_slow:
            self._base = mean  # the limit cannot be halved
        elif mean > _ACCEPTED_SLOWDOWN * self._base:
            self._set(self.limit - 1)
        elif self._reached:
            self._set(max(self.limit + 1, min(self.limit * 2, self._regained)))
            if self.limit >= self._regained:
                self._regained = 0.0

    def _set(self, limit: float) -> None:
        self.limit = max(float(self.least), min(float(self.most), limit))

    def describe(self) -> dict[str, float | None]:
        return super().describe() | {"base_ms": milliseconds(self._base)}


def milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)
