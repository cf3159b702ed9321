"""The health of the system in one sentence, by fixed rules: does work move, does it succeed, are the workers there.

The rules read only what workers report and what the hot tables contain, so the API, `forebay top` and `forebay doctor`
give the same answer at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.engine.db.lanes import attempt_rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from forebay.engine.db.overview import Depth, WorkerRow
    from forebay.hooks import Level

MOST_FAILED = 1000  # dead letters of the last hour that are counted
_FEW_ATTEMPTS = 10  # fewer say nothing about a step
_FAILS, _FAILS_OFTEN = 0.5, 0.1  # shares of failed attempts
_SLOWED = 0.5  # share of its normal claims that a machine short of resources makes
_WORST: tuple[Level, ...] = ("FAIL", "WARN", "OK")


@dataclass(frozen=True, slots=True)
class Signs:
    """What the rules look at. `outcomes`: whether the outcomes that workers report are those of the same owners as
    `depth`; `failed_last_hour`: tasks that failed permanently, counted up to a limit."""

    at: datetime
    depth: Sequence[Depth]
    workers: Sequence[WorkerRow]
    failed_last_hour: int = 0
    outcomes: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """The answer to one of the three questions."""

    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The level of the worst part, the sentence, and what does not cause it."""

    level: Level
    sentence: str
    flow: Part
    execution: Part
    workers: Part
    ruled_out: list[str]


def verdict(signs: Signs) -> Verdict:
    """Judge the health of the system."""
    ruled_out: list[str] = []
    flow, execution, workers = _flow(signs, ruled_out), _execution(signs, ruled_out), _workers(signs, ruled_out)
    parts = (flow, execution, workers)
    level: Level = next(level for level in _WORST if any(part.level == level for part in parts))
    told = [flow, *(part for part in (execution,) if part.level != "OK"), workers]
    return Verdict(level, " ".join(part.text for part in told), flow, execution, workers, ruled_out)


# Flow: does work move?


def _flow(signs: Signs, ruled_out: list[str]) -> Part:
    causes = [*_causes(signs, ruled_out)]
    waiting = sum(step.waiting for step in signs.depth)
    running = sum(step.leased for step in signs.depth)
    if causes:
        level, text = causes[0]
        also = "".join(f" Also, {other}." for _, other in causes[1:3])
        return Part(level, f"Work waits because {text}.{also}")
    if not waiting and not running:
        held = sum(step.on_hold for step in signs.depth)
        return Part("OK", f"Nothing waits; {_tasks(held)} on hold." if held else "Nothing waits.")
    if running or not any(step.ready for step in signs.depth):
        return Part("OK", _moving(signs, waiting, running))
    return Part("OK", f"{_tasks(waiting)} waiting: nothing holds them back, so they should start within a second.")


def _moving(signs: Signs, waiting: int, running: int) -> str:
    if not running:
        next_at = min((step.next_at for step in signs.depth if step.next_at is not None), default=None)
        until = f" at {next_at:%H:%M} UTC" if next_at is not None else ""
        return f"{_tasks(waiting)} scheduled for later, the next one{until}."
    rate = attempt_rates(signs.workers).total if signs.outcomes else 0.0
    speed = f", {rate:,.1f} attempts per second" if rate else ""
    return f"Work is moving: {_tasks(running)} running, {waiting:,} waiting{speed}."


def _causes(signs: Signs, ruled_out: list[str]) -> Iterator[tuple[Level, str]]:
    """Why tasks that could run do not, the most severe first."""
    alive = [worker for worker in signs.workers if worker.alive]
    ready = [step for step in signs.depth if step.ready]
    yield from _parked(signs, ruled_out)
    if ready and not alive:
        yield "FAIL", f"no worker is running ({_tasks(sum(step.ready for step in ready))})"
    else:
        yield from _unserved(ready, alive, ruled_out)
    yield from _paused(ready, ruled_out)
    yield from _short_machines(ready, alive, ruled_out)
    yield from _closed(signs, alive, ruled_out)


def _parked(signs: Signs, ruled_out: list[str]) -> Iterator[tuple[Level, str]]:
    parked = {step.queue: step for step in signs.depth if step.parked}
    for queue, step in parked.items():
        if any(other.open for other in signs.depth if other.queue == queue):
            yield "FAIL", f"queue {queue} needs set-up: {step.parked}"
    if not parked:
        ruled_out.append("no queue needs set-up")


def _unserved(ready: Sequence[Depth], alive: Sequence[WorkerRow], ruled_out: list[str]) -> Iterator[tuple[Level, str]]:
    served = {name for worker in alive for name in worker.steps}
    unserved = [step for step in ready if _name(step) not in served]
    for step in unserved:
        yield "FAIL", f"no running worker has {_name(step)} ({_tasks(step.ready)})"
    if not unserved:
        ruled_out.append("every step with waiting tasks has a worker")


