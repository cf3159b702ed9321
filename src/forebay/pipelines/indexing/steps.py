"""The pipeline `index`: embeds documents that have changed, those of many owners together.

A job is submitted by `forebay.put_document`; rapid changes of a document share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.search import db
from forebay.search.embedding import embed_documents
from forebay.search.models import off, open_models
from forebay.types import Done, Skip

if TYPE_CHECKING:
    from forebay.search.embedding import Embedded

_BATCH = 64
_LINGER_S = 0.2


class ChangedDocument(BaseModel):
    """The id of a document in the index."""

    document: int


index = Pipeline("index", ChangedDocument, internal=True, noun="document", needs_database=True)


@index.batch_step(
    size=_BATCH, linger=_LINGER_S, timeout=600, concurrency=(1, 2), retry=Retry(attempts=5, base=2.0, cap=300.0)
)
async def embed(ctx: Context, batch: Sequence[ChangedDocument]) -> Sequence[Done[int] | Skip]:
    """Embed the chunks of the documents that have changed; the result is how many."""
    ids = list({each.document for each in batch})
    pool = await ctx.get(resources.database)
    await db.note_words(pool, ids)
    if (reason := await off(pool, await ctx.get(resources.settings))) is not None:
        return [Skip(reason)] * len(batch)
    found = [await embed_documents(pool, each.model, each.id, ids) for each in await open_models(ctx)]
    return [_outcome([results.pop(each.document, None) for results in found]) for each in batch]


def _outcome(embedded: Sequence[Embedded | None]) -> Done[int] | Skip:
    done = [each for each in embedded if each is not None]
    if not done:
        return Skip("the document is deleted, or found by its words only")
    return Done(sum(each.new for each in done), [each.write for each in done if each.write is not None])
