"""The client against a strict service: what it sends, and what every answer means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, SecretStr

from forebay.errors import ConfigError, DataError, ThrottledError, TransientError
from forebay.services.egress import Http
from forebay.services.openai.client import OpenAiClient, RequestFile
from forebay.services.openai.embeddings import embed
from forebay.services.openai.server_sent_events import EventReader
from forebay.services.openai.service import Service
from tests.services.openai._stub import MODEL, Stub, serving_openai

KEY = "sk-hunter2"
M = TypeVar("M", bound=BaseModel)


class Transcript(BaseModel):
    text: str


class Delta(BaseModel):
    n: int


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with serving_openai(KEY) as made:
        yield made


@pytest.fixture
def client(stub: Stub, http: Http) -> OpenAiClient:
    return OpenAiClient(http, Service("speech service", "FOREBAY_SPEECH", stub.url, MODEL, SecretStr(KEY)), "test")


_CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}]}
_ERROR = json.dumps({"error": {"message": f"too\nmuch for {KEY}", "code": "x"}}).encode()


async def _read_stream(client: OpenAiClient, event: type[M]) -> list[M]:
    async with aclosing(client.stream("chat/completions", _CHAT, event)) as events:
        return [each async for each in events]


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, _ERROR, DataError, "^the speech service answered 400: too much for …$"),
        (422, b"<html>", DataError, "^the speech service answered 422$"),
        (400, b'{"error": {"code": "model_not_found"}}', ConfigError, r"400\. Check FOREBAY_SPEECH_URL and"),
        (401, _ERROR, ConfigError, r"401: too much for …\. Check FOREBAY_SPEECH_KEY$"),
        (403, b"", ConfigError, r"Check FOREBAY_SPEECH_KEY$"),
        (404, b'{"error": "none"}', ConfigError, r"404: none\. Check FOREBAY_SPEECH_URL and FOREBAY_SPEECH_MODEL$"),
        (429, b'{"error": {"message": "pay", "code": "insufficient_quota"}}', ConfigError, "Its account is used up$"),
        (402, b'{"error": {"message": "add credits", "code": 402}}', ConfigError, "Its account is used up$"),
        (408, b"", TransientError, "408"),
        (500, _ERROR, TransientError, "500: too much for …"),
        (503, b'{"error": {"code": 7}}', TransientError, "^the speech service answered 503$"),
        (200, b"", TransientError, "^the speech service answered an invalid Transcript: Invalid JSON"),
        (200, b'{"text": 1}', TransientError, "an invalid Transcript: text: Input should be a valid string$"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
async def test_errors_by_class(
    stub: Stub, client: OpenAiClient, status: int, body: bytes, kind: type[Exception], words: str, streams: bool
) -> None:
    stub.status, stub.body = status, body
    if streams and status == 200:
        stub.events = [b"data: " + body + b"\n\n"]
    asking = _read_stream(client, Transcript) if streams else client.post("chat/completions", _CHAT, Transcript)
    with pytest.raises(kind, match=words) as raised:
        await asking
    assert type(raised.value) is kind
    assert KEY not in str(raised.value)
    assert KEY not in repr(client.service)


@pytest.mark.parametrize(
    ("status", "given", "seconds"),
    [
        (429, "7", 7),
        (429, None, 30),
        (429, "soon", 30),
        (429, "nan", 30),
        (429, "-3", 30),
        (429, "0", 1),
        (503, "9", 9),
    ],
)
async def test_retry_after(stub: Stub, client: OpenAiClient, status: int, given: str | None, seconds: float) -> None:
    stub.status, stub.body = status, b""
    stub.headers = {} if given is None else {"Retry-After": given}
    with pytest.raises(ThrottledError) as raised:
        await client.post("chat/completions", _CHAT, Transcript)
    assert raised.value.retry_after == seconds


async def test_retry_after_a_date(stub: Stub, client: OpenAiClient) -> None:
    stub.status, stub.body = 429, b""
    stub.headers = {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True)}
    with pytest.raises(ThrottledError) as raised:
        await client.post("chat/completions", _CHAT, Transcript)
    assert 300 < raised.value.retry_after <= 600


async def test_nobody_listens(http: Http) -> None:
    async with serving_openai(KEY) as stub:
        pass
    client = OpenAiClient(http, Service("speech service", "FOREBAY_SPEECH", stub.url, MODEL), "test")
    with pytest.raises(TransientError, match="could not be connected to"):
        await client.post("chat/completions", _CHAT, Transcript)


async def test_a_form_with_a_file(stub: Stub, client: OpenAiClient) -> None:
    stub.body = b'{"text": "hello"}'
    sound = bytes(range(256)) * 10 + b"\r\n--x\r\n"
    file = RequestFile("file", 'a "b"\r\n.wav', "audio/wav", sound)
    told = await client.post_form("audio/transcriptions", {"language": "de"}, file, Transcript)
    assert told.text == "hello"
    (asked,) = stub.asked
    assert asked.question == {"model": MODEL, "language": "de", "file": ("a %22b%22%0D%0A.wav", "audio/wav", sound)}


# Embeddings.


async def test_texts_are_embedded_in_batches(stub: Stub, client: OpenAiClient) -> None:
    texts = ["x" * length for length in range(1, 6)]
    async with aclosing(embed(client, texts, batch=2)) as batches:
        found = [batch async for batch in batches]
    assert found == [[[1.0, 0.5], [2.0, 0.5]], [[3.0, 0.5], [4.0, 0.5]], [[5.0, 0.5]]]
    assert [asked.question["input"] for asked in stub.asked] == [texts[:2], texts[2:4], texts[4:]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([(0, [1.0])], "^the speech service answered 1 vectors for 2 texts$"),
        ([(0, [1.0]), (0, [1.0])], "answered 2 vectors for 2 texts$"),
        ([(0, [1.0]), (1, [1.0, 2.0])], "^the speech service answered vectors of the wrong length$"),
        ([(0, [1.0]), (1, [1.0])], "answered vectors of the wrong length$"),
    ],
)
async def test_vectors_that_cannot_be(
    stub: Stub, client: OpenAiClient, data: list[tuple[int, list[float]]], words: str
) -> None:
    stub.body = json.dumps({"data": [{"index": n, "embedding": vector} for n, vector in data]}).encode()
    with pytest.raises(TransientError, match=words):
        await anext(embed(client, ["a", "b"], dimensions=2))


# Streams.


async def _events(client: OpenAiClient) -> list[int]:
    return [event.n for event in await _read_stream(client, Delta)]


async def test_a_stream_is_read_as_it_comes(stub: Stub, client: OpenAiClient) -> None:
    stub.events = [
        b': hello\ndata: {"n"',
        b': 1}\r\n\r\ndata: {"n":\ndata: 2}\n',
        b"\ndata: [DONE]\n\n",
        b"data: x\n\n",
    ]
    assert await _events(client) == [1, 2]


async def test_a_stream_that_ends_too_early(stub: Stub, client: OpenAiClient) -> None:
    stub.events = [b'data: {"n": 1}\n\n']
    with pytest.raises(TransientError, match=r"^the speech service ended its answer before it was complete$"):
        await _events(client)


async def test_an_error_in_a_stream(stub: Stub, client: OpenAiClient) -> None:
    stub.events = [b'data: {"n": 1}\n\ndata: ' + _ERROR.replace(b"\\n", b" ") + b"\n\n"]
    with pytest.raises(TransientError, match=r"^the speech service broke off: too much for …$"):
        await _events(client)


class LoopTime:
    """The time of the event loop, which the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._real, self._ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: self._real() + self._ahead)

    async def advance(self, seconds: float) -> None:
        self._ahead += seconds
        for _ in range(3):  # the loop runs what is due, and what that has started
            await asyncio.sleep(0)


