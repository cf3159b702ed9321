"""How many slots queues need, for programs that start and stop workers."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from forebay.api.auth.collectors import check_collector
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Model
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import metrics, overview, samples
from forebay.engine.supervise.demand import TARGET_S, UNMEASURED_S, queue_demand

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)

_HOUR = timedelta(hours=1)
_Time = Field(gt=0, le=86_400)


class Demand(Model):
    slots: int = Field(description="how many tasks should run at the same time")
    waiting: int = Field(description="tasks that are ready, or claimed and not started; none of a paused queue")
    running: int


@router.get("/queues/{name}/demand")
async def get_demand(
    name: Annotated[str, Path(max_length=2000, description="one queue, or several separated by commas")],
    request: Request,
    pools: RolePoolsDep,
    target_s: Annotated[float, _Time, Query(alias="targetS", description="how long tasks may wait")] = TARGET_S,
    task_s: Annotated[
        float, _Time, Query(alias="taskS", description="time of a task, for steps that have not run for an hour")
    ] = UNMEASURED_S,
) -> Demand:
    """How many slots the queues need together, to run what is running and to end what waits within `targetS`: for
    autoscalers. With FOREBAY_METRICS_TOKEN or as administrator, as for /metrics."""
    await check_collector(request)
    queues = {each.strip() for each in name.split(",")}
    async with pools.watch.acquire() as conn:
        steps = [step for step in await overview.depth(conn) if step.queue in queues]
        workers = await overview.workers(conn)
        times = await samples.task_times(conn, await metrics.now(conn) - _HOUR)
    if unknown := queues - {step.queue for step in steps}:
        raise Problem(404, f"there is no queue {', '.join(sorted(unknown))}", field="name")
    found = queue_demand(steps, workers, times, target_s=target_s, unmeasured_s=task_s)
    return Demand(slots=found.slots, waiting=found.waiting, running=found.running)
