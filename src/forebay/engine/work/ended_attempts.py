"""How the attempts of one step ended: counts, and what the controllers and lanes learn from their times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engine.work.attempt import HELD_BACK
from forebay.tuning import FailureSpike
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.clock import Clock
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.claim_size import ClaimSize
    from forebay.tuning import Concurrency

_PRESSURE = (ErrorClass.THROTTLED, ErrorClass.TRANSIENT)
# Seconds that a lane is charged for a task that a limit holds back. The time in which the task waited is not charged:
# other tasks of the lane, which the limit admits, would then wait behind all other lanes.
_HELD_BACK_COST = 0.001


class EndedAttempts:
    """Counts ended attempts. Times are collected and reported by `learn`, because tasks may be very short."""

    def __init__(
        self,
        clock: Clock,
        concurrency: Concurrency,
        size: ClaimSize,
        on_used: Callable[[int, int, float], None],
    ) -> None:
        """`on_used` is told the slot time of tasks that ended (lane, number, seconds)."""
        self._clock = clock
        self._concurrency = concurrency
        self._size = size
        self._on_used = on_used
        self.spike = FailureSpike()
        self.failed = 0
        self.last_ended = 0.0  # epoch seconds
        self.last_error: tuple[float, str] | None = None
        self._succeeded = 0  # successful attempts that were reported to the controllers, or need not be
        self._succeeded_s = 0.0  # total time of the successful attempts
        self._unfinished = 0  # neither successful nor failed: throttled, snoozed, released
        self._unreported = 0  # successes not yet reported to the controllers, and their time
        self._unreported_s = 0.0
        self._without_result = 0  # the same for attempts that skipped their item or found nothing
        self._without_result_s = 0.0
        self._used: dict[int, tuple[int, float]] = {}  # ended tasks and their slot time, by lane, not yet reported

    @property
    def succeeded(self) -> int:
        """The number of successful attempts."""
        return self._succeeded + self._unreported

    @property
    def busy_s(self) -> float:
        """The total time of the successful attempts."""
        return self._succeeded_s + self._unreported_s

    @property
    def total(self) -> int:
        """The number of ended attempts, successful or not."""
        return self.succeeded + self.failed + self._unfinished

    def add(self, attempt: Attempt, seconds: float) -> None:
        """Add an attempt that used a slot for so long."""
        if attempt.outcome is None:
            self._unreported += 1
            self._unreported_s += seconds
        elif attempt.outcome == HELD_BACK:
            seconds = _HELD_BACK_COST
        else:
            self._add_other(attempt, seconds)
        lane_id = attempt.lease.lane_id
        count, used = self._used.get(lane_id, (0, 0.0))
        self._used[lane_id] = (count + 1, used + seconds)

    def _add_other(self, attempt: Attempt, seconds: float) -> None:
        attempt.seconds = seconds
        if attempt.error_class in _PRESSURE:
            self._concurrency.add_pressure()
        if attempt.error_class is ErrorClass.TRANSIENT:
            self.spike.add(failed=1)
            if attempt.retry_in is not None:
                attempt.retry_in *= self.spike.spacing
        if attempt.outcome not in ("SKIPPED", "NOT_FOUND", "ERROR"):
            self._unfinished += 1
            return
        self.last_ended = self._clock.time()
        if attempt.outcome == "ERROR":
            self.failed += 1
            self.last_error = (self.last_ended, attempt.reason or "")
        else:
            self._succeeded += 1
            self._succeeded_s += seconds
            self._without_result += 1
            self._without_result_s += seconds

    def learn(self, slots: int) -> None:
        """Report what ended since the last call: the slot time to the lanes, the successes to the controllers, while so
        many slots were in use."""
        if self._used:
            used, self._used = self._used, {}
            for lane_id, (count, seconds) in used.items():
                self._on_used(lane_id, count, seconds)
        if ended := self._unreported + self._without_result:
            # All of them: a step that finds nothing for long would otherwise claim a few tasks at a time.
            self._size.add((self._unreported_s + self._without_result_s) / ended)
            self._without_result, self._without_result_s = 0, 0.0
        if self._unreported:
            self._succeeded += self._unreported
            self._succeeded_s += self._unreported_s
            self.last_ended = self._clock.time()
            self._concurrency.add(self._unreported, self._unreported_s, slots)
            self.spike.add(succeeded=self._unreported)
            self._unreported, self._unreported_s = 0, 0.0
