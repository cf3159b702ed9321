"""The jobs that a step returns: they are submitted in the transaction that settles it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from forebay.engine.db.sql import load
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.errors import PermanentError
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from forebay.types import Submit

    _Shape: TypeAlias = tuple[
        str, str | None, int, datetime | None, float | None, str | None, tuple[str, ...] | None, float | None
    ]


def submitting(submits: Sequence[Submit], owner_id: int) -> Iterator[Statement]:
    """The statements that submit these jobs; consecutive ones with the same options share one.

    `owner_id`: the owner of jobs that name none.

    Raises: PermanentError if something else was returned.
    """
    for shape, jobs in groupby(map(_checked, submits), _shape):
        (pipeline, owner, *options), unique = shape[:6], shape[6:]
        inputs, keys = zip(*((job.input, job.key) for job in jobs), strict=True)
        yield Statement(
            load("submit_children"), (pipeline, list(inputs), owner, list(keys), *options, owner_id, *unique)
        )


def _checked(job: Submit) -> CheckedSubmit:
    if not isinstance(job, CheckedSubmit):
        raise PermanentError(
            f"submits of Done must be made with Pipeline.new; this is of the type {type(job).__name__}"
        )
    return job


def _shape(job: CheckedSubmit) -> _Shape:
    unique = (job.unique_states, job.unique_period)
    return (job.pipeline, job.owner, job.priority, job.run_at, job.delay, job.meta, *unique)
