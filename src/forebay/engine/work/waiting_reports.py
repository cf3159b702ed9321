"""The reports that wait to be settled, and which of them make the next batch.

A batch grows while the one before it is in progress; a second one begins beside it only if it is full, because the
statement has a cost of its own, which small batches pay more often. If most reports belong to one owner, those of
others do not wait for that owner's batches: they are settled beside them, in batches of their own.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from forebay.engine.work.attempt import Attempt

_BATCH = 2000
_BATCH_BYTES = 8 << 20  # of results and rows
_FULL = 10_000  # waiting reports at which claiming stops
_FULL_BYTES = 64 << 20
_CROWD = 16  # reports of one owner that are worth a batch without those of others
_FEW_OWNERS = 32  # up to so many have batches of their own; the reports of more owners make good batches anyway


class WaitingReports:
    """The reports of one worker that are not settled yet."""

    def __init__(self, solo_steps: Container[int]) -> None:
        """`solo_steps`: steps of single-step pipelines, of which an item cannot be in a batch twice."""
        self._solo = solo_steps
        self._reports: deque[Attempt] = deque()
        self._bytes = 0  # of results and rows
        self._shared = 0  # reports of other steps
        self._waiting: Counter[int] = Counter()  # reports by owner
        self._open: Counter[int] = Counter()  # the same, with those in progress
        self._regular: list[list[Attempt]] = []  # batches in progress
        self._express: list[Attempt] | None = None  # the batch without the owner of most reports

    def __len__(self) -> int:
        return len(self._reports)

    @property
    def is_full(self) -> bool:
        return len(self._reports) > _FULL or self._bytes > _FULL_BYTES

    @property
    def _fill_a_batch(self) -> bool:
        return len(self._reports) >= _BATCH or self._bytes >= _BATCH_BYTES

    @property
    def is_settled(self) -> bool:
        """Whether none waits or is in progress."""
        return not self._reports and not self._regular and self._express is None

    def add(self, report: Attempt) -> None:
        self._reports.append(report)
        self._bytes += _bytes_of(report)
        lease = report.lease
        if lease.step_id not in self._solo:
            self._shared += 1
        self._waiting[lease.owner_id] += 1
        self._open[lease.owner_id] += 1

    def begin(self) -> list[Attempt]:
        """The next batch; empty if there is none, or if it has to wait for one in progress."""
        if not self._reports:
            return []
        if self._express is None and (crowd := self._crowd()) is not None and len(self) > self._waiting[crowd]:
            self._express = batch = self._take(lambda report: report.lease.owner_id != crowd)
        elif not self._regular or (len(self._regular) == 1 and self._fill_a_batch):
            batch = self._take() if self._shared else self._take_in_order()
            self._regular.append(batch)
        else:
            return []
        _subtract(self._waiting, batch)
        return batch

    def end(self, batch: list[Attempt]) -> None:
        """Forget a batch that is no longer in progress."""
        if batch is self._express:
            self._express = None
        else:
            self._regular = [each for each in self._regular if each is not batch]
        _subtract(self._open, batch)

    def _crowd(self) -> int | None:
        """The owner of most reports."""
        if not 1 < len(self._open) <= _FEW_OWNERS:
            return None
        ((owner_id, count),) = self._open.most_common(1)
        return owner_id if count >= _CROWD and 2 * count > self._open.total() else None

    def _take(self, is_meant: Callable[[Attempt], bool] = lambda _: True) -> list[Attempt]:
        """The next batch, with at most one report per item: one statement would lose the second of two."""
        batch: dict[tuple[int, int], Attempt] = {}
        later: list[Attempt] = []
        bytes_left = _BATCH_BYTES
        while self._reports and len(batch) < _BATCH and bytes_left > 0:
            report = self._reports.popleft()
            if not is_meant(report) or batch.setdefault((report.lease.job_id, report.n), report) is not report:
                later.append(report)
            else:
                bytes_left -= _bytes_of(report)
        self._bytes -= _BATCH_BYTES - bytes_left
        self._reports.extendleft(reversed(later))
        self._shared = sum(report.lease.step_id not in self._solo for report in self._reports)
        # Two workers that settle branches of the same items must lock them in the same order.
        return [batch[key] for key in sorted(batch)]

    def _take_in_order(self) -> list[Attempt]:
        batch: list[Attempt] = []
        bytes_left = _BATCH_BYTES
        while self._reports and len(batch) < _BATCH and bytes_left > 0:
            report = self._reports.popleft()
            batch.append(report)
            bytes_left -= _bytes_of(report)
        self._bytes -= _BATCH_BYTES - bytes_left
        return batch


def _subtract(counts: Counter[int], batch: Iterable[Attempt]) -> None:
    for report in batch:
        owner_id = report.lease.owner_id
        if counts[owner_id] == 1:
            del counts[owner_id]
        else:
            counts[owner_id] -= 1


def _bytes_of(report: Attempt) -> int:
    size = len(report.result or "")
    return size + report.write_bytes if report.writes else size
