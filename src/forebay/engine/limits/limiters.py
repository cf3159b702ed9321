"""The state of one key of a limit in a worker: the leased starts and slots, and the tasks that wait for them.

This module uses neither the database nor a clock: `forebay.engine.limits.limit_leases` passes in the results and the
time.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from forebay.engine.db.limits import SlotAsk, TokenAsk
from forebay.engine.declare.limit import RESERVED_PREFIX
from forebay.errors import ThrottledError
from forebay.tuning import Ewma

if TYPE_CHECKING:
    import asyncio

    from forebay.engine.db.limits import SlotGrant, TokenGrant

AHEAD = 1.0  # seconds in advance that starts are leased, and that tasks wait for them in their slot
BUSY_WAIT = 0.05  # maximum seconds that a task waits in its slot while others could run in it
SLACK = 0.1  # seconds that a start stays usable after its time; at least one interval
SLICE = 0.5  # maximum seconds of starts in one request, if the worker knows before a claim that it can use them
KEYED_SLICE = 0.1  # the same for a key: another worker may get the next tasks of that key
MIN_AHEAD = 8  # minimum starts of a key that are requested before there is a task for them
SLOT_LEASE = 10.0
MAX_PROMISE = 30.0  # maximum seconds after which a task that a limit has deferred is told to try again

T = TypeVar("T")


class LimitReached(ThrottledError):
    """The task must wait for a limit; it knows when to try again, and uses no attempt.

    A task that is told a time far ahead would not notice when those before it are cancelled, so no time is longer than
    `MAX_PROMISE`. Those that would be longer are spread, so that not all of these tasks return at the same moment.
    """

    def __init__(self, name: str, key: str, retry_after: float, *, is_keyed: bool = True) -> None:
        self.limit, self.key, self.is_keyed = name, key, is_keyed
        name = name.removeprefix(RESERVED_PREFIX)
        which = f"limit {name} of {key}" if key else f"limit {name}"
        if retry_after > MAX_PROMISE:
            retry_after = MAX_PROMISE * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        super().__init__(f"{which} is reached", retry_after=retry_after, ours=True)


class RateToken(NamedTuple):
    """One start: usable in [release, lapses), in local time."""

    release: float
    lapses: float


@dataclass(slots=True)
class TokenBlock:
    """Starts that were leased together, `interval` apart."""

    start: float
    interval: float
    count: int
    life: float
    spent: int = 0  # including expired ones

    def drop_lapsed(self, now: float) -> int:
        """Drop the expired starts; return how many."""
        first = max(self.spent, min(self.count, math.floor((now - self.life - self.start) / self.interval)))
        while first < self.count and self.start + first * self.interval + self.life <= now:
            first += 1
        lapsed, self.spent = first - self.spent, first
        return lapsed

    @property
    def left(self) -> int:
        return self.count - self.spent

    def next(self) -> RateToken:
        release = self.start + self.spent * self.interval
        return RateToken(release, release + self.life)


class Tokens:
    """The leased starts of one key in a worker, earliest first."""

    def __init__(self) -> None:
        self.spent = 0  # since the last request
        self.lapsed = 0
        self.wasted = 0  # total of expired starts
        self._blocks: deque[TokenBlock] = deque()
        self._returned: list[RateToken] = []

    def add(self, block: TokenBlock) -> None:
        self._blocks.append(block)

    def count(self, now: float) -> int:
        """How many starts can still be used."""
        for block in self._blocks:
            lapsed = block.drop_lapsed(now)
            self.lapsed += lapsed
            self.wasted += lapsed
        while self._blocks and not self._blocks[0].left:
            self._blocks.popleft()
        self._returned = [token for token in self._returned if token.lapses > now]
        return len(self._returned) + sum(block.left for block in self._blocks)

    def due(self, now: float, until: float) -> tuple[int, float]:
        """How many starts can be used by then, and when the first one after them can."""
        self.count(now)
        found, later = len(self._returned), math.inf
        for block in self._blocks:
            due = min(block.left, max(0, math.floor((until - block.next().release) / block.interval + 1e-6) + 1))
            found += due
            if due < block.left:
                later = min(later, block.next().release + due * block.interval)
        return found, later

    def take(self, now: float) -> RateToken | None:
        """The next start, whose time may be in the future."""
        if not self._returned and self._blocks:  # the usual case: the first block has a usable start
            block = self._blocks[0]
            token = block.next()
            if block.left and token.lapses > now:
                block.spent += 1
                self.spent += 1
                return token
        if not self.count(now):
            return None
        self.spent += 1
        if self._returned:
            return self._returned.pop()
        block = self._blocks[0]
        token = block.next()
        block.spent += 1
        return token

    def put_back(self, token: RateToken) -> None:
        """Return a start that was taken but not used."""
        self.spent -= 1
        self._returned.append(token)


class ClockSkew:
    """The server's clock minus the local clock, as an interval that each round trip can narrow."""

    def __init__(self) -> None:
        self.low, self.high = -math.inf, math.inf
        self._since = -math.inf

    def observe(self, sent: float, at: float, received: float) -> None:
        low, high = at - received, at - sent
        # Clocks drift and are adjusted, so an old measurement is discarded.
        if received - self._since > 10 or low > self.high or high < self.low:
            self.low, self.high, self._since = low, high, received
        else:
            self.low, self.high = max(self.low, low), min(self.high, high)

    def block(self, grant: TokenGrant, interval: float) -> TokenBlock:
        """A leased block in local time: never early, and as late as is safe."""
        slack = max(interval, SLACK)
        life = max(slack / 2, slack - (self.high - self.low))
        return TokenBlock(grant.starts_at - self.low, interval, grant.granted, life)


