"""Idempotency-Key: a repeated request is executed once and gets the stored response."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from forebay.api import db as answers
from forebay.api.problems import Problem
from forebay.api.submit import bodies

if TYPE_CHECKING:
    from fastapi import Request

    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection

_LONGEST = 255


def parameter(description: str) -> dict[str, Any]:
    """The header, for the OpenAPI document."""
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": _LONGEST},
    }


ANSWERED_AGAIN = parameter("a request repeated with the same key is executed once; each gets the first response")
TAKES_KEY: dict[str, Any] = {"parameters": [ANSWERED_AGAIN]}  # for `openapi_extra`


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The key of a request and a digest of the request."""

    key: str | None
    request: bytes

    async def answer(self, conn: Connection, who: Principal) -> StoredAnswer | None:
        """The stored response to this request, if any. Locks the key until the transaction ends.

        Raises: Problem 422 when the key was used for another request, 409 while the same request is being processed.
        """
        if self.key is None:
            return None
        if not await answers.claim(conn, who.owner_id, self.key):
            raise Problem(
                409, "the same request is being processed", field="Idempotency-Key", headers={"Retry-After": "1"}
            )
        row = await answers.find(conn, who.owner_id, self.key)
        if row is None:
            return None
        if row["request"] != self.request:
            raise Problem(422, "was used for another request", field="Idempotency-Key")
        return StoredAnswer(row["status"], json.loads(row["answer"]))

    async def keep(self, conn: Connection, who: Principal, status: int, body: Any) -> None:
        if self.key is not None:
            await answers.keep(conn, who.owner_id, self.key, self.request, status, json.dumps(body))


async def of(request: Request) -> Idempotency:
    """Read the header and digest the request.

    Raises: Problem 422 for an invalid key.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        return Idempotency(None, b"")
    if not 1 <= len(key) <= _LONGEST:
        raise Problem(422, f"must have 1 to {_LONGEST} characters", field="Idempotency-Key")
    what = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    what += await (_form(request) if bodies.is_upload(request) else request.body())
    return Idempotency(key, hashlib.sha256(what).digest())


async def _form(request: Request) -> bytes:
    """A digest of the form's fields and files: the boundary differs from one request to the next."""
    parts: list[tuple[str, ...]] = []
    for name, value in (await bodies.form(request)).multi_items():
        if isinstance(value, str):
            parts.append((name, value))
        else:
            digest = await asyncio.to_thread(_digest, value.file)
            parts.append((name, value.filename or "", value.content_type or "", digest))
    return json.dumps(sorted(parts)).encode()


def _digest(file: IO[bytes]) -> str:
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type] # it has the methods that are needed
    file.seek(0)
    return digest
