"""Looks rows up: queries the providers of a worker in order until one has a match."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from forebay.engine.db import tasks
from forebay.errors import ThrottledError, classify_error, message_without_values
from forebay.pipelines.sheets.providers import providers
from forebay.services.products import asks, rank, ranked, rounds
from forebay.types import ErrorClass, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.context import Context
    from forebay.pipelines.sheets.providers import Providers
    from forebay.services.products import Fields, ProviderQuery, Scored

_SURE = 0.9  # no other provider is queried after such a match
_STANDS = 2.0  # seconds that a row waits in its slot for a closed provider, so that fewer rows are rescheduled
# Which error is reported when several providers failed: first those that wait, then those that can be fixed.
_INFORMATIVE = (
    ErrorClass.THROTTLED,
    ErrorClass.CONFIG,
    ErrorClass.RESOURCE,
    ErrorClass.TRANSIENT,
    ErrorClass.NOT_FOUND,
    ErrorClass.PERMANENT,
    ErrorClass.DATA,
)


class Match(BaseModel):
    """The match of a row as flat fields; unknown ones are left out."""

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


async def look_up(
    ctx: Context, fields: Fields, *, attempts: int, priority: Sequence[str] = (), rotation: int = 0
) -> Match | NotFound:
    """Find the best match for a row; NotFound only when all queried providers have answered.

    Each attempt after one without a match uses other strategies, until all have been tried after `attempts`. `priority`
    names providers to query first; otherwise each `rotation` starts with another one.

    Raises: the error of a provider that could not answer, such as ThrottledError, when no other had a match;
    ConfigError when no provider can be queried.
    """
    known = await ctx.get(providers)
    nothing = 0
    if ctx.attempt > 1 and attempts > 1:  # failed attempts did not finish their queries
        nothing = await tasks.count_not_found(known.pool, ctx.job_id, ctx.n, ctx.step, attempts)
    all_rounds = rounds(fields, ranked(known.by_name.values(), priority, rotation))
    questions = asks(all_rounds, nothing, attempts, is_last=ctx.attempt >= attempts)
    others = [ask for round_ in all_rounds for ask in round_ if ask not in questions]
    return await _Search(known, fields, ctx.owner_id, rotation).run(questions, others)


class _Search:
    """The lookup of one row in one attempt."""

    def __init__(self, providers: Providers, fields: Fields, owner_id: int, rotation: int) -> None:
        self._providers, self._fields, self._owner_id, self._rotation = providers, fields, owner_id, rotation
        self._best: tuple[Scored, str] | None = None
        self._errors: list[tuple[ProviderQuery, Exception]] = []
        self._asked: list[str] = []

    async def run(self, questions: Sequence[ProviderQuery], others: Sequence[ProviderQuery]) -> Match | NotFound:
        """`others`: queries of other attempts, for working providers while another has to be fixed."""
        if not questions:
            reason = "no provider could be queried: the row has no title and no number that a provider supports"
            return NotFound(reason, final=True)
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
        return self._best is not None and self._score >= self._providers.least

    async def _ask_in_rounds(self, questions: Sequence[ProviderQuery]) -> None:
        """A round with a match is the last; within a round, another provider may have a better match."""
        for _, of_round in groupby(questions, key=lambda each: each.query.strategy):
            for question in of_round:
                await self._ask(question)
                if self._score >= max(_SURE, self._providers.least):
                    return
            if self._fits:
                return

    async def _ask(self, question: ProviderQuery) -> None:
        """The candidates of one provider; its error does not stop the queries of others."""
        provider = self._providers.by_name[question.provider]
        try:
            found = await provider.find(question.query, self._owner_id, self._rotation)
        except Exception as error:
            self._errors.append((question, error))
            return
        self._asked.append(provider.name)
        first = next(iter(rank(self._fields, found)), None)
        if first is not None and first.score.value > self._score:
            self._best = first, question.query.strategy

    def _throttled(self) -> list[tuple[ProviderQuery, ThrottledError]]:
        return [(question, error) for question, error in self._errors if isinstance(error, ThrottledError)]

    def _refused(self) -> set[str]:
        """The providers whose key or declaration has to be fixed."""
        return {ask.provider for ask, error in self._errors if classify_error(error) is ErrorClass.CONFIG}

    def _error(self) -> Exception:
        """The error to raise. The step is parked only when no provider is left to query; otherwise only rows wait that
        an unavailable provider may know."""
        told = min((error for _, error in self._errors), key=_informative)
        refused = self._refused()
        is_alone = not self._asked and all(question.provider in refused for question, _ in self._errors)
        if classify_error(told) is not ErrorClass.CONFIG or is_alone:
            return told
        wait = min(self._providers.by_name[name].gate.wait_s for name in refused)
        return ThrottledError(message_without_values(told), retry_after=max(1.0, wait), ours=True)

    async def _stand(self, late: Sequence[tuple[ProviderQuery, ThrottledError]]) -> None:
        """Wait for closed providers and query them again if they open soon."""
        soonest = min(error.retry_after for _, error in late)
        await self._providers.sleep(min(soonest, _STANDS))
        if soonest > _STANDS:
            return
        again = {id(error) for _, error in late}
        self._errors = [each for each in self._errors if id(each[1]) not in again]
        await self._ask_in_rounds([question for question, _ in late])

    @property
    def _nothing(self) -> str:
        names = ", ".join(dict.fromkeys(self._asked))
        if self._best is None:
            return f"no match at {names}"
        least, (best, _) = self._providers.least, self._best
        title = best.candidate.fields.get("title") or best.candidate.id or "something"
        return f"no match at {names}; closest: {title!r} (score {self._score:.2f}, needs {least:g})"


def _informative(error: Exception) -> tuple[int, float]:
    wait = error.retry_after if isinstance(error, ThrottledError) else 0.0
    return _INFORMATIVE.index(classify_error(error)), wait


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