class Waiter(NamedTuple, Generic[T]):
    """A task that waits for a limiter, and its maximum wait in seconds."""

    future: asyncio.Future[T]
    max_wait: float


@dataclass(eq=False, slots=True)
class RateLimiter:
    """One key of a rate limit, as this worker sees it."""

    name: str
    key: str
    interval: float
    keyed: bool = True
    tokens: Tokens = field(default_factory=Tokens)
    size: int = 1  # number of tokens in the next block
    waiters: deque[Waiter[RateToken]] = field(default_factory=deque["Waiter[RateToken]"])
    asking: bool = False
    retry_at: float = -math.inf  # no lease is possible before this time
    leased_until: float = -math.inf
    used_at: float = -math.inf
    asked: list[Waiter[RateToken]] = field(default_factory=list["Waiter[RateToken]"])
    ahead: bool = False  # the next block is for tasks that are not claimed yet

    def change(self, interval: float) -> None:
        """Another rate was declared: leased starts stay valid, measurements of the old rate do not."""
        self.interval = interval
        self.retry_at = self.leased_until = -math.inf

    def needs_more(self, now: float) -> bool:
        """Whether to request the next block: half of this one is used, and the rest does not last long."""
        if self.leased_until - now >= self.slice_s / 2 or self.asking or now < self.retry_at:
            return False
        return self.tokens.count(now) <= self.size // 2

    @property
    def slice_s(self) -> float:
        return KEYED_SLICE if self.keyed else SLICE

    @property
    def requests_ahead(self) -> bool:
        return self.size >= MIN_AHEAD if self.keyed else self.size > 1

    def next_request(self, now: float) -> float:
        """When to request the next block at the earliest; `inf` while a request is in progress."""
        return math.inf if self.asking else max(now, self.retry_at, self.leased_until - self.slice_s / 2)

    def ask(self, now: float) -> TokenAsk:
        """The next request: twice as much while everything is used, otherwise little more than what is used."""
        tokens = self.tokens
        tokens.count(now)
        if tokens.lapsed:
            self.size = math.ceil(tokens.spent * 1.25)
        elif tokens.spent * 2 >= self.size:
            self.size *= 2
        self.size = max(1, min(self.size, int(self.slice_s / self.interval), 1_000_000))
        tokens.spent = tokens.lapsed = 0
        self.asked = [waiter for waiter in self.waiters if not waiter.future.done()]
        self.waiters.clear()
        waiters = len(self.asked)
        reach = AHEAD if self.ahead or not waiters else max(waiter.max_wait for waiter in self.asked)
        want = max(waiters, self.size if self.ahead or self.requests_ahead else 1)
        self.ahead = False
        return TokenAsk(self.name, self.key, self.interval, want, waiters, reach)

    def take(self, now: float, max_wait: float) -> RateToken | None:
        """The next start, unless it is too far ahead to wait for."""
        token = self.tokens.take(now)
        if token is not None and token.release - now > max_wait:
            self.tokens.put_back(token)
            return None
        return token

    def receive(self, grant: TokenGrant, block: TokenBlock, now: float) -> int:
        """Distribute the leased starts; return how many waiters were deferred."""
        if grant.granted:
            self.tokens.add(block)
            self.leased_until = block.start + block.count * block.interval
        else:
            self.retry_at = now + max(0.001, grant.starts_at - grant.at - AHEAD)
        sent_away = 0
        for future, max_wait in self.asked:
            if future.done():
                continue
            token = self.take(now, max_wait)
            if token is not None:
                future.set_result(token)
            else:
                retry_in = grant.back_in + sent_away * block.interval
                future.set_exception(LimitReached(self.name, self.key, retry_in, is_keyed=self.keyed))
                sent_away += 1
        self.asked = []
        return sent_away

    def fail(self, now: float) -> None:
        self.retry_at = now + 1
        for future, _ in self.asked:
            if not future.done():
                future.set_exception(LimitReached(self.name, self.key, 1.0, is_keyed=self.keyed))
        self.asked = []


