"""Waits for a job, with a progress bar on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from forebay.engine.submit import results

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.types import JobSummary


async def ended(conn: Connection, job_id: int, *, quiet: bool = False) -> JobSummary:
    """Wait until the job has ended and return its summary; on a terminal, standard error has a progress bar."""
    columns = (TextColumn("job {task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    err = Console(stderr=True, quiet=quiet)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task(str(job_id))
        while True:
            try:
                return await results.wait(conn, job_id, timeout=0.5)
            except TimeoutError:
                now = await results.summary(conn, job_id)
                progress.update(bar, total=now.total, completed=now.total - now.open)
