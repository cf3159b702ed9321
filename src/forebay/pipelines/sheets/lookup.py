"""Looking a row up: the providers of a worker, asked in order until one has what fits."""

from __future__ import annotations

import asyncio
import time
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from forebay.engine.db import tasks
from forebay.engine.declare.resources import resource
from forebay.errors import ConfigError, ThrottledError, classify_error, message_without_values
from forebay.pipelines import resources
from forebay.pipelines.sheets.catalogue_provider import NAME as CATALOGUE
from forebay.pipelines.sheets.catalogue_provider import Catalogue
from forebay.pipelines.sheets.provider_gate import Desk
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.egress.politeness import Politeness
from forebay.services.products import HttpProvider, asks, load_providers, rank, ranked, rounds
from forebay.types import ErrorClass, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.resources import Resources
    from forebay.pipelines.sheets.provider_gate import Find
    from forebay.services.egress import Fetched, Http
    from forebay.services.products import Ask, Candidate, Fetch, Fields, Provider, ProviderRequest, Query, Scored

_SURE = 0.9  # nobody else is asked after such a match
_STANDS = 2.0  # seconds that a row waits in its slot for a provider that is closed: fewer rows are moved about
# Which error is told when several providers could not answer: what waits first, then what people can fix.
_TELLING = (
    ErrorClass.THROTTLED,
    ErrorClass.CONFIG,
    ErrorClass.RESOURCE,
    ErrorClass.TRANSIENT,
    ErrorClass.NOT_FOUND,
    ErrorClass.PERMANENT,
    ErrorClass.DATA,
)


