"""The route of a webhook: its raw body, bounded and verified before anything reads it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forebay.api.middleware.guards import MAX_BODY
from forebay.api.problems import Problem
from forebay.errors import ConfigError
from forebay.log import get_logger
from forebay.webhooks.signatures import WebhookRejected, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

    from forebay.webhooks.signatures import Delivery, WebhookSource

log = get_logger("api")


async def read_delivery(request: Request, source: WebhookSource, clock: Callable[[], float] = time.time) -> Delivery:
    """The delivery that a request brings.

    Raises: Problem 401 when it is not verified, 413 when its body is too large; ConfigError, which is answered with
        503, when the source has no secret, or the API rejects bodies that the source accepts.
    """
    return verified(request, source, await read_body(request, source), clock())


def verified(request: Request, source: WebhookSource, body: bytes, now: float) -> Delivery:
    """The delivery of a request whose body was read.

    Raises: Problem 401; ConfigError.
    """
    try:
        return verify(source, request.headers, body, now)
    except WebhookRejected as error:
        log.warning("webhook_rejected", source=source.name, reason=str(error))
        raise Problem(401, str(error)) from None


async def read_body(request: Request, source: WebhookSource) -> bytes:
    """The raw body.

    Raises: Problem 413; ConfigError when the API itself would reject bodies that the source accepts.
    """
    allowed: int = request.scope.get(MAX_BODY, source.max_bytes)
    if allowed < source.max_bytes:
        place = f"{request.method} {request.url.path}"
        raise ConfigError(
            f"the webhook source {source.name} accepts {source.max_bytes} bytes, but the API accepts {allowed} at "
            f"{place}: declare larger_bodies={{{place!r}: {source.max_bytes}}} in the PipelinePackage, or lower "
            "max_bytes of the source"
        )
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > source.max_bytes:
            raise Problem(413, f"the body has more than {source.max_bytes} bytes")
    return bytes(body)
