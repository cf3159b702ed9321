"""The pipeline of articles: brings the vectors of an article up to date.

An item says which article has changed, not how: its text is read when the task runs. The tasks of one article run one
at a time, in order; those of different articles share the calls of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from forebay.engine.declare.context import Context
from forebay.engine.declare.limit import Limit
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import StepError
from forebay.intake.receiving import is_last
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.batches import article_batches
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.types import Done, Skip, Statement

if TYPE_CHECKING:
    from forebay.settings import Settings

_TOGETHER = (32, 64)  # tasks of one worker that run at the same time: what batches are made of
_ALONE = (1, 1)
_SEQUENCE = Limit("articles in sequence", concurrency=1)


class EmbeddingTask(BaseModel):
    """What to do with the vectors of an article."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    article_id: Annotated[int, Field(ge=1, le=2**63 - 1)]
    slug: Annotated[str, Field(max_length=255)]
    operation: Literal["create", "update", "delete"]


class EmbeddedArticle(BaseModel):
    """The version of the article, its chunks, and how many of them were embedded; the others had not changed."""

    version: int
    chunks: int
    embedded: int


articles = Pipeline("articles", EmbeddingTask, internal=True, noun="article", reference="slug", needs_database=True)


@articles.step(timeout=600, ordered_by="article_id", concurrency=_TOGETHER)
async def embed(ctx: Context, task: EmbeddingTask) -> Done[EmbeddedArticle | None] | Skip:
    """Embed the chunks of an article that have changed, or remove those of one that was deleted."""
    if task.operation == "delete":
        return Done(None, [rows.delete_document(task.article_id, ctx.owner_id)])
    try:
        found = await (await ctx.get(article_batches)).embed(ctx, task.article_id)
    except StepError as error:
        if is_last(ctx, embed.retry, error):
            last = type(error)(*error.args)  # the others of its batch have the same one
            raise last.writing(_not_embedded(ctx, task, "failed", str(error))) from error
        raise
    if found is None:
        return Skip("the article was deleted")
    if found.off is not None:
        return Skip(found.off, writes=[_not_embedded(ctx, task, "off", found.off)])
    result = EmbeddedArticle(version=found.version, chunks=found.chunks, embedded=found.new)
    return Done(result, found.writes)


def _not_embedded(ctx: Context, task: EmbeddingTask, state: str, reason: str) -> Statement:
    return rows.note_not_embedded(task.article_id, ctx.owner_id, state, reason, (ctx.job_id, ctx.n))


@articles.tuning
def tune(settings: Settings) -> None:
    """How often and when a failed task is tried again, and whether tasks run one after the other."""
    own = settings.of(ArticlesSettings)
    base = own.retry_backoff_base / 1000
    embed.retry = Retry(attempts=own.max_retries + 1, base=base, cap=max(300.0, base), jitter=False)
    others = tuple(limit for limit in embed.limits if limit is not _SEQUENCE)
    embed.limits = (*others, _SEQUENCE) if own.sequential else others
    embed.concurrency = _ALONE if own.sequential else _TOGETHER
