"""The first submit of a pipeline: the database may not know it yet, since no worker has started.

It is registered on the way, in the caller's transaction. That takes a savepoint, as the refusal of an unknown pipeline
would end the transaction; so it is done until the pipeline has been found in that database once, and costs nothing
afterwards.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from forebay.engine.db.sql import load
from forebay.errors import UnknownPipeline

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from forebay.engine.db.adapters import AsyncAdapter, SyncAdapter
    from forebay.engine.declare.pipeline import Pipeline

R = TypeVar("R")

# The databases in which each was found: registered by others, and committed.
_found: WeakKeyDictionary[Pipeline[Any], set[Hashable]] = WeakKeyDictionary()


async def submit_registered(
    adapter: AsyncAdapter, pipeline: Pipeline[Any], submit: Callable[[AsyncAdapter], Awaitable[R]]
) -> R:
    """What `submit` answers; before that, a pipeline that is unknown is registered.

    Raises: UnknownPipeline when it has no steps here either, or the account may not register it.
    """
    database = await adapter.database()
    if not _may_be_unknown(pipeline, database):
        try:
            return await submit(adapter)
        except UnknownPipeline:
            _forget(pipeline, database)  # it was dropped since, or made anew
            raise
    try:
        async with adapter.atomic() as inside:
            submitted = await submit(inside)
    except UnknownPipeline:
        async with adapter.atomic() as inside:
            await register_unknown(inside, pipeline)
            return await submit(inside)
    _remember(pipeline, database)
    return submitted


def submit_registered_sync(adapter: SyncAdapter, pipeline: Pipeline[Any], submit: Callable[[SyncAdapter], R]) -> R:
    """The same on a connection that blocks."""
    database = adapter.database()
    if not _may_be_unknown(pipeline, database):
        try:
            return submit(adapter)
        except UnknownPipeline:
            _forget(pipeline, database)
            raise
    try:
        with adapter.atomic() as inside:
            submitted = submit(inside)
    except UnknownPipeline:
        with adapter.atomic() as inside:
            inside.fetch_row(load("register_pipeline"), (json.dumps(pipeline.definition()),))
            return submit(inside)
    _remember(pipeline, database)
    return submitted


async def register_unknown(adapter: AsyncAdapter, pipeline: Pipeline[Any]) -> None:
    await adapter.fetch_row(load("register_pipeline"), (json.dumps(pipeline.definition()),))


def _may_be_unknown(pipeline: Pipeline[Any], database: Hashable | None) -> bool:
    """Not one without steps: that stands for a pipeline which is declared elsewhere."""
    return bool(pipeline.steps) and database not in _found.get(pipeline, ())


def _remember(pipeline: Pipeline[Any], database: Hashable | None) -> None:
    if database is not None:
        _found.setdefault(pipeline, set()).add(database)


def _forget(pipeline: Pipeline[Any], database: Hashable | None) -> None:
    _found.get(pipeline, set()).discard(database)
