"""The other workers that are alive: how many run some of the same steps, and the place of this one among them."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.db.registry import WorkersOfSteps


class Peers:
    """What one worker knows of the others. Until it has read that, it is alone."""

    def __init__(self, worker_id: int) -> None:
        self._worker_id = worker_id
        self._groups: Sequence[WorkersOfSteps] = ()
        self._places: dict[int, tuple[int, int]] = {}  # by step: among those that run it, and their number
        self.count = 1  # workers that run some of the same steps, this one included
        self.least = 1  # the same for the step that the fewest of them run

    def learn(self, groups: Sequence[WorkersOfSteps]) -> None:
        """Set which workers are alive, by the steps that they share with this one."""
        if groups == self._groups:
            return
        self._groups = groups
        workers: dict[int, list[int]] = {}
        for group in groups:
            for step_id in group.steps:
                workers.setdefault(step_id, []).extend(group.workers)
        known = {step_id: sorted(ids, key=_spread) for step_id, ids in workers.items() if self._worker_id in ids}
        self._places = {step_id: (ids.index(self._worker_id), len(ids)) for step_id, ids in known.items()}
        self.count = max(1, sum(len(group.workers) for group in groups))
        self.least = min((count for _, count in self._places.values()), default=1)

    def count_of(self, step_id: int) -> int:
        """The number of workers that run this step."""
        return self._places.get(step_id, (0, 1))[1]

    def rank(self, step_id: int, number: int) -> tuple[int, int]:
        """The rank of this worker among those that run this step, which differs by the number, and how many they are.
        All of them compute the same order."""
        place, count = self._places.get(step_id, (0, 1))
        # The numbers of wake-ups are not evenly distributed: the multiple of the golden ratio is.
        return ((number * 0x9E3779B1 & 0xFFFFFFFF) * count // 2**32 + place) % count, count

    def is_my_turn(self, among: int) -> bool:
        """Whether to do now what one of so many workers should do: so that all together do it as often as one would."""
        return among <= 1 or random.random() < 1 / among  # noqa: S311 - spreads work


def _spread(worker_id: int) -> bytes:
    """What workers are ordered by. The processes of one host have neighbouring numbers: if it is lost, those who should
    replace each other must not all be lost with it."""
    return hashlib.blake2b(worker_id.to_bytes(8), digest_size=8).digest()
