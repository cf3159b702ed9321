"""The HTTP client: through the SSRF guard, with limits on size, time and requests per host."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

from forebay.services.egress.answers import FetchRequest, Hop, Response, is_redirect, redirected
from forebay.services.egress.politeness import Politeness
from forebay.services.egress.pools import Pools, own_trust, translated
from forebay.services.egress.robots import MAX_BYTES, Robots
from forebay.services.egress.statuses import status_error
from forebay.services.egress.time_budget import TimeBudget, TimeBudgetSpent
from forebay.services.egress.urls import checked_url
from forebay.services.egress.visits import Visit, report_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.services.egress.answers import Fetched, OutgoingRequest
    from forebay.services.egress.egress import Egress
    from forebay.services.egress.grants import Grant
    from forebay.services.egress.origins import Origin
    from forebay.services.egress.urls import Url

_TIMEOUT_S = 60.0
_MAX_BYTES = 32 << 20
_CONNECTIONS = 2048  # connections per purpose, including idle ones
_LOOKUPS = 16  # concurrent DNS lookups per purpose: a dead DNS server must not block the others


class Http:
    """Fetches URLs; failures are raised as errors of steps."""

    def __init__(self, egress: Egress, politeness: Politeness | None = None) -> None:
        self.politeness = politeness or Politeness(egress.settings)
        self._egress = egress
        self._settings = egress.settings
        self._grants: dict[tuple[str, Origin | None], Grant] = {}
        self._pools = Pools(self._grant_for, own_trust(egress.settings.egress_ca_file))
        self._stack = ExitStack()
        self._robots = Robots(self._read_robots)

    async def close(self) -> None:
        await self._pools.close()
        self._stack.close()

    async def get(  # noqa: PLR0913 - independent options
        self,
        url: str,
        *,
        purpose: str,
        max_bytes: int = _MAX_BYTES,
        timeout: float = _TIMEOUT_S,
        etag: str | None = None,
        modified: str | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: bool = False,
        raise_for_status: bool = True,
    ) -> Fetched:
        """Fetch a URL into memory; with `etag` or `modified` of an earlier response, only if it has changed.

        Raises: InvalidUrl, Refused, UrlNotFound, ThrottledError, TransientError, PermanentError, DataError.
        """
        wanted = FetchRequest(url, purpose, max_bytes, timeout, etag, modified, headers or {}, cookies)
        return await self.fetch(replace(wanted, raise_for_status=raise_for_status))

    async def fetch(self, wanted: FetchRequest) -> Fetched:
        """The same for any request, such as a POST.

        Raises: the same.
        """
        async with self.stream(wanted) as answer:
            return await answer.read()

    @asynccontextmanager
    async def stream(self, wanted: FetchRequest) -> AsyncGenerator[Response, None]:
        """A response whose body has not been read.

        The timeout holds for the whole block, unless `wanted.times_reader` is false. An async generator that yields
        within the block needs that: the timeout would cancel the task that reads the generator.

        Raises: the same.
        """
        url = checked_url(wanted.url)
        if not wanted.times_reader:
            async with self._stream_untimed(url, wanted) as answer:
                yield answer
            return
        limit = asyncio.timeout(wanted.timeout)
        try:
            async with limit, AsyncExitStack() as stack:
                yield await self._follow(stack, url, wanted)
        except TimeoutError:
            if not limit.expired():
                raise
            raise translated(url, TimeoutError(), wanted.timeout) from None

    @asynccontextmanager
    async def _stream_untimed(self, url: Url, wanted: FetchRequest) -> AsyncGenerator[Response, None]:
        budget = TimeBudget(wanted.timeout)
        async with AsyncExitStack() as stack:
            try:
                async with budget.spend():
                    answer = await self._follow(stack, url, wanted, budget)
            except TimeBudgetSpent:
                raise translated(url, TimeoutError(), wanted.timeout) from None
            yield answer

    @asynccontextmanager
    async def visiting(self, url: str) -> AsyncGenerator[Visit, None]:
        """A slot at the host for another client, such as the browser; robots.txt is checked as usual.

        Its grant gets the visit, so that the other hosts that it reaches are asked as politely.

        Raises: ThrottledError, PermanentError when robots.txt forbids it.
        """
        checked = checked_url(url)
        await self._ask_robots(checked)
        visit = Visit(self.politeness, checked.host, self._settings.egress_retry_after_max_s)
        async with visit.begin():
            yield visit

    async def _ask_robots(self, url: Url) -> None:
        if self._settings.egress_robots:
            delay = await self._robots.check(url)
            if delay:
                self.politeness.slow_down(url.host, delay)

    async def _follow(
        self, stack: AsyncExitStack, url: Url, wanted: FetchRequest, budget: TimeBudget | None = None
    ) -> Response:
        """Go where redirects lead; each hop is checked as the first one was."""
        chain: list[Hop] = []
        request = wanted.first(url, self._settings.egress_user_agent)
        while True:
            async with AsyncExitStack() as hop:
                response = await self._ask(hop, request, wanted)
                if not is_redirect(response):
                    stack.push_async_callback(hop.pop_all().aclose)
                    return Response(request.url, tuple(chain), response, wanted.max_bytes, budget)
                chain.append(Hop(str(request.url), response.status_code))
                request = redirected(request, response, chain)

    async def _ask(self, stack: AsyncExitStack, request: OutgoingRequest, wanted: FetchRequest) -> httpx.Response:
        """Send one request; its slot at the host is held until the response was read."""
        url = request.url
        if request.trusted is None and wanted.polite and wanted.robots:  # configured origins need no robots.txt
            await self._ask_robots(url)
        slot = await stack.enter_async_context(self.politeness.slot(url.host)) if wanted.polite else None
        pool = await stack.enter_async_context(self._pools.pool(wanted.purpose, url.origin, request.trusted))
        most_s = self._settings.egress_retry_after_max_s
        began = time.monotonic()
        try:
            response = await pool.send(url, request.message(), wanted.timeout)
        except BaseException:
            if slot is not None:
                slot.failed(time.monotonic() - began)
            raise
        stack.push_async_callback(response.aclose)
        if slot is not None:
            seconds = time.monotonic() - began
            report_answer(slot, response.status_code, response.headers, seconds, most_s=most_s)
        error = status_error(response.status_code, response.headers, url.place, most_s=most_s)
        if error is not None and wanted.raise_for_status:
            raise error
        return response

    def _grant_for(self, purpose: str, trusted: Origin | None) -> Grant:
        """The grant of a purpose, without limits, because every request has its own."""
        key = (purpose, trusted)
        if key not in self._grants:
            limits = replace(self._egress.limits, bytes_down=0, bytes_up=0, connections=_CONNECTIONS, lookups=_LOOKUPS)
            grant = self._egress.grant(purpose, limits, trusted=() if trusted is None else (trusted,))
            self._grants[key] = self._stack.enter_context(grant)
        return self._grants[key]

    async def _read_robots(self, url: str) -> str | None:
        wanted = FetchRequest(url, "robots", MAX_BYTES, _TIMEOUT_S, robots=False)
        async with self.stream(wanted) as answer:
            return (await answer.read()).content.decode("utf-8", "replace")
