"""Tasks as they are offered: as many together as one message holds, and as many of their inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from forebay.fleet.port import BUNDLE_BYTES, OfferedTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from forebay.engine.db.tasks import Lease
    from forebay.engine.work.attempt import Attempt
    from forebay.types import Signal

_LARGE = 64 << 10  # bytes of an input that runners ask for
_OFFER_BYTES = 4 << 10  # at most, without its tasks
_TASK_BYTES = 300  # at most, without its texts


@dataclass(slots=True, eq=False)
class RawTask:
    """The arguments of a task as they came with its lease; a runner parses them."""

    lease: Lease
    n: int
    input: str | None
    results: str | None


def offered_tasks(
    attempts: Sequence[Attempt], raws: Sequence[RawTask]
) -> Iterator[tuple[list[Attempt], tuple[OfferedTask, ...], int]]:
    """The tasks of each offer with their attempts, and how many bytes the offer has as JSON."""
    bare = [_without_input(attempt, raw) for attempt, raw in zip(attempts, raws, strict=True)]
    begin = 0
    while begin < len(bare):
        end, size = _fitting(bare, begin)
        tasks: list[OfferedTask] = []
        for task, raw in zip((each for each, _ in bare[begin:end]), raws[begin:end], strict=True):
            more = _input_bytes(raw)
            if more > _LARGE or size + more > BUNDLE_BYTES:
                tasks.append(task)
                continue
            tasks.append(replace(task, input=raw.input, results=raw.results))
            size += more
        yield list(attempts[begin:end]), tuple(tasks), size
        begin = end


def _fitting(bare: Sequence[tuple[OfferedTask, int]], begin: int) -> tuple[int, int]:
    """How far the tasks fit into one offer without their inputs, at least one; and their size."""
    end, size = begin, _OFFER_BYTES
    while end < len(bare) and (end == begin or size + bare[end][1] <= BUNDLE_BYTES):
        size += bare[end][1]
        end += 1
    return end, size


def _without_input(attempt: Attempt, raw: RawTask) -> tuple[OfferedTask, int]:
    """A task, and its size."""
    lease = raw.lease
    signal = None if attempt.signal is None else _signal(attempt.signal)
    task = OfferedTask(
        token=lease.token,
        n=raw.n,
        job_id=lease.job_id,
        owner_id=lease.owner_id,
        attempt=lease.attempt,
        input=None,
        names=lease.names,
        signal=signal,
    )
    return task, _TASK_BYTES + sum(len(to_json(each)) for each in (lease.names, signal) if each is not None)


def _signal(signal: Signal) -> dict[str, Any]:
    payload = payload_of(signal)
    is_large = len(to_json(payload)) > _LARGE
    return {
        "name": signal.name,
        "key": signal.key,
        "payload": None if is_large else payload,
        "timed_out": signal.timed_out,
    }


def payload_of(signal: Signal) -> str:
    """The payload of a signal, as JSON."""
    return to_json(signal.payload).decode()


def _input_bytes(raw: RawTask) -> int:
    """Bytes as JSON; more than is offered if the dispatcher has not got the input."""
    if raw.input is None:
        return _LARGE + 1
    return sum(len(to_json(text)) for text in (raw.input, raw.results) if text is not None)
