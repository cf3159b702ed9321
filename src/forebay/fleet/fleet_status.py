"""What a dispatcher tells about its fleet in its row, for metrics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.fleet.credits import FleetMembers
    from forebay.fleet.offers import Offers

_SILENT_S = 10.0  # several beats


class FleetStatus:
    """The broker, the runners, and the tasks that are offered, as one dispatcher knows them."""

    def __init__(self, offers: Offers, members: FleetMembers) -> None:
        self.lost = 0  # offers whose runner was not heard for too long
        self._offers, self._members = offers, members

    def describe(self) -> dict[str, Any]:
        return {
            "broker_up": self._members.unheard_s < _SILENT_S,
            "runners": self._members.runners,
            "lost_offers": self.lost,
            "steps": self._describe_steps(),
        }

    def _describe_steps(self) -> dict[str, dict[str, float]]:
        offered: Counter[str] = Counter()
        taken: Counter[str] = Counter()
        for out in self._offers.open.values():
            (offered if out.runner is None else taken)[out.offer.step] += len(out.offer.tasks)
        return {
            step: {"slots": self._members.slots(step), "offered": offered[step], "taken": taken[step]}
            for step in self._offers.steps
        }
