"""The broker port: what dispatchers and runners say to each other, and what an adapter of a broker must do.

PostgreSQL is the record. Everything in the broker is leased in PostgreSQL already, so a broker may lose, double, delay
or reorder anything, and may be emptied at any time: then leases run out, and stale reports change nothing.

An adapter promises:

1.  An address of offers is a step. A bundle (the offers of one call of `offer`) goes to one runner that takes the step.
    Different runners that take the same step share its bundles: normally each bundle is taken once.
2.  A bundle has left the broker when `take` returns it, before anything of it runs. The broker never delivers it again,
    however the runner ends. Bundles that nobody takes may be dropped after `OFFER_SECONDS`; `take` drops those that
    have been in the broker, by its own clock, for longer than the runner has said in `open`.
3.  `take(step, most)` returns at most `most` bundles, and waits for the first one. It returns nothing after a few
    seconds at the latest. The broker gives the bundles of a step out in the order in which they were offered. What is
    under way to a runner that stops may be lost.
4.  An address of reports is a dispatcher, by its id. Reports wait in the broker, at least for `REPORT_SECONDS`, until
    the dispatcher reads them, or one that has called `adopt` with its id, until it calls `release`.
5.  Beats go to all dispatchers that are connected, tells to one runner. Both may be lost, and are not kept for anybody
    who is not connected. A beat has left this process when `beat` returns.
6.  `input` asks the dispatcher of an offer, which answers with its handler; inputs are of any size. A request that the
    handler cannot answer now (InputUnavailable) is not answered: `input` raises BrokerUnavailable after a while.
7.  A bundle and a beat have at most `BUNDLE_BYTES`, a report at most `REPORT_BYTES` as JSON. An adapter whose broker
    takes smaller messages divides reports.
8.  A method that cannot reach the broker raises BrokerUnavailable; the adapter reconnects in the background, forever,
    and the iterators go on after that. The `open` of a dispatcher creates what is missing in the broker, and may be
    called by many at the same time; what the broker loses later is created again. Runners create nothing: until it is
    there, `take` returns nothing.
9.  A message that `wire` cannot decode is logged and dropped: it must not stop an iterator.
10. Steps, dispatchers and runners are named by text of at most 200 characters without control characters; an adapter
    encodes what its broker does not allow.

An adapter does not look at leases, priorities or limits, sets no delays and no priorities, and repeats nothing itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeAlias

from pydantic import AfterValidator, Field, PlainSerializer, StringConstraints

_LONGEST_S = 10 * 365 * 86400.0
_LARGEST_BATCH = 10_000  # what a pipeline can declare


def _bounded(seconds: float) -> float:
    """A duration that can be stored: a runner's clock may be wrong. max() and min() in this order turn NaN into 0."""
    return max(0.0, min(seconds, _LONGEST_S))


# Runners are not trusted: what a column or a computation cannot hold is refused when a message is read.
# Ids are text in JSON, as everywhere: a runner in JavaScript cannot read a token as a number. Numbers are accepted.
Id: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63), PlainSerializer(str, return_type=str, when_used="json")]
Place: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 31)]  # of an item in its job
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Seconds: TypeAlias = Annotated[float, AfterValidator(_bounded)]
Slots: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]

PROTOCOL = 1  # the version of the messages; a dispatcher and a runner understand each other if it is the same
OFFER_SECONDS = 60.0
REPORT_SECONDS = 3600.0
BUNDLE_BYTES = 256 << 10
REPORT_BYTES = 16 << 20


class BrokerUnavailable(Exception):
    """The broker cannot be reached, or does not answer."""


class InputGone(Exception):
    """The dispatcher does not offer this task any more."""


class InputUnavailable(Exception):
    """The dispatcher cannot read the input now."""


