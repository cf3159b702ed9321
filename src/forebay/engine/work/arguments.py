"""The arguments of a step: the input of its item, and the results of preceding steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import from_json

from forebay.engine.db import tasks
from forebay.engine.submit import results
from forebay.engine.work.attempt import first_invalid
from forebay.errors import DataError
from forebay.types import Signal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from forebay.db.pool import Pool
    from forebay.engine.db.tasks import Lease, WaitRecord
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt


class StepArguments:
    """Parses the arguments for the tasks of one step."""

    def __init__(self, step: Step[Any, Any], pool: Pool) -> None:
        self._step, self._pool = step, pool
        self._parse = input_parser(step)

    def at_hand(self, lease: Lease, index: int) -> tuple[Any, ...] | None:
        """The arguments that came with the lease; None if they must be read from the database."""
        text = lease.inputs[index]
        if text is None or self._step.after_all:
            return None
        return self._parsed(lease, text, lease.results[index] if lease.results is not None else None)

    async def read(self, attempt: Attempt) -> tuple[Any, ...]:
        """Read large arguments, and those of an `after_all` step, when the task starts."""
        if self._step.after_all:
            return await self._job(attempt)
        return self._parsed(attempt.lease, *await tasks.read_task(self._pool, attempt.lease.job_id, attempt.n))

    async def read_wait(self, attempt: Attempt, now: datetime | None) -> WaitRecord | None:
        """Set the signal that the task has waited for; return what it has waited for, if it has."""
        found = await tasks.read_wait(self._pool, attempt.job_id, attempt.n, attempt.lease.step_id, now)
        if found is not None and found.children is None and (found.came or found.expired):
            payload = None if found.payload is None else from_json(found.payload)
            attempt.signal = Signal(found.name, found.key, payload, timed_out=not found.came)
        return found

    async def _job(self, attempt: Attempt) -> tuple[Any, ...]:
        job = await results.summary(self._pool, attempt.job_id)
        attempt.read_items(lambda: results.items(self._pool, attempt.job_id))
        return (job,)

    def _parsed(self, lease: Lease, text: str, stored: str | None) -> tuple[Any, ...]:
        """Raises: DataError if the input has no key, or it or a result of a preceding step does not have its type."""
        try:
            value = self._parse(text)
        except ValidationError as error:
            raise DataError(first_invalid(error, "input")) from error
        if self._step.order is not None:
            self._step.order.key_of(value, lease.task)  # fails for an input without a key
        if not self._step.after:
            return (value,)
        known: dict[str, Any] = from_json(stored) if stored else {}
        return (value, *(_result(parent, known, lease.names) for parent in self._step.after))


def input_parser(step: Step[Any, Any]) -> Callable[[str], Any]:
    """Parses the input of an item from JSON."""
    return from_json if step.pipeline.input_type in (dict, Any) else step.pipeline.input.validate_json


def _result(parent: Step[Any, Any], known: dict[str, Any], names: Mapping[str, str] | None) -> Any:
    key = parent.result_key
    value = known.get(key if names is None else names.get(key, key))
    if value is None:
        return None
    try:
        return parent.result.validate_python(value)
    except ValidationError as error:
        raise DataError(f"the result of step {first_invalid(error, parent.name)}") from error
