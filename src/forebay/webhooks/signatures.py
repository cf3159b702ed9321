"""Signatures of webhooks: a digest over the raw body and other values, sent in a header.

WebhookRejected            the response is 401, and the request is not processed
├── missing or malformed header
├── timestamp outside the replay window
└── no signature matches a secret
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from forebay.errors import ConfigError, ForebayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import SecretStr

_MOST_SIGNATURES = 10  # per header: sources send two while they rotate secrets
_LONGEST_KEY = 255
_RESENT_S = 30 * 86400.0  # seconds in which a source may resend a delivery, each time with a new timestamp
_PLACEHOLDER = re.compile(r"\{(body|id|nonce|secret|timestamp)\}")


class WebhookRejected(ForebayError):
    """The signature of the request is invalid, or its timestamp is outside the replay window."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a source signs its requests; header names are in lower case."""

    signature_header: str
    signature_pattern: str
    """Matches each signature in the header, as the first group."""
    signed: str = "{body}"
    """The signed text, with {body}, {id}, {timestamp}, {nonce} and {secret}."""
    algorithm: Literal["hmac-sha256", "sha256"] = "hmac-sha256"
    encoding: Literal["hex", "base64"] = "hex"
    timestamp_header: str | None = None
    timestamp_pattern: str = r"^([0-9]{1,12})$"
    """Matches the Unix time in the header, as the first group."""
    id_header: str | None = None
    nonce_header: str | None = None
    secret_prefix: str | None = None
    """A secret with this prefix is followed by its bytes in base64."""
    key_paths: tuple[str, ...] = ()
    """Paths of the event id in the JSON body, such as `header.event_id`; the first that exists is used."""
    decrypt: Callable[[bytes, str], bytes] | None = None
    """Decrypts the signed body with the matching secret. Raises: WebhookRejected."""


GITHUB = Scheme("x-hub-signature-256", r"^sha256=([0-9a-f]{64})$")
STRIPE = Scheme(
    "stripe-signature",
    r"(?:^|,)v1=([0-9a-f]{64})(?=,|$)",
    "{timestamp}.{body}",
    timestamp_header="stripe-signature",
    timestamp_pattern=r"(?:^|,)t=([0-9]{1,12})(?=,|$)",
    key_paths=("id",),
)
STANDARD_WEBHOOKS = Scheme(
    "webhook-signature",
    r"(?:^| )v1,([A-Za-z0-9+/]{43}=)(?= |$)",
    "{id}.{timestamp}.{body}",
    encoding="base64",
    timestamp_header="webhook-timestamp",
    id_header="webhook-id",
    secret_prefix="whsec_",  # noqa: S106 - what secrets begin with
)


@dataclass(frozen=True, slots=True)
class WebhookSource:
    """A source of webhooks with its valid secrets: two during a rotation."""

    name: str
    scheme: Scheme
    secrets: Sequence[SecretStr]
    window_s: float = 300.0
    """The maximum difference between the timestamp of a request and the local clock."""
    max_bytes: int = 1 << 20
    """The maximum size of a body. A package must declare more than 64 KiB in `PipelinePackage.larger_bodies`."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A verified request; `key` stays the same when the source resends it."""

    source: str
    key: str
    body: bytes
    known_for_s: float | None
    """Seconds in which a copy could be accepted, or the source may resend it; None: without limit."""


def verify(source: WebhookSource, headers: Mapping[str, str], body: bytes, now: float) -> Delivery:
    """The delivery of a request; `now` is the Unix time.

    Raises: WebhookRejected; ConfigError if the source has no secret.
    """
    scheme = source.scheme
    if not secrets_of(source):
        raise ConfigError(f"the webhook source {source.name} has no secret: set one, the same as at the sender")
    found = _signatures(scheme, _header(headers, scheme.signature_header))
    parts = {"body": body}
    if scheme.timestamp_header is not None:
        parts["timestamp"] = _fresh_timestamp(source, headers, now)
    for name, header in (("id", scheme.id_header), ("nonce", scheme.nonce_header)):
        if header is not None:
            parts[name] = _header(headers, header).encode("latin-1", "replace")
    secret = _fitting_secret(source, parts, found)
    if scheme.decrypt is not None:
        parts["body"] = scheme.decrypt(body, secret)
    return Delivery(source.name, _key(source, parts), parts["body"], _known_for(source))


