"""The logs contain the end of each job and, at debug level, the end of every attempt and its next retry."""

# demands: S2-99, S3-87, S3-88, S5-102, S5-103, S5-104

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from forebay import Context, Pipeline, Retry
from forebay.engine.work import job_log
from forebay.errors import TransientError
from forebay.testing import testbed


class Page(BaseModel):
    url: str


pages: Pipeline[Page] = Pipeline("pages", Page)


@pages.step(retry=Retry(attempts=2))
async def fetch(ctx: Context, page: Page) -> int:
    if ctx.attempt < 2 and page.url == "shaky":
        raise TransientError("no answer")
    return len(page.url)


async def told(dsn: str, *urls: str) -> list[dict[str, Any]]:
    async with testbed(dsn, [pages], migrated=True) as bed:
        with capture_logs() as logs:
            await pages.submit_many(bed.pool, [Page(url=url) for url in urls])
            await bed.finish()
    return [{k: v for k, v in line.items() if k not in ("part", "log_level")} for line in logs]


async def test_a_job_that_ended_is_told(dsn: str) -> None:
    lines = await told(dsn, "a", "shaky")
    assert {"event": "job_finished", "job": 1} in lines
    assert "attempt_settled" not in {line["event"] for line in lines}


async def test_in_detail_every_attempt_is_told_and_when_it_is_tried_again(
    dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="forebay")
    lines = await told(dsn, "a", "shaky")
    about = {"job": 1, "step": "pages.fetch", "duration_s": 0.0}
    retry = next(line for line in lines if line["event"] == "retry_planned")
    assert retry.pop("retry_in") > 0
    assert retry == about | {
        "event": "retry_planned", "item": 2, "attempt": 1, "outcome": "ERROR", "error_class": "transient",
        "reason": "no answer", "counts_as_attempt": True,
    }  # fmt: skip
    settled = [line for line in lines if line["event"] == "attempt_settled"]
    assert settled == [
        about | {"event": "attempt_settled", "item": item, "attempt": attempt, "outcome": "DONE"}
        for item, attempt in ((1, 1), (2, 2))
    ]


def test_many_jobs_that_end_together_share_a_line() -> None:
    with capture_logs() as logs:
        job_log.log_finished(list(range(10, 30)))
        job_log.log_finished([7, 8])
    assert [{k: v for k, v in line.items() if k not in ("part", "log_level")} for line in logs] == [
        {"event": "jobs_finished", "count": 20, "first": 10, "last": 29},
        {"event": "job_finished", "job": 7},
        {"event": "job_finished", "job": 8},
    ]
