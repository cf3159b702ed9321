"""How many tasks a dispatcher offers at once: as many as the runners have slots."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from forebay.tuning import Concurrency, Ewma

if TYPE_CHECKING:
    from forebay.fleet.port import Beat

_AHEAD = 1.25  # offers for each slot, so that a runner has its next one when a short task ends
_SHORT_S = 1.0  # longer tasks would wait in the broker, where nothing can overtake them
_TOGETHER_S = 0.01  # tasks of this duration in all go to a runner together, so that the broker is not the limit
_MOST_TOGETHER = 64
_MOST = 1_000_000


class StepCredits(Concurrency):
    """The slots of the runners for one step, as the concurrency of its executor."""

    def __init__(self) -> None:
        super().__init__(1, _MOST)
        self._run_s = Ewma()
        self.task_s = Ewma()  # of tasks with a result, without their time in the broker; of a batch, each its share
        self.slots = 0.0  # of the runners; the share of this dispatcher

    @property
    def value(self) -> int:
        mean = self._run_s.mean
        if mean is None or mean >= _SHORT_S:
            return math.ceil(self.slots)
        if (together := self.together) > 1:
            return math.ceil(self.slots * 2 * together)
        return max(math.ceil(self.slots), int(self.slots * _AHEAD))

    @property
    def together(self) -> int:
        """How many tasks go to one runner together."""
        mean = self._run_s.mean
        if mean is None:
            return 1
        return max(1, min(_MOST_TOGETHER, int(_TOGETHER_S / max(mean, 1e-6))))

    def note_run(self, seconds: float) -> None:
        """Add the time that a runner needed for a task."""
        self._run_s.add(seconds)

    # The runners find their concurrency by themselves.

    def add(self, count: int, seconds: float, running: int) -> None:
        pass

    def add_pressure(self) -> None:
        pass

    def drop(self) -> None:
        pass

    def begin_again(self) -> None:
        pass


class FleetMembers:
    """The runners and dispatchers that are alive, by their beats."""

    def __init__(self, silent_s: float) -> None:
        self._silent_s = silent_s
        self._since = time.monotonic()
        self._runners: dict[str, tuple[dict[str, int], float]] = {}
        self._dispatchers: dict[str, float] = {}

    def note(self, beat: Beat) -> None:
        now = time.monotonic()
        if beat.is_last:
            self._runners.pop(beat.sender, None)
            self._dispatchers.pop(beat.sender, None)
        elif beat.is_dispatcher:
            self._dispatchers[beat.sender] = now
        elif beat.slots is not None:
            self._runners[beat.sender] = dict(beat.slots), now
        elif beat.sender in self._runners:
            self._runners[beat.sender] = self._runners[beat.sender][0], now

    def forget_silent(self) -> None:
        """Forget those that have not been heard for a while."""
        before = time.monotonic() - self._silent_s
        self._runners = {name: each for name, each in self._runners.items() if each[1] > before}
        self._dispatchers = {name: at for name, at in self._dispatchers.items() if at > before}

    def is_dead(self, dispatcher: str) -> bool:
        """Whether this dispatcher has been silent for so long that others continue its work."""
        return dispatcher not in self._dispatchers and time.monotonic() - self._since > self._silent_s

    @property
    def runners(self) -> int:
        return len(self._runners)

    @property
    def others(self) -> int:
        """How many other dispatchers there are."""
        return len(self._dispatchers)

    def slots(self, step: str) -> float:
        """The slots for this step that one dispatcher may fill."""
        total = sum(slots.get(step, 0) for slots, _ in self._runners.values())
        return total / (len(self._dispatchers) + 1)
