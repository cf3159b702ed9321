"""Idempotency-Key: the same request sent twice is done once, and answered twice."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, Request

from forebay.api.problems import Problem
from forebay.db import answers

if TYPE_CHECKING:
    from forebay.api.principal import Principal
    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class Kept:
    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Idempotency:
    """What one request says about having been sent before."""

    key: str | None
    request: bytes

    async def answer(self, conn: Connection, who: Principal) -> Kept | None:
        """The answer to the same request when it came first. Until the transaction ends, others with the key wait.

        Raises: Problem 422 when the key came with another request.
        """
        if self.key is None:
            return None
        row = await answers.find(conn, who.owner_id, self.key)
        if row is None:
            return None
        if row["request"] != self.request:
            raise Problem(422, "was used with another request", field="Idempotency-Key")
        return Kept(row["status"], json.loads(row["answer"]))

    async def keep(self, conn: Connection, who: Principal, status: int, body: Any) -> None:
        if self.key is not None:
            await answers.keep(conn, who.owner_id, self.key, self.request, status, json.dumps(body))


async def _once(
    request: Request,
    key: Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=255)] = None,
) -> Idempotency:
    if key is None:
        return Idempotency(None, b"")
    what = f"{request.method} {request.url.path}?{request.url.query}\n".encode() + await request.body()
    return Idempotency(key, hashlib.sha256(what).digest())


Once = Annotated[Idempotency, Depends(_once)]
