"""How many rows a stream commits at once: as many as go well."""

from __future__ import annotations

from dataclasses import dataclass

_WEIGHT = 0.3  # of the newest measurement in the moving averages


@dataclass(slots=True)
class BatchSize:
    """Doubles from batch to batch, within bounds of rows and bytes; halves when batches get slow or fail."""

    start: int = 64
    most: int = 8192
    most_bytes: int = 4 * 1024 * 1024
    target: float = 0.25  # seconds a batch may take, waiting for a connection included
    size: int = 0
    latency: float | None = None  # moving averages of full batches of this size …
    row_bytes: float | None = None  # … and of all rows

    def __post_init__(self) -> None:
        self.size = self.size or self.start

    @property
    def rows(self) -> int:
        """How many rows the next batch should have."""
        if not self.row_bytes:
            return self.size
        return max(1, min(self.size, int(self.most_bytes / self.row_bytes)))

    def succeeded(self, rows: int, size: int, seconds: float) -> None:
        """A batch of `rows` rows and `size` bytes has committed."""
        was_full = rows >= self.rows
        self.row_bytes = _moved(self.row_bytes, size / max(rows, 1))
        self.latency = _moved(self.latency, seconds)
        if self.latency > self.target:
            self._resize(self.size // 2)
        elif was_full and self.latency <= self.target / 2:
            # A batch of twice the size takes at most twice the time: it would just meet the target.
            self._resize(self.size * 2)

    def failed(self) -> None:
        """A batch was refused by a database in trouble."""
        self._resize(self.size // 2)

    def _resize(self, size: int) -> None:
        size = max(1, min(size, self.most))
        if size != self.size:
            self.size, self.latency = size, None  # what was measured with another size says nothing now


def _moved(average: float | None, value: float) -> float:
    return value if average is None else average + _WEIGHT * (value - average)
