"""The models of the index: which one is searched, and which one is being built to replace it.

configured model ──► none in the index yet: active at once
                └──► another one is active: building ──► reindex ──► active; the former one is kept, to go back
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay import resources
from forebay.engine.declare.resources import resource
from forebay.search import db
from forebay.services import embeddings
from forebay.services.embeddings.model_file import NAME

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Connection, Pool
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.resources import Resources
    from forebay.services.embeddings.model import Model
    from forebay.settings import Settings

_NICENESS = 10  # of embedding in a worker: searches and the database go first
NO_VECTORS = "the database has no extension `vector`, so that documents are found by their words only"


@dataclass(frozen=True, slots=True)
class IndexModel:
    """A model of the index that this process can use."""

    id: int
    model: Model
    is_active: bool


@resource
async def embedding_model(given: Resources) -> AsyncGenerator[Model]:
    """The configured model; raises ConfigError when it is missing, which parks the step."""

    async with embeddings.open_model(given.settings, lambda: given.get(resources.http), niceness=_NICENESS) as model:
        yield model


@resource
async def built_in_model(given: Resources) -> AsyncGenerator[Model]:
    """The model on this machine, while another one is built to replace it."""
    local = given.settings.model_copy(update={"embedding_model": NAME, "embedding_url": ""})
    async with embeddings.open_model(local, lambda: given.get(resources.http), niceness=_NICENESS) as model:
        yield model


async def off(conn: Connection | Pool, settings: Settings) -> str | None:
    """Why nothing is embedded; None if something is."""
    if not embeddings.is_on(settings):
        return embeddings.OFF
    return None if await db.has_vectors(conn) else NO_VECTORS


async def open_models(ctx: Context) -> list[IndexModel]:
    """The models that a changed document is embedded by: the configured one, and while that is being built also the one
    that is searched, if it is on this machine.

    Raises: ConfigError, ResourceError and others when the model cannot be opened.
    """
    pool, model = await ctx.get(resources.database), await ctx.get(embedding_model)
    known = await db.list_models(pool)
    found = next((row for row in known if row["name"] == model.name and row["state"] != "old"), None)
    if found is None:
        found = await db.open_model(pool, model.name, model.dimensions)
    models = [IndexModel(found["id"], model, found["state"] == "active")]
    active = next((row for row in known if row["state"] == "active"), None)
    if active is not None and active["id"] != found["id"] and active["name"] == NAME:
        models.append(IndexModel(active["id"], await ctx.get(built_in_model), is_active=True))
    return models
