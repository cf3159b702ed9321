"""How many cores of the server so many equal workers need.

A worker costs a constant part of a core, which is its own statements, and each of these statements costs a little more
with each other worker: snapshots, locks and the rows that they share. So cores(n) = base + each * n + crowd * n².
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    workers: int
    cores: float
    tasks_s: float


@dataclass(frozen=True)
class Model:
    base: float
    each: float
    crowd: float
    tasks_s: float  # of one worker

    @classmethod
    def fitted(cls, points: Sequence[Point]) -> "Model":
        """Through three points; a term that would be negative is left out, and the last two points count."""
        (x0, y0), (x1, y1), (x2, y2) = sorted((point.workers, point.cores) for point in points)
        crowd = ((y2 - y1) / (x2 - x1) - (y1 - y0) / (x1 - x0)) / (x2 - x0)
        crowd = max(0.0, crowd)
        each = (y2 - y1) / (x2 - x1) - crowd * (x1 + x2)
        base = max(0.0, y1 - each * x1 - crowd * x1 * x1)
        largest = max(points, key=lambda point: point.workers)
        return cls(base, each, crowd, largest.tasks_s / largest.workers)

    def cores(self, workers: int) -> float:
        return self.base + self.each * workers + self.crowd * workers * workers

    def describe(self, counts: Iterable[int]) -> str:
        """The prediction for so many workers."""
        shown = (f"{count:,} workers, {count * self.tasks_s:,.0f} tasks/s: {self.cores(count):.2f}" for count in counts)
        return f"cores for {'; '.join(shown)}"
