"""Self-tuning: bounds are configured, values are found. Every controller can be asked what it sees and decides."""

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


class ClaimSize:
    """How many tasks a worker wants at hand: what its slots get through in one slice of time."""

    def __init__(self, *, slice_s: float = 0.1, safety: float = 0.8, least: int = 1, most: int = 2000) -> None:
        self.slice_s, self.safety, self.least, self.most = slice_s, safety, least, most
        self.item_s = Ewma()

    def add(self, seconds: float) -> None:
        """The time one task took; only successes are told."""
        self.item_s.add(seconds)

    def value(self, slots: int) -> int:
        if self.item_s.mean is None:
            return max(self.least, min(self.most, slots))
        wanted = self.slice_s / max(self.item_s.mean, 1e-6) * slots * self.safety
        return int(max(self.least, min(self.most, max(slots, wanted))))

    def describe(self, slots: int) -> dict[str, float | None]:
        return {"item_ms": _ms(self.item_s.mean), "value": self.value(slots)}


class Concurrency:
    """An adaptive limit: one more while latency stays in its band, a tenth less under back-pressure.

    Decides once per window of completions, from successes only.
    """

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most
        self.limit = float(min(most, max(least, 8)))
        self.latency = Ewma(alpha=0.4)
        self._window_sum = 0.0
        self._window = 0
        self._reached = False
        self._pressed = False

    @property
    def value(self) -> int:
        return int(self.limit)

    def press(self) -> None:
        """The other side, or this machine, pushes back: a throttled or timed-out attempt."""
        self._pressed = True

    def add(self, count: int, seconds: float, running: int) -> None:
        """`count` successes that took `seconds` together, while `running` tasks ran."""
        self._window_sum += seconds
        self._window += count
        self._reached = self._reached or running >= self.value
        if self._window >= self.value:
            self._decide()

    def _decide(self) -> None:
        mean = self._window_sum / self._window
        band = self.latency
        # Latencies well under a millisecond are our own noise, not the other side's pressure.
        slow = band.mean is not None and mean > 0.001 and mean >= band.mean + 2.5 * max(band.deviation, band.mean * 0.1)
        if self._pressed or slow:
            self.limit = max(self.least, self.limit * 0.9)
        elif self._reached:
            self.limit = min(self.most, self.limit + 1)
        band.add(mean)
        self._window_sum, self._window, self._reached, self._pressed = 0.0, 0, False, False

    def describe(self) -> dict[str, float | None]:
        return {"limit": self.value, "least": self.least, "most": self.most, "latency_ms": _ms(self.latency.mean)}


class LeaseTime:
    """How long a lease lasts without a heartbeat: twice the usual item, within bounds."""

    def __init__(self, floor: float, cap: float) -> None:
        self.floor, self.cap = floor, cap

    def value(self, item_s: float | None) -> float:
        return max(self.floor, min(self.cap, 2 * (item_s or 0.0)))


class Backoff:
    """Pauses that grow while trouble lasts and vanish when it ends."""

    def __init__(self, first: float, most: float) -> None:
        self.first, self.most = first, most
        self.pause = 0.0

    def grow(self) -> float:
        self.pause = min(self.most, self.pause * 2 or self.first)
        return self.pause

    def reset(self) -> None:
        self.pause = 0.0


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)
