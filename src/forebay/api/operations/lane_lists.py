"""The lanes with the most work and the shares of owners: read at most every two seconds for all who ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.api.operations.models import LaneList, OwnerShare, lane_of
from forebay.api.operations.shared_reading import OwnerReadings, SharedReading
from forebay.engine.db import metrics, overview
from forebay.engine.db.lanes import attempt_rates, lanes, owner_work

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from forebay.db.pool import Connection, Pool
    from forebay.engine.db.lanes import AttemptRates, LaneRow, OwnerWork

    Connect = Callable[[], AbstractAsyncContextManager[Connection]]

MOST_LANES = 1000
_MOST_OWNERS = 10_000
_SHOWN_OWNERS = 100


@dataclass(frozen=True, slots=True)
class _Shares:
    """How all owners share the workers."""

    at: datetime
    owners: dict[int, OwnerWork]
    rates: AttemptRates


class LaneLists:
    """A share depends on the weights of all owners, which only administrators may see: they are read with the rights of
    the service, and others get their own row."""

    def __init__(self, watch: Pool) -> None:
        self._watch = watch
        self._shares: SharedReading[_Shares] = SharedReading()
        self._lanes = OwnerReadings[SharedReading[list["LaneRow"]]](SharedReading)

    async def get(self, owner_id: int | None, connect: Connect, most: int) -> LaneList:
        """The lanes that `connect` may see, of an owner or (None) of all."""

        async def read() -> list[LaneRow]:
            async with connect() as conn:
                return await lanes(conn, MOST_LANES)

        rows = await self._lanes.of(owner_id).get(read, others=len(self._lanes) - 1)
        shares = await self._shares.get(self._read_shares)
        owners = [one for one in shares.owners.values() if owner_id is None or one.id == owner_id]
        return LaneList(
            at=shares.at,
            lanes=[lane_of(row, shares.rates, _fair_share(shares, row.owner_id)) for row in rows[:most]],
            owners=[_share(one, shares.rates) for one in owners[:_SHOWN_OWNERS]],
            owner_count=next((one.owners for one in shares.owners.values()), 0),
            served_per_s=shares.rates.total,
        )

    async def _read_shares(self) -> _Shares:
        async with self._watch.acquire() as conn:
            at, owners = await metrics.now(conn), await owner_work(conn, _MOST_OWNERS)
            rates = attempt_rates(await overview.workers(conn))
        return _Shares(at, {one.id: one for one in owners}, rates)


def _fair_share(shares: _Shares, owner_id: int) -> float | None:
    found = shares.owners.get(owner_id)
    return None if found is None else found.fair_share


def _share(one: OwnerWork, rates: AttemptRates) -> OwnerShare:
    return OwnerShare(
        owner=one.owner,
        weight=one.weight,
        ready=one.ready,
        running=one.running,
        served_per_s=rates.by_owner.get(one.id, 0.0),
        share=rates.share(one.id),
        fair_share=one.fair_share,
    )
