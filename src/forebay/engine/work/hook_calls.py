"""Calls the hooks of a pipeline around its attempts. They wrap the calls and the reports of steps, and only if there
are any; the other modules do not depend on them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from forebay.engine.declare.attempt_hook import AttemptEnd
from forebay.engine.declare.map import Map
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.types import Wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.step_calls import Call

log = get_logger("hooks")


@dataclass(slots=True)
class _Began:
    """An attempt for which the hooks were called before."""

    at: float
    error: BaseException | None = None
    waits: bool = False


class HookCalls:
    """Calls the hooks of one step."""

    def __init__(self, step: Step[Any, Any]) -> None:
        self._step = step
        self._hooks = tuple(step.pipeline.hooks)
        self._began: dict[Attempt, _Began] = {}

    def calling(self, call: Call) -> Call:
        """Wrap the call: the hooks are called before."""

        async def hooked(first: Attempt, *args: Any) -> Any:
            # Items of a batch whose input is invalid have ended already.
            batch = (first,) if self._step.batch_size is None else [a for a in first.batch if a.outcome is None]
            for attempt in batch:
                self._before(attempt)
            try:
                value = await call(first, *args)
            except BaseException as error:
                for attempt in batch:
                    self._began[attempt].error = error
                raise
            if value.__class__ in (Wait, Map):  # not of a batch: those cannot wait
                self._began[first].waits = True
            return value

        return hooked

    def reporting(self, report: Callable[[Attempt], None]) -> Callable[[Attempt], None]:
        """Wrap the report: the hooks are called after."""

        def hooked(attempt: Attempt) -> None:
            if (began := self._began.pop(attempt, None)) is not None:
                self._after(attempt, began)
            report(attempt)

        return hooked

    def _before(self, attempt: Attempt) -> None:
        self._began[attempt] = _Began(time.monotonic())
        for hook in self._hooks:
            self._call(hook.before_attempt, attempt)

    def _after(self, attempt: Attempt, began: _Began) -> None:
        seconds = time.monotonic() - began.at
        if attempt.outcome is None:
            end = AttemptEnd("DONE", None, None, None, seconds)
        else:
            outcome = "WAITING" if began.waits and attempt.outcome == "SNOOZED" else attempt.outcome
            end = AttemptEnd(cast("Any", outcome), began.error, attempt.reason, attempt.retry_in, seconds)
        for hook in reversed(self._hooks):
            self._call(hook.after_attempt, attempt, end)

    def _call(self, method: Callable[..., None], attempt: Attempt, *args: Any) -> None:
        try:
            method(self._step, attempt, *args)
        except Exception as error:  # a hook observes; it must not fail the work
            name = f"{type(getattr(method, '__self__', None)).__name__}.{method.__name__}"
            log.warning("hook_failed", hook=name, step=self._step.label, job=attempt.job_id, error=one_line(error))
