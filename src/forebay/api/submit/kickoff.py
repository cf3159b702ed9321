"""Processes some jobs in the API process for one time slice, for kickoff."""

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


_MOST_AT_ONCE = 2  # each is a whole worker with its own connections


async def run_slice(
    state: State, owner_id: int, job_ids: Sequence[int], seconds: float, *, pipeline: str | None = None
) -> int:
    """Process the lanes of these jobs for a time, at most until the jobs have ended, and only the steps of `pipeline`
    if it is given; returns the number of attempts that ended.

    Raises: Problem 429 when too many slices run, or one of the same owner does.
    """
    running: set[int] = state.slices
    later = {"Retry-After": str(int(seconds) + 1)}
    if owner_id in running:
        raise Problem(429, "a slice of yours is already running", headers=later)
    if len(running) >= _MOST_AT_ONCE:
        raise Problem(429, f"{_MOST_AT_ONCE} slices are already running", headers=later)
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