@dataclass(eq=False, slots=True)
class SlotLimiter:
    """One key of a concurrency limit, as this worker sees it."""

    name: str
    key: str
    capacity: int
    keyed: bool = True
    held: int = 0
    used: int = 0
    fair: int = 1 << 30  # maximum slots to use while other workers are short of them
    peak: int = 0  # maximum used concurrently since the last renewal
    demand: int = 0  # slots for tasks that are not claimed yet
    started: int = 0
    hold: Ewma = field(default_factory=Ewma)
    deadline: float = -math.inf
    retry_at: float = -math.inf
    asking: bool = False
    starved: bool = False  # the database had no free slot
    used_at: float = -math.inf
    waiters: deque[Waiter[None]] = field(default_factory=deque["Waiter[None]"])
    asked: list[Waiter[None]] = field(default_factory=list["Waiter[None]"])
    promised: deque[tuple[float, asyncio.Future[None]]] = field(
        default_factory=deque["tuple[float, asyncio.Future[None]]"]
    )  # waiters that expect a slot soon, each with the time until which it waits

    def free(self, now: float) -> int:
        return min(self.held, self.fair) - self.used if now < self.deadline else 0

    def take_slot(self) -> None:
        self.used += 1
        self.started += 1
        self.peak = max(self.peak, self.used)

    def return_slot(self, now: float) -> None:
        self.used -= 1
        self._serve(now)

    def _serve(self, now: float) -> None:
        while self.promised and self.free(now) > 0:
            _, waiter = self.promised.popleft()
            if not waiter.done():
                self.take_slot()
                waiter.set_result(None)

    def is_due(self, now: float) -> bool:
        """Whether to send a request: there is something to return, to share or to report, or the interval has
        passed."""
        if not (self.held or self.used or self.started):
            return False
        return self.held > 1 or self.held != self.used or now > self.deadline - SLOT_LEASE / 2

    def ask(self) -> SlotAsk:
        self.asked = [waiter for waiter in self.waiters if not waiter.future.done()]
        self.waiters.clear()
        want = self.used + len(self.promised) + len(self.asked) + self.demand
        if self.used and not self.keyed:  # the next claim uses the same slots
            want = max(want, self.peak)
        want = min(want, self.capacity, max(self.used, self.fair))
        self.held = min(self.held, want)  # from now on, slots that are being returned must not be used
        ask = SlotAsk(
            self.name, self.key, self.capacity, want, self.used, len(self.asked), self.started, self.hold.mean
        )
        self.demand = self.started = 0
        return ask

    def receive(self, ask: SlotAsk, grant: SlotGrant, sent: float, now: float) -> int:
        """Distribute the leased slots; return how many waiters were deferred."""
        self.held, self.fair, self.deadline = grant.granted, grant.fair, sent + SLOT_LEASE
        if grant.granted < ask.want:
            self.retry_at = now + 1
        self._serve(now)
        sent_away = 0
        for future, max_wait in self.asked:
            if future.done():
                continue
            if self.free(now) > 0:
                self.take_slot()
                future.set_result(None)
            elif grant.turn_s * (len(self.promised) + 1) <= max_wait:
                self.promised.append((now + AHEAD, future))
            else:
                retry_in = grant.back_in + sent_away * grant.step_s
                future.set_exception(LimitReached(self.name, self.key, retry_in, is_keyed=self.keyed))
                sent_away += 1
        self.asked = []
        return sent_away

    def forget_stopped(self) -> None:
        """Remove cancelled waiters; they must not be counted in requests."""
        self.promised = deque((until, waiter) for until, waiter in self.promised if not waiter.done())

    def defer_overdue(self, until: float) -> int:
        """Defer the waiters whose wait has become too long; return how many."""
        sent_away = 0
        while self.promised and self.promised[0][0] <= until:
            _, waiter = self.promised.popleft()
            if not waiter.done():
                retry_in = AHEAD + (self.hold.mean or 0.0)
                waiter.set_exception(LimitReached(self.name, self.key, retry_in, is_keyed=self.keyed))
                sent_away += 1
        return sent_away

    def fail(self, now: float) -> None:
        self.retry_at = now + 1
        for future, _ in self.asked:
            if not future.done():
                future.set_exception(LimitReached(self.name, self.key, 1.0, is_keyed=self.keyed))
        self.asked = []
