"""Describing images: a service of ours that speaks the protocol, and all that a service may answer instead."""

# demands: S2-77

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError, DataError, PermanentError, TransientError
from forebay.services import caption, images
from forebay.services.caption import caption_service
from forebay.services.egress import Http
from forebay.settings import Settings
from tests.services._files import picture, saved
from tests.services.egress.conftest import authority, egress, http, names, opened
from tests.services.openai._stub import MODEL, Stub, serving_openai

__all__ = ["authority", "egress", "http", "names", "opened"]

JPEG = images.jpeg(saved(picture(), "PNG"), 64)
KEY = "sk-hunter2"


def _completion(text: Any, **more: Any) -> bytes:
    message = {"role": "assistant", "content": text} | more.pop("message", {})
    return json.dumps(
        {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | more]}
    ).encode()


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with serving_openai(KEY) as made:
        made.body = _completion("A red field.")
        yield made


async def _describe(stub: Stub, http: Http) -> str:
    settings = Settings(caption_url=f"{stub.url}/", caption_model=MODEL, caption_key=SecretStr(KEY))
    service = caption_service(settings)
    assert service is not None
    assert KEY not in repr(service)
    return await caption.describe(http, service, JPEG, "test")


async def test_an_image_is_described(stub: Stub, http: Http) -> None:
    stub.body = _completion("  A red\nfield\u0000. ")
    assert await _describe(stub, http) == "A red field ."
    (asked,) = stub.asked
    assert asked.path == "/v1/chat/completions"
    question = asked.question
    assert question["stream"] is False
    text, image = question["messages"][0]["content"]
    assert text == {"type": "text", "text": caption.PROMPT}
    kind, _, data = image["image_url"]["url"].partition(",")
    assert (kind, b64decode(data)) == ("data:image/jpeg;base64", JPEG)


_ERROR = json.dumps({"error": {"message": "too\nmuch", "code": "x"}}).encode()
_INVALID = r"^the caption service answered an invalid Completion: .+"
_ANSWERS: list[tuple[int, bytes, type[Exception], str]] = [
    (400, _ERROR, DataError, r"^the caption service answered 400: too much$"),
    (413, b"<html>", DataError, r"^the caption service answered 413$"),
    (401, _ERROR, ConfigError, r"Check FOREBAY_CAPTION_KEY$"),
    (403, b"", ConfigError, r"Check FOREBAY_CAPTION_KEY$"),
    (
        404,
        b'{"error": "no such model"}',
        ConfigError,
        r"404: no such model\. Check FOREBAY_CAPTION_URL and FOREBAY_CAPTION_MODEL$",
    ),
    (302, b"", ConfigError, r"Check FOREBAY_CAPTION_URL"),
    (429, b'{"error": {"message": "pay", "code": "insufficient_quota"}}', ConfigError, r"Its account is used up$"),
    (408, b"", TransientError, "408"),
    (500, _ERROR, TransientError, "500: too much"),
    (503, b"", TransientError, "503"),
    (200, b"", TransientError, _INVALID),
    (200, b"[" * 100_000, TransientError, _INVALID),
    (200, b"\xff\xfe", TransientError, _INVALID),
    (200, b'{"choices": []}', TransientError, r"^the caption service returned no choice$"),
    (200, _completion(None), TransientError, r"^the caption service returned an empty text$"),
    (200, _completion(" \n"), TransientError, r"^the caption service returned an empty text$"),
    (
        200,
        _completion([{"type": "text", "text": "x"}]),
        TransientError,
        _INVALID,
    ),
    (
        200,
        _completion(None, message={"refusal": "I will not"}),
        PermanentError,
        r"^the caption service refuses to describe this image$",
    ),
    (
        200,
        _completion("x", finish_reason="content_filter"),
        PermanentError,
        r"^the caption service refuses to describe this image$",
    ),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), _ANSWERS)
async def test_every_other_answer_has_its_error(
    stub: Stub, http: Http, status: int, body: bytes, kind: type[Exception], words: str
) -> None:
    stub.status, stub.body = status, body
    with pytest.raises(kind, match=words) as raised:
        await _describe(stub, http)
    assert type(raised.value) is kind
    assert KEY not in str(raised.value)


async def test_a_long_text_is_cut(stub: Stub, http: Http) -> None:
    stub.body = _completion("word " * 5000)
    assert len(await _describe(stub, http)) == 2000


def test_without_a_setting_there_is_none() -> None:
    assert caption_service(Settings()) is None
    assert "FOREBAY_CAPTION_URL is not set" in caption.OFF


@pytest.mark.parametrize(
    ("url", "model", "words"),
    [
        ("https://host/v1", "", r"^FOREBAY_CAPTION_URL is set, but FOREBAY_CAPTION_MODEL is not$"),
        ("host/v1", "m", r"^FOREBAY_CAPTION_URL must begin with http:// or https://; it must be like https://host/v1$"),
        ("ftp://host/v1", "m", r"^FOREBAY_CAPTION_URL must begin with http:// or https://; it must be like"),
        ("http://0x7f.1/v1", "m", r"^FOREBAY_CAPTION_URL has the host '0x7f.1': .*; it must be like https://host/v1$"),
        ("https://user:hunter2@host/v1", "m", r"^FOREBAY_CAPTION_URL contains a user name or password before @"),
        ("https://host/v1?key=hunter2", "m", r"^FOREBAY_CAPTION_URL must be like https://host/v1, without \? and #$"),
    ],
)
def test_half_a_setting_is_refused(url: str, model: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as raised:
        caption_service(Settings(caption_url=url, caption_model=model))
    assert "hunter2" not in str(raised.value)
