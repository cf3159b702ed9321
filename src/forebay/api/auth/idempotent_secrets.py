"""Things with a secret, made once for each Idempotency-Key: secrets are not kept, the key remembers which it was."""

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
    from forebay.identity.db import Invitation, Token

M = TypeVar("M", bound="Token | Invitation")

# For the OpenAPI document.
TAKES_KEY: dict[str, Any] = {
    "parameters": [
        idempotency.parameter(
            "the same request with the same key is done once; then 409 names the id of what it has made"
        )
    ]
}


async def make_idempotently(
    request: Request, who: Principal, pools: RolePools, make: Callable[[Connection], Awaitable[tuple[M, str]]]
) -> tuple[M, str]:
    """What `make` makes, with its secret.

    Raises: Problem 409 when the same request has made it before, 422 when the key came with another request.
    """
    idempotent = await idempotency.of(request)
    # The key is safe before what it stands for: should all end in between, there is none rather than two.
    async with pools.identity.acquire() as conn, conn.transaction(), pools.of(who) as keys:
        if (known := await idempotent.answer(keys, who)) is not None:
            raise _made_before(known.body["id"])
        made, secret = await make(conn)
        await idempotent.keep(keys, who, 201, {"id": str(made.id)})
    return made, secret


def _made_before(made: str) -> Problem:
    detail = f"has made {made} before, whose secret was shown then and is not kept: use another key"
    return Problem(409, detail, field="Idempotency-Key", about=made)