def _paused(ready: Sequence[Depth], ruled_out: list[str]) -> Iterator[tuple[Level, str]]:
    paused = {step.queue: step for step in ready if step.paused}
    for queue, step in paused.items():
        yield "WARN", f"queue {queue} is paused ({_tasks(step.ready)})"
    if not paused:
        ruled_out.append("no queue with waiting tasks is paused")


def _short_machines(
    ready: Sequence[Depth], alive: Sequence[WorkerRow], ruled_out: list[str]
) -> Iterator[tuple[Level, str]]:
    shares = [float(worker.stats.get("machine", {}).get("share", 1.0)) for worker in alive]
    if ready and shares and max(shares) < _SLOWED:
        yield "WARN", f"the machines are short of memory or CPU: workers claim {max(shares):.0%} of what they could"
    else:
        ruled_out.append("the machines have memory and CPU")


def _closed(signs: Signs, alive: Sequence[WorkerRow], ruled_out: list[str]) -> Iterator[tuple[Level, str]]:
    """Services that workers do not call for a while, such as providers that throttle or do not answer."""
    closed = {name: state for worker in alive for name, state in _closed_services(worker)}
    delayed = [step for step in signs.depth if step.scheduled and not step.ready and not step.leased]
    if not closed:
        ruled_out.append("no service is closed")
    elif delayed:
        name, state = max(closed.items(), key=lambda each: float(each[1]["closed_s"]))
        because = f" ({state['closed_because']})" if state.get("closed_because") else ""
        tasks = _tasks(sum(step.scheduled for step in delayed))
        yield "WARN", f"{name} is closed for {float(state['closed_s']):.0f} s{because}: {tasks} of {_name(delayed[0])}"


def _closed_services(worker: WorkerRow) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for resource in worker.shared.values():
        for name, state in resource.items():
            if isinstance(state, dict) and state.get("closed_s"):  # pyright: ignore[reportUnknownMemberType]
                yield name, state


# Execution: does work succeed?


def _execution(signs: Signs, ruled_out: list[str]) -> Part:
    outcomes = _outcomes(signs.workers) if signs.outcomes else {}
    failing = [
        (failed / (succeeded + failed), step, failed, succeeded + failed)
        for step, (succeeded, failed) in outcomes.items()
        if succeeded + failed >= _FEW_ATTEMPTS and failed / (succeeded + failed) >= _FAILS_OFTEN
    ]
    if failing:
        share, step, failed, ended = max(failing)
        text = f"{step} fails: {failed:,} of {ended:,} attempts in the last minute."
        return Part("FAIL" if share >= _FAILS else "WARN", text)
    if signs.outcomes:
        ruled_out.append("no step fails often")
    if signs.failed_last_hour:
        many = (
            f"{MOST_FAILED:,} or more tasks"
            if signs.failed_last_hour >= MOST_FAILED
            else _tasks(signs.failed_last_hour)
        )
        return Part("WARN", f"{many} failed permanently in the last hour.")
    ruled_out.append("no task failed permanently in the last hour")
    ended = sum(map(sum, outcomes.values()))
    return Part("OK", f"{ended:,} attempts ended in the last minute." if ended else "Nothing fails.")


def _outcomes(workers: Sequence[WorkerRow]) -> dict[str, tuple[int, int]]:
    """Successes and failures of the last minute, by step."""
    sums: dict[str, tuple[int, int]] = {}
    for worker in workers:
        if worker.alive:
            for step, counts in worker.recent.get("steps", {}).items():
                succeeded, failed = sums.get(step, (0, 0))
                sums[step] = (succeeded + counts["succeeded"], failed + counts["failed"])
    return sums


# Workers: are they there?


def _workers(signs: Signs, ruled_out: list[str]) -> Part:
    count = len(signs.workers)
    alive = sum(worker.alive for worker in signs.workers)
    stuck = sum(worker.stuck for worker in signs.workers)
    if stuck:
        return Part("FAIL", f"{stuck} of {count} workers {'is' if stuck == 1 else 'are'} stuck: `forebay doctor`.")
    ruled_out.append("no worker is stuck")
    if not alive:
        is_needed = any(step.ready for step in signs.depth)
        return Part("FAIL" if is_needed else "WARN", "No worker is running: `forebay worker` starts one.")
    if alive < count:
        return Part("WARN", f"{alive} of {count} workers are alive; the others have been silent for a minute.")
    return Part("OK", f"{count} of {count} workers are alive." if count > 1 else "The worker is alive.")


# Words.


def _name(step: Depth) -> str:
    return f"{step.pipeline}.{step.step}"


def _tasks(count: int) -> str:
    return f"{count:,} task" if count == 1 else f"{count:,} tasks"
