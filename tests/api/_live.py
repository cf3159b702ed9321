"""The API behind a real socket, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from forebay import Pipeline
from forebay.cli.api import address, listen, server_config
from tests.api._service import Service, serving


@contextmanager
def live(
    dsn: str, *pipelines: Pipeline[Any], port: int = 0, tokens: dict[str, str] | None = None
) -> Iterator[tuple[str, Service]]:
    """A running server: its address, and the service with its callers' tokens. With the port and the tokens of one that
    ran before, it takes its place. At the end, open connections are cut."""
    listener = listen("127.0.0.1", port)
    begun, found = threading.Event(), list[Service]()
    server: list[uvicorn.Server] = []

    async def serve() -> None:
        async with serving(dsn, *pipelines, tokens=tokens) as service:
            found.append(service)
            config = server_config(service.app, service.app.state.settings, lifespan="off")
            server.append(uvicorn.Server(config))
            server[0].install_signal_handlers = lambda: None  # type: ignore[attr-defined] # not the main thread
            begun.set()
            await server[0].serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert begun.wait(60)
    try:
        yield address(listener), found[0]
    finally:
        server[0].force_exit = server[0].should_exit = True
        thread.join(60)
        listener.close()
