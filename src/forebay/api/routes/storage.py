"""What is stored, by owner and kind."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from fastapi import APIRouter
from pydantic import Field

from forebay.api.auth.authentication import Reader
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Model
from forebay.api.routes.items import UserId
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.storage import db as files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.storage.db import KindUsage

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)

_MOST_OWNERS = 100


class StoredKind(Model):
    kind: str = Field(description="image, video, audio, text, or a media type")
    files: int
    bytes: int


class OwnerStorage(Model):
    owner: str
    files: int
    bytes: int = Field(description="contents that several files of the owner share count once")
    kinds: list[StoredKind]


class StoreTotals(Model):
    blobs: int
    bytes: int
    loose_blobs: int = Field(description="contents that belong to no file; they are deleted after the grace period")
    loose_bytes: int
    waste: int = Field(description="objects that are to be deleted")
    waste_bytes: int


class Storage(Model):
    """What is stored, as counted every hour by the chore `count storage`."""

    counted_at: datetime | None = Field(description="null: not counted yet")
    totals: StoreTotals | None = Field(description="of all owners, for administrators who ask for `all`")
    owners: list[OwnerStorage] = Field(description=f"the {_MOST_OWNERS} that store the most, or the caller")


@router.get("/storage")
async def get_storage(who: Reader, pools: RolePoolsDep, user_id: UserId = "me") -> Storage:
    """How much is stored. Nothing is counted for the answer: it has the numbers of the last hourly count."""
    owner_id = whose(who, user_id)
    async with pools.of(who) as conn:
        counted = await files.last_totals(conn)
        rows = await files.last_usage(conn, _MOST_OWNERS, None if owner_id is None else [owner_id])
    totals = StoreTotals.model_validate(counted[0], from_attributes=True) if counted and owner_id is None else None
    return Storage(counted_at=counted[1] if counted else None, totals=totals, owners=_owners(rows))


def _owners(rows: Sequence[KindUsage]) -> list[OwnerStorage]:
    found: list[OwnerStorage] = []
    for owner, group in groupby(rows, key=lambda row: row.owner):
        kinds = [StoredKind(kind=row.kind, files=row.files, bytes=row.bytes) for row in group]
        files_, bytes_ = sum(kind.files for kind in kinds), sum(kind.bytes for kind in kinds)
        found.append(OwnerStorage(owner=owner, files=files_, bytes=bytes_, kinds=kinds))
    return found
