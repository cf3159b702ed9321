"""The words of the model: shapes of pipelines, and what the engine keeps about jobs, items and tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

PENDING = "PENDING"
RANK = {"PENDING": 0, "DONE": 2, "SKIPPED": 3, "NOT_FOUND": 4, "ERROR": 5}
ENDING = ("DONE", "SKIPPED", "NOT_FOUND", "ERROR", "CANCELLED")  # outcomes after which expiries are counted afresh
MAX_EXPIRIES = 2
MAX_ATTEMPTS = 3


class Refused(NamedTuple):
    """The verb was refused, with this SQLSTATE."""

    code: str


MISSING, ENDED = Refused("FB004"), Refused("FB005")


# -- shapes of pipelines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    name: str
    after: tuple[str, ...] = ()
    optional: bool = False
    after_all: bool = False
    queue: str = "fast"


@dataclass(frozen=True)
class Shape:
    """A pipeline: its steps in the order of their bits."""

    name: str
    steps: tuple[Step, ...]

    @cached_property
    def by_name(self) -> dict[str, Step]:
        return {s.name: s for s in self.steps}

    def mask(self, n: int) -> frozenset[str]:
        """The steps that an item goes through; those of the job's own item for n = 0."""
        return frozenset(s.name for s in self.steps if s.after_all == (n == 0))

    @cached_property
    def job_steps(self) -> frozenset[str]:
        return self.mask(0)

    def next(self, n: int, done: Iterable[str]) -> set[str]:
        """The steps that can run when these are done."""
        ended = set(done)
        return {s.name for s in self.steps if s.after_all == (n == 0) and s.name not in ended and set(s.after) <= ended}

    def downstream(self, name: str) -> set[str]:
        below = {name}
        for s in self.steps:  # each step stands behind those it comes after
            if below & set(s.after):
                below.add(s.name)
        return below - {name}


SHAPES = (
    Shape("solo", (Step("only"),)),
    Shape("chain", (Step("one"), Step("two", ("one",), queue="slow"), Step("three", ("two",)))),
    Shape("fork", (Step("left"), Step("right", queue="slow"), Step("join", ("left", "right")))),
    Shape("soft", (Step("try_it", optional=True), Step("must"), Step("keep", ("try_it", "must"), queue="slow"))),
    Shape(
        "gather",
        (
            Step("load"),
            Step("check", ("load",), optional=True),
            Step("total", after_all=True),
            Step("print_it", after_all=True, queue="slow"),
            Step("send", ("total", "print_it"), after_all=True),
        ),
    ),
)

SHAPE = {shape.name: shape for shape in SHAPES}
QUEUE_OF = {s.name: s.queue for shape in SHAPES for s in shape.steps}


# -- what is in the database ------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """One step of one item."""

    job: int
    n: int
    step: str


@dataclass(slots=True)
class Place:
    """Where a task is: in one of the hot tables."""

    kind: Literal["ready", "scheduled", "held", "lease"]
    attempt: int = 0  # spent so far
    run_at: int = 0
    token: int = 0


@dataclass(slots=True)
class Item:
    n: int
    input: int
    status: str = PENDING
    verdict: str = "DONE"
    done: set[str] = field(default_factory=set[str])
    dead: set[str] = field(default_factory=set[str])
    error: str | None = None  # its class
    failed_step: str | None = None  # whose error that is
    result: dict[str, int] = field(default_factory=dict[str, int])
    opened: int = 1  # how often it was made open

    def note_error(self, step: str, error_class: str | None, verdict: str, *, well: bool, ends: bool) -> None:
        """What is left to say about failures after a report: a step that ended without failing the item takes back what
        it said before, and so does whoever ends the item without a reason. The reason for the worst stays."""
        if RANK[verdict] < RANK[self.verdict]:
            return
        if ends and well:
            if self.failed_step == step:
                self.error = self.failed_step = None
        elif error_class is not None:
            self.error, self.failed_step = error_class, step
        elif ends:
            self.error = self.failed_step = None

    def forget_error_when_done(self) -> None:
        if self.status == "DONE":
            self.error = self.failed_step = None


@dataclass(slots=True)
class Job:
    id: int
    shape: Shape
    owner: str
    total: int
    items: dict[int, Item]
    key: str | None = None
    coalesces: bool = False
    state: str = "QUEUED"
    started: bool = False
    attempted: bool = False
    finished_at: int | None = None
    sealed: bool = True  # no more items come

    def count(self, status: str) -> int:
        return sum(i.status == status for i in self.items.values() if i.n > 0)

    @property
    def open(self) -> int:
        return self.count(PENDING)


@dataclass(slots=True)
class Lease:
    token: int
    worker: int
    job: int
    step: str
    attempt: int
    ns: set[int]
    claimed_at: int
    expires_at: int
    cancelled: bool = False


@dataclass(slots=True)
class Queue:
    paused: bool = False
    parked: str | None = None
    probe_at: int = 0


@dataclass(slots=True)
class WorkerRow:
    seen_at: int
    stopped_at: int | None = None


class Report(NamedTuple):
    """What a worker says about one task."""

    token: int
    n: int
    outcome: str = "DONE"
    result: int | None = None
    again_at: int | None = None
    spent: bool = True
    ends_item: bool = False
    error_class: str | None = None


class Tried(NamedTuple):
    """A row of the attempt table. Tokens that no worker has seen count as 0."""

    job: int
    n: int
    step: str
    attempt: int
    outcome: str
    worker: int
    token: int


class Settling(NamedTuple):
    """The answer to a settle."""

    settled: int
    stale: list[tuple[int, int]]
    finished: set[int]
    woken: set[tuple[int, str]]  # job, step


class Run(NamedTuple):
    """A run as it was seen in the ready table."""

    step: str
    lane: int
    seq: int
    job: int
    first: int
    last: int
    attempt: int


class Wanted(NamedTuple):
    """What a claim asks for of one step of one lane."""

    step: str
    lane: int
    head: int
    quota: int
    max_rows: int


@dataclass(slots=True)
class Claimed:
    """What a claim should do."""

    taken: list[tuple[Run, int]] = field(default_factory=list[tuple[Run, int]])  # with the last n that was taken
    dropped: list[Run] = field(default_factory=list[Run])
    set_aside: list[Run] = field(default_factory=list[Run])
    probed: set[str] = field(default_factory=set[str])  # parked queues of which this claim tries one task


def worst(a: str, b: str) -> str:
    return a if RANK[a] >= RANK[b] else b
