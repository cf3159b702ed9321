"""Housekeeping: the chores of all packages, as jobs: listed, retried after a failure, and never lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.packages import Chore, PipelinePackage, packages
from forebay.types import Skip

if TYPE_CHECKING:
    from forebay.hooks import ChoreFunction
    from forebay.settings import Settings

OWNER = "forebay"
_LONGEST = 3600.0


class ChoreRun(BaseModel):
    """The name of the chore that is to be run."""

    what: str


housekeeping = Pipeline("housekeeping", ChoreRun, internal=True)


def declared_chores() -> dict[str, tuple[PipelinePackage, Chore]]:
    """The chores of all packages by their names."""
    return {chore.name: (package, chore) for package in packages() for chore in package.chores}


@housekeeping.tuning
def schedule_chores(_: Settings) -> None:
    for _package, chore in declared_chores().values():
        housekeeping.schedule(f"forebay: {chore.name}", chore.cron, ChoreRun(what=chore.name), owner=OWNER)


@housekeeping.step(timeout=_LONGEST)
async def run_chore(ctx: Context, run: ChoreRun) -> Any:
    """Runs one chore; the result is what it answers."""
    found = declared_chores().get(run.what)
    if found is None:
        return Skip(f"no installed package has the chore {run.what!r} any more", item=True)
    package, chore = found
    function: ChoreFunction = package.get(chore.function)
    async with asyncio.timeout(min(chore.timeout_s, _LONGEST)):
        return await function(ctx)
