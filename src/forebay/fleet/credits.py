"""How many tasks a dispatcher offers at once: as many as the runners have slots."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING
from zlib import crc32

from forebay.tuning import Concurrency, Ewma

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from forebay.fleet.port import Beat

_AHEAD = 1.25  # offers for each slot, so that a runner has its next one when a short task ends
_SHORT_S = 1.0  # longer tasks would wait in the broker, where nothing can overtake them
_TOGETHER_S = 0.01  # tasks of this duration in all go to a runner together, so that the broker is not the limit
_MOST_TOGETHER = 64
_MOST = 1_000_000
_DIGITS = 19  # of the number of a worker, which is a bigint


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


def worker_of(dispatcher: str) -> int | None:
    """The number of a dispatcher's worker, with which its name begins; None if it is not the name of a dispatcher."""
    number = dispatcher.partition("-")[0]
    return int(number) if number.isascii() and number.isdecimal() and len(number) < _DIGITS else None


def _rank(dispatcher: str) -> tuple[int, str]:
    return worker_of(dispatcher) or 0, dispatcher


class FleetMembers:
    """The runners and dispatchers that are alive, by their beats, as one dispatcher hears them.

    A dispatcher that does not hear itself has lost the broker: nobody else is silent because of that.
    """

    def __init__(self, silent_s: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self.name = ""  # of this dispatcher, as soon as it is known
        self.steps: frozenset[str] = frozenset()  # of this dispatcher
        self._silent_s = silent_s
        self._now = now
        self._heard = -math.inf  # when this dispatcher has last heard itself
        self._since = math.inf  # from when on it has heard itself without a break
        self._runners: dict[str, tuple[Mapping[str, int], float]] = {}
        self._totals: Counter[str] = Counter()  # slots of all runners, by step
        # Their steps (None: not told), and when they were heard.
        self._dispatchers: dict[str, tuple[Collection[str] | None, float]] = {}

    def note(self, beat: Beat) -> None:
        now = self._now()
        if beat.sender == self.name:
            self._note_echo(now)
        elif beat.is_last:
            self._set_slots(beat.sender, {}, None)
            self._dispatchers.pop(beat.sender, None)
        elif beat.is_dispatcher:
            self._dispatchers[beat.sender] = None if beat.slots is None else beat.slots.keys(), now
        elif beat.slots is not None:
            self._set_slots(beat.sender, beat.slots, now)

    def _note_echo(self, now: float) -> None:
        if now - self._heard > self._silent_s / 2:
            self._since = now
        self._heard = now

    def _set_slots(self, runner: str, slots: Mapping[str, int], now: float | None) -> None:
        before, _ = self._runners.pop(runner, ({}, 0.0))
        self._totals.update(slots)
        for step, count in before.items():
            self._totals[step] -= count
            if not self._totals[step]:
                del self._totals[step]
        if now is not None:
            self._runners[runner] = slots, now

    @property
    def unheard_s(self) -> float:
        """Seconds since this dispatcher has last heard itself, which the broker passes on."""
        return self._now() - self._heard

    @property
    def _hears(self) -> bool:
        """Whether this dispatcher has heard itself, and so all others, for as long as one may be silent."""
        now = self._now()
        return now - self._heard <= self._silent_s / 2 and now - self._since > self._silent_s

    def forget_silent(self) -> None:
        """Forget those that have not been heard for a while."""
        before = self._now() - self._silent_s
        for name in [name for name, (_, heard) in self._runners.items() if heard <= before]:
            self._set_slots(name, {}, None)
        if self._hears:
            self._dispatchers = {name: each for name, each in self._dispatchers.items() if each[1] > before}

    def is_silent(self, dispatcher: str) -> bool:
        """Whether another dispatcher has not been heard for a while, although this one hears the broker."""
        return dispatcher != self.name and dispatcher not in self._dispatchers and self._hears

    def is_first(self) -> bool:
        """Whether this dispatcher continues the work of those that have died: one of those with the same steps does."""
        before = [each for name, (each, _) in self._dispatchers.items() if _rank(name) < _rank(self.name)]
        return all(steps is not None and self.steps.isdisjoint(steps) for steps in before)

    @property
    def runners(self) -> int:
        return len(self._runners)

    @property
    def others(self) -> int:
        """How many other dispatchers there are."""
        return len(self._dispatchers)

    def slots(self, step: str) -> int:
        """The slots for this step that this dispatcher may fill: those of all dispatchers together are those of the
        runners. What remains of an equal share goes to some of them, for each step to others."""
        names = [name for name, (steps, _) in self._dispatchers.items() if steps is None or step in steps]
        names = sorted([*names, self.name], key=_rank)
        share, rest = divmod(self._totals[step], len(names))
        place = (names.index(self.name) + crc32(step.encode())) % len(names)
        return share + (place < rest)
