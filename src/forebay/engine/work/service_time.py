"""The slot time that a lane uses: estimated when its tasks are taken, corrected when they end."""

from __future__ import annotations

AGE_S = 1.0  # a lane that is not served for so many seconds gains one level of priority
FIRST_ESTIMATE = 0.001  # seconds; low, because a lane that was charged too much would be ahead of those that come later
_ALPHA = 0.2  # weight of the newest measurement


class ServiceTime:
    """What has been charged for tasks of one lane that have not ended, and how long its tasks usually take."""

    __slots__ = ("_charged", "_open", "mean")

    def __init__(self) -> None:
        self.mean = 0.0  # seconds per task; 0: unknown
        self._open = 0  # tasks that were taken and have not ended
        self._charged = 0.0  # seconds that were charged for them

    def take(self, count: int, usual: float) -> float:
        """The seconds to charge for tasks that are taken; `usual`: the estimate for a lane whose tasks are unknown."""
        seconds = count * (self.mean or usual)
        self._open += count
        self._charged += seconds
        return seconds

    def end(self, count: int, seconds: float) -> float:
        """The seconds to charge in addition when tasks have ended; negative if the estimate was too high."""
        charged = self._close(count)
        self.mean += (1.0 if not self.mean else _ALPHA) * (seconds / count - self.mean)
        return seconds - charged

    def refund(self, count: int) -> float:
        """The same for tasks that ended without running: their time was not used, and says nothing about others."""
        return -self._close(count)

    def _close(self, count: int) -> float:
        """What was charged for tasks, which are not open any more."""
        taken = min(count, self._open)
        charged = self._charged * taken / self._open if taken else 0.0
        self._open -= taken
        self._charged -= charged
        return charged
