"""A Prometheus of the test's own, and a service that it can reach over the network."""

from __future__ import annotations

import asyncio
import contextlib
import math
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

OPS = Path(__file__).parents[2] / "ops"


def tool(name: str) -> str:
    """Where the program is; the test is skipped where it is missing."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here; on Debian: apt-get install prometheus systemd")
    return found


@contextlib.contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """Serves the app on a free port, in a thread; lends host and port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"  # the socket listens already: who comes early, waits
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@dataclass
class Prometheus:
    """One that runs."""

    client: httpx.AsyncClient

    async def ask(self, path: str, **params: str) -> Any:
        """The data of an answer of its API."""
        answer = await self.client.get(f"/api/v1/{path}", params=params)
        assert answer.status_code == 200, f"{params}: {answer.text}"
        return answer.json()["data"]

    async def values(self, query: str) -> list[float]:
        """What a query finds now, without those that are not a number."""
        found = [float(one["value"][1]) for one in (await self.ask("query", query=query))["result"]]
        return [value for value in found if not math.isnan(value)]

    async def until(self, query: str) -> None:
        """Waits until a query finds something."""
        async with asyncio.timeout(60):
            while True:
                if await self.values(query):
                    return
                await asyncio.sleep(0.1)

    async def rules(self) -> list[dict[str, Any]]:
        """The alerts, once each was evaluated."""
        async with asyncio.timeout(60):
            while True:
                rules: list[dict[str, Any]] = [r for g in (await self.ask("rules"))["groups"] for r in g["rules"]]
                if rules and all(rule["health"] != "unknown" for rule in rules):
                    return rules
                await asyncio.sleep(0.1)


@contextlib.asynccontextmanager
async def scraping(target: str, folder: Path) -> AsyncIterator[Prometheus]:
    """A Prometheus that looks at the target twice a second, with our alerts."""
    config = _config(target, folder)
    address = _free_address()
    command = [tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder}/data"]
    process = await asyncio.create_subprocess_exec(
        *command, f"--web.listen-address={address}", "--log.level=error", stdin=asyncio.subprocess.DEVNULL
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}", trust_env=False) as client:
            await _ready(client, process)
            yield Prometheus(client)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _config(target: str, folder: Path) -> Path:
    """Our example, in a hurry."""
    text = (OPS / "prometheus" / "prometheus.yml").read_text("utf-8")
    for ours, theirs in (
        ("127.0.0.1:8080", target),
        ("scrape_interval: 15s", "scrape_interval: 500ms"),
        ("evaluation_interval: 30s", "evaluation_interval: 1s"),
        ("- alerts.yml", f"- {OPS}/prometheus/alerts.yml"),
    ):
        assert ours in text
        text = text.replace(ours, theirs)
    config = folder / "prometheus.yml"
    config.write_text(text, "utf-8")
    return config


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


async def _ready(client: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await client.get("/-/ready")).status_code == 200:
                    return
            assert process.returncode is None, "Prometheus has ended; it said why above"
            await asyncio.sleep(0.1)
