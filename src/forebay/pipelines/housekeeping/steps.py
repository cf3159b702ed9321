"""Housekeeping: the chores of all packages, as jobs: listed, retried after a failure, and never lost.

The schedule of a chore remains as long as some worker has its package, or cannot load a package. A run that another
worker takes waits there if it is the last one, as the jobs of a missing pipeline do; earlier runs end.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.maintenance.schedules import last_run
from forebay.log import get_logger
from forebay.packages import Chore, PipelinePackage, chore_schedule, failures, packages
from forebay.types import Skip, Snooze

if TYPE_CHECKING:
    from forebay.hooks import ChoreFunction
    from forebay.settings import Settings

log = get_logger("housekeeping")

OWNER = "forebay"
_LONGEST = 3600.0
_WAIT_S = 900.0  # until a package that is missing is looked for again


class ChoreRun(BaseModel):
    """The name of the chore to run."""

    what: str


housekeeping = Pipeline("housekeeping", ChoreRun, internal=True, noun="chore", needs_database=True)


def declared_chores() -> dict[str, tuple[PipelinePackage, Chore]]:
    """The chores of all packages by name."""
    return {chore.name: (package, chore) for package in packages() for chore in package.chores}


@housekeeping.tuning
def schedule_chores(_: Settings) -> None:
    housekeeping.knows_all_schedules = not failures()
    for _package, chore in declared_chores().values():
        housekeeping.schedule(chore.schedule, chore.cron, ChoreRun(what=chore.name), owner=OWNER)


@housekeeping.step(timeout=_LONGEST)
async def run_chore(ctx: Context, run: ChoreRun) -> Any:
    """Run one chore; its result is that of the item."""
    found = declared_chores().get(run.what)
    if found is None:
        return await _wait_for_package(ctx, run.what)
    package, chore = found
    function: ChoreFunction = package.get(chore.function)
    async with asyncio.timeout(min(chore.timeout_s, _LONGEST)):
        return await function(ctx)


async def _wait_for_package(ctx: Context, chore: str) -> Skip | Snooze:
    reason = f"no installed package has the chore {chore!r}"
    pool = await ctx.get(resources.database)
    if await last_run(pool, chore_schedule(chore)) != ctx.job_id:
        return Skip(reason, item=True)
    fix = "install its package, or remove it with `forebay migrate --remove`"
    log.warning("chore_waits_for_package", chore=chore, job=ctx.job_id, fix=fix)
    return Snooze(_WAIT_S, f"{reason}: {fix}")
