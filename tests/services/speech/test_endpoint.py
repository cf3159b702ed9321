"""Speech is transcribed by a service: a stub that speaks the protocol strictly, and all that a service may answer."""

from __future__ import annotations

import json
import wave
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import pytest
from pydantic import SecretStr

from forebay.errors import ConfigError, DataError, ThrottledError, TransientError
from forebay.services.egress import Http
from forebay.services.openai.service import Service
from forebay.services.speech import endpoint
from forebay.services.speech.languages import language_code
from forebay.services.speech.recognition import AudioPiece
from forebay.services.speech.transcript import Piece
from forebay.settings import Settings
from tests.services.egress.conftest import authority, egress, http, names, opened
from tests.services.openai._stub import MODEL, Stub, serving_openai

__all__ = ["authority", "egress", "http", "names", "opened"]

KEY = "sk-hunter2"
PIECE = AudioPiece(start_ms=60_000, end_ms=62_000, is_last=True, samples=bytes(64_000), total_s=62.0)


def _answer(**changed: Any) -> bytes:
    segments = [
        {"id": 0, "start": 0.0, "end": 0.9, "text": " Hello there."},
        {"start": 1.0, "end": 9.0, "text": "Bye."},
    ]
    words = [
        {"word": "Hello", "start": 0.1, "end": 0.4},
        {"word": "there", "start": 0.4, "end": 0.9},
        {"word": "Bye", "start": 1.0, "end": 1.4},
    ]
    known = {"task": "transcribe", "language": "english", "duration": 2.0, "text": "Hello there. Bye."}
    return json.dumps(known | {"segments": segments, "words": words} | changed).encode()


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with serving_openai(KEY) as made:
        made.body = _answer()
        yield made


def _service(stub: Stub) -> Service:
    service = endpoint.speech_service(Settings(speech_url=stub.url, speech_model=MODEL, speech_key=SecretStr(KEY)))
    assert service is not None
    return service


async def _ask(stub: Stub, http: Http, piece: AudioPiece = PIECE, language: str = "") -> Piece:
    return await endpoint.ask(http, _service(stub), piece, language, "test")


async def test_a_piece_is_transcribed(stub: Stub, http: Http) -> None:
    piece = await _ask(stub, http, language="en")
    assert (piece.start_ms, piece.end_ms, piece.is_last, piece.language) == (60_000, 62_000, True, "en")
    assert [(each.start, each.end, each.text) for each in piece.segments] == [
        (60.0, 60.9, "Hello there."), (61.0, 62.0, "Bye."),
    ]  # fmt: skip
    assert [[word.text for word in each.words] for each in piece.segments] == [["Hello", "there"], ["Bye"]]
    assert piece.segments[0].words[1].start == 60.4
    (asked,) = stub.asked
    assert asked.path == "/v1/audio/transcriptions"
    name, media_type, content = asked.question.pop("file")
    assert (name, media_type) == ("speech.wav", "audio/wav")
    assert asked.question == {
        "model": MODEL,
        "response_format": "verbose_json",
        "timestamp_granularities[]": ["segment", "word"],
        "language": "en",
    }
    with wave.open(BytesIO(content)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (16_000, 1, 2)
        assert sound.readframes(100_000) == PIECE.samples


async def test_a_service_without_times_gives_one_segment(stub: Stub, http: Http) -> None:
    stub.body = json.dumps({"text": " Hello there. "}).encode()
    (segment,) = (await _ask(stub, http)).segments
    assert (segment.start, segment.end, segment.text, segment.words) == (60.0, 62.0, "Hello there.", ())
    stub.body = _answer(text="", segments=[], words=None)
    silent = await _ask(stub, http)
    assert (silent.segments, silent.language) == ((), None)


async def test_times_stay_within_the_piece(stub: Stub, http: Http) -> None:
    stub.body = _answer(
        segments=[{"start": 900.0, "end": -5.0, "text": "Late."}, {"start": -9, "end": 0, "text": "Early."}]
    )
    found = (await _ask(stub, http)).segments
    assert [(each.start, each.end, each.text) for each in found] == [(60.0, 60.0, "Early."), (62.0, 62.0, "Late.")]


async def test_what_is_too_short_is_not_sent(stub: Stub, http: Http) -> None:
    short = AudioPiece(start_ms=0, end_ms=50, is_last=True, samples=bytes(1600), total_s=0.05)
    assert (await _ask(stub, http, short)).segments == ()
    assert stub.asked == []


@pytest.mark.parametrize(
    ("status", "headers", "error", "told"),
    [
        (429, {"retry-after": "17"}, ThrottledError, "the speech service answered 429"),
        (503, {}, TransientError, "the speech service answered 503"),
        (401, {}, ConfigError, "the speech service answered 401. Check FOREBAY_SPEECH_KEY"),
        (404, {}, ConfigError, "Check FOREBAY_SPEECH_URL and FOREBAY_SPEECH_MODEL"),
        (400, {}, DataError, "the speech service answered 400"),
    ],
)
async def test_failures_have_their_class(
    stub: Stub, http: Http, status: int, headers: dict[str, str], error: type[Exception], told: str
) -> None:
    stub.status, stub.headers, stub.body = status, headers, b"{}"
    with pytest.raises(error, match=told) as raised:
        await _ask(stub, http)
    if isinstance(raised.value, ThrottledError):
        assert raised.value.retry_after == 17
    assert KEY not in str(raised.value)


async def test_an_answer_that_is_none_is_temporary(stub: Stub, http: Http) -> None:
    stub.body = b'{"segments": 5}'
    with pytest.raises(
        TransientError, match="the speech service answered an invalid Transcription: text: Field required"
    ):
        await _ask(stub, http)


def test_without_a_url_there_is_no_service() -> None:
    assert endpoint.speech_service(Settings()) is None
    with pytest.raises(ConfigError, match=r"^FOREBAY_SPEECH_URL is set, but FOREBAY_SPEECH_MODEL is not$"):
        endpoint.speech_service(Settings(speech_url="https://host/v1"))


def test_languages_have_codes() -> None:
    given = ["English", "en", "haitian creole", "tlh", None, " "]
    assert [language_code(name) for name in given] == ["en", "en", "ht", "tlh", None, None]
