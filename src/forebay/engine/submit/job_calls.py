"""What the clients have in common: how they name a job, and the arguments of their statements."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.engine.submit.inputs import encode_json
from forebay.engine.submit.options import checked_seconds, checked_text
from forebay.types import ItemStatus, Submitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forebay.types import Json

KEPT = timedelta(days=7)  # how long a signal is kept for tasks that do not wait yet
ENDED_BADLY = (ItemStatus.ERROR, ItemStatus.NOT_FOUND)


def job_number(job: Submitted | int) -> int:
    """The number of a job that was submitted, or that is given by its number."""
    return job.job_id if isinstance(job, Submitted) else job


def reprocess_arguments(
    job: Submitted | int,
    statuses: Iterable[ItemStatus | str],
    ns: Sequence[int] | None,
    reset_attempts: bool,
    actor: str | None,
    restart: bool,
) -> tuple[object, ...]:
    """The arguments of the statement reprocess_job."""
    wanted = [str(status) for status in statuses]
    return (job_number(job), wanted, None if ns is None else list(ns), reset_attempts, actor, restart)


def signal_arguments(name: str, key: str, payload: Json, owner: str, keep: float | timedelta) -> tuple[object, ...]:
    """The arguments of the statement send_signal.

    Raises: InvalidField.
    """
    return (
        checked_text("name", name, 200),
        checked_text("key", key, 500),
        None if payload is None else encode_json(payload, "payload"),
        checked_text("owner", owner, 200),
        checked_seconds("keep", keep),
    )
