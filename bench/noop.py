"""The pipelines under test: one async step each, which says that it ran, and does nothing or sleeps."""

import asyncio
from collections.abc import Callable
from typing import Any

from forebay import Context, Limit, Pipeline

Input = dict[str, Any]

KEY_INTERVAL = 0.2


def noop_pipeline(hit: Callable[[int], None], name: str = "noop") -> Pipeline[Input]:
    pipeline: Pipeline[Input] = Pipeline(name, dict)

    @pipeline.step()
    async def noop(_: Context, value: Input) -> int:
        seq: int = value["seq"]
        hit(seq)
        return seq

    return pipeline


def sleep_pipeline(hit: Callable[[int], None]) -> Pipeline[Input]:
    """Four slots; a task takes as many seconds as its input says."""
    pipeline: Pipeline[Input] = Pipeline("sleep", dict)

    @pipeline.step(concurrency=(4, 4))
    async def sleep(_: Context, value: Input) -> int:
        seq: int = value["seq"]
        hit(seq)
        await asyncio.sleep(value["seconds"])
        return seq

    return pipeline


def keyed_pipeline(hit: Callable[[int], None]) -> Pipeline[Input]:
    """All tasks have one key, which admits one task in KEY_INTERVAL seconds."""
    pipeline: Pipeline[Input] = Pipeline("keyed", dict)

    @pipeline.step(limits=[Limit("bench", rate=1 / KEY_INTERVAL, key=lambda _: "key")])
    async def keyed(_: Context, value: Input) -> int:
        seq: int = value["seq"]
        hit(seq)
        return seq

    return pipeline


def pipelines(hit: Callable[[int], None]) -> list[Pipeline[Input]]:
    return [noop_pipeline(hit), noop_pipeline(hit, "other"), sleep_pipeline(hit), keyed_pipeline(hit)]


def _not_here(_: int) -> None:
    raise RuntimeError("the step runs in workers only")


# As the submitting side knows it.
PIPELINE, OTHER_PIPELINE, SLEEP_PIPELINE, KEYED_PIPELINE = pipelines(_not_here)
