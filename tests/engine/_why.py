"""Asking why something waits, in a testbed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.api.routes.why import Facts
from forebay.cli._why_words import sentence
from forebay.engine.why import find
from forebay.testing import testbed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.why.reason import Answer, Reason
    from forebay.testing import Testbed
    from forebay.types import Submitted


_FILE = Path(__file__).parents[2] / "web" / "src" / "why" / "samples.json"
# A reason of each code, with its sentences in the terminal and in the web app; the tests of the latter say it again.
SAMPLES: dict[str, dict[str, Any]] = {
    sample["code"]: sample for sample in json.loads(_FILE.read_text("utf-8"))["reasons"]
}
SAMPLED_AT = datetime(2026, 5, 4, 14, tzinfo=UTC)


class Asking:
    """The answers at the time of the testbed, and the last one in words, without the name of the worker."""

    def __init__(self, bed: Testbed) -> None:
        self.bed = bed
        self.said: list[str] = []

    async def item(self, job: Submitted | int, n: int = 1, *, late: float = 0.0) -> list[Reason]:
        """`late`: seconds after the time of the testbed."""
        if late:
            self.bed.clock.advance(late)
        job_id = job if isinstance(job, int) else job.job_id
        async with self.bed.pool.acquire() as conn:
            answer = await find.of_item(conn, job_id, n, now=self.bed.clock.now())
        return self._in_words(answer)

    async def job(self, job: Submitted) -> list[Reason]:
        async with self.bed.pool.acquire() as conn:
            return self._in_words(await find.of_job(conn, job.job_id, now=self.bed.clock.now()))

    async def queue(self, name: str) -> list[Reason]:
        async with self.bed.pool.acquire() as conn:
            return self._in_words(await find.of_queue(conn, name, now=self.bed.clock.now()))

    async def call(self, sql: str, *args: object) -> Any:
        async with self.bed.pool.acquire() as conn:
            return await conn.fetchval(sql, *args)

    async def claim(self, until: Callable[[], bool]) -> None:
        """Let the worker claim until this holds."""
        self.bed.worker._claimer.open()
        await self.bed.worker.poll()
        await met(until)

    async def report(self) -> None:
        """The worker reports its status, two seconds later."""
        self.bed.clock.advance(2)
        await self.bed.worker.report_status()

    def _in_words(self, answer: Answer) -> list[Reason]:
        """The reasons, each of which can be said and sent."""
        me = f"{socket.gethostname()}:{os.getpid()}"
        self.said = [sentence(reason, answer.at, job=1).replace(me, "w1") for reason in answer.reasons]
        assert not [text for text in self.said if "None" in text]
        for reason in answer.reasons:
            facts = Facts.model_validate(reason.facts).model_dump(by_alias=True, exclude_unset=True)
            expected = {*SAMPLES[reason.code]["facts"], "tasks", "tasksExact", "item"}
            assert set(facts) <= expected, f"web/src/why/samples.json lacks facts of {reason.code}"
            assert set(reason.actions) <= {*SAMPLES[reason.code]["actions"]}, f"the actions of {reason.code}"
        return answer.reasons


@asynccontextmanager
async def asking(dsn: str, *pipelines: Pipeline[Any], **options: Any) -> AsyncIterator[Asking]:
    async with testbed(dsn, pipelines, migrated=True, **options) as bed:
        yield Asking(bed)


async def met(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - the worker has no events for them
            await asyncio.sleep(0.005)


def codes(reasons: Sequence[Reason]) -> list[str]:
    return [reason.code for reason in reasons]
