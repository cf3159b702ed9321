"""Rate and concurrency limits over all workers, by leased slices.

A worker leases what it needs next in one round trip and spends it by itself.

Rates. The starts of a key stand on one time line, `interval` = per / rate apart. A worker leases a stretch of it: each
start in it may be used from its own time on, and lapses `slack` = max(interval, 0.1 s) later. So whatever the number of
workers, keys in use or slices, a window of W seconds sees at most

    ceil((W + slack) · rate / per)

starts: one more than declared for slow limits, a tenth of a second's worth more for fast ones. (With a round trip above
50 ms the slack grows by what is above: the worker cannot know the server's clock any better.)

Concurrency. Slots are leased for ten seconds and renewed every second; a worker that dies loses them by expiry, and one
that cannot renew starts nothing more. The slots leased by all workers never add up to more than the limit.

A task that is not admitted waits in its slot for up to a second when its turn is that near and nobody else could run
there; else it goes back with the time at which its turn comes. The database counts those who were sent away, so each is
told a time of its own; all in all, about one is sent away for each one that starts.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from forebay.engine.db import limits as db
from forebay.engine.db.limits import SlotAsk
from forebay.engine.limits.limiters import (
    AHEAD,
    IMPATIENCE,
    SLACK,
    SLOT_LEASE,
    LimitReached,
    RateGate,
    Skew,
    SlotGate,
    Waiter,
)
from forebay.errors import DataError, brief
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.policy import Limit
    from forebay.engine.limits.limiters import Token

__all__ = ["Desk", "Held", "LimitReached", "Limits"]

log = get_logger("limits")

_BATCH = 500  # keys in one call
_FORGET = 60.0  # seconds after which the worker forgets a key


G = TypeVar("G", RateGate, SlotGate)


class Desk(Generic[G]):
    """Where gates line up to ask the database: one call at a time, for all that came during the last one."""

    def __init__(self, ask: Callable[[list[G]], Awaitable[None]]) -> None:
        self.calls = 0
        self._ask: Callable[[list[G]], Awaitable[None]] = ask
        self._line: deque[G] = deque()
        self._task: asyncio.Task[None] | None = None

    def queue(self, gate: G) -> None:
        if gate.asking:
            return
        gate.asking = True
        self._line.append(gate)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="limits")

    async def idle(self) -> None:
        """Waits until nobody stands in line."""
        while self._task is not None:
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            while self._line:
                gates = [self._line.popleft() for _ in range(min(_BATCH, len(self._line)))]
                self.calls += 1
                await self._ask(gates)
                for gate in gates:
                    gate.asking = False
                    if gate.waiters:
                        self.queue(gate)
        finally:
            self._task = None


class Held:
    """What an attempt has to give back when it ends."""

    __slots__ = ("slots",)

    def __init__(self) -> None:
        self.slots: list[tuple[SlotGate, float]] = []


class Limits:
    """The limits of one worker. `on_room` is called when `room` may answer more than before."""

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        *,
        on_room: Callable[[], None] = lambda: None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._pool, self._worker_id, self._clock = pool, worker_id, clock
        self._on_room, self._sleep = on_room, sleep
        self._skew = Skew()
        self._rates: dict[tuple[str, str], RateGate] = {}
        self._slots: dict[tuple[str, str], SlotGate] = {}
        self._idling: set[SlotGate] = set()  # slots of these are about to be returned
        self._returning: asyncio.Task[None] | None = None
        self._rate_desk = Desk(self._ask_tokens)
        self._slot_desk = Desk(self._ask_slots)
        self._counts = {"starts": 0, "sent_away": 0}

    def _now(self) -> float:
        """Local time, which no one can set: the clock's own only where a test moves it by hand."""
        stamp = self._clock.stamp()
        return time.monotonic() if stamp is None else stamp.timestamp()

    # -- before a claim ------------------------------------------------------------------------------------------

    def room(self, limits: Sequence[Limit], wanted: int = 1) -> int | None:
        """How many tasks can start within about a second; None: as many as you like.

        Only limits without a key can tell before the input is known. Asks for more in the background.
        """
        rooms: list[int] = []
        for limit in limits:
            if limit.key is None:
                if limit.rate is not None:
                    rooms.append(self._rate_room(self._rate_gate(limit, limit.rate, "")))
                if limit.concurrency is not None:
                    rooms.append(self._slot_room(self._slot_gate(limit, limit.concurrency, ""), wanted))
        return min(rooms, default=None)

    def _rate_room(self, gate: RateGate) -> int:
        now = gate.used_at = self._now()
        if gate.needs_more(now):
            gate.ahead = True
            self._rate_desk.queue(gate)
        return max(0, gate.tokens.count(now) - len(gate.waiters))

    def _slot_room(self, gate: SlotGate, wanted: int) -> int:
        now = gate.used_at = self._now()
        free = max(0, gate.free(now) - len(gate.waiters))
        if free < wanted and gate.held < gate.capacity and now >= gate.retry_at and not gate.asking:
            gate.demand = wanted - free
            self._slot_desk.queue(gate)
        gate.starved = free == 0
        return free

    def wait(self, limits: Sequence[Limit]) -> float:
        """Seconds after which `room` is worth another question, if `on_room` is not called before; at most 1."""
        now, until = self._now(), -math.inf
        for limit in limits:
            for gate in (self._rates.get((limit.name, "")), self._slots.get((limit.name, ""))):
                if limit.key is None and gate is not None:
                    until = max(until, gate.retry_at)
        return min(1.0, until - now) if until > now else 1.0

    # -- an attempt ----------------------------------------------------------------------------------------------

    async def enter(self, limits: Sequence[Limit], value: Any, *, busy: bool = False) -> Held:
        """Waits until the attempt may start, but not long, and hardly at all for a key while the worker is `busy`:
        while others, of other keys perhaps, could run in its place.

        Raises: LimitReached with the time after which its turn comes.
        """
        held = Held()
        rates: list[tuple[RateGate, float]] = []
        try:
            for limit in limits:
                key = "" if limit.key is None else _key(limit, value)
                patience = IMPATIENCE if busy and limit.key is not None else AHEAD
                if limit.rate is not None:
                    rates.append((self._rate_gate(limit, limit.rate, key), patience))
                if limit.concurrency is not None:
                    gate = self._slot_gate(limit, limit.concurrency, key)
                    await self._slot(gate, patience)
                    held.slots.append((gate, self._now()))
            if rates:
                await self._start(rates)
        except BaseException:
            self.leave(held)
            raise
        self._counts["starts"] += 1
        return held

    def leave(self, held: Held) -> None:
        """The attempt has ended, or has not begun after all."""
        now = self._now()
        for gate, since in held.slots:
            gate.hold.add(now - since)
            gate.vacate(now)
            if gate.starved and gate.free(now) > 0:
                gate.starved = False
                self._on_room()
            elif gate.keyed and gate.held > gate.used:
                self._return_soon(gate)
        held.slots.clear()

    def _return_soon(self, gate: SlotGate) -> None:
        """The next task of that key may come to another worker: nobody should wait there for a slot that idles here."""
        self._idling.add(gate)
        if self._returning is None:
            self._returning = asyncio.create_task(self._return_idle(), name="limits return")

    async def _return_idle(self) -> None:
        try:
            while self._idling:
                gates, self._idling = self._idling, set()
                await self._sleep(IMPATIENCE)
                for gate in gates:
                    if gate.held > gate.used:
                        self._slot_desk.queue(gate)
        finally:
            self._returning = None

    async def _slot(self, gate: SlotGate, patience: float) -> None:
        now = gate.used_at = self._now()
        if not gate.waiters and not gate.standing and gate.free(now) > 0:
            gate.occupy()
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        gate.waiters.append(Waiter(waiter, patience))
        self._slot_desk.queue(gate)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                gate.vacate(self._now())  # it was given the slot at the moment it was stopped
            gate.forget_stopped()
            raise

    async def _start(self, gates: list[tuple[RateGate, float]]) -> None:
        """Takes a start of each, the slowest first: its starts are precious, and stay usable for longer."""
        if len(gates) == 1:
            while (await self._token(*gates[0])).lapses <= self._now():
                pass
            return
        gates.sort(key=lambda pair: -pair[0].interval)
        got: dict[RateGate, Token] = {}
        try:
            while True:
                now = self._now()
                missing = next((pair for pair in gates if pair[0] not in got or got[pair[0]].lapses <= now), None)
                if missing is None:
                    return
                got[missing[0]] = await self._token(*missing)
        except BaseException:
            for gate, token in got.items():
                gate.tokens.give_back(token)
            raise

    async def _token(self, gate: RateGate, patience: float) -> Token:
        """A start whose time has come; waits for it if need be."""
        now = gate.used_at = self._now()
        token = None if gate.waiters else gate.take(now, patience)
        if token is None:
            waiter: asyncio.Future[Token] = asyncio.get_running_loop().create_future()
            gate.waiters.append(Waiter(waiter, patience))
            self._rate_desk.queue(gate)
            token = await waiter
        elif gate.thinks_ahead and gate.needs_more(now):
            self._rate_desk.queue(gate)
        try:
            while (pause := token.release - self._now()) > 0:
                await self._sleep(pause)
        except BaseException:
            gate.tokens.give_back(token)
            raise
        return token

    # -- the database --------------------------------------------------------------------------------------------

    async def _ask_tokens(self, gates: list[RateGate]) -> None:
        sent = self._now()
        asks = [gate.ask(sent) for gate in gates]
        try:
            grants = await db.take_tokens(self._pool, asks, AHEAD, SLACK, self._clock.stamp())
        except Exception as error:  # whatever it is, the tasks come back; the loops that need the database complain
            self._failed(gates, error)
            return
        now = self._now()
        self._skew.observe(sent, grants[0].at, now)
        for gate, ask, grant in zip(gates, asks, grants, strict=True):
            piece = self._skew.piece(grant, ask.interval)
            self._counts["sent_away"] += gate.receive(grant, piece, now)
        if any(grant.granted for grant in grants):
            self._on_room()

    async def _ask_slots(self, gates: list[SlotGate]) -> None:
        sent = self._now()
        asks = [gate.ask() for gate in gates]
        try:
            grants = await db.lease_slots(self._pool, self._worker_id, asks, SLOT_LEASE, self._clock.stamp())
        except Exception as error:
            self._failed(gates, error)
            return
        now = self._now()
        for gate, ask, grant in zip(gates, asks, grants, strict=True):
            self._counts["sent_away"] += gate.receive(ask, grant, sent, now)
            if gate.starved and gate.free(now) > 0:
                gate.starved = False
                self._on_room()

    def _failed(self, gates: Iterable[RateGate | SlotGate], error: Exception) -> None:
        log.warning("limits_not_leased", worker=self._worker_id, error=brief(error))
        for gate in gates:
            gate.fail(self._now())

    # -- care ----------------------------------------------------------------------------------------------------

    async def renew(self) -> None:
        """Once a second: renews slots in use, returns those that are not, and forgets keys that nobody uses."""
        now = self._now()
        for gate in self._slots.values():
            self._counts["sent_away"] += gate.give_up(now + 0.5)  # the next look is a second away
            if gate.is_due(now):
                self._slot_desk.queue(gate)
        await self._slot_desk.idle()
        for gate in self._slots.values():
            gate.peak = gate.used
        self._forget(now)

    def _forget(self, now: float) -> None:
        old = now - _FORGET
        for key in [k for k, g in self._rates.items() if g.used_at < old and not (g.waiters or g.asked or g.asking)]:
            del self._rates[key]
        for key in [k for k, g in self._slots.items() if g.used_at < old and not (g.used or g.held or g.asking)]:
            del self._slots[key]

    async def close(self) -> None:
        """Gives all slots back."""
        if self._returning is not None:
            self._returning.cancel()
        await self._rate_desk.idle()
        await self._slot_desk.idle()
        held = [gate for gate in self._slots.values() if gate.held]
        asks = [SlotAsk(gate.name, gate.key, gate.capacity, 0, started=gate.started) for gate in held]
        for gate in held:
            gate.held = 0
        if asks:
            await db.lease_slots(self._pool, self._worker_id, asks, SLOT_LEASE, self._clock.stamp())

    def describe(self) -> dict[str, Any]:
        """What the worker's row and the metrics show: totals, and each limit summed over its keys."""
        now = self._now()
        about: dict[str, dict[str, float]] = {}
        for rate in self._rates.values():
            seen = about.setdefault(rate.name, {})
            _add(seen, rate_keys=1, tokens=rate.tokens.count(now), slice=rate.size, lapsed=rate.tokens.wasted)
            _add(seen, waiters=len(rate.waiters) + len(rate.asked))
        for slot in self._slots.values():
            seen = about.setdefault(slot.name, {})
            _add(seen, slot_keys=1, held=slot.held, used=slot.used)
            _add(seen, waiters=len(slot.waiters) + len(slot.asked) + len(slot.standing))
        calls = {"rate_calls": self._rate_desk.calls, "slot_calls": self._slot_desk.calls}
        return {**self._counts, **calls, "limits": about}

    def _rate_gate(self, limit: Limit, rate: float, key: str) -> RateGate:
        interval = limit.per / rate
        gate = self._rates.get((limit.name, key))
        if gate is None:
            gate = self._rates[limit.name, key] = RateGate(limit.name, key, interval, limit.key is not None)
        elif gate.interval != interval:
            gate.change(interval)
        return gate

    def _slot_gate(self, limit: Limit, concurrency: int, key: str) -> SlotGate:
        gate = self._slots.get((limit.name, key))
        if gate is None:
            gate = self._slots[limit.name, key] = SlotGate(limit.name, key, concurrency, limit.key is not None)
        gate.capacity = concurrency
        return gate


def _key(limit: Limit, value: Any) -> str:
    """The key of an input, in a form that fits into an index.

    Raises: DataError when the input has none.
    """
    assert limit.key is not None  # noqa: S101 - the callers have looked
    try:
        key = limit.key(value)
    except Exception as error:
        raise DataError(f"limit {limit.name}: the input has no key ({type(error).__name__}: {error})") from error
    text = str(key).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    return text if len(text) <= 200 else f"{text[:160]}…{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _add(seen: dict[str, float], **values: float) -> None:
    for name, value in values.items():
        seen[name] = seen.get(name, 0) + value
