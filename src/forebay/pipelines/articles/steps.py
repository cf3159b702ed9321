"""The pipeline of articles: brings the vectors of an article up to date."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.types import Skip


class EmbeddingTask(BaseModel):
    """What to do with the vectors of an article. Its text is read when the task runs."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    article_id: Annotated[int, Field(ge=1, le=2**63 - 1)]
    slug: Annotated[str, Field(max_length=255)]
    operation: Literal["create", "update", "delete"]


articles = Pipeline("articles", EmbeddingTask, noun="article")


@articles.step(timeout=600, ordered_by="article_id", concurrency=(4, 64))
async def embed(ctx: Context, task: EmbeddingTask) -> int | Skip:
    """Embed the chunks of an article that have changed."""
    return Skip("there is no index yet")
