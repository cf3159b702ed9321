"""The pipelines of the crash tests.

An effect is a row in a plain table without any key, so that a step whose rows are written twice is seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import BaseModel

from forebay import Context, Done, Map, Mapped, Pipeline, Rows


class Order(BaseModel):
    number: int
    gate: str = ""  # a folder: the step says there that it has begun, and ends when it finds `open`


def _effect(ctx: Context) -> Rows:
    return Rows("effects", [{"job_id": ctx.job_id, "n": ctx.n, "step": ctx.step, "token": ctx.token}])


orders: Pipeline[Order] = Pipeline("orders", Order)


@orders.step()
async def weigh(ctx: Context, order: Order) -> int:
    return order.number * 2


@orders.step(after=weigh)
async def ship(ctx: Context, order: Order, weight: int) -> Done[int]:
    return Done(weight + 1, writes=[_effect(ctx)])


letters: Pipeline[Order] = Pipeline("letters", Order)


@letters.step()
async def write(ctx: Context, order: Order) -> int:
    return order.number


@letters.step(after=write)
async def post(ctx: Context, order: Order, number: int) -> int:
    return number + 1


slow: Pipeline[Order] = Pipeline("slow", Order)


@slow.step(concurrency=(4, 4))
async def wait(ctx: Context, order: Order) -> Done[int]:
    gate = Path(order.gate)
    if order.number % 2:  # half of the effects are written in transactions that stay open at the gate
        async with ctx.transaction() as conn:
            await conn.execute(
                "insert into effects (job_id, n, step, token) values ($1, $2, $3, $4)",
                *(ctx.job_id, ctx.n, ctx.step, ctx.token),
            )
    (gate / f"{order.number}-{ctx.token}").touch()
    while not (gate / "open").exists():  # noqa: ASYNC110 - another process opens it
        await asyncio.sleep(0.02)
    return Done(order.number, writes=[] if order.number % 2 else [_effect(ctx)])


books: Pipeline[Order] = Pipeline("books", Order)


@books.step()
async def spread(ctx: Context, order: Order) -> Map[Order]:
    return Map(_pages(ctx, order), orders)


async def _pages(ctx: Context, order: Order) -> AsyncIterator[Order]:
    for number in range(order.number):
        if number == 4200 and order.gate:  # two batches are stored
            gate = Path(order.gate)
            (gate / f"{number}-{ctx.token}").touch()
            while not (gate / "open").exists():  # noqa: ASYNC110 - another process opens it
                await asyncio.sleep(0.02)
        yield Order(number=number)


@books.step(after=spread)
async def bind(ctx: Context, order: Order, mapped: Mapped) -> Done[int]:
    total = 0
    async for page in ctx.children(mapped):
        total += page.result["weigh"]
    return Done(total, writes=[_effect(ctx)])
