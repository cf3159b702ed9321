"""The route of a webhook: its raw body, bounded and verified before anything reads it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.log import get_logger
from forebay.webhooks.signatures import WebhookRejected, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

    from forebay.webhooks.signatures import Delivery, WebhookSource

log = get_logger("api")


async def read_delivery(request: Request, source: WebhookSource, clock: Callable[[], float] = time.time) -> Delivery:
    """The delivery that a request brings.

    Raises: Problem 401 when it is not verified, 413 when its body is too large; ConfigError when the source has no
        secret, which is answered with 503.
    """
    body = await _read(request, source.max_bytes)
    try:
        return verify(source, request.headers, body, clock())
    except WebhookRejected as error:
        log.warning("webhook_rejected", source=source.name, reason=str(error))
        raise Problem(401, str(error)) from None


async def _read(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > max_bytes:
            raise Problem(413, f"the body has more than {max_bytes} bytes")
    return bytes(body)
