"""Embeds articles in batches: those whose tasks run at the same time in one worker share the calls of the model,
whoever their owners are.

While the model works on a batch, the articles that come wait, and are the next batch. So a single article is embedded
at once, and many keep the model busy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay import resources
from forebay.api.batching import Batcher
from forebay.engine.declare.resources import resource
from forebay.errors import DataError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.search import db as index
from forebay.search.embedding import embed_documents
from forebay.search.models import off, open_models

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.resources import Resources
    from forebay.pipelines.articles.db import Prepared
    from forebay.search.embedding import Embedded
    from forebay.search.models import IndexModel
    from forebay.settings import Settings
    from forebay.types import Statement


@dataclass(frozen=True, slots=True)
class Vectors:
    """What a batch found out about an article: the statements that write its vectors, or why there are none."""

    version: int  # of the article
    chunks: int = 0
    new: int = 0  # chunks that were embedded
    writes: Sequence[Statement] = ()
    off: str | None = None


class ArticleBatches:
    """The batches of one worker."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        most = settings.of(ArticlesSettings).batch_size
        self._calls: Batcher[tuple[Context, int], Vectors | DataError | None] = Batcher(
            self._embed, at_once=1, most=most
        )

    async def embed(self, ctx: Context, article_id: int) -> Vectors | None:
        """The vectors of an article of the task's owner; None if there is no such article.

        Raises: ConfigError, TransientError, ThrottledError, ResourceError or DataError.
        """
        found = await self._calls.call((ctx, article_id))
        if isinstance(found, DataError):
            raise found
        return found

    async def _embed(self, calls: list[tuple[Context, int]]) -> list[Vectors | DataError | None]:
        found = await rows.prepare(self._pool, [article_id for _, article_id in calls])
        own = [
            article if (article := found.get(each)) and article.owner_id == ctx.owner_id else None
            for ctx, each in calls
        ]
        wanted = list(dict.fromkeys(each.document_id for each in own if each is not None and not each.skips))
        reason = await off(self._pool, self._settings)
        if wanted:
            await index.note_words(self._pool, wanted)
        models = await open_models(calls[0][0]) if wanted and reason is None else []
        done = [await self._by_model(each, wanted) for each in models]
        return [None if article is None else _vectors(article, done, reason) for article in own]

    async def _by_model(self, model: IndexModel, ids: Sequence[int]) -> dict[int, Embedded | DataError]:
        """Embed documents together; if the service rejects a text, one by one, so that it fails for that one only."""
        try:
            return dict(await embed_documents(self._pool, model.model, model.id, ids))
        except DataError as error:
            if len(ids) == 1:
                return {ids[0]: error}
        found: dict[int, Embedded | DataError] = {}
        for one in ids:
            found |= await self._by_model(model, [one])
        return found


def _vectors(
    article: Prepared, done: Sequence[dict[int, Embedded | DataError]], reason: str | None
) -> Vectors | DataError | None:
    if reason is not None or article.skips:
        return Vectors(article.version, off=reason or "its author does not want it to be embedded")
    by_model: list[Embedded] = []
    for each in done:
        found = each.get(article.document_id)
        if isinstance(found, DataError):
            return found
        if found is None:
            return None  # deleted meanwhile
        by_model.append(found)
    writes = [each.write for each in by_model if each.write is not None]
    noted = rows.note_embedded(article.id, article.owner_id, by_model[0].version)
    chunks, new = max(each.chunks for each in by_model), sum(each.new for each in by_model)
    return Vectors(article.version, chunks, new, [*writes, noted])


@resource
async def article_batches(given: Resources) -> AsyncGenerator[ArticleBatches]:
    yield ArticleBatches(await given.get(resources.database), given.settings)
