"""The attempts of the last minutes as points of charts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from forebay.api.metrics.attempt_window import BOUNDS
from forebay.api.metrics.metric import Distribution
from forebay.api.models import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.api.metrics.attempt_window import AttemptWindow, Durations, Errors

_PASSED = ("DONE", "SKIPPED", "NOT_FOUND")


class SeriesPoint(Model):
    """The attempts of one step that ended in one minute. Durations are those of successful attempts."""

    minute: datetime
    pipeline: str
    step: str
    outcomes: dict[str, int] = Field(description="attempts by outcome; LIMITED: held back by a limit of our own")
    errors: dict[str, int] = Field(description="failed attempts by class of error")
    items: int = Field(description="items for which the step ended: DONE, SKIPPED or NOT_FOUND")
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None


def series_points(window: AttemptWindow, since: datetime, pipeline: str | None, step: str | None) -> list[SeriesPoint]:
    """The points from that minute on, by minute and step."""
    return [
        point
        for minute, durations, errors in window.minutes(since)
        for point in _points(minute, durations, errors)
        if (pipeline is None or point.pipeline == pipeline) and (step is None or point.step == step)
    ]


def _points(minute: datetime, durations: Durations, errors: Errors) -> Iterator[SeriesPoint]:
    for name in sorted({key[:2] for key in durations}):
        outcomes = {outcome: spread.count for (*step, outcome), spread in durations.items() if tuple(step) == name}
        done = durations.get((*name, "DONE"), Distribution(BOUNDS))
        yield SeriesPoint(
            minute=minute,
            pipeline=name[0],
            step=name[1],
            outcomes=outcomes,
            errors={kind: count for (*step, kind), count in errors.items() if tuple(step) == name},
            items=sum(outcomes.get(outcome, 0) for outcome in _PASSED),
            mean_s=done.mean(),
            p50_s=done.quantile(0.5),
            p95_s=done.quantile(0.95),
        )
