"""The preferences of a user: what the web app keeps on all devices."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from forebay.api import db
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import RolePoolsDep
from forebay.api.models import FromJson, Model
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.engine.submit.inputs import encode_json

router = APIRouter(prefix="/api", tags=["identity"], route_class=StrictRoute)

_MOST_BYTES = 16 << 10


class Preferences(Model):
    value: FromJson = Field(description="an object; its fields belong to the app")
    updated_at: datetime | None = Field(description="null: nothing is stored yet")


@router.get("/me/preferences")
async def get_preferences(who: Reader, pools: RolePoolsDep) -> Preferences:
    """The stored preferences of the caller; an empty object if there are none."""
    async with pools.own(who) as conn:
        row = await db.preferences(conn, who.owner_id)
    return Preferences(value={}, updated_at=None) if row is None else Preferences(**dict(row))


@router.put("/me/preferences")
async def put_preferences(body: dict[str, Any], who: Writer, pools: RolePoolsDep) -> Preferences:
    """Replace the preferences of the caller: an object of at most 16 KiB."""
    value = encode_json(body, "body")
    if len(value.encode()) > _MOST_BYTES:
        raise Problem(422, "must not have more than 16384 bytes", field="body")
    async with pools.own(who) as conn:
        row = await db.put_preferences(conn, who.owner_id, value)
    assert row is not None  # noqa: S101 - the statement returns the row
    return Preferences(**dict(row))
