"""The product providers of a worker: declared ones and the catalogue, each behind a gate."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay import resources
from forebay.engine.declare.limit import RESERVED_PREFIX, Limit
from forebay.engine.declare.resources import resource
from forebay.errors import ConfigError
from forebay.pipelines.sheets.catalogue_provider import NAME as CATALOGUE
from forebay.pipelines.sheets.catalogue_provider import CatalogueProvider
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.cache import SingleFlightCache
from forebay.services.egress.politeness import Politeness
from forebay.services.products import HttpProvider, load_providers
from forebay.services.provider_gate import ProviderGate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.declare.resources import Resources
    from forebay.engine.limits.client import LimitClient
    from forebay.services.egress import Fetched, Http
    from forebay.services.products import Candidate, Fetch, Provider, ProviderRequest, Query
    from forebay.services.provider_gate import Permits

_CACHED = 4096  # candidates
_CACHED_S = 60.0


@dataclass(frozen=True, slots=True)
class Question:
    """A query to a provider, and the owner that it is for."""

    query: Query
    owner_id: int


@dataclass(frozen=True, slots=True)
class GatedProvider:
    """A provider behind its gate."""

    name: str
    strategies: Collection[str]
    gate: ProviderGate[Question, Sequence[Candidate]]

    async def find(self, query: Query, owner_id: int, rotation: int) -> Sequence[Candidate]:
        """The candidates of the provider; a query is cached until it expires or `rotation` changes.

        Raises: what `ProviderGate.ask` and `Provider.find` raise.
        """
        key = (rotation, query.strategy, tuple(query.values.items()))
        return await self.gate.ask(Question(query, owner_id), key)


class Providers:
    """All providers of a worker, in order of priority."""

    def __init__(
        self,
        gated: Iterable[GatedProvider],
        settings: SheetsSettings,
        pool: Pool,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.by_name = {each.name: each for each in gated}
        self.least = settings.match_score
        self.pool = pool
        self.sleep = sleep

    def describe(self) -> Mapping[str, Any]:
        return {name: each.gate.describe() for name, each in self.by_name.items()}


@resource
async def providers(given: Resources) -> AsyncGenerator[Providers]:
    """The declared providers and the catalogue."""
    yield await open_providers(given)


async def open_providers(
    given: Resources,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Providers:
    """Raises: ConfigError for an invalid declaration, or a missing extra."""
    politeness = Politeness(given.settings, clock=clock, sleep=sleep)
    settings = given.settings.of(SheetsSettings)
    declared = load_providers(settings.providers)
    if any(each.name == CATALOGUE for each in declared):
        raise ConfigError(f"provider {CATALOGUE} is built in: choose another name for the declared one")
    gated = [_catalogue(CatalogueProvider(given.pool, most=given.settings.pool_size), politeness, clock)]
    if declared:
        http = await given.get(resources.http)
        gated += [_gated(each, http, politeness, given.limits, clock) for each in declared]
    made = Providers(gated, settings, given.pool, sleep)
    given.add_description("providers", made.describe)
    return made


def _catalogue(catalogue: CatalogueProvider, politeness: Politeness, clock: Callable[[], float]) -> GatedProvider:
    """Not cached: it is a local database, and products that were just loaded must be found."""

    async def call(question: Question) -> Sequence[Candidate]:
        return await catalogue.find(question.query, question.owner_id)

    gate = ProviderGate(CATALOGUE, call, politeness, concurrency=catalogue.limits.concurrency, clock=clock)
    return GatedProvider(CATALOGUE, catalogue.strategies, gate)


def _gated(
    provider: Provider, http: Http, politeness: Politeness, limits: LimitClient, clock: Callable[[], float]
) -> GatedProvider:
    fetch = _fetch(provider, http)

    async def call(question: Question) -> Sequence[Candidate]:
        return await provider.find(question.query, fetch)

    gate = ProviderGate(
        provider.name,
        call,
        politeness,
        concurrency=provider.limits.concurrency,
        permits=_permits(provider, limits),
        cache=SingleFlightCache(_CACHED, _CACHED_S, clock, size=lambda found: 1 + len(found)),
        clock=clock,
    )
    return GatedProvider(provider.name, provider.strategies, gate)


def _permits(provider: Provider, limits: LimitClient) -> Permits:
    """The declared limits, shared by all workers."""
    declared = provider.limits
    name = f"{RESERVED_PREFIX}provider {provider.name}"
    limit = Limit(name, rate=declared.rate_per_s, concurrency=declared.concurrency)

    return lambda: resources.permitted(limits, limit)


def _fetch(provider: Provider, http: Http) -> Fetch:
    """The function that sends requests of a provider. Declared addresses may be in a private network."""
    from forebay.services.egress import FetchRequest, Origin  # noqa: PLC0415 - an extra

    limits, trusted = provider.limits, isinstance(provider, HttpProvider)

    async def fetch(request: ProviderRequest) -> Fetched:
        wanted = FetchRequest(
            request.url, f"sheets.{provider.name}", limits.max_bytes, limits.timeout_s, headers=request.headers,
            raise_for_status=False, secret_headers=request.secret_headers, polite=False,
            trusted=Origin.of(request.url) if trusted else None,
        )  # fmt: skip
        return await http.fetch(wanted)

    return fetch
