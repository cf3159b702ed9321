"""The pipeline `reindex`: embeds all documents by a model that is to replace the active one, then switches to it.

One job with an item for some documents each: it has a low priority, shows its progress, and can be paused, resumed and
repeated like any other. Until its end, the active model is searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import PermanentError
from forebay.search import db
from forebay.search.embedding import embed_documents
from forebay.search.models import open_models
from forebay.types import Done, JobSummary, Skip, Unique

if TYPE_CHECKING:
    from forebay.db.pool import Connection

OWNER = "forebay"
_PRIORITY = -20
_DOCUMENTS = 32  # of one item


class DocumentRange(BaseModel):
    """The documents from `first` to `last` that the model does not have."""

    model: int
    first: int
    last: int


reindex = Pipeline("reindex", DocumentRange, internal=True, noun="range", needs_database=True)


async def start_reindex(conn: Connection, model_id: int) -> int | None:
    """Submit the job that builds a model, unless one is open; returns the job. None if nothing is missing: then the
    model is active now."""
    ranges = await db.list_ranges(conn, model_id, _DOCUMENTS)
    if not ranges:
        await db.activate_model(conn, model_id)
        return None
    submitted = await reindex.submit_many(
        conn,
        (DocumentRange(model=model_id, first=first, last=last) for first, last in ranges),
        owner=OWNER,
        priority=_PRIORITY,
        key=f"model {model_id}",
        unique=Unique(states=("QUEUED", "RUNNING", "PAUSED")),
    )
    await db.note_model_job(conn, model_id, submitted.job_id)
    return submitted.job_id


@reindex.step(timeout=1800, concurrency=(1, 1), retry=Retry(attempts=5, base=5.0, cap=600.0))
async def embed_range(ctx: Context, part: DocumentRange) -> Done[int] | Skip:
    """Embed the documents of a range; the result is how many chunks."""
    pool = await ctx.get(resources.database)
    found = next((each for each in await open_models(ctx) if each.id == part.model), None)
    if found is None:
        return Skip("another model is configured now")
    ids = await db.list_missing(pool, part.model, part.first, part.last)
    done = (await embed_documents(pool, found.model, found.id, ids)).values()
    return Done(sum(each.new for each in done), [each.write for each in done if each.write is not None])


@reindex.after_all(timeout=600)
async def switch(ctx: Context, job: JobSummary) -> int | Skip:
    """Search with the model from now on, if it has all documents; the result is the model."""
    first = await anext(ctx.items())
    model_id = DocumentRange.model_validate(first.input).model
    async with ctx.transaction() as conn:
        models = {row["id"]: row["state"] for row in await db.list_models(conn)}
        if models.get(model_id) != "building":
            return Skip("the model is not being built any more")
        missing = await db.activate_model(conn, model_id)
    if missing:
        raise PermanentError(
            f"{missing} documents could not be embedded, so that the former model is still searched: reprocess this job"
        )
    return model_id
