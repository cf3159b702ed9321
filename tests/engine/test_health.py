"""The verdict about the health of the system: each rule, and that the API, `top` and `doctor` have the same inputs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from forebay.engine.db.overview import Depth, WorkerRow
from forebay.engine.supervise.health import MOST_FAILED, Signs, verdict

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
IDLE = Depth("sheets", "look_up", "sheets.look_up", 0, 0, 0, 0, None, False, None)
STEP: dict[str, Any] = {"running": 0}
WELL = WorkerRow(1, "w1", True, 0, False, 0, NOW, NOW, {"steps": {"sheets.look_up": STEP}})


def signs(depth: Depth = IDLE, *workers: WorkerRow, failed: int = 0, outcomes: bool = True) -> Signs:
    return Signs(NOW, [depth], workers or [WELL], failed, outcomes)


def reporting(**stats: Any) -> WorkerRow:
    return replace(WELL, stats={**WELL.stats, **stats})


def test_an_idle_system_is_well() -> None:
    found = verdict(signs())
    assert (found.level, found.sentence) == ("OK", "Nothing waits. The worker is alive.")
    assert found.ruled_out == [
        "no queue needs set-up",
        "every step with waiting tasks has a worker",
        "no queue with waiting tasks is paused",
        "the machines have memory and CPU",
        "no service is closed",
        "no step fails often",
        "no task failed permanently in the last hour",
        "no worker is stuck",
    ]


BUSY = reporting(recent={"attempts_per_s": {"owners": {"1": 12.0}, "others": 0.5}})
READY = replace(IDLE, ready=1200)
LATER = replace(IDLE, scheduled=312, next_at=datetime(2026, 3, 1, 14, 20, tzinfo=UTC))


@pytest.mark.parametrize(
    ("found", "level", "flow"),
    [
        (
            signs(replace(READY, leased=3), BUSY),
            "OK",
            "Work is moving: 3 tasks running, 1,200 waiting, 12.5 attempts per second.",
        ),
        (signs(replace(IDLE, on_hold=2)), "OK", "Nothing waits; 2 tasks on hold."),
        (
            signs(READY),
            "OK",
            "1,200 tasks waiting: nothing holds them back, so they should start within a second.",
        ),
        (signs(LATER), "OK", "312 tasks scheduled for later, the next one at 14:20 UTC."),
        (
            signs(replace(READY, parked="no Chromium")),
            "FAIL",
            "Work waits because queue sheets.look_up needs set-up: no Chromium.",
        ),
        (
            signs(replace(IDLE, ready=1, paused=True)),
            "WARN",
            "Work waits because queue sheets.look_up is paused (1 task).",
        ),
        (
            signs(READY, replace(WELL, stats={})),
            "FAIL",
            "Work waits because no running worker has sheets.look_up (1,200 tasks).",
        ),
        (
            signs(READY, replace(WELL, alive=False)),
            "FAIL",
            "Work waits because no worker is running (1,200 tasks).",
        ),
        (
            signs(READY, reporting(machine={"share": 0.3})),
            "WARN",
            "Work waits because the machines are short of memory or CPU: workers claim 30% of what they could.",
        ),
        (
            signs(LATER, reporting(shared={"providers": {"acme": {"closed_s": 1200.0, "closed_because": "429"}}})),
            "WARN",
            "Work waits because acme is closed for 1200 s (429): 312 tasks of sheets.look_up.",
        ),
        (
            signs(replace(READY, paused=True, parked="no key")),
            "FAIL",
            (
                "Work waits because queue sheets.look_up needs set-up: no key. "
                "Also, queue sheets.look_up is paused (1,200 tasks)."
            ),
        ),
    ],
)
def test_why_work_waits(found: Signs, level: str, flow: str) -> None:
    judged = verdict(found)
    assert (judged.flow.level, judged.flow.text) == (level, flow)
    assert judged.sentence.startswith(flow)


@pytest.mark.parametrize(
    ("found", "level", "text"),
    [
        (
            signs(IDLE, reporting(recent={"steps": {"sheets.look_up": {"succeeded": 10, "failed": 40}}})),
            "FAIL",
            "sheets.look_up fails: 40 of 50 attempts in the last minute.",
        ),
        (
            signs(IDLE, reporting(recent={"steps": {"sheets.look_up": {"succeeded": 40, "failed": 10}}})),
            "WARN",
            "sheets.look_up fails: 10 of 50 attempts in the last minute.",
        ),
        (
            signs(IDLE, reporting(recent={"steps": {"sheets.look_up": {"succeeded": 1, "failed": 2}}})),
            "OK",
            "3 attempts ended in the last minute.",
        ),
        (signs(failed=1), "WARN", "1 task failed permanently in the last hour."),
        (signs(failed=MOST_FAILED), "WARN", "1,000 or more tasks failed permanently in the last hour."),
        (
            signs(
                IDLE,
                reporting(recent={"steps": {"sheets.look_up": {"succeeded": 10, "failed": 40}}}),
                outcomes=False,  # those of other owners do not concern this one
            ),
            "OK",
            "Nothing fails.",
        ),
    ],
)
def test_whether_work_succeeds(found: Signs, level: str, text: str) -> None:
    judged = verdict(found)
    assert (judged.execution.level, judged.execution.text) == (level, text)


@pytest.mark.parametrize(
    ("workers", "level", "text"),
    [
        ((WELL, WELL), "OK", "2 of 2 workers are alive."),
        ((WELL, replace(WELL, stuck=True)), "FAIL", "1 of 2 workers is stuck: `forebay doctor`."),
        (
            (WELL, replace(WELL, alive=False)),
            "WARN",
            "1 of 2 workers are alive; the others have been silent for a minute.",
        ),
        ((replace(WELL, alive=False),), "WARN", "No worker is running: `forebay worker` starts one."),
    ],
)
def test_whether_the_workers_are_there(workers: tuple[WorkerRow, ...], level: str, text: str) -> None:
    judged = verdict(signs(IDLE, *workers))
    assert (judged.workers.level, judged.workers.text) == (level, text)
    assert judged.level == level
