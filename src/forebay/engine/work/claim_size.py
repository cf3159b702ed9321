"""Adaptive values of a worker: settings give the bounds, measurements give the value."""

from __future__ import annotations

from forebay.tuning import Ewma, milliseconds

_FORGET = 0.95  # of the longest gap, at each heartbeat


class ClaimSize:
    """How many tasks a worker wants locally: as many as its slots complete in one time slice."""

    def __init__(self, *, slice_s: float = 0.1, safety: float = 0.8, least: int = 1, most: int = 2000) -> None:
        self.slice_s, self.safety, self.least, self.most = slice_s, safety, least, most
        self.item_s = Ewma()

    def add(self, seconds: float) -> None:
        """Add the duration of a task that ended, with or without a result."""
        self.item_s.add(seconds)

    def value(self, slots: int) -> int:
        if self.item_s.mean is None:
            return max(self.least, min(self.most, slots))
        wanted = self.slice_s / max(self.item_s.mean, 1e-6) * slots * self.safety
        return int(max(self.least, min(self.most, max(slots, wanted))))

    def describe(self, slots: int) -> dict[str, float | None]:
        return {
            "item_ms": milliseconds(self.item_s.mean),
            "value": self.value(slots),
            "least": self.least,
            "most": self.most,
        }


class LeaseTime:
    """How long a lease lasts without a heartbeat: the floor, which is enough for any duration of a task, because
    heartbeats do not depend on it. Only if the process was suspended for long (code that holds the interpreter, a
    machine without CPU time) do leases last twice the longest gap between heartbeats, up to `cap`."""

    def __init__(self, floor: float, cap: float) -> None:
        self.floor, self.cap = floor, cap
        self._gap = 0.0

    def add_gap(self, seconds: float) -> None:
        """Record the time between two heartbeats; long ones are forgotten slowly."""
        self._gap = max(seconds, self._gap * _FORGET)

    @property
    def value(self) -> float:
        return max(self.floor, min(self.cap, 2 * self._gap))

    def describe(self) -> dict[str, float]:
        return {
            "value_s": round(self.value, 1),
            "floor_s": self.floor,
            "cap_s": self.cap,
            "gap_s": round(self._gap, 2),
        }
