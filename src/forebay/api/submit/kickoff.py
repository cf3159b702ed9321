"""One slice of work in the API's own process, on some jobs: the base of kickoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.problems import Problem
from forebay.db.pool import connected
from forebay.engine.db import overview
from forebay.engine.work.worker import Worker
from forebay.identity.logins import WORKER, login_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import State


_MOST_AT_ONCE = 2  # each is a whole worker, with connections of its own


async def run_slice(
    state: State, owner_id: int, job_ids: Sequence[int], seconds: float, *, pipeline: str | None = None
) -> int:
    """Work for so long on the lanes that the tasks of these jobs are in, no longer than until they have ended, and
    where a pipeline is named, on its steps only; answers how many attempts ended.

    Raises: Problem 429 when others do so already, or the same owner does.
    """
    running: set[int] = state.slices
    later = {"Retry-After": str(int(seconds) + 1)}
    if owner_id in running:
        raise Problem(429, "a slice of yours runs here already", headers=later)
    if len(running) >= _MOST_AT_ONCE:
        raise Problem(429, f"{_MOST_AT_ONCE} slices run here already", headers=later)
    running.add(owner_id)
    try:
        return await _run_slice(state, job_ids, seconds, pipeline)
    finally:
        running.discard(owner_id)


async def _run_slice(state: State, job_ids: Sequence[int], seconds: float, pipeline: str | None) -> int:
    dsn = login_url(state.settings, WORKER, state.dsn)
    async with connected(dsn, "forebay kickoff") as conn:
        lanes = await overview.lanes_of(conn, job_ids)
    worker = Worker(
        dsn,
        [each for name, each in state.pipelines.items() if pipeline in (None, name)],
        settings=state.settings.model_copy(update={"grace_s": 5.0}),
        lanes=lanes,
    )
    return await worker.run_slice(seconds, job_ids)
