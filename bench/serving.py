"""Servers that a group talks to, in processes of their own."""

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import psutil

from bench.harness import ROOT, BenchError, Context
from bench.http_client import Client


@asynccontextmanager
async def served(
    context: Context, command: Sequence[str], environment: dict[str, str], log_name: str = "api.log"
) -> AsyncIterator[tuple[int, psutil.Process]]:
    """A server on a free port, which is its last argument, once it listens."""
    port = _free_port()
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    log = context.folder / log_name
    with log.open("wb") as out:
        child = subprocess.Popen(  # noqa: ASYNC220 - returns at once
            [*command, str(port)],
            env=os.environ | {"PYTHONPATH": path} | environment,
            stdout=out,
            stderr=out,
            cwd=context.folder,
        )
    try:
        for _ in range(3000):
            try:
                async with Client(port):
                    break
            except OSError:
                if child.poll() is not None:
                    raise BenchError(f"the server ended by itself\n{log.read_text()[-2000:]}") from None
                await asyncio.sleep(0.01)
        yield port, psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
