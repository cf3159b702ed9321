"""Proof of what ran: every worker process counts the starts of each task in a file that it maps.

The file of one process, for `n` tasks of which those from `stamp_from` on are timed one by one:

    3 doubles             wall clock of the first start, of the latest start, number of starts
    n // 1000 + 1 doubles wall clock of start 1000, 2000, … (index 0 is unused)
    n - stamp_from doubles wall clock at which task `seq` started
    n bytes               how often task `seq` started in this process

Standard library only: the Python peers import it from their own environments.
"""

import mmap
import os
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HEAD = 3
MARK_EVERY = 1000
ENV_DIR, ENV_COUNT, ENV_STAMPS = "BENCH_PROBE_DIR", "BENCH_PROBE_COUNT", "BENCH_PROBE_STAMP_FROM"


@dataclass(frozen=True)
class Layout:
    count: int
    stamp_from: int

    @property
    def marks(self) -> int:
        return self.count // MARK_EVERY + 1

    @property
    def stamps(self) -> int:
        return self.count - self.stamp_from

    @property
    def counts_at(self) -> int:
        return 8 * (HEAD + self.marks + self.stamps)

    @property
    def size(self) -> int:
        return self.counts_at + self.count


class Probe:
    """The writing side, one a worker process; `hit` costs well under a microsecond."""

    def __init__(self, directory: Path, layout: Layout) -> None:
        fd = os.open(directory / f"{os.getpid()}.probe", os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(fd, layout.size)
        view = memoryview(mmap.mmap(fd, layout.size))
        os.close(fd)
        doubles = view[: layout.counts_at].cast("d")
        self._head = doubles[:HEAD]
        self._marks = doubles[HEAD : HEAD + layout.marks]
        self._stamps = doubles[HEAD + layout.marks :]
        self._counts = view[layout.counts_at :]
        self._stamp_from = layout.stamp_from
        self._started = 0

    @classmethod
    def from_environment(cls) -> "Probe":
        count, stamp_from = int(os.environ[ENV_COUNT]), int(os.environ[ENV_STAMPS])
        return cls(Path(os.environ[ENV_DIR]), Layout(count, stamp_from))

    def hit(self, seq: int) -> None:
        now = time.time()
        started = self._started = self._started + 1
        head = self._head
        if started == 1:
            head[0] = now
        head[1] = now
        head[2] = started
        self._counts[seq] += 1
        if not started % MARK_EVERY and started // MARK_EVERY < len(self._marks):
            self._marks[started // MARK_EVERY] = now
        if seq >= self._stamp_from:
            self._stamps[seq - self._stamp_from] = now


@dataclass(frozen=True)
class Reading:
    """All processes of one run together; `marks` is the timeline (clock, starts) of the first of them."""

    first: float
    last: float
    started: int
    handled: int
    repeated: int
    marks: list[tuple[float, int]]
    stamps: dict[int, float]

    def steady_rate(self, cut: float = 0.1) -> float:
        """Starts a second without the first and the last tenth: no ramp, no tail."""
        inner = self.marks[int(len(self.marks) * cut) : max(2, int(len(self.marks) * (1 - cut)))]
        (began, low), (ended, high) = inner[0], inner[-1]
        return (high - low) / (ended - began)


class ProbeFolder:
    """The reading side, in the harness."""

    def __init__(self, parent: Path, count: int, stamp_from: int | None = None) -> None:
        self.layout = Layout(count, count if stamp_from is None else stamp_from)
        self.path = Path(tempfile.mkdtemp(prefix="probe-", dir=parent))

    def environment(self) -> dict[str, str]:
        return {
            ENV_DIR: str(self.path),
            ENV_COUNT: str(self.layout.count),
            ENV_STAMPS: str(self.layout.stamp_from),
        }

    def started(self) -> int:
        """How many starts so far, from the heads alone, so that asking is free."""
        return sum(int(head[2]) for head in self._heads())

    def first_start(self) -> float | None:
        return min((head[0] for head in self._heads() if head[0]), default=None)

    def read(self) -> Reading:
        files = [
            raw for raw in (path.read_bytes() for path in self.path.glob("*.probe")) if _complete(raw, self.layout)
        ]
        heads = [_doubles(raw, 0, HEAD) for raw in files]
        live = [(raw, head) for raw, head in zip(files, heads, strict=True) if head[0]]
        totals = _sum_bytes([raw[self.layout.counts_at :] for raw, _ in live], self.layout.count)
        handled = self.layout.count - totals.count(0)
        return Reading(
            first=min((head[0] for _, head in live), default=0.0),
            last=max((head[1] for _, head in live), default=0.0),
            started=sum(int(head[2]) for _, head in live),
            handled=handled,
            repeated=sum(totals) - handled,
            marks=self._marks(live[0][0]) if live else [],
            stamps=self._stamps([raw for raw, _ in live]),
        )

    def _heads(self) -> list[tuple[float, ...]]:
        heads = []
        for path in self.path.glob("*.probe"):
            with path.open("rb") as file:
                raw = file.read(8 * HEAD)
            if len(raw) == 8 * HEAD:
                heads.append(_doubles(raw, 0, HEAD))
        return heads

    def _marks(self, raw: bytes) -> list[tuple[float, int]]:
        clocks = _doubles(raw, HEAD, self.layout.marks)
        return [(clock, index * MARK_EVERY) for index, clock in enumerate(clocks) if clock]

    def _stamps(self, files: list[bytes]) -> dict[int, float]:
        first = self.layout.stamp_from
        found: dict[int, float] = {}
        for raw in files:
            clocks = _doubles(raw, HEAD + self.layout.marks, self.layout.stamps)
            found |= {first + index: clock for index, clock in enumerate(clocks) if clock}
        return found


def _complete(raw: bytes, layout: Layout) -> bool:
    return len(raw) == layout.size


def _doubles(raw: bytes, start: int, count: int) -> tuple[float, ...]:
    return struct.unpack_from(f"{count}d", raw, 8 * start)


def _sum_bytes(rows: list[bytes], size: int) -> bytes:
    """Add the rows byte by byte (as one large number: no byte ever reaches 256 here)."""
    return sum(int.from_bytes(row, "little") for row in rows).to_bytes(size + 1, "little")[:size]
