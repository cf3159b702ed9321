"""The synchronous path: a response waits until a worker has downloaded the files. Nothing is downloaded here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.pipelines.media import db as rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools

_FIRST_S, _LONGEST_S = 0.1, 1.0  # between two looks


async def wait_for_files(pools: RolePools, who: Principal, ids: Sequence[int], most_s: float) -> None:
    """Wait until the downloads have ended, well or not, but no longer than this."""
    pause = _FIRST_S
    try:
        async with asyncio.timeout(most_s):
            while not await _have_ended(pools, who, ids):
                await asyncio.sleep(pause)
                pause = min(_LONGEST_S, pause * 1.5)
    except TimeoutError:
        return  # the response says how far they are


async def _have_ended(pools: RolePools, who: Principal, ids: Sequence[int]) -> bool:
    async with pools.own(who) as conn:  # none is held while this waits
        found = await rows.show(conn, ids)
    return all(
        row["download_status"] in ("completed", "failed") or row["status"] not in ("PENDING", "PROCESSING")
        for row in found
    )
