"""Create tokens and invitations once per Idempotency-Key. Secrets are not stored, so a repetition gets only the id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from forebay.api import idempotency
from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastapi import Request

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.identity.db import ApiToken, Invitation

M = TypeVar("M", bound="ApiToken | Invitation")

# For `openapi_extra`.
TAKES_KEY: dict[str, Any] = {
    "parameters": [
        idempotency.parameter(
            "a repeated request with the same key creates nothing and gets 409 with the id that the first one created"
        )
    ]
}


async def make_idempotently(
    request: Request, who: Principal, pools: RolePools, make: Callable[[Connection], Awaitable[tuple[M, str]]]
) -> tuple[M, str]:
    """Call `make`, which creates a row and its secret, once per key.

    Raises: Problem 409 when the same request created it before, 422 when the key was used for another request.
    """
    idempotent = await idempotency.of(request)
    # The key is committed first: a crash in between leaves no row rather than two.
    async with pools.identity.acquire() as conn, conn.transaction(), pools.of(who) as keys:
        if (known := await idempotent.answer(keys, who)) is not None:
            raise _made_before(known.body["id"])
        made, secret = await make(conn)
        await idempotent.keep(keys, who, 201, {"id": str(made.id)})
    return made, secret


def _made_before(made: str) -> Problem:
    detail = f"has created {made} before, whose secret was shown then and is not stored: use another key"
    return Problem(409, detail, field="Idempotency-Key", about=made)
