"""The pipeline under test: one async step that does nothing but say that it ran."""

from collections.abc import Callable
from typing import Any

from forebay import Context, Pipeline

Input = dict[str, Any]


def noop_pipeline(hit: Callable[[int], None]) -> Pipeline[Input]:
    pipeline: Pipeline[Input] = Pipeline("noop", dict)

    @pipeline.step()
    async def noop(_: Context, value: Input) -> int:
        seq: int = value["seq"]
        hit(seq)
        return seq

    return pipeline


def _not_here(_: int) -> None:
    raise RuntimeError("the step runs in workers only")


# As the submitting side knows it.
PIPELINE = noop_pipeline(_not_here)
