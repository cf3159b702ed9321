"""The reports of a runner that are not in the broker yet."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.errors import DataError
from forebay.fleet.outcomes import encode_refused
from forebay.fleet.port import BUNDLE_BYTES
from forebay.fleet.wire import encode_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.fleet.port import Report

_MOST = 256  # reports that are sent together


class Outbox:
    """Reports in the order in which their tasks have ended."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Report, int]] = deque()  # with their sizes in bytes
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, report: Report) -> None:
        """Add a report. If it is too large, it says instead that its tasks have failed for this reason."""
        try:
            size = len(encode_report(report))
        except DataError as error:
            refused = encode_refused(error)
            report = replace(report, ends=tuple(replace(end, outcome=refused) for end in report.ends))
            size = len(encode_report(report))
        self._waiting.append((report, size))
        self._news.set()

    async def next(self) -> Sequence[Report]:
        """Wait for reports: those that fit into one message, and at least one. They stay until they are removed."""
        while not self._waiting:
            self._news.clear()
            await self._news.wait()
        some: list[Report] = []
        left = BUNDLE_BYTES
        for report, size in self._waiting:
            left -= size
            if some and (left < 0 or len(some) == _MOST):
                break
            some.append(report)
        return some

    def remove(self, sent: Sequence[Report]) -> None:
        """Remove the reports that `next` has returned: they are in the broker."""
        for _ in sent:
            self._waiting.popleft()
