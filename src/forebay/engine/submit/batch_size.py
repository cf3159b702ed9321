"""The adaptive batch size of a stream."""

from __future__ import annotations

from dataclasses import dataclass

_WEIGHT = 0.3  # of the newest measurement in the moving averages
_WAITED = 0.02  # a longer wait for a connection, in seconds, means that others need one


@dataclass(slots=True)
class BatchSize:
    """Doubles from batch to batch, within bounds of rows and bytes, while batches are quick; halves when they are slow
    or wait for a connection; is divided by four when a batch fails."""

    start: int = 64
    least: int = 1
    most: int = 8192
    most_bytes: int = 4 * 1024 * 1024
    quick: float = 0.125  # seconds below which the next batch is larger: twice the size takes twice the time
    slow: float = 0.25  # seconds above which the next batch is smaller
    size: int = 0
    latency: float | None = None  # moving average of full batches of this size
    row_bytes: float | None = None  # moving average of all rows
    seconds: float | None = None  # duration of the last batch

    def __post_init__(self) -> None:
        self.size = self.size or max(self.least, min(self.start, self.most))

    @property
    def rows(self) -> int:
        """The number of rows for the next batch."""
        if not self.row_bytes:
            return self.size
        return max(1, min(self.size, int(self.most_bytes / self.row_bytes)))

    def __str__(self) -> str:
        took = "" if self.seconds is None else f", {self.seconds * 1000:.0f} ms each time"
        return f"{self.rows} at a time{took}"

    def succeeded(self, rows: int, size: int, seconds: float, waited: float = 0.0) -> None:
        """Record a committed batch: its rows, bytes and duration, which includes the time `waited` for a connection."""
        was_full = rows >= self.rows
        self.seconds = seconds
        self.row_bytes = _moved(self.row_bytes, size / max(rows, 1))
        self.latency = _moved(self.latency, seconds)
        if self.latency > self.slow or waited > _WAITED:
            self._resize(self.size // 2)
        elif was_full and self.latency <= self.quick:
            self._resize(self.size * 2)

    def failed(self) -> None:
        """Record a batch that failed because of a problem of the database."""
        self._resize(self.size // 4)

    def _resize(self, size: int) -> None:
        size = max(self.least, min(size, self.most))
        if size != self.size:
            self.size, self.latency = size, None  # measurements with another size do not apply


def _moved(average: float | None, value: float) -> float:
    return value if average is None else average + _WEIGHT * (value - average)
