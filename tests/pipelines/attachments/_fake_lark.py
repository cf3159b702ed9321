"""A Lark of the tests' own: strict about signatures of the app, tokens, addresses, the rate and the quota."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.services.egress._world import serving

APP, SECRET = "cli_tests", "app-secret-9f31c7"
FILES_HOST = "files.test"
_TOKEN_PATH = "/open-apis/auth/v3/tenant_access_token/internal"
_INSTANCES = "/open-apis/approval/v4/instances/"
_MEDIAS = "/open-apis/drive/v1/medias/"


@dataclass
class FakeLark:
    """`faults`: what to do with the next requests for a file, by its name; then it is sent."""

    clock: Callable[[], float] = time.monotonic
    token_uses: int = 25  # then a token has expired
    rate: int = 5  # requests for files in a second
    quota: int = 10_000
    by_token: bool = True  # files by the drive API; false: by addresses that carry a code
    port: int = 0
    faults: dict[str, deque[str]] = field(default_factory=dict[str, "deque[str]"])
    forms: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    tokens: Counter[str] = field(default_factory=Counter[str])
    issued: set[str] = field(default_factory=set[str])
    rejected: set[str] = field(default_factory=set[str])
    codes: dict[str, str] = field(default_factory=dict[str, str])  # addresses that still work → file
    served: Counter[str] = field(default_factory=Counter[str])  # files sent as a whole
    asked: list[float] = field(default_factory=list[float])  # when files were requested
    limited: int = 0
    reads: Counter[str] = field(default_factory=Counter[str])
    bytes_sent: Counter[str] = field(default_factory=Counter[str])
    ranges: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])  # what a real one would not forgive
    recent: deque[float] = field(default_factory=deque[float])
    codes_made: int = 0
    stall: asyncio.Event | None = None
    connections: Callable[[], int] = int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def put(self, code: str, *names: str, size: int = 3000) -> None:
        """An approval with these files."""
        for name in names:
            seed = hashlib.sha256(f"{code}/{name}".encode()).digest()
            self.contents[f"{code}/{name}"] = (seed * (size // 32 + 1))[:size]
        self.forms[code] = [
            {"id": "widget1", "name": "Reason", "type": "input", "value": "办公用品 <b>&"},
            {"id": "widget2", "name": "Amount", "type": "amount", "value": 1299.5, "ext": "CNY"},
            {"id": "widget3", "name": "Files", "type": "attachmentV2", "ext": ",".join(names), "value": [*names]},
        ]

    # Requests.

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any, bytes]:
        path = urlsplit(target).path
        if headers["host"].startswith(FILES_HOST):
            if "authorization" in headers:
                self.wrong.append("a token was sent to another host")
            return self._by_code(parse_qs(urlsplit(target).query).get("code", [""])[0], headers)
        if path == _TOKEN_PATH:
            return self._token(json.loads(body))
        if (refused := self._check_token(headers)) is not None and not self._was_rejected(path):
            self._spare(path)
            return refused
        if path.startswith(_INSTANCES):
            return self._instance(path.removeprefix(_INSTANCES))
        if path.startswith(_MEDIAS):
            code = path.removeprefix(_MEDIAS).removesuffix("/download")
            return self._by_code(code, headers)
        return 404, {}, _error(404, "not found")

    def _token(self, given: dict[str, str]) -> tuple[int, Any, bytes]:
        if given != {"app_id": APP, "app_secret": SECRET}:
            return 200, {}, _error(10014, "app secret invalid")
        token = f"t-secret-{len(self.issued)}-{hashlib.sha256(str(len(self.issued)).encode()).hexdigest()[:16]}"
        self.issued.add(token)
        self.tokens[token] = self.token_uses
        return 200, {}, json.dumps({"code": 0, "tenant_access_token": token, "expire": 7200}).encode()

    def _check_token(self, headers: Mapping[str, str]) -> tuple[int, Any, bytes] | None:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.issued:
            self.wrong.append(f"an unknown token: {token[:12]!r}")
        self.tokens[token] -= 1
        if self.tokens[token] < 0:  # and it is told, as a careless service might
            return 400, {}, _error(99991663, f"Invalid access token {token} for authorization")
        return None

    def _file_at(self, path: str) -> str:
        return self.codes.get(path.removeprefix(_MEDIAS).removesuffix("/download"), "")

    def _was_rejected(self, path: str) -> bool:
        """Whether the planned fault came just before: a token that expires now, by the requests of others, would be the
        second in a row, which is final."""
        file = self._file_at(path)
        if file not in self.rejected:
            return False
        self.rejected.discard(file)
        return True

    def _spare(self, path: str) -> None:
        """A token that has expired is the fault that was planned: two in a row would be final."""
        file = self._file_at(path)
        faults = self.faults.get(file)
        if file:  # reads of forms are not spared
            self.rejected.add(file)
        if faults and faults[0] in ("401", "663"):
            faults.popleft()

    def _instance(self, code: str) -> tuple[int, Any, bytes]:
        self.reads[code] += 1
        if code not in self.forms:
            return 404, {}, _error(1390003, "instance code not found")
        form = [{**each, "value": self._addresses(code, each)} for each in self.forms[code]]
        data = {"approval_name": "报销 Expenses", "status": "APPROVED", "serial_number": "2026-17"}
        told = {"code": 0, "msg": "success", "data": {**data, "form": json.dumps(form)}}
        return 200, {"content-type": "application/json"}, json.dumps(told).encode()

    def _addresses(self, code: str, widget: dict[str, Any]) -> Any:
        if widget["type"] != "attachmentV2":
            return widget["value"]
        found: list[str] = []
        for name in widget["value"]:
            if not name:
                found.append("")
                continue
            self.codes_made += 1
            made = f"box{self.codes_made:06d}"
            self.codes[made] = f"{code}/{name}"
            found.append(made if self.by_token else f"http://{FILES_HOST}:{self.port}/stream?code={made}")
        return found

    def _by_code(self, code: str, headers: Mapping[str, str]) -> tuple[int, Any, bytes]:
        now = self.clock()
        self.asked.append(now)
        if sum(each > now - 86_400 for each in self.asked) > self.quota:
            self.wrong.append("the quota was exceeded")
        while self.recent and self.recent[0] <= now - 1:
            self.recent.popleft()
        if len(self.recent) >= self.rate:
            self.limited += 1
            return 400, {"x-ogw-ratelimit-reset": "1"}, _error(99991400, "request trigger frequency limit")
        self.recent.append(now)
        if (file := self.codes.get(code)) is None:
            self.wrong.append("an address that has expired")
            return 403, {}, _error(1061004, "forbidden")
        faults = self.faults.get(file)
        fault = faults.popleft() if faults else ""
        if fault in ("401", "663"):
            self.rejected.add(file)
        if fault and fault != "truncate":
            del self.codes[code]  # an address that has failed does not work again
        return self._file(file, fault, headers)

    def _file(self, file: str, fault: str, headers: Mapping[str, str]) -> tuple[int, Any, bytes]:
        errors = {
            "404": (404, {}, _error(1061045, "not found")),
            "429": (429, {"x-ogw-ratelimit-reset": "2"}, b""),
            "400": (400, {"x-ogw-ratelimit-reset": "1"}, _error(99991400, "request trigger frequency limit")),
            "500": (500, {}, b"oops"),
            "503": (503, {}, b""),
            "401": (401, {}, b""),
            "663": (400, {}, _error(99991663, "Invalid access token")),
        }
        if fault in errors:
            return errors[fault]
        whole = self.contents[file]
        tag = f'"{hashlib.md5(whole).hexdigest()}"'
        sent = {"etag": tag, "content-type": "application/pdf", "accept-ranges": "bytes"}
        start, status = 0, 200
        if "range" in headers and headers.get("if-range") == tag:
            start, status = int(headers["range"].removeprefix("bytes=").removesuffix("-")), 206
            sent["content-range"] = f"bytes {start}-{len(whole) - 1}/{len(whole)}"
            self.ranges.append(file)
        content = whole[start:]
        if fault == "truncate":
            sent["x-length"] = str(len(content))
            content = content[: len(content) // 2]
        elif fault == "slow":
            sent["x-slow"] = "1"
        else:
            self.served[file] += 1
        self.bytes_sent[file] += len(content)
        return status, sent, content

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            method, target, _ = first.split(" ")
            status, sent, content = self.answer(method, target, headers, body)
            slow = sent.pop("x-slow", None)
            length = sent.pop("x-length", str(len(content)))
            told = "".join(f"{name}: {value}\r\n" for name, value in {**sent, "content-length": length}.items())
            writer.write(f"HTTP/1.1 {status} X\r\n{told}\r\n".encode())
            if slow and self.stall is not None:
                await writer.drain()
                await self.stall.wait()
            writer.write(content)
            await writer.drain()
            if int(length) != len(content):
                return


def _error(code: int, message: str) -> bytes:
    return json.dumps({"code": code, "msg": message}).encode()


@asynccontextmanager
async def fake_lark(fake: FakeLark) -> AsyncIterator[FakeLark]:
    async with serving(fake.handle) as site:
        fake.port, fake.connections = site.port, lambda: site.connections
        yield fake
