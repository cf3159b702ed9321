"""Grants: permission to use the proxy for one purpose, each with its own credentials, limits and list of refusals."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.log import get_logger
from forebay.services.egress.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping
    from contextlib import AbstractAsyncContextManager

    from forebay.services.egress.byte_rate import ByteRate
    from forebay.services.egress.errors import Unreachable
    from forebay.services.egress.origins import Origin
    from forebay.services.egress.ssrf_policy import Limits
    from forebay.services.egress.visits import Visit, VisitedHost

log = get_logger("egress")
_REMEMBERED = 100  # stored refusals per grant; a page may repeat a request forever


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the SSRF guard rejected."""

    host: str
    port: int
    code: str
    reason: str


class Grant:
    """Permission to use the proxy for one purpose until it is closed, for every client with its password."""

    def __init__(
        self,
        purpose: str,
        limits: Limits,
        host: str,
        port: int,
        username: str,
        counts: TrafficCounts,
        trusted: Collection[Origin] = (),
    ) -> None:
        self.purpose, self.limits, self.host, self.port, self.username = purpose, limits, host, port, username
        self._trusted = tuple(trusted)
        self.password = secrets.token_urlsafe(24)
        self.refusals: list[Refusal] = []
        self.failures: dict[str, Unreachable] = {}  # by host, because programs report them differently or not at all
        self.bytes_down = 0
        self.bytes_up = 0
        self.lookups = asyncio.Semaphore(limits.lookups)
        self.visit: Visit | None = None
        """The slots at the hosts that its client reaches."""
        self.rates: Mapping[str, ByteRate] = {}
        """The limits on bytes per second, by purpose."""
        self.on_cut: Callable[[Refused], None] | None = None
        """Called once when the byte limit is reached: a program may wait forever for the rest of a response."""
        self._counts = counts
        self._serving: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Grant {self.username} for {self.purpose}>"

    @property
    def url(self) -> str:
        """The proxy URL with credentials, for HTTP clients, yt-dlp and curl."""
        return f"http://{self.username}:{self.password}@{self.host}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The same as environment variables for child processes."""
        names = ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy", "ftp_proxy")
        proxies = {spelled: self.url for name in names for spelled in (name, name.upper())}
        return proxies | {"no_proxy": "", "NO_PROXY": ""}

    @property
    def rate(self) -> ByteRate | None:
        """The limit on the bytes per second of all grants for this purpose."""
        return self.rates.get(self.purpose)

    def trusts(self, host: str, port: int, *, tunnel: bool) -> bool:
        """Whether this host is trusted for this purpose, so that it may be in a private network."""
        return any(origin.covers(host, port, tunnel=tunnel) for origin in self._trusted)

    def reach(self, host: str) -> AbstractAsyncContextManager[VisitedHost | None]:
        """A slot at a host for a request or a connection, if the client is to be polite.

        Raises: Unreachable when there is none in time.
        """
        return nullcontext() if self.visit is None else self.visit.reach(host, self.limits.connect_s)

    def refuse(self, host: str, port: int, refused: Refused) -> None:
        """Record and log a refusal."""
        note_refusal(self._counts, self.purpose, host, port, refused)
        if len(self.refusals) < _REMEMBERED:
            self.refusals.append(Refusal(host, port, refused.code, refused.reason))

    def note_failure(self, host: str, error: Unreachable) -> None:
        """Record why a host was not reached."""
        if len(self.failures) < _REMEMBERED:
            self.failures[host] = error

    def add_received(self, size: int) -> bool:
        """Count received bytes; returns False and closes all connections of this grant when there are too many."""
        self.bytes_down += size
        self._counts.bytes_down += size
        if not 0 < self.limits.bytes_down < self.bytes_down:
            return True
        self._cut("bytes_down", f"more than {self.limits.bytes_down} bytes came in")
        return False

    def add_sent(self, size: int) -> bool:
        """Count sent bytes, with the same limit."""
        self.bytes_up += size
        self._counts.bytes_up += size
        if not 0 < self.limits.bytes_up < self.bytes_up:
            return True
        self._cut("bytes_up", f"more than {self.limits.bytes_up} bytes went out")
        return False

    @property
    def is_full(self) -> bool:
        return len(self._serving) > self.limits.connections

    @property
    def is_exhausted(self) -> bool:
        """Whether a byte limit is reached."""
        return 0 < self.limits.bytes_down < self.bytes_down or 0 < self.limits.bytes_up < self.bytes_up

    def serves(self, task: asyncio.Task[None]) -> None:
        """Register a connection, which ends with this grant."""
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    def end(self) -> None:
        """Close all its connections."""
        for task in tuple(self._serving):
            task.cancel()

    def _cut(self, code: str, reason: str) -> None:
        if not any(refusal.code == code for refusal in self.refusals):
            self._counts.refused[code] += 1
            log.warning("egress_cut", purpose=self.purpose, code=code, reason=reason)
            self.refusals.append(Refusal("", 0, code, reason))
            if self.on_cut is not None:
                self.on_cut(Refused(code, reason))
        self.end()


class TrafficCounts:
    """Counters for metrics."""

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.connections = 0
        self.requests = 0
        self.bytes_down = 0
        self.bytes_up = 0


class Grants:
    """All open grants."""

    def __init__(self) -> None:
        self.counts = TrafficCounts()
        self.rates: dict[str, ByteRate] = {}  # by purpose
        self._open: dict[str, Grant] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def grant(
        self,
        purpose: str,
        limits: Limits,
        host: str,
        port: int,
        trusted: Collection[Origin] = (),
        visit: Visit | None = None,
    ) -> Generator[Grant, None, None]:
        """Open a grant for the duration of the `with` block."""
        self._made += 1
        made = Grant(purpose, limits, host, port, f"p{self._made}", self.counts, trusted)
        made.visit, made.rates = visit, self.rates
        self._open[made.username] = made
        try:
            yield made
        finally:
            del self._open[made.username]
            made.end()

    def find(self, username: str, password: str) -> Grant | None:
        """The open grant with these credentials, compared in constant time."""
        found = self._open.get(username)
        known = found.password if found else secrets.token_urlsafe(24)
        return found if hmac.compare_digest(known.encode(), password.encode("utf-8", "replace")) else None


def note_refusal(counts: TrafficCounts, purpose: str | None, host: str, port: int, refused: Refused) -> None:
    """Count and log a refusal; `purpose` is None for clients without a grant."""
    counts.refused[refused.code] += 1
    log.warning("egress_refused", host=host, port=port, code=refused.code, reason=refused.logged, purpose=purpose)
