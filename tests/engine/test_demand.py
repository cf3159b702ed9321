"""How many slots a queue needs."""

# demands: S1-118

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from forebay.engine.db.overview import Depth, WorkerRow
from forebay.engine.supervise.demand import queue_demand

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
STEP = Depth("p", "ocr", "ocr", 0, 0, 0, 0, None, False, None)


def worker(running: int, item_ms: float | None = None, *, alive: bool = True) -> WorkerRow:
    step: dict[str, Any] = {
        "running": running,
        "claim": {"item_ms": item_ms, "value": 1},
        "concurrency": {"limit": 4.0, "least": 1.0, "most": 8.0},
    }
    return WorkerRow(1, "w", alive, 0, False, 0, NOW, NOW, {"steps": {"p.ocr": step}})


@pytest.mark.parametrize(
    ("step", "workers", "slots", "waiting", "running"),
    [
        (STEP, [], 0, 0, 0),
        # Nobody has measured them: a second each, so that 90 take two slots a minute.
        (replace(STEP, ready=90), [], 2, 90, 0),
        (replace(STEP, ready=1), [], 1, 1, 0),
        # Measured: 100 tasks of 6 s in a minute, beside those that run.
        (replace(STEP, ready=100, leased=4), [worker(4, 6000)], 14, 100, 4),
        # Longer than they may wait: one slot each, and not more.
        (replace(STEP, ready=7, leased=2), [worker(2, 600_000)], 9, 7, 2),
        # Claimed in advance: 1,996 short tasks that wait in the worker are not slots.
        (replace(STEP, leased=2000), [worker(4, 1)], 5, 1996, 4),
        # The leases of a worker that died wait for another.
        (replace(STEP, leased=3), [worker(3, 60_000, alive=False)], 1, 3, 0),
        # A report that is older than the leases.
        (replace(STEP, leased=1), [worker(4, 1000)], 1, 0, 1),
        # Scheduled and held tasks cannot run, and those of a paused queue neither.
        (replace(STEP, scheduled=50, on_hold=50), [], 0, 0, 0),
        (replace(STEP, ready=500, leased=2, paused=True), [worker(2, 60_000)], 2, 0, 2),
        # Something is missing: one worker tries.
        (replace(STEP, ready=500, parked="no key"), [worker(0, 60_000)], 1, 500, 0),
    ],
)
def test_the_slots_of_a_step(step: Depth, workers: list[WorkerRow], slots: int, waiting: int, running: int) -> None:
    found = queue_demand([step], workers, {})
    assert (found.slots, found.waiting, found.running) == (slots, waiting, running)


def test_the_steps_of_a_queue_share_slots() -> None:
    tiny = [replace(STEP, step=name, ready=1) for name in "abc"]
    assert queue_demand(tiny, [], {}).slots == 1


def test_callers_say_how_long_tasks_may_wait_and_take() -> None:
    waiting = [replace(STEP, ready=100)]
    assert queue_demand(waiting, [], {"p.ocr": 6.0}).slots == 10  # of a sample: all workers are gone
    assert queue_demand(waiting, [], {"p.ocr": 6.0}, target_s=10, unmeasured_s=1).slots == 60
    assert queue_demand(waiting, [], {}, unmeasured_s=30).slots == 50
