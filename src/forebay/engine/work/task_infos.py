"""Adds to leases what the keys of their step's limits and order depend on, besides the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.db.pool import retry_until_up
from forebay.engine.db import tasks
from forebay.engine.declare.limit import TaskInfo
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.step import Step

log = get_logger("limits")


class TaskInfos:
    """For steps with a limit or an order whose key depends on the owner or the job. Others pay nothing."""

    def __init__(self, pool: Pool, steps: Mapping[int, Step[Any, Any]], timeout: float) -> None:
        self._pool, self._timeout = pool, timeout
        # The key of an order is determined before the claim; its function is called again to fail without one.
        ordered = {step_id for step_id, step in steps.items() if step.order is not None and step.order.takes_task}
        self._taking = ordered | {i for i, step in steps.items() if any(limit.takes_task for limit in step.limits)}
        self._reading = ordered | {i for i, step in steps.items() if any(limit.reads_job for limit in step.limits)}

    async def learn(self, leases: Sequence[Lease]) -> None:
        if not self._taking:
            return
        infos: dict[int, TaskInfo] = {}
        if jobs := {lease.job_id for lease in leases if lease.step_id in self._reading}:
            infos = await retry_until_up(
                lambda: tasks.task_infos(self._pool, sorted(jobs)), self._repeated, self._timeout
            )
        for lease in leases:
            if lease.step_id in self._taking:
                lease.task = infos.get(lease.job_id) or TaskInfo(lease.job_id, lease.owner_id, "", None)

    def _repeated(self, error: BaseException, pause: float) -> None:
        log.warning("task_infos_read_again", error=one_line(error), pause=pause)
