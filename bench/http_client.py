"""An HTTP client that costs as little as it can, so that the servers are measured: one request at a time."""

import asyncio
import json
from types import TracebackType


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
        head = f"POST {path} HTTP/1.1\r\nHost: bench\r\n{self._auth}Content-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        head_bytes = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head_bytes.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await self._reader.readexactly(length)
        if not head_bytes.startswith(b"HTTP/1.1 201"):
            raise HttpError(f"{head_bytes.split(maxsplit=2)[1].decode()}: {answer[:200].decode()}")
        found: dict[str, str] = json.loads(answer)
        return found
