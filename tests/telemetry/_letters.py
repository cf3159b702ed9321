"""A traced pipeline: one step on the event loop, one on a thread, both with their own spans and logs."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from opentelemetry import trace
from pydantic import BaseModel

from forebay import Context, Pipeline
from forebay.errors import ConfigError, DataError

tracer = trace.get_tracer("letters")
log = structlog.get_logger()


class Letter(BaseModel):
    body: str


letters: Pipeline[Letter] = Pipeline("letters", Letter)


@letters.step()
async def read(ctx: Context, letter: Letter) -> int:
    if letter.body.startswith("broken"):
        raise DataError("broken on purpose")
    if letter.body.startswith("unset"):
        raise ConfigError("no key for the reading service")
    with tracer.start_as_current_span("look up"):
        log.info("looked_up", job=ctx.job_id)
    return len(letter.body)


@letters.step(after=read)
def stamp(ctx: Context, letter: Letter, size: int) -> int:
    with tracer.start_as_current_span("print"):
        return size + 1


parcels: Pipeline[Letter] = Pipeline("parcels", Letter)


@parcels.batch_step(size=10)
async def weigh(ctx: Context, found: Sequence[Letter]) -> list[int]:
    with tracer.start_as_current_span("scales"):
        return [len(letter.body) for letter in found]
