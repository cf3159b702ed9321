"""Failures in the logs: what failed for good is an error, what will be tried again a warning.

A million rows that fail must not flood the logs, nor an error tracker that listens to them: of each step and class a
few lines a minute are written in full, and the others as one line with their number.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic_core import from_json

from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor

log = get_logger("worker")

_IN_FULL = 5  # lines of one kind in one window
_WINDOW = 60.0  # seconds


class _Kind(NamedTuple):
    event: str
    step: str
    error_class: str | None


@dataclass(slots=True)
class _Window:
    """What was told of one kind since a moment."""

    since: float
    told: int = 0
    untold: int = 0
    reason: str | None = None  # of the last that was not told


class FailureLog:
    """Tells of attempts that failed, as often as a reader can bear."""

    def __init__(self, executors: Mapping[int, StepExecutor], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._executors = executors
        self._monotonic = monotonic
        self._windows: dict[_Kind, _Window] = {}

    def add(self, batch: Sequence[Attempt], stale: Collection[tuple[int, int]]) -> None:
        """These have been settled, but for the stale ones, which are no longer this worker's to tell about."""
        for attempt in batch:
            if attempt.outcome == "ERROR" and (attempt.lease.token, attempt.n) not in stale:
                self._add(attempt, self._executors[attempt.lease.step_id].step)

    def _add(self, attempt: Attempt, step: Step[Any, Any]) -> None:
        ends_item = attempt.retry_in is None and not step.optional
        name = "item_failed" if ends_item else "attempt_failed"
        kind = _Kind(name, step.label, None if attempt.error_class is None else attempt.error_class.value)
        window = self._windows.setdefault(kind, _Window(self._monotonic()))
        if window.told < _IN_FULL:
            window.told += 1
            _write(kind, **_described(attempt, step))
        else:
            window.untold += 1
            window.reason = attempt.reason

    async def tell_rest(self) -> None:
        """Ends the windows that are over."""
        now = self._monotonic()
        for kind, window in list(self._windows.items()):
            if now - window.since >= _WINDOW:
                self._end(kind, window, now)

    def close(self) -> None:
        """Tells what has not been told."""
        now = self._monotonic()
        for kind, window in list(self._windows.items()):
            self._end(kind, window, now)

    def _end(self, kind: _Kind, window: _Window, now: float) -> None:
        del self._windows[kind]
        if window.untold:
            seconds = round(now - window.since, 1)
            _write(kind, repeated=window.untold, within_s=seconds, reason=window.reason)


def _write(kind: _Kind, **about: Any) -> None:
    say = log.error if kind.event == "item_failed" else log.warning
    say(kind.event, step=kind.step, error_class=kind.error_class, **about)


def _described(attempt: Attempt, step: Step[Any, Any]) -> dict[str, Any]:
    lease = attempt.lease
    about: dict[str, Any] = {"job": lease.job_id, "item": attempt.n, "attempt": lease.attempt}
    about |= {"reason": attempt.reason, "duration_s": round(attempt.seconds, 3)}
    if attempt.retry_in is not None:
        about["retry_in"] = round(attempt.retry_in, 3)
    return about | _reference(attempt, step.pipeline.reference)


def _reference(attempt: Attempt, field: str | None) -> dict[str, str | int]:
    """What the input calls the thing that the item is about, if it does."""
    lease = attempt.lease
    if field is None or attempt.n not in lease.ns:
        return {}
    text = lease.inputs[lease.ns.index(attempt.n)]
    value: Any = None if text is None else from_json(text)
    found = cast("dict[str, Any]", value).get(field) if isinstance(value, dict) else None
    return {field: found} if isinstance(found, str | int) else {}
