"""Logs failures: a final failure is an error, a failure that will be retried is a warning.

A million failing rows must not flood the logs or an error tracker that reads them: for each step and error class, a
few lines per minute are written in full, and the rest as one line with a count.
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

_IN_FULL = 5  # full lines per kind and window
_WINDOW = 60.0  # seconds


class _Kind(NamedTuple):
    event: str
    step: str
    error_class: str | None


@dataclass(slots=True)
class _Window:
    """The log lines of one kind in the current window."""

    since: float
    written: int = 0
    suppressed: int = 0
    reason: str | None = None  # of the last suppressed failure


class FailureLog:
    """Logs failed attempts, with a limited number of lines."""

    def __init__(self, executors: Mapping[int, StepExecutor], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._executors = executors
        self._monotonic = monotonic
        self._windows: dict[_Kind, _Window] = {}

    def add(self, batch: Sequence[Attempt], stale: Collection[tuple[int, int]]) -> None:
        """Log the settled attempts of a batch, except the stale ones, which this worker no longer owns."""
        for attempt in batch:
            if attempt.outcome == "ERROR" and (attempt.lease.token, attempt.n) not in stale:
                self._add(attempt, self._executors[attempt.lease.step_id].step)

    def _add(self, attempt: Attempt, step: Step[Any, Any]) -> None:
        ends_item = attempt.retry_in is None and not step.optional
        name = "item_failed" if ends_item else "attempt_failed"
        kind = _Kind(name, step.label, None if attempt.error_class is None else attempt.error_class.value)
        window = self._windows.setdefault(kind, _Window(self._monotonic()))
        if window.written < _IN_FULL:
            window.written += 1
            _write(kind, **_described(attempt, step))
        else:
            window.suppressed += 1
            window.reason = attempt.reason

    async def end_windows(self) -> None:
        """End the windows that are over."""
        now = self._monotonic()
        for kind, window in list(self._windows.items()):
            if now - window.since >= _WINDOW:
                self._end(kind, window, now)

    def close(self) -> None:
        """Log the suppressed failures."""
        now = self._monotonic()
        for kind, window in list(self._windows.items()):
            self._end(kind, window, now)

    def _end(self, kind: _Kind, window: _Window, now: float) -> None:
        del self._windows[kind]
        if window.suppressed:
            seconds = round(now - window.since, 1)
            _write(kind, repeated=window.suppressed, within_s=seconds, reason=window.reason)


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
    """The input field that identifies the subject of the item, if the pipeline declares one."""
    lease = attempt.lease
    if field is None or attempt.n not in lease.ns:
        return {}
    text = lease.inputs[lease.ns.index(attempt.n)]
    value: Any = None if text is None else from_json(text)
    found = cast("dict[str, Any]", value).get(field) if isinstance(value, dict) else None
    return {field: found} if isinstance(found, str | int) else {}
