"""A pipeline whose tasks take a while."""

from __future__ import annotations

import asyncio
from typing import Any

from forebay import Context, Pipeline

pipeline: Pipeline[dict[str, Any]] = Pipeline("slow", dict)


@pipeline.step(concurrency=(8, 8))
async def step(ctx: Context, value: dict[str, Any]) -> int:
    """Sleep."""
    await asyncio.sleep(0.1)
    return int(value["n"])
