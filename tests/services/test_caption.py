"""Describing images: a service of ours that speaks the protocol, and all that a service may answer instead."""

# demands: S2-77

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError, DataError, PermanentError, ThrottledError, TransientError
from forebay.services import caption, images
from forebay.services.caption import open_captioner
from forebay.settings import Settings
from tests.services._files import picture, saved

JPEG = images.jpeg(saved(picture(), "PNG"), 64)
KEY = "sk-hunter2"


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Stub:
    """A vision service: answers what it is told to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, dict[str, str](), _completion("A red field.")
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])}
        body = await reader.readexactly(int(headers["content-length"]))
        self.asked.append((head[0], headers, json.loads(body)))
        lines = [f"HTTP/1.1 {self.status} x", f"content-length: {len(self.body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + self.body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()


def _completion(text: Any, **more: Any) -> bytes:
    message = {"role": "assistant", "content": text} | more.pop("message", {})
    return json.dumps(
        {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | more]}
    ).encode()


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    made = Stub()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    async with server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield made


async def _describe(stub: Stub) -> str:
    settings = Settings(caption_url=f"{stub.url}/", caption_model="eyes", caption_key=SecretStr(KEY))
    captioner = open_captioner(settings)
    assert captioner is not None
    assert KEY not in repr(captioner)

    async def post(url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(url, headers=dict(headers), content=body)
        return Answer(answer.status_code, answer.headers, answer.content)

    return await captioner.describe(JPEG, post)


async def test_an_image_is_described(stub: Stub) -> None:
    stub.body = _completion("  A red\nfield\u0000. ")
    assert await _describe(stub) == "A red field ."
    line, headers, question = stub.asked[0]
    assert line == "POST /v1/chat/completions HTTP/1.1"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (question["model"], question["stream"]) == ("eyes", False)
    text, image = question["messages"][0]["content"]
    assert text == {"type": "text", "text": caption.PROMPT}
    kind, _, data = image["image_url"]["url"].partition(",")
    assert (kind, b64decode(data)) == ("data:image/jpeg;base64", JPEG)


_ERROR = json.dumps({"error": {"message": "too\nmuch", "code": "x"}}).encode()
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
    (200, b"", TransientError, r"^the caption service answered something that is no completion$"),
    (200, b"[" * 100_000, TransientError, r"^the caption service answered something that is no completion$"),
    (200, b"\xff\xfe", TransientError, r"^the caption service answered something that is no completion$"),
    (200, b'{"choices": []}', TransientError, r"^the caption service answered no choice$"),
    (200, _completion(None), TransientError, r"^the caption service answered nothing$"),
    (200, _completion(" \n"), TransientError, r"^the caption service answered nothing$"),
    (
        200,
        _completion([{"type": "text", "text": "x"}]),
        TransientError,
        r"^the caption service answered something that is no completion$",
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
    stub: Stub, status: int, body: bytes, kind: type[Exception], words: str
) -> None:
    stub.status, stub.body = status, body
    with pytest.raises(kind, match=words) as raised:
        await _describe(stub)
    assert type(raised.value) is kind
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "said", "seconds"),
    [
        (429, "7", 7),
        (429, None, 30),
        (429, "soon", 30),
        (429, "nan", 30),
        (429, "1e9", 30),
        (429, "-3", 30),
        (503, "9", 9),
    ],
)
async def test_who_is_throttled_waits_as_told(stub: Stub, status: int, said: str | None, seconds: float) -> None:
    stub.status = status
    stub.headers = {} if said is None else {"Retry-After": said}
    with pytest.raises(ThrottledError) as raised:
        await _describe(stub)
    assert raised.value.retry_after == seconds


async def test_until_a_date(stub: Stub) -> None:
    stub.status = 429
    stub.headers = {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True)}
    with pytest.raises(ThrottledError) as raised:
        await _describe(stub)
    assert 300 < raised.value.retry_after <= 600


async def test_a_long_text_is_cut(stub: Stub) -> None:
    stub.body = _completion("word " * 5000)
    assert len(await _describe(stub)) == 2000


def test_without_a_setting_there_is_none() -> None:
    assert open_captioner(Settings()) is None
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
        open_captioner(Settings(caption_url=url, caption_model=model))
    assert "hunter2" not in str(raised.value)
