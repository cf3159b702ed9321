"""The part of Sentry that accepts envelopes, and validates them strictly."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.cli._run import until
from tests.telemetry._collector import serving

KEY = "0123456789abcdef"


@dataclass
class Sentry:
    dsn: str = ""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    raw: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])

    def until(self, count: int) -> None:
        until(lambda: len(self.events) >= count, lambda: (self.events, self.wrong))

    def take(self, path: str, headers: dict[str, str], body: bytes) -> str | None:
        if path != "/api/7/envelope/":
            return f"path {path}"
        if headers.get("content-type") != "application/x-sentry-envelope":
            return f"content-type {headers.get('content-type')}"
        if f"sentry_key={KEY}" not in headers.get("x-sentry-auth", ""):
            return "no key"
        text = (gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body).decode()
        self.raw.append(text)
        lines = text.rstrip("\n").split("\n")
        json.loads(lines[0])
        for head, payload in zip(lines[1::2], lines[2::2], strict=True):
            if json.loads(head)["type"] != "event":
                return f"item {head}"
            self.events.append(json.loads(payload))
        return None


@contextmanager
def receiving() -> Iterator[Sentry]:
    sentry = Sentry()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            wrong = sentry.take(self.path, {n.lower(): v for n, v in self.headers.items()}, body)
            if wrong is not None:
                sentry.wrong.append(wrong)
            self.send_response(200 if wrong is None else 400)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    with serving(Handler) as url:
        sentry.dsn = f"{url.replace('://', f'://{KEY}@')}/7"
        yield sentry
    assert not sentry.wrong