def _fitting_secret(source: WebhookSource, parts: Mapping[str, bytes], signatures: Sequence[bytes]) -> str:
    # All are compared, also after a match, so that the time reveals nothing about the secrets.
    fits = [
        secret
        for secret in secrets_of(source)
        for expected in [_digest(source.scheme, secret, parts)]
        if any([hmac.compare_digest(expected, signature) for signature in signatures])  # noqa: C419 - all of them
    ]
    if not fits:
        raise WebhookRejected(f"the signature does not fit: check the secret of the webhook source {source.name}")
    return fits[0]


def secrets_of(source: WebhookSource) -> list[str]:
    """The secrets of a source, without empty ones."""
    return [text for secret in source.secrets if (text := secret.get_secret_value())]


def _known_for(source: WebhookSource) -> float | None:
    if "{timestamp}" not in source.scheme.signed:
        return None
    return max(_RESENT_S, 2 * source.window_s)


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookRejected(f"the header {name} is missing")
    return value.strip()


def _signatures(scheme: Scheme, header: str) -> list[bytes]:
    found = re.findall(scheme.signature_pattern, header)[:_MOST_SIGNATURES]
    if not found:
        raise WebhookRejected(f"the header {scheme.signature_header} has no signature of the expected form")
    return [bytes.fromhex(text) if scheme.encoding == "hex" else base64.b64decode(text) for text in found]


def _fresh_timestamp(source: WebhookSource, headers: Mapping[str, str], now: float) -> bytes:
    name = source.scheme.timestamp_header or ""
    found = re.search(source.scheme.timestamp_pattern, _header(headers, name))
    if found is None:
        raise WebhookRejected(f"the header {name} has no timestamp in seconds")
    if abs(now - int(found[1])) > source.window_s:
        raise WebhookRejected(
            f"the timestamp is more than {source.window_s:g} s from this machine's clock: check both clocks"
        )
    return found[1].encode("ascii")


def _digest(scheme: Scheme, secret: str, parts: Mapping[str, bytes]) -> bytes:
    key = _secret_bytes(scheme, secret)
    values = {**parts, "secret": key}
    pieces = _PLACEHOLDER.split(scheme.signed)
    message = b"".join(values[piece] if at % 2 else piece.encode() for at, piece in enumerate(pieces))
    if scheme.algorithm == "sha256":
        return hashlib.sha256(message).digest()
    return hmac.digest(key, message, "sha256")


def _secret_bytes(scheme: Scheme, secret: str) -> bytes:
    if scheme.secret_prefix is None or not secret.startswith(scheme.secret_prefix):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(scheme.secret_prefix), validate=True)
    except binascii.Error:
        raise ConfigError(f"a webhook secret that begins with {scheme.secret_prefix} must go on in base64") from None


def _key(source: WebhookSource, parts: Mapping[str, bytes]) -> str:
    """Identifies a delivery. It is always taken from signed data; otherwise a replay could change it."""
    for path in source.scheme.key_paths:
        value = _at(parts["body"], path)
        if isinstance(value, str | int) and 0 < len(str(value)) <= _LONGEST_KEY:
            return str(value)
    if "id" in parts and "{id}" in source.scheme.signed and len(parts["id"]) <= _LONGEST_KEY:
        return parts["id"].decode("latin-1")
    return hashlib.sha256(parts["body"]).hexdigest()


def _at(body: bytes, path: str) -> Any:
    try:
        value: Any = json.loads(body)
        for name in path.split("."):
            value = value[name]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return value
