"""A worker of whichever release is imported, with the pipeline `shop` as the previous release declares it.

It is a program of its own: the test starts it with the source of the previous release in front of this one. It prints
where its source is when it has started, and ends when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import sys

import forebay
from forebay import Context, Limit, Pipeline, Retry, TransientError, Wait
from forebay.engine.work.worker import Worker
from forebay.settings import Settings

shop: Pipeline[dict[str, str]] = Pipeline("shop", dict)


@shop.step(retry=Retry(attempts=3, base=0.01))
async def pick(ctx: Context, value: dict[str, str]) -> str:
    if value["kind"] == "retried" and ctx.attempt == 1:
        raise TransientError("the shelf is empty")
    return "pick"


@shop.step(after=pick, limits=[Limit("shop packers", concurrency=2, key=lambda value: str(value["kind"]))])
async def pack(ctx: Context, value: dict[str, str], picked: str) -> str:
    assert picked == "pick"
    return "pack"


@shop.step(after=pack)
async def send(ctx: Context, value: dict[str, str], packed: str) -> str | Wait:
    assert packed == "pack"
    if value["kind"] == "awaited" and ctx.signal is None:
        return Wait("paid", key="all")
    return "send"


async def main(dsn: str) -> None:
    worker = Worker(dsn, [shop], settings=Settings(poll_s=0.1))
    running = asyncio.create_task(worker.run())
    await worker.ready_or_failed(running)
    sys.stdout.write(f"{forebay.__file__} {worker.worker_id}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    worker.stop()
    await running


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
