"""Garbage collection of blobs: unreferenced ones become waste, and waste is deleted from the store."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.log import get_logger
from forebay.storage import db as files
from forebay.storage.blobs import key_of

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Pool
    from forebay.storage.db import ObjectId
    from forebay.storage.store import Store

log = get_logger("storage")

_AT_ONCE = 8
_PAGE = 200


async def clean(pool: Pool, store: Store, *, grace: timedelta = timedelta(days=1), now: datetime | None = None) -> int:
    """Delete blobs that no file refers to and that were not put within the grace period; returns the number of objects.

    Concurrent runs are safe, and a crash only leaves work for the next run. Raises: what the store raises.
    """
    while (await files.collect(pool, grace, now))[0]:
        pass
    deleted = await _delete_waste(pool, store)
    left = await store.tidy(grace)
    if deleted or left:
        log.info("blobs_deleted", objects=deleted, spools=left, place=store.place)
    return deleted


async def _delete_waste(pool: Pool, store: Store) -> int:
    deleted = 0
    while found := await files.waste(pool, _PAGE):
        gone, failed = await _delete(store, found)
        await files.forget_waste(pool, gone)
        deleted += len(gone)
        if failed:
            raise failed[0]
    return deleted


async def _delete(store: Store, found: list[ObjectId]) -> tuple[list[ObjectId], list[Exception]]:
    """The deleted objects, and the errors of the others."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def delete(object_: ObjectId) -> Exception | None:
        async with turns:
            try:
                await store.delete(key_of(object_))
            except Exception as error:  # raised after all were tried
                return error
        return None

    told = await asyncio.gather(*(delete(each) for each in found))
    gone = [each for each, error in zip(found, told, strict=True) if error is None]
    return gone, [error for error in told if error is not None]