async def test_a_slow_reader_of_a_stream_is_not_timed(
    stub: Stub, client: OpenAiClient, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader takes twice the time that the service has for everything."""
    stub.events, stub.may_go_on = [b'data: {"n": 1}\n\n', b"data: [DONE]\n\n"], asyncio.Event()
    hurried = OpenAiClient(http, client.service, "test", timeout=20.0)
    read: list[int] = []
    async with aclosing(hurried.stream("chat/completions", _CHAT, Delta)) as events:
        async for event in events:
            await LoopTime(monkeypatch).advance(40)
            read.append(event.n)
            stub.may_go_on.set()
    assert read == [1]


async def test_a_stream_that_stops_is_given_up(
    stub: Stub, client: OpenAiClient, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.events, stub.may_go_on = [b'data: {"n": 1}\n\n', b"data: [DONE]\n\n"], asyncio.Event()
    hurried = OpenAiClient(http, client.service, "test", timeout=20.0)
    async with aclosing(hurried.stream("chat/completions", _CHAT, Delta)) as events:
        assert (await anext(events)).n == 1
        time, reading = LoopTime(monkeypatch), asyncio.ensure_future(anext(events))
        while not reading.done():
            await time.advance(1)
        with pytest.raises(TransientError, match=r"did not answer (within 20 s|in time)$"):
            await reading
    stub.may_go_on.set()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_events_however_they_are_cut(size: int) -> None:
    body = b"event: x\r\ndata: one\r\n\r\n:c\rdata:two\rdata: three\r\rretry: 5\n\n\ndata\n\ndata:  four\n\ndata: lost"
    reader = EventReader("x")
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    assert [data for piece in pieces for data in reader.feed(piece)] == [b"one", b"two\nthree", b"", b" four"]


def test_an_event_without_an_end() -> None:
    reader = EventReader("the speech service")
    assert list(reader.feed(b"data: " + b"x" * (2 << 20))) == []
    with pytest.raises(DataError, match=r"^the speech service sent an event of more than 4194304 bytes$"):
        list(reader.feed(b"x" * (2 << 20)))
