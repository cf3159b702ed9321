"""Reads the requests of a webhook: the size of the raw body is limited, and it is verified before it is parsed."""

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
    """The verified delivery of a request.

    Raises: Problem 401 if it cannot be verified, 413 if its body is too large; ConfigError, for which the API responds
        with 503, if the source has no secret, or the API rejects bodies that the source accepts.
    """
    return verified(request, source, await read_body(request, source), clock())


def verified(request: Request, source: WebhookSource, body: bytes, now: float) -> Delivery:
    """The verified delivery of a request, given its body.

    Raises: Problem 401; ConfigError.
    """
    try:
        return verify(source, request.headers, body, now)
    except WebhookRejected as error:
        log.warning("webhook_rejected", source=source.name, reason=str(error))
        raise Problem(401, str(error)) from None


async def read_body(request: Request, source: WebhookSource) -> bytes:
    """The raw body.

    Raises: Problem 413; ConfigError if the API rejects bodies that the source accepts.
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
