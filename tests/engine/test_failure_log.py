"""Failures in the logs: a limited number of full lines, the rest counted."""

# demands: S1-66, S2-26, S2-43, S2-99, S3-88, S4-77, S5-104

from __future__ import annotations

from typing import Any, cast

from structlog.testing import capture_logs

from forebay import Context, Pipeline
from forebay.engine.db.tasks import Lease
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.failure_log import FailureLog
from forebay.types import ErrorClass

links: Pipeline[dict[str, Any]] = Pipeline("links", dict, reference="bookmarkId")


@links.step()
async def fetch(ctx: Context, link: dict[str, Any]) -> None: ...


@links.step(optional=True)
async def caption(ctx: Context, link: dict[str, Any]) -> None: ...


class _Executor:
    def __init__(self, step: Any) -> None:
        self.step = step


class Bench:
    def __init__(self) -> None:
        self.now = 1000.0
        executors = cast("Any", {1: _Executor(fetch), 2: _Executor(caption)})
        self.log = FailureLog(executors, lambda: self.now)

    def failed(
        self, n: int, *, step: int = 1, again_in: float | None = None, kind: ErrorClass = ErrorClass.DATA
    ) -> Attempt:
        lease = Lease(7, step, 1, 5, 1, 2, 1, 0, n, n, [n], ['{"bookmarkId": 42, "url": "https://a"}'], None)
        attempt = Attempt(lease, n, 0.0)
        attempt.fail("ERROR", reason=f"reason {n}", error_class=kind, retry_in=again_in)
        attempt.seconds = 1.25
        return attempt


def said(logs: list[Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "part"} for line in logs]


def test_what_failed_for_good_is_an_error_and_what_is_tried_again_a_warning() -> None:
    bench = Bench()
    with capture_logs() as logs:
        bench.log.add([bench.failed(1), bench.failed(2, again_in=3.5, kind=ErrorClass.TRANSIENT)], set())
        bench.log.add([bench.failed(3, step=2)], set())  # an optional step: the item continues
        bench.log.add([bench.failed(4)], {(7, 4)})  # no longer ours
    about = {"job": 5, "attempt": 2, "duration_s": 1.25, "bookmarkId": 42}
    assert said(logs) == [
        about | {"event": "item_failed", "log_level": "error", "step": "links.fetch", "error_class": "data",
                 "item": 1, "reason": "reason 1"},
        about | {"event": "attempt_failed", "log_level": "warning", "step": "links.fetch", "error_class": "transient",
                 "item": 2, "reason": "reason 2", "retry_in": 3.5},
        about | {"event": "attempt_failed", "log_level": "warning", "step": "links.caption", "error_class": "data",
                 "item": 3, "reason": "reason 3"},
    ]  # fmt: skip


async def test_many_alike_are_counted() -> None:
    bench = Bench()
    with capture_logs() as logs:
        bench.log.add([bench.failed(n) for n in range(1, 1001)], set())
        await bench.log.end_windows()
        assert len(logs) == 5
        bench.now += 60
        await bench.log.end_windows()
        bench.log.add([bench.failed(2000)], set())
        bench.log.close()
    assert [line.get("repeated") for line in logs] == [None] * 5 + [995, None]
    assert said(logs)[5] == {
        "event": "item_failed", "log_level": "error", "step": "links.fetch", "error_class": "data", "repeated": 995,
        "within_s": 60.0, "reason": "reason 1000",
    }  # fmt: skip
