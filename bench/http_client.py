"""An HTTP client that costs as little as it can, so that the servers are measured: one request at a time."""

import asyncio
import json
from types import TracebackType
from typing import Any


class HttpError(Exception):
    """An answer that is no success."""


class Client:
    """A connection that is kept."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self._port = port
        self._auth = f"Authorization: Bearer {token}\r\n" if token else ""

    async def __aenter__(self) -> "Client":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    async def post(self, path: str, body: object) -> dict[str, str]:
        data = json.dumps(body).encode()
        head = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        found: dict[str, str] = await self._ask("POST", path, head, data, 201)
        return found

    async def send(self, path: str, headers: dict[str, str], data: bytes) -> Any:
        """A POST of this body, with these headers."""
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return await self._ask("POST", path, f"{head}Content-Length: {len(data)}\r\n", data, 200)

    async def get(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._ask("GET", path, "", b"", 200)
        return found

    async def _ask(self, method: str, path: str, head: str, data: bytes, status: int) -> Any:
        self._writer.write(f"{method} {path} HTTP/1.1\r\nHost: bench\r\n{self._auth}{head}\r\n".encode() + data)
        head_bytes = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head_bytes.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await self._reader.readexactly(length)
        if not head_bytes.startswith(b"HTTP/1.1 %d" % status):
            raise HttpError(f"{head_bytes.split(maxsplit=2)[1].decode()}: {answer[:200].decode()}")
        return json.loads(answer)
