"""Pipelines that a command submits to before any worker has run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.engine.db.adapters import adapter_for
from forebay.engine.submit.registration import register_unknown

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings


async def make_known(conn: Connection, settings: Settings, *pipelines: Pipeline[Any]) -> None:
    """Register those that the database does not know. The others stay as the workers' settings have made them."""
    for pipeline in pipelines:
        pipeline.tune(settings)
        await register_unknown(adapter_for(conn), pipeline)
