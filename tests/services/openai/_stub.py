"""A service that speaks OpenAI's protocol, strictly: what is not as its documents say is answered with 400."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any

MODEL = "eyes"
_KNOWN: dict[str, set[str]] = {
    "/v1/chat/completions": {"model", "messages", "max_tokens", "stream", "temperature"},
    "/v1/embeddings": {"model", "input", "encoding_format", "dimensions"},
    "/v1/audio/transcriptions": {"model", "file", "language", "response_format", "timestamp_granularities[]"},
}


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    question: dict[str, Any]
    """The fields; a file is a tuple of its name, its media type and its content."""


@dataclass
class Stub:
    """Answers what it is told to, and keeps what it was asked."""

    key: str
    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    events: list[bytes] | None = None
    """Pieces of a stream, sent one by one; the connection is closed after the last."""
    may_go_on: asyncio.Event | None = None
    """If given: what is waited for before the last piece."""
    before_answer: Callable[[Asked], bool] | None = None
    """If given: called with each request; the connection is closed without an answer if it says so."""
    asked: list[Asked] = field(default_factory=list[Asked])
    wrong: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])}
        body = await reader.readexactly(int(headers["content-length"]))
        try:
            asked = self._checked(head[0], headers, body)
        except (AssertionError, ValueError, KeyError) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
            status, answer = 400, json.dumps({"error": {"message": f"wrong: {error}"}}).encode()
        else:
            self.asked.append(asked)
            if self.before_answer is not None and self.before_answer(asked):
                writer.transport.abort()
                return
            status, answer = self.status, _answer(asked) if self.body is None else self.body
        lines = [f"HTTP/1.1 {status} x", "connection: close", *(f"{n}: {v}" for n, v in self.headers.items())]
        if self.events is None:
            lines.append(f"content-length: {len(answer)}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        pieces = [answer] if self.events is None or status != 200 else self.events
        for number, piece in enumerate(pieces, 1):
            if self.may_go_on is not None and number == len(pieces):
                await self.may_go_on.wait()
            writer.write(piece)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    def _checked(self, line: str, headers: dict[str, str], body: bytes) -> Asked:
        method, path, version = line.split(" ")
        assert (method, version) == ("POST", "HTTP/1.1"), line
        assert path in _KNOWN, path
        assert headers["authorization"] == f"Bearer {self.key}", "authorization"
        media_type = headers["content-type"]
        question = json.loads(body) if media_type == "application/json" else _form(media_type, body)
        assert question["model"] == MODEL, question["model"]
        assert not set(question) - _KNOWN[path], set(question) - _KNOWN[path]
        is_stream = question.get("stream") is True
        assert headers["accept"] == ("text/event-stream" if is_stream else "application/json"), headers["accept"]
        if "timestamp_granularities[]" in question:
            assert set(question["timestamp_granularities[]"]) <= {"segment", "word"}, "timestamp_granularities[]"
            assert question["response_format"] == "verbose_json", "response_format"
        if path == "/v1/embeddings":
            assert 0 < len(question["input"]) <= 2048, len(question["input"])
            assert all(isinstance(text, str) and text for text in question["input"]), "input"
        return Asked(path, headers, question)


def _form(media_type: str, body: bytes) -> dict[str, Any]:
    message = message_from_bytes(f"Content-Type: {media_type}\r\n\r\n".encode() + body)
    assert message.get_content_type() == "multipart/form-data", media_type
    assert message.is_multipart(), media_type
    assert not message.defects, message.defects
    found: dict[str, Any] = {}
    parts: list[Any] = message.get_payload()  # type: ignore[assignment]  # it is multipart
    for part in parts:
        assert isinstance(part, Message)
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        assert isinstance(name, str)
        assert isinstance(content, bytes)
        file = part.get_filename()
        value = content.decode() if file is None else (file, part.get_content_type(), content)
        if name.endswith("[]"):  # a field with several values
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, name
            found[name] = value
    return found


def _answer(asked: Asked) -> bytes:
    """What an honest service answers."""
    if asked.path == "/v1/embeddings":
        data = [{"index": n, "embedding": [float(len(text)), 0.5]} for n, text in enumerate(asked.question["input"])]
        return json.dumps({"object": "list", "data": data[::-1]}).encode()
    return b"{}"


@asynccontextmanager
async def serving_openai(key: str) -> AsyncIterator[Stub]:
    stub = Stub(key)
    server = await asyncio.start_server(stub.serve, "127.0.0.1", 0)
    async with server:
        stub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield stub
    assert stub.wrong == []