@dataclass(frozen=True, slots=True)
class OfferedTask:
    """One leased task. `input` and `results` (of earlier steps, by name) are JSON; an input of None is asked for."""

    token: Id
    n: Place
    job_id: Id
    owner_id: Id
    attempt: int
    input: str | None
    results: str | None = None
    names: Mapping[str, str] | None = None  # of steps with another name in the version of the job
    signal: Mapping[str, Any] | None = None  # what the task has waited for; a payload of None is asked for


@dataclass(frozen=True, slots=True)
class Offer:
    """The tasks of one call of a step: one, or those of a batch."""

    id: Name
    dispatcher: Name
    step: Name
    tasks: Annotated[tuple[OfferedTask, ...], Field(min_length=1, max_length=_LARGEST_BATCH)]
    timeout: Seconds | None = None  # the runner ends the call after this time


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How one task has ended at a runner; `outcome` is decoded by `wire`."""

    token: Id
    n: Place
    seconds: Seconds
    outcome: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """How the tasks of an offer have ended."""

    offer: Name
    dispatcher: Name
    runner: Name
    ends: Annotated[tuple[TaskEnd, ...], Field(min_length=1, max_length=_LARGEST_BATCH)]


@dataclass(frozen=True, slots=True)
class HeldOffer:
    """An offer that a runner has, until it has reported it."""

    id: Name
    dispatcher: Name
    tokens: Annotated[tuple[Id, ...], Field(min_length=1, max_length=_LARGEST_BATCH)]
    progress: Mapping[str, Any] | None = None  # of its first task
    is_running: bool = True  # the call has begun


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life: of a runner, with the slots of its steps and all offers that it has; or of a dispatcher, with its
    steps."""

    sender: Name
    is_dispatcher: bool = False
    slots: Mapping[Name, Slots] | None = None
    held: tuple[HeldOffer, ...] = ()
    is_last: bool = False  # the sender stops


@dataclass(frozen=True, slots=True)
class Drop:
    """Told to a runner: stop these offers, and report nothing about them."""

    offers: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class InputRequest:
    """A runner asks for an input that was too large for the offer."""

    offer: Name
    token: Id
    n: Place


@dataclass(frozen=True, slots=True)
class TaskInput:
    """The input of a task, the results of the earlier steps, and the payload of its signal, as JSON."""

    input: str
    results: str | None
    payload: str | None = None


InputHandler: TypeAlias = Callable[[InputRequest], Awaitable[TaskInput | None]]


class DispatcherPort(Protocol):
    """The broker as dispatchers see it."""

    async def open(self, dispatcher: str, steps: Sequence[str], inputs: InputHandler) -> None:
        """Connect, and be ready for the offers of these steps. `inputs` answers requests; None: no such offer; it may
        raise InputUnavailable."""
        ...

    async def offer(self, step: str, bundle: Sequence[Offer]) -> None: ...
    def reports(self) -> AsyncIterator[Sequence[Report]]: ...
    def beats(self) -> AsyncIterator[Beat]: ...
    async def beat(self, beat: Beat) -> None: ...
    async def tell(self, runner: str, drop: Drop) -> None: ...

    async def adopt(self, dispatcher: str) -> None:
        """From now on, `reports` returns the reports for this dispatcher, too, which is dead."""
        ...

    async def release(self, dispatcher: str) -> None:
        """From soon on, `reports` does not return the reports for an adopted dispatcher any more."""
        ...

    async def close(self) -> None: ...


class RunnerPort(Protocol):
    """The broker as runners see it."""

    async def open(self, runner: str, steps: Sequence[str], *, fresh_s: float = OFFER_SECONDS) -> None: ...
    async def take(self, step: str, most: int) -> Sequence[Offer]:
        """The offers of at most `most` bundles."""
        ...

    async def report(self, reports: Sequence[Report]) -> None:
        """Send reports; each to its dispatcher. They are in the broker when this returns."""
        ...

    async def beat(self, beat: Beat) -> None: ...
    def tells(self) -> AsyncIterator[Drop]: ...

    async def input(self, dispatcher: str, request: InputRequest) -> TaskInput:
        """Raises: InputGone."""
        ...

    async def close(self) -> None: ...
