"""Settling: writes reports of ended attempts to the database in batches, which grow while a round trip is in
progress. Reports with rows are settled in one transaction with their rows, and apart from the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, INTERNAL, MISUSED, REJECTED, UNAVAILABLE, is_usable, retry_until_up, terminate
from forebay.engine.db import tasks
from forebay.engine.db.writes import Writer, size_of
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.waiting_reports import WaitingReports
from forebay.errors import DataError, message_without_values, one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forebay.db.pool import Connection, Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Settled

log = get_logger("settler")

_LOOPS = 3  # batches at a time: two when many reports wait, and one of other owners than theirs
_WRITE_LOSSES = 3  # times that the writes of a report fail without an answer until the report is considered the cause
_INTERNAL_ERRORS = 3  # internal errors of the server in a row until one of the reports is considered the cause
_YIELD_EVERY = 500  # reports after which a batch yields to the event loop


class _UnsettledError(Exception):
    """A batch that cannot be settled as it is, although the database may be available."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Settler:
    """Collects reports and settles them; an invalid report is isolated, so that the others can be settled."""

    def __init__(
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        *,
        timeout: float,
        throttled_for: float,
        on_saved: Callable[[Sequence[Attempt]], None],
        on_settled: Callable[[Sequence[Attempt], Settled], None],
        solo_steps: set[int],
    ) -> None:
        """`on_saved` is told which reports are in the database, in several calls for a large batch; then `on_settled`
        is told what follows from all of them."""
        self.settled = 0
        self.stale = 0
        self._pool = pool
        self._worker_id = worker_id
        self._clock = clock
        self._timeout = timeout
        self._throttled_for = throttled_for
        self._writer = Writer()
        self._on_saved = on_saved
        self._on_settled = on_settled
        self._waiting = WaitingReports(solo_steps)
        self._losses: Counter[tuple[int, int]] = Counter()
        self._news = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    def add(self, report: Attempt) -> None:
        if report.writes:
            report.write_bytes = size_of(report.writes)
        self._waiting.add(report)
        if not self._news.is_set():
            self._news.set()
            self._empty.clear()

    @property
    def backlog(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        return self._waiting.is_full

    async def drained(self) -> None:
        """Wait until all added reports are settled."""
        await self._empty.wait()

    async def run(self) -> None:
        """Settle forever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_LOOPS):
                group.create_task(self._loop())

    async def _loop(self) -> None:
        while True:
            await self._news.wait()
            while batch := self._waiting.begin():
                try:
                    await self._settle(batch)
                finally:
                    self._waiting.end(batch)
            self._news.clear()  # the next batches of the other loops take the rest
            if self._waiting.is_settled:
                self._empty.set()

    async def _settle(self, batch: list[Attempt], *, again: bool = False) -> None:
        """`again`: an earlier try with these reports failed without an answer, so they may have been settled."""
        with_writes = [report for report in batch if report.writes]
        plain = [report for report in batch if not report.writes] if with_writes else batch
        for part in (plain, with_writes):
            if part:
                await self._settle_part(part, again=again)

    async def _settle_part(self, batch: list[Attempt], *, again: bool) -> None:
        repeats: list[BaseException] = []

        def repeated(error: BaseException, pause: float) -> None:
            repeats.append(error)
            log.warning("settle_repeated", error=one_line(error), pause=pause, reports=len(batch))
            # A batch that is too slow, or that the server cannot process, would fail in the same way each time.
            is_internal = len(repeats) >= _INTERNAL_ERRORS and all(isinstance(e, INTERNAL) for e in repeats)
            if (isinstance(error, TimeoutError) and len(batch) > 1) or is_internal:
                assert isinstance(error, Exception)  # noqa: S101 - both kinds are
                raise _UnsettledError(error)

        try:
            settled = await retry_until_up(
                lambda: self._in_transaction(batch, again=bool(repeats)), repeated, self._timeout
            )
        except _UnsettledError as unsettled:
            await self._isolate(batch, unsettled.cause, again=True)
        except (DataError, *REJECTED) as error:
            await self._isolate(batch, error, again=again or bool(repeats))
        else:
            # After a retry, a report that looks stale may have been settled by the first try, whose response was lost.
            await self.finish(batch, settled, count_stale=not (again or repeats))

    async def _in_transaction(self, batch: list[Attempt], *, again: bool) -> Settled:
        async with self._pool.acquire() as conn:
            transaction = conn.transaction()
            try:
                columns = await self._settled_columns(conn, batch)
                if not any(report.writes for report in batch):
                    return await tasks.settle(conn, self._worker_id, columns, self._clock.stamp())
                await transaction.start()
                await self._write_rows(conn, batch, again=again)
                settled = await tasks.settle(conn, self._worker_id, columns, self._clock.stamp())
                await transaction.commit()
            except (*UNAVAILABLE, asyncio.CancelledError):
                terminate(conn)  # it may be half open: neither the rollback nor the next user may wait for it
                raise
            except BaseException:
                if conn.is_in_transaction():  # not after a commit that was rejected
                    await transaction.rollback()
                raise
            return settled

    async def settle_in(self, conn: Connection, report: Attempt) -> Settled | None:
        """Settle one report in the open transaction of its step; None if the worker has lost the task."""
        if not await tasks.hold(conn, [report.lease.token], [report.n]):
            return None
        columns = await self._settled_columns(conn, [report])
        if report.writes:
            await self._write(conn, [report], again=False)
        return await tasks.settle(conn, self._worker_id, columns, self._clock.stamp())

    async def _write_rows(self, conn: Connection, batch: list[Attempt], *, again: bool) -> None:
        """Write the rows of those tasks that will be settled: their leases and items are locked first, so that only the
        holder of a lease writes, and nothing is written for an item that has ended. The settle, which locks the jobs,
        comes last, so that others can settle tasks of the same jobs meanwhile."""
        held = await tasks.hold(conn, [report.lease.token for report in batch], [report.n for report in batch])
        mine = [report for report in batch if (report.lease.token, report.n) in held]
        try:
            async with asyncio.timeout(self._timeout / 2):
                # After a lost connection, each report writes separately, to find out whose writes caused the loss.
                for group in [[report] for report in mine] if again else [mine]:
                    await self._write(conn, group, again=again)
        except TimeoutError:
            if len(batch) == 1:
                self._count_loss(batch[0], f"its rows could not be written within {self._timeout / 2:g} s")
            raise

    async def _write(self, conn: Connection, group: list[Attempt], *, again: bool) -> None:
        try:
            await self._writer.apply(conn, (write for report in group for write in report.writes), again=again)
        except (*CONFLICT, TimeoutError):
            raise
        except MISUSED + UNAVAILABLE as error:
            if isinstance(error, MISUSED) and is_usable(conn):
                raise DataError(f"the writes of the step were rejected: {message_without_values(error)}") from error
            if len(group) == 1:
                self._count_loss(group[0], f"the connection was lost {_WRITE_LOSSES} times while its rows were written")
            raise

    def _count_loss(self, report: Attempt, reason: str) -> None:
        """Count that the writes of this report failed without an answer, although its task could be locked. If this
        happens repeatedly, the report is settled without its writes, so that the rest of its batch can be settled."""
        task = (report.lease.token, report.n)
        self._losses[task] += 1
        if self._losses[task] >= _WRITE_LOSSES:
            del self._losses[task]
            report.result, report.writes = None, ()
            _fail_report(report, DataError(reason))

    async def _isolate(self, batch: list[Attempt], error: Exception, *, again: bool) -> None:
        """Halve the batch until it is fast enough, or the invalid report is alone; that report fails with the
        reason."""
        if len(batch) > 1:
            middle = len(batch) // 2
            await self._settle(batch[:middle], again=again)
            await self._settle(batch[middle:], again=again)
            return
        report = batch[0]
        if report.outcome is not None and report.result is None and not report.writes:
            # Heartbeats no longer renew the lease of a dropped report: it expires, and the task runs again.
            log.critical("report_lost", job=report.lease.job_id, item=report.n, error=one_line(error))
            self._on_saved(batch)
            self._on_settled(batch, tasks.Settled(0, [], [], []))
            return
        step = report.lease.step_id
        log.warning("write_rejected", job=report.lease.job_id, item=report.n, step=step, error=one_line(error))
        report.result, report.writes = None, ()
        _fail_report(report, error)
        await self._settle([report], again=again)

    async def finish(self, batch: list[Attempt], settled: Settled, *, count_stale: bool = True) -> None:
        """Count reports that were settled, and tell the worker."""
        for start in range(0, len(batch), _YIELD_EVERY):
            if start:
                await asyncio.sleep(0)
            self._on_saved(batch[start : start + _YIELD_EVERY])
        if self._losses:
            for report in batch:
                self._losses.pop((report.lease.token, report.n), None)
        self.settled += settled.settled
        if settled.stale and count_stale:
            self.stale += len(settled.stale)
            log.warning("reports_stale", count=len(settled.stale), worker=self._worker_id)
        self._on_settled(batch, settled)

    async def _settled_columns(self, conn: Connection, batch: list[Attempt]) -> tasks.Reports:
        """The columns of the settle. A task that was throttled for too long fails; only throttled tasks pay for this
        check."""
        columns = self._columns(batch)
        if len(batch) > _YIELD_EVERY:
            await asyncio.sleep(0)  # encoding the columns takes as long as collecting them
        if "THROTTLED" not in columns.outcomes and "SNOOZED" not in columns.outcomes:
            return columns
        asked = [r for r in batch if (r.outcome == "THROTTLED" and r.error_class is not None) or r.outcome == "SNOOZED"]
        if not asked:
            return columns
        bounds = [r.throttled_for or self._throttled_for for r in asked]
        throttled = [
            (r.lease, r.n, _longest_wait(r, bound) if r.outcome == "THROTTLED" else None)
            for r, bound in zip(asked, bounds, strict=True)
        ]
        waited = await tasks.note_throttled(conn, throttled, self._clock.stamp())
        long = [place for place, seconds in waited.items() if seconds > bounds[place]]
        for place in long:
            report, bound = asked[place], bounds[place]
            reason = f"throttled for more than {_span(bound)}: {report.throttled_by}"
            report.fail("ERROR", reason=reason, error_class=report.error_class)
        return self._columns(batch) if long else columns

    def _columns(self, batch: list[Attempt]) -> tasks.Reports:
        now = self._clock.mark()
        columns = tasks.Reports(
            tokens=[r.lease.token for r in batch],
            ns=[r.n for r in batch],
            results=[r.result for r in batch],
            elapsed=[now - r.started for r in batch],
        )
        if all(r.outcome is None for r in batch):
            return columns
        columns.outcomes = [r.outcome for r in batch]
        for r in batch:
            ended_well = r.outcome is None
            columns.retry_ins.append(None if ended_well else r.retry_in)
            columns.count_as_attempts.append(ended_well or r.counts_as_attempt)
            columns.ends_items.append(not ended_well and r.ends_item)
            columns.classes.append(None if ended_well else r.error_class)
            columns.reasons.append(None if ended_well else r.reason)
        return columns


def _longest_wait(report: Attempt, bound: float) -> float:
    """How much of the time until the next attempt counts as throttling: the delay, plus a margin."""
    return max(bound / 24, 1.25 * (report.retry_in or 0.0))


def _span(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds:g} s"


def _fail_report(report: Attempt, error: Exception) -> None:
    """Fail a report whose writes were rejected: the data is invalid, and another attempt would return the same."""
    rejected = DataError(f"the writes of the step were rejected: {message_without_values(error)}")
    failure = error if isinstance(error, DataError) else rejected
    report.fail("ERROR", reason=str(failure), error_class=failure.error_class)
