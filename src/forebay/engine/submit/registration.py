"""The first submit of a pipeline, which may not be registered in the database yet because no worker has started.

The submit registers it in the caller's transaction. That requires a savepoint, because the rejection of an unknown
pipeline would abort the transaction; so it is done only until the pipeline has been found in the database once.
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

# The databases in which each pipeline was found: registered by others, and committed.
_found: WeakKeyDictionary[Pipeline[Any], set[Hashable]] = WeakKeyDictionary()


async def submit_registered(
    adapter: AsyncAdapter, pipeline: Pipeline[Any], submit: Callable[[AsyncAdapter], Awaitable[R]]
) -> R:
    """Call `submit` and return its result; register the pipeline first if it is unknown.

    Raises: UnknownPipeline if it has no steps here either, or if the account may not register it.
    """
    database = await adapter.database()
    if not _may_be_unknown(pipeline, database):
        try:
            return await submit(adapter)
        except UnknownPipeline:
            _forget(pipeline, database)  # the schema was dropped or recreated
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
    """Same as `submit_registered`, on a synchronous connection."""
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
    """False for a pipeline without steps, which refers to a pipeline that is declared elsewhere."""
    return bool(pipeline.steps) and database not in _found.get(pipeline, ())


def _remember(pipeline: Pipeline[Any], database: Hashable | None) -> None:
    if database is not None:
        _found.setdefault(pipeline, set()).add(database)


def _forget(pipeline: Pipeline[Any], database: Hashable | None) -> None:
    _found.get(pipeline, set()).discard(database)
