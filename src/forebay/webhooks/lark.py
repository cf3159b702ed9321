"""Events of Lark and Feishu: signed and encrypted with the Encrypt Key of an app.

The secret of the source is the Encrypt Key; without one, Lark signs nothing. A retry is encrypted again, so
that only the id inside the event identifies it. When the URL of the webhook is saved, Lark checks it with a challenge,
which is encrypted but not signed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from forebay.errors import ConfigError
from forebay.webhooks.receiving import read_body, verified
from forebay.webhooks.signatures import Scheme, WebhookRejected, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

    from forebay.webhooks.signatures import Delivery, WebhookSource

MISSING = "events of Lark need a package that is not installed: pip install 'forebay[webhooks]'"
_BLOCK = 16  # bytes
_LONGEST_CHALLENGE = 1000


@dataclass(frozen=True, slots=True)
class Challenge:
    """A check of the URL; the response is `{"challenge": text}`."""

    text: str


async def read_event(
    request: Request, source: WebhookSource, clock: Callable[[], float] = time.time
) -> Delivery | Challenge:
    """The decrypted event of a request, or the challenge.

    Raises: the errors of `receiving.read_delivery`; ConfigError if the package for decryption is missing.
    """
    body = await read_body(request, source)
    return find_challenge(source, body) or verified(request, source, body, clock())


def find_challenge(source: WebhookSource, body: bytes) -> Challenge | None:
    """The challenge in a body that is encrypted with a secret of the source; None for any other body."""
    if _encrypted(body) is None:
        return None
    for secret in secrets_of(source):
        try:
            event: Any = json.loads(decrypt(body, secret))
        except (WebhookRejected, ValueError, RecursionError):
            continue
        text = _at(event, "challenge")
        if _at(event, "type") == "url_verification" and isinstance(text, str) and 0 < len(text) <= _LONGEST_CHALLENGE:
            return Challenge(text)
    return None


def _at(value: Any, name: str) -> Any:
    """A field of an object; None if the value is not an object, or has no such field."""
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def decrypt(body: bytes, encrypt_key: str) -> bytes:
    """The event in `{"encrypt": "…"}`; any other body is returned as it is.

    Raises: WebhookRejected; ConfigError if the package for decryption is missing.
    """
    encrypted = _encrypted(body)
    if encrypted is None:
        return body
    try:
        data = base64.b64decode(encrypted, validate=True)
        padded = _aes_cbc(hashlib.sha256(encrypt_key.encode()).digest(), data[:_BLOCK], data[_BLOCK:])
    except ValueError:  # not base64, or of an invalid length
        padded = b""
    size = padded[-1] if padded else 0
    if not 1 <= size <= _BLOCK or padded[-size:] != bytes([size]) * size:
        raise WebhookRejected("the body cannot be decrypted: check the Encrypt Key")
    return padded[:-size]


def _encrypted(body: bytes) -> str | None:
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    encrypted = _at(found, "encrypt")
    return encrypted if isinstance(encrypted, str) else None


def _aes_cbc(key: bytes, start: bytes, data: bytes) -> bytes:
    """Raises: ValueError for data of an invalid length."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    decryptor = Cipher(algorithms.AES(key), modes.CBC(start)).decryptor()
    return decryptor.update(data) + decryptor.finalize()


LARK = Scheme(
    "x-lark-signature",
    r"^([0-9a-f]{64})$",
    "{timestamp}{nonce}{secret}{body}",
    algorithm="sha256",
    timestamp_header="x-lark-request-timestamp",
    nonce_header="x-lark-request-nonce",
    key_paths=("header.event_id", "uuid"),
    decrypt=decrypt,
)
