"""Closes connections without progress, and limits their number.

uvicorn waits forever for the head of a request, and for a stalled body or reader. Connections beyond the limit of open
files are lost silently.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from forebay import open_files
from forebay.api.middleware.forwarded import trusted_hosts
from forebay.log import get_logger

if TYPE_CHECKING:
    import asyncio

    from forebay.settings import Settings

_TELL_EVERY = 10.0  # seconds

log = get_logger("api")


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of all connections of a process."""

    head_s: float
    idle_s: float
    most: int
    trusted: str = ""
    of_address: Counter[str] = field(default_factory=Counter[str])
    refused: int = 0
    _told_at: float = float("-inf")

    @classmethod
    def of(cls, settings: Settings) -> ConnectionLimits:
        most = open_files.connection_limit(settings.api_max_connections)
        return cls(settings.api_head_s, settings.api_idle_s, most, settings.trusted_proxies)

    def admit(self, address: str) -> bool:
        """Whether another connection is allowed; an address may have half of all, unless it is a trusted proxy."""
        others = self.of_address.total()
        is_fair = self.of_address[address] < max(1, self.most // 2) or address in trusted_hosts(self.trusted)
        if others < self.most and is_fair:
            self.of_address[address] += 1
            return True
        self._refuse(address, others)
        return False

    def leave(self, address: str) -> None:
        self.of_address[address] -= 1
        if not self.of_address[address]:
            del self.of_address[address]

    def _refuse(self, address: str, others: int) -> None:
        self.refused += 1
        if time.monotonic() - self._told_at > _TELL_EVERY:
            self._told_at = time.monotonic()
            log.warning(
                "connection_refused",
                address=address,
                open=others,
                most=self.most,
                refused_so_far=self.refused,
                setting="FOREBAY_API_MAX_CONNECTIONS, or the limit of open files",
            )


def protocol_for(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """The protocol for `uvicorn.Config(http=…)` whose connections share these limits."""
    return type("Protocol", (LimitedProtocol,), {"limits": limits})


class LimitedProtocol(H11Protocol):
    """The protocol of uvicorn, with timeouts."""

    limits: ConnectionLimits
    _address: str | None = None  # while it is counted
    _waiting: asyncio.TimerHandle | None = None  # for the client to send
    _blocked: asyncio.TimerHandle | None = None  # until the client reads

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self.limits.admit(address):
            self._end(b"503 Service Unavailable", b"retry-after: 5\r\n")
            return
        self._address = address
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is not None:
            self.limits.leave(self._address)
            self._address = None
        self._stop_waiting()
        self._stop_blocked()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_blocked()
        self._blocked = self.loop.call_later(self.limits.idle_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_blocked()

    def _wait(self) -> None:
        """The timeout of a head is for all of it; a body may take long as long as it makes progress."""
        state = self.conn.their_state
        if self.transport.is_closing() or state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif state is h11.SEND_BODY:
            self._stop_waiting()
            self._waiting = self.loop.call_later(self.limits.idle_s, self._give_up_body)
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.limits.head_s, self._give_up_head)

    def _give_up_head(self) -> None:
        self._waiting = None
        if self.conn.trailing_data[0]:
            self._end(b"408 Request Timeout")
        else:
            self.transport.close()

    def _give_up_body(self) -> None:
        self._waiting = None
        if self.flow.read_paused:  # the delay is on our side
            self._wait()
        else:
            self.transport.abort()

    def _end(self, status: bytes, header: bytes = b"") -> None:
        self.transport.write(b"HTTP/1.1 %b\r\n%bcontent-length: 0\r\nconnection: close\r\n\r\n" % (status, header))
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _stop_blocked(self) -> None:
        if self._blocked is not None:
            self._blocked.cancel()
            self._blocked = None