class Match(BaseModel):
    """What was found for a row, flat as a line of a table; what is not known is left out."""

    model_config = ConfigDict(frozen=True)

    title: str | None = None
    brand: str | None = None
    sku: str | None = None
    mpn: str | None = None
    gtin: str | None = None
    price: str | None = None
    currency: str | None = None
    quantity: int | None = None
    url: str | None = None
    image: str | None = None
    category: str | None = None
    provider: str
    id: str | None = None
    score: float
    strategy: str
    reasons: str

    @model_serializer(mode="wrap")
    def _known(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class Desks:
    """The desks of all providers of one worker, in the order in which they are asked."""

    def __init__(
        self,
        providers: Iterable[Desk],
        settings: SheetsSettings,
        pool: Pool,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.by_name = {desk.name: desk for desk in providers}
        self.least = settings.match_score
        self.pool = pool
        self.sleep = sleep

    def describe(self) -> Mapping[str, Any]:
        return {name: desk.describe() for name, desk in self.by_name.items()}


@resource
async def providers(given: Resources) -> AsyncGenerator[Desks]:
    """Those that are declared, and the catalogue."""
    yield await open_desks(given)


async def open_desks(
    given: Resources,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Desks:
    """Raises: ConfigError when they are declared wrongly, or an extra is missing."""
    politeness = Politeness(given.settings, clock=clock)
    settings = given.settings.of(SheetsSettings)
    declared = load_providers(settings.providers)
    if any(each.name == CATALOGUE for each in declared):
        raise ConfigError(f"provider {CATALOGUE} is built in: call the one that you have declared otherwise")
    catalogue = Catalogue(given.pool, most=given.settings.pool_size)
    desks = [Desk(catalogue, catalogue.find, politeness, None, remembers=False, clock=clock)]
    if declared:
        http = await given.get(resources.http)
        desks += [Desk(each, _asking(each, http), politeness, given.limits, clock=clock) for each in declared]
    made = Desks(desks, settings, given.pool, sleep)
    given.tells("providers", made.describe)
    return made


def _asking(provider: Provider, http: Http) -> Find:
    fetch = _fetch(provider, http)

    async def find(query: Query, _owner_id: int) -> Sequence[Candidate]:
        return await provider.find(query, fetch)

    return find


def _fetch(provider: Provider, http: Http) -> Fetch:
    """The way out of one provider. One whose addresses are declared may be in the operator's own network."""
    from forebay.services.egress import Origin, Wanted  # noqa: PLC0415 - an extra

    limits, trusted = provider.limits, isinstance(provider, HttpProvider)

    async def fetch(request: ProviderRequest) -> Fetched:
        wanted = Wanted(
            request.url, f"sheets.{provider.name}", limits.max_bytes, limits.timeout_s, headers=request.headers,
            raise_for_status=False, secret_headers=request.secret_headers, polite=False,
            trusted=Origin.of(request.url) if trusted else None,
        )  # fmt: skip
        return await http.fetch(wanted)

    return fetch


async def look_up(
    ctx: Context, fields: Fields, *, attempts: int, priority: Sequence[str] = (), turn: int = 0
) -> Match | NotFound:
    """What fits a row best; NotFound only when all that were asked have answered.

    Each attempt after one that found nothing asks by other strategies, until after `attempts` all have been tried;
    `priority` names providers that are asked first, else each `turn` lets another one begin.

    Raises: ThrottledError and the like of a provider that could not answer, when no other had what fits; ConfigError
    when there is nobody who can be asked.
    """
    desks = await ctx.get(providers)
    nothing = 0
    if ctx.attempt > 1 and attempts > 1:  # those that failed have asked nothing to the end
        nothing = await tasks.count_not_found(desks.pool, ctx.job_id, ctx.n, ctx.step, attempts)
    all_rounds = rounds(fields, ranked(desks.by_name.values(), priority, turn))
    questions = asks(all_rounds, nothing, attempts, is_last=ctx.attempt >= attempts)
    others = [ask for round_ in all_rounds for ask in round_ if ask not in questions]
    return await _Search(desks, fields, ctx.owner_id, turn).run(questions, others)


class _Search:
    """The look-up of one row in one attempt."""

    def __init__(self, desks: Desks, fields: Fields, owner_id: int, turn: int) -> None:
        self._desks, self._fields, self._owner_id, self._turn = desks, fields, owner_id, turn
        self._best: tuple[Scored, str] | None = None
        self._errors: list[tuple[Ask, Exception]] = []
        self._asked: list[str] = []

    async def run(self, questions: Sequence[Ask], others: Sequence[Ask]) -> Match | NotFound:
        """`others`: questions of other attempts, for those who can answer while somebody has to be mended."""
        if not questions:
            return NotFound("nobody could be asked: the row has no title and no number that a provider knows")
        await self._ask_in_rounds(questions)
        if not self._fits and (late := self._throttled()):
            await self._stand(late)
        if not self._fits and (refused := self._refused()):
            await self._ask_in_rounds([question for question in others if question.provider not in refused])
        if self._best is not None and self._fits:
            return _match(*self._best)
        if self._errors:
            raise self._error()
        return NotFound(self._nothing)

    @property
    def _score(self) -> float:
        return 0.0 if self._best is None else self._best[0].score.value

    @property
    def _fits(self) -> bool:
        return self._best is not None and self._score >= self._desks.least

    async def _ask_in_rounds(self, questions: Sequence[Ask]) -> None:
        """A round with something that fits is the last; within one, others may have what fits better."""
        for _, of_round in groupby(questions, key=lambda each: each.query.strategy):
            for question in of_round:
                await self._ask(question)
                if self._score >= max(_SURE, self._desks.least):
                    return
            if self._fits:
                return

    async def _ask(self, question: Ask) -> None:
        """What one provider has; one that cannot answer does not keep the others from being asked."""
        desk = self._desks.by_name[question.provider]
        try:
            found = await desk.find(question.query, self._owner_id, self._turn)
        except Exception as error:
            self._errors.append((question, error))
            return
        self._asked.append(desk.name)
        first = next(iter(rank(self._fields, found)), None)
        if first is not None and first.score.value > self._score:
            self._best = first, question.query.strategy

    def _throttled(self) -> list[tuple[Ask, ThrottledError]]:
        return [(question, error) for question, error in self._errors if isinstance(error, ThrottledError)]

    def _refused(self) -> set[str]:
        """Whose key or declaration has to be mended."""
        return {ask.provider for ask, error in self._errors if classify_error(error) is ErrorClass.CONFIG}

    def _error(self) -> Exception:
        """What is told of all errors. The step is parked only when there is nobody left to ask; else just such rows
        wait that may be known to who cannot be asked."""
        told = min((error for _, error in self._errors), key=_telling)
        refused = self._refused()
        is_alone = not self._asked and all(question.provider in refused for question, _ in self._errors)
        if classify_error(told) is not ErrorClass.CONFIG or is_alone:
            return told
        wait = min(self._desks.by_name[name].closed_s for name in refused)
        return ThrottledError(message_without_values(told), retry_after=max(1.0, wait), ours=True)

    async def _stand(self, late: Sequence[tuple[Ask, ThrottledError]]) -> None:
        """Wait for those that are closed, and ask them once more if they open soon."""
        soonest = min(error.retry_after for _, error in late)
        await self._desks.sleep(min(soonest, _STANDS))
        if soonest > _STANDS:
            return
        again = {id(error) for _, error in late}
        self._errors = [each for each in self._errors if id(each[1]) not in again]
        await self._ask_in_rounds([question for question, _ in late])

    @property
    def _nothing(self) -> str:
        names = ", ".join(dict.fromkeys(self._asked))
        if self._best is None:
            return f"nothing was found at {names}"
        least, (best, _) = self._desks.least, self._best
        title = best.candidate.fields.get("title") or best.candidate.id or "something"
        return f"nothing that fits was found at {names}: {title!r} has a score of {self._score:.2f} of {least:g}"


def _telling(error: Exception) -> tuple[int, float]:
    wait = error.retry_after if isinstance(error, ThrottledError) else 0.0
    return _TELLING.index(classify_error(error)), wait


def _match(scored: Scored, strategy: str) -> Match:
    candidate, score = scored.candidate, scored.score
    fields: dict[str, Any] = {name: value for name, value in candidate.fields.items() if name in Match.model_fields}
    return Match(
        **fields,
        provider=candidate.provider,
        id=candidate.id,
        score=score.value,
        strategy=strategy,
        reasons=score.explanation,
    )
