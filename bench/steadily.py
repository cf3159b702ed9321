"""Requests at a steady rate, beside a worker in a process of its own."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

import asyncpg
import psutil

from bench.harness import BenchError, Context
from bench.limits import INSERT
from bench.workload import json_inputs

RATE = 10.0


@contextmanager
def worker(context: Context, environment: dict[str, str], name: str) -> Iterator[psutil.Process]:
    """`forebay worker`, which logs to NAME.log.

    Raises: BenchError if it ends by itself.
    """
    log = context.folder / f"{name}.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "forebay", "worker"]
        child = subprocess.Popen(command, env=os.environ | environment, stdout=out, stderr=out)
    try:
        yield psutil.Process(child.pid)
        if child.poll() is not None:
            raise BenchError(f"the worker ended by itself\n{log.read_text()[-2000:]}")
    finally:
        child.terminate()
        child.wait(60)


async def registered(conn: asyncpg.Connection, pipeline: str) -> None:
    """Wait until a worker has begun."""
    await until(conn, f"select exists (select from forebay.pipeline where name = '{pipeline}')")


async def until(conn: asyncpg.Connection, question: str) -> None:
    """Raises: BenchError if the answer is not true within a minute."""
    for _ in range(3000):
        if await conn.fetchval(question):
            return
        await asyncio.sleep(0.02)
    raise BenchError(f"not within a minute: {question}")


async def timed(count: int, send: Callable[[int], Awaitable[object]]) -> list[float]:
    """Send so many requests at the rate; the milliseconds of each."""
    waits: list[float] = []
    async for seq in _ticks(count):
        began = time.perf_counter()
        await send(seq)
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def raw_inserts(conn: asyncpg.Connection, count: int) -> list[float]:
    """The same for an INSERT that commits itself."""
    insert, row = await conn.prepare(INSERT), next(json_inputs(1))
    return await timed(count, lambda seq: insert.fetch(seq, row))


async def _ticks(count: int) -> AsyncIterator[int]:
    began = time.perf_counter()
    for seq in range(count):
        yield seq
        await asyncio.sleep(max(0.0, began + (seq + 1) / RATE - time.perf_counter()))
