"""Signatures as known senders make them, and everything that is not one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError
from forebay.webhooks import signatures
from forebay.webhooks.lark import LARK
from forebay.webhooks.signatures import Scheme, WebhookRejected, WebhookSource, verify

NOW = 1_794_800_000
BODY = json.dumps({"id": "evt_1", "text": "Grüße"}, ensure_ascii=False).encode()
SECRET = "It's a Secret to Everybody"
_KEY = base64.b64encode(b"0123456789abcdef01234567").decode()


def _mac(secret: str | bytes, message: bytes) -> bytes:
    return hmac.new(secret if isinstance(secret, bytes) else secret.encode(), message, hashlib.sha256).digest()


def github(body: bytes, secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    return {"x-hub-signature-256": f"sha256={_mac(secret, body).hex()}", "x-github-delivery": "72d3162e"}


def stripe(body: bytes, secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    right = _mac(secret, f"{at}.".encode() + body).hex()
    return {"stripe-signature": f"t={at},v1={'0' * 64},v1={right},v0={'1' * 64}"}


def lark(body: bytes, secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    signature = hashlib.sha256(f"{at}nonce{secret}".encode() + body).hexdigest()
    return {"x-lark-request-timestamp": str(at), "x-lark-request-nonce": "nonce", "x-lark-signature": signature}


def standard(body: bytes, secret: str = f"whsec_{_KEY}", at: int = NOW) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret
    right = base64.b64encode(_mac(key, f"msg_1.{at}.".encode() + body)).decode()
    signed = f"v1,{base64.b64encode(bytes(32)).decode()} v1,{right} v1a,{right}"
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signed}


Sign = Callable[..., dict[str, str]]
SENDERS: list[tuple[Scheme, Sign, str, str]] = [
    (signatures.GITHUB, github, SECRET, hashlib.sha256(BODY).hexdigest()),
    (signatures.STRIPE, stripe, SECRET, "evt_1"),
    (LARK, lark, SECRET, hashlib.sha256(BODY).hexdigest()),
    (signatures.STANDARD_WEBHOOKS, standard, f"whsec_{_KEY}", "msg_1"),
]
TIMED = SENDERS[1:]


def _source(scheme: Scheme, *secrets: str, **more: Any) -> WebhookSource:
    return WebhookSource("shop", scheme, [SecretStr(secret) for secret in secrets], **more)


def test_a_signature_of_the_documents_of_github() -> None:
    signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    headers = {"x-hub-signature-256": f"sha256={signature}"}
    assert verify(_source(signatures.GITHUB, SECRET), headers, b"Hello, World!", NOW).body == b"Hello, World!"


def test_a_signature_of_the_specification_of_standard_webhooks() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    source = _source(signatures.STANDARD_WEBHOOKS, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    found = verify(source, headers, b'{"test": 2432232314}', 1614265330 + 60)
    assert found.key == "msg_p5jXN8AQM9LWM0D4loKWxJek"


@pytest.mark.parametrize(("scheme", "sign", "secret", "key"), SENDERS)
def test_deliveries_are_known_for_as_long_as_they_can_be_replayed(
    scheme: Scheme, sign: Sign, secret: str, key: str
) -> None:
    """Without a signed time that is for ever; with one, sources may still send a delivery again for some days."""
    day = 86400.0
    for window, days in ((300.0, 30), (40 * day, 80)):
        found = verify(_source(scheme, secret, window_s=window), sign(BODY), BODY, NOW)
        assert found.known_for_s == (None if scheme is signatures.GITHUB else days * day)


@pytest.mark.parametrize(("scheme", "sign", "secret", "key"), SENDERS)
def test_a_signed_request_is_a_delivery(scheme: Scheme, sign: Sign, secret: str, key: str) -> None:
    found = verify(_source(scheme, secret), sign(BODY), BODY, NOW + 200)
    assert (found.source, found.key, found.body) == ("shop", key, BODY)


@pytest.mark.parametrize(("scheme", "sign", "secret", "key"), SENDERS)
def test_secrets_are_rotated(scheme: Scheme, sign: Sign, secret: str, key: str) -> None:
    """Both the old and the new one are valid for a while; a slot without a secret is never one."""
    assert verify(_source(scheme, "new", "", secret), sign(BODY), BODY, NOW).key == key
    assert verify(_source(scheme, secret, "old"), sign(BODY, "old"), BODY, NOW).key == key
    with pytest.raises(WebhookRejected, match="does not fit"):
        verify(_source(scheme, secret, ""), sign(BODY, ""), BODY, NOW)


@pytest.mark.parametrize(("scheme", "sign", "secret", "key"), SENDERS)
def test_what_was_changed_is_rejected(scheme: Scheme, sign: Sign, secret: str, key: str) -> None:
    source, wrong = _source(scheme, secret), "the signature does not fit: check the secret of the webhook source shop"
    for body, headers in (
        (BODY + b" ", sign(BODY)),
        (BODY, sign(BODY, "another")),
        *((BODY, {**sign(BODY), name: "other"}) for name in (scheme.id_header, scheme.nonce_header) if name),
    ):
        with pytest.raises(WebhookRejected) as raised:
            verify(source, headers, body, NOW)
        assert str(raised.value) == wrong


@pytest.mark.parametrize(("scheme", "sign", "secret", "key"), TIMED)
@pytest.mark.parametrize("late", [-301, 301])
def test_the_replay_window(scheme: Scheme, sign: Sign, secret: str, key: str, late: int) -> None:
    with pytest.raises(WebhookRejected) as raised:
        verify(_source(scheme, secret), sign(BODY), BODY, NOW + late)
    assert str(raised.value) == "the timestamp is more than 300 s from this machine's clock: check both clocks"
    assert verify(_source(scheme, secret, window_s=400), sign(BODY), BODY, NOW + late).key == key


@pytest.mark.parametrize(
    ("scheme", "headers", "words"),
    [
        (signatures.GITHUB, {}, "the header x-hub-signature-256 is missing"),
        (signatures.GITHUB, {"x-hub-signature-256": ""}, "the header x-hub-signature-256 is missing"),
        (
            signatures.GITHUB,
            {"x-hub-signature-256": "sha1=12"},
            "the header x-hub-signature-256 has no signature of the expected form",
        ),
        (
            signatures.STRIPE,
            {"stripe-signature": f"v1={'a' * 64}"},
            "the header stripe-signature has no timestamp in seconds",
        ),
        (LARK, {"x-lark-signature": "a" * 64}, "the header x-lark-request-timestamp is missing"),
        (
            LARK,
            {"x-lark-signature": "a" * 64, "x-lark-request-timestamp": f"{NOW}.5"},
            "the header x-lark-request-timestamp has no timestamp in seconds",
        ),
    ],
)
def test_headers_that_cannot_be(scheme: Scheme, headers: Mapping[str, str], words: str) -> None:
    with pytest.raises(WebhookRejected) as raised:
        verify(_source(scheme, SECRET), headers, BODY, NOW)
    assert str(raised.value) == words


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"id": ""}', b'{"id": {"a": 1}}', b"[" * 100_000])
def test_a_body_without_the_id_has_its_hash_as_key(body: bytes) -> None:
    assert verify(_source(signatures.STRIPE, SECRET), stripe(body), body, NOW).key == hashlib.sha256(body).hexdigest()


def test_a_source_without_a_secret() -> None:
    with pytest.raises(ConfigError) as raised:
        verify(_source(signatures.GITHUB, ""), github(BODY, ""), BODY, NOW)
    assert str(raised.value) == "the webhook source shop has no secret: set one, the same as at the sender"
    with pytest.raises(ConfigError, match=r"^a webhook secret that begins with whsec_ must go on in base64$"):
        verify(_source(signatures.STANDARD_WEBHOOKS, "whsec_!"), standard(BODY), BODY, NOW)
