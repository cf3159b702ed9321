"""The egress proxy of a process, grants to use it, and its metrics."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from forebay.errors import ConfigError
from forebay.log import get_logger
from forebay.services.egress.byte_rate import ByteRate
from forebay.services.egress.confinement import Confinement, why_not_confined
from forebay.services.egress.dialing import Dialer
from forebay.services.egress.grants import Grants
from forebay.services.egress.proxy import HOST, Proxy
from forebay.services.egress.resolver import CachingResolver, SystemResolver
from forebay.services.egress.ssrf_policy import Limits, Policy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Generator

    from forebay.runner.spec import Network
    from forebay.services.egress.grants import Grant
    from forebay.services.egress.origins import Origin
    from forebay.services.egress.resolver import Resolver
    from forebay.services.egress.visits import Visit
    from forebay.settings import Settings

log = get_logger("egress")


class Egress:
    """The egress proxy of this process; its grants give access to it."""

    def __init__(
        self, settings: Settings, proxy: Proxy, grants: Grants, confinement: Confinement, because: str | None
    ) -> None:
        self.settings = settings
        self.policy = Policy.of(settings)
        self.limits = Limits.of(settings)
        self.unconfined_because = because
        self._proxy = proxy
        self._grants = grants
        self._confinement = confinement

    @contextmanager
    def grant(
        self,
        purpose: str,
        limits: Limits | None = None,
        *,
        trusted: Collection[Origin] = (),
        visit: Visit | None = None,
    ) -> Generator[Grant, None, None]:
        """Open a grant for one purpose; its connections end with the `with` block.

        `trusted` are origins that the operator has configured for it: they may be local or in a private network.
        `visit` has the slots at the hosts that the client reaches: see `Http.visiting`.
        """
        with self._grants.grant(purpose, limits or self.limits, HOST, self._proxy.port, trusted, visit) as grant:
            yield grant

    def limit_rate(self, purpose: str, per_second: int) -> None:
        """Limit the bytes per second that all connections for a purpose receive together; 0: no limit."""
        if per_second:
            self._grants.rates[purpose] = ByteRate(per_second)
        else:
            self._grants.rates.pop(purpose, None)

    @property
    def host(self) -> str:
        return HOST

    @property
    def port(self) -> int:
        """The address of the proxy, for clients that send credentials of a grant."""
        return self._proxy.port

    @property
    def is_confining(self) -> bool:
        """Whether child processes can only use the proxy; otherwise they are only told to use it."""
        return self._confinement.is_confining

    def network(self, *, walled: bool = True) -> Network | Literal["host"]:
        """The network of a sandbox that may use the proxy; nothing else if that can be enforced."""
        return self._confinement.network() if walled and self.is_confining else "host"

    def describe(self) -> dict[str, Any]:
        """State for metrics and pages."""
        counts = self._grants.counts
        return {
            "port": self._proxy.port,
            "is_confining": self.is_confining,
            "children": self._confinement.children,
            "grants": len(self._grants),
            "open_connections": self._proxy.connections,
            "connections": counts.connections,
            "requests": counts.requests,
            "bytes_down": counts.bytes_down,
            "bytes_up": counts.bytes_up,
            "refused": dict(counts.refused),
            "failed": dict(counts.failed),
        }


@asynccontextmanager
async def open_guarded(settings: Settings, resolver: Resolver | None) -> AsyncGenerator[Egress, None]:
    """Open the egress proxy.

    Raises: ConfigError when child processes must be confined and cannot be.
    """
    because = await _why_not(settings)
    async with AsyncExitStack() as stack:
        if resolver is None:
            system = SystemResolver()
            stack.callback(system.close)
            caching = CachingResolver(system, timeout_s=settings.egress_connect_s)
            stack.push_async_callback(caching.close)
            resolver = caching
        grants = Grants()
        proxy = Proxy(Dialer(Policy.of(settings), resolver), grants)
        await proxy.open()
        stack.push_async_callback(proxy.close)
        confinement = Confinement(proxy, is_confining=because is None)
        stack.push_async_callback(confinement.close)
        confinement.open()
        log.info("egress_opened", port=proxy.port, is_confining=because is None, because=because)
        yield Egress(settings, proxy, grants, confinement, because)


async def _why_not(settings: Settings) -> str | None:
    """Why child processes are not confined, or None."""
    if settings.egress_confine is False:
        return "FOREBAY_EGRESS_CONFINE is false"
    because = await asyncio.to_thread(why_not_confined)
    if because is not None and settings.egress_confine:
        raise ConfigError(
            f"programs cannot be confined to the egress proxy: {because}; fix it or unset FOREBAY_EGRESS_CONFINE"
        )
    return because
