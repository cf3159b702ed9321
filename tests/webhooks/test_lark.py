"""Events of Lark: encrypted, signed, and the same when they come again."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from pydantic import SecretStr

from forebay.errors import ConfigError
from forebay.webhooks.lark import LARK, Challenge, decrypt, find_challenge
from forebay.webhooks.signatures import WebhookRejected, WebhookSource, verify
from tests.webhooks.test_signatures import NOW, lark

KEY = "kudryavka"
SOURCE = WebhookSource("lark", LARK, [SecretStr("new"), SecretStr(KEY)])
EVENT = {"schema": "2.0", "header": {"event_id": "5e3702a84e847582be8db7fb73283c02"}, "event": {"text": "Grüße"}}


def encrypted(event: Any, key: str = KEY) -> bytes:
    """As Lark does it: each time with other bytes."""
    plain = json.dumps(event).encode()
    size = 16 - len(plain) % 16
    start = os.urandom(16)
    encryptor = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(start)).encryptor()
    data = start + encryptor.update(plain + bytes([size]) * size) + encryptor.finalize()
    return json.dumps({"encrypt": base64.b64encode(data).decode()}).encode()


def test_a_text_of_the_documents_of_lark() -> None:
    body = b'{"encrypt": "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}'
    assert decrypt(body, "test key") == b"hello world"


@pytest.mark.parametrize(
    ("event", "key"),
    [(EVENT, "5e3702a84e847582be8db7fb73283c02"), ({"uuid": "41b5f371", "type": "event_callback"}, "41b5f371")],
    ids=["version 2", "version 1"],
)
def test_an_event_that_is_sent_again_is_the_same(event: Any, key: str) -> None:
    first, again = encrypted(event), encrypted(event)
    assert first != again
    for body in (first, again):
        delivery = verify(SOURCE, lark(body, KEY), body, NOW)
        assert (delivery.key, json.loads(delivery.body)) == (key, event)


def test_an_event_of_somebody_else_is_rejected() -> None:
    body = encrypted(EVENT, "another")
    with pytest.raises(WebhookRejected, match="the signature does not fit"):
        verify(SOURCE, lark(body, "another"), body, NOW)
    with pytest.raises(WebhookRejected) as raised:
        verify(SOURCE, lark(body, KEY), body, NOW)
    assert str(raised.value) == "the body cannot be decrypted: check the Encrypt Key"


@pytest.mark.parametrize("encrypt", ["", "!", "AAAA", base64.b64encode(bytes(24)).decode()])
def test_what_is_no_cipher_text_is_rejected(encrypt: str) -> None:
    with pytest.raises(WebhookRejected, match=r"^the body cannot be decrypted: check the Encrypt Key$"):
        decrypt(json.dumps({"encrypt": encrypt}).encode(), KEY)


def test_the_check_of_an_address_is_answered_without_a_signature() -> None:
    asked = {"type": "url_verification", "token": "x", "challenge": "ajls384kdjx98XX"}
    assert find_challenge(SOURCE, encrypted(asked)) == Challenge("ajls384kdjx98XX")
    for body in (
        json.dumps(asked).encode(),  # anybody can ask that
        encrypted(asked, "another"),
        encrypted(EVENT),
        encrypted(asked | {"challenge": "x" * 1001}),
        encrypted(asked | {"challenge": 1}),
        encrypted([asked]),
        b"{",
        b'{"encrypt": 1}',
    ):
        assert find_challenge(SOURCE, body) is None


def test_without_the_package_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    with pytest.raises(ConfigError) as raised:
        decrypt(b'{"encrypt": "AAAA"}', KEY)
    assert str(raised.value) == "events of Lark need a package that is not installed: pip install 'forebay[webhooks]'"
