"""The politeness of other clients, such as the browser or yt-dlp: one slot at each host that they reach."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from forebay.errors import ThrottledError
from forebay.owner_turns import acting_for
from forebay.services.egress.errors import Unreachable
from forebay.services.egress.politeness import busy
from forebay.services.egress.statuses import retry_after

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.services.egress.politeness import HostSlot, Politeness


class Visit:
    """A client that has one slot at each host to which it has connections, and at the host of its page for all time.

    The proxy takes the slots if the grant of the client has the visit: `Egress.grant(…, visit=visit)`.
    """

    def __init__(self, politeness: Politeness, host: str, most_s: float) -> None:
        """`most_s`: the maximum Retry-After."""
        self._politeness, self._host, self._most_s = politeness, host, most_s
        self._owner_id = acting_for.get()
        self._held: dict[str, _HeldSlot] = {}
        self._refused: dict[str, ThrottledError] = {}  # hosts that had no slot at the last try

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Report the response of the page: if the host rate limits us, all other requests wait, too."""
        slot = self._slot_at(self._host)
        if slot is not None and _is_throttled(status, headers):
            report_answer(slot, status, headers, 0.0, most_s=self._most_s)

    @property
    def refused(self) -> ThrottledError | None:
        """Why a host is not reached at present, if it is closed or has no slot for us."""
        return next(reversed(self._refused.values()), None)

    def told(self, host: str, status: int, headers: Mapping[str, str], seconds: float) -> None:
        """Report a response that only the client can read, because it is encrypted; ignored without a connection."""
        slot = self._slot_at(host)
        if slot is not None:
            waited, self._held[host].waited_s = self._held[host].waited_s, 0.0
            report_answer(slot, status, headers, max(0.0, seconds - waited), most_s=self._most_s)

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Visit, None]:
        """Hold the slot at the host of the page.

        Raises: ThrottledError.
        """
        async with self._held_at(self._host) as held:
            held.slot = await held.stack.enter_async_context(self._politeness.slot(self._host))
            yield self

    @asynccontextmanager
    async def reach(self, host: str, within_s: float) -> AsyncGenerator[VisitedHost, None]:
        """Hold the slot at a host for a request or a connection.

        Raises: Unreachable when the host is closed, or has no slot for us in time.
        """
        async with self._held_at(host) as held:
            reached = VisitedHost(await self._enter(held, host, within_s), self._most_s)
            try:
                yield reached
            except Unreachable as error:
                reached.broke(error)
                raise

    @asynccontextmanager
    async def _held_at(self, host: str) -> AsyncGenerator[_HeldSlot, None]:
        held = self._held.setdefault(host, _HeldSlot())
        held.users += 1
        try:
            yield held
        finally:
            held.users -= 1
            if not held.users:
                del self._held[host]
                await held.stack.aclose()

    async def _enter(self, held: _HeldSlot, host: str, within_s: float) -> HostSlot:
        began = time.monotonic()
        try:
            async with asyncio.timeout(within_s), held.entering:
                if held.slot is None:
                    acting_for.set(self._owner_id)
                    held.slot = await held.stack.enter_async_context(self._politeness.slot(host))
                    held.waited_s = time.monotonic() - began
                self._politeness.check_open(host)
        except TimeoutError:
            self._refused[host] = busy(host, within_s)
        except ThrottledError as error:
            self._refused[host] = error
        else:
            self._refused.pop(host, None)
            return held.slot
        raise Unreachable("busy", str(self._refused[host]))

    def _slot_at(self, host: str) -> HostSlot | None:
        held = self._held.get(host)
        return None if held is None else held.slot


class _HeldSlot:
    """The slot at a host, which the connections of a visit share."""

    def __init__(self) -> None:
        self.entering = asyncio.Lock()
        self.stack = AsyncExitStack()
        self.slot: HostSlot | None = None
        self.users = 0
        self.waited_s = 0.0  # before the first request, which is part of its duration as the client measures it


class VisitedHost:
    """One request to a host, or one connection: what becomes of it adapts the limit of the host."""

    def __init__(self, slot: HostSlot, most_s: float) -> None:
        self._slot, self._most_s = slot, most_s
        self._began = time.monotonic()
        self._has_answered = False

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        self._has_answered = True
        report_answer(self._slot, status, headers, time.monotonic() - self._began, most_s=self._most_s)

    def connected(self) -> None:
        """There is a connection whose content cannot be read; what breaks it later may be the client."""
        self._has_answered = True

    def broke(self, error: Unreachable) -> None:
        if not self._has_answered and error.code != "no_such_host":
            self._slot.failed(time.monotonic() - self._began)


def report_answer(slot: HostSlot, status: int, headers: Mapping[str, str], seconds: float, *, most_s: float) -> None:
    """Report a response to the controller of the host."""
    if _is_throttled(status, headers):
        slot.throttled(retry_after(headers, most_s=most_s))
    elif status >= 500:
        slot.failed(seconds)
    else:
        slot.answered(seconds)


def _is_throttled(status: int, headers: Mapping[str, str]) -> bool:
    return status == 429 or (status == 503 and retry_after(headers) is not None)
