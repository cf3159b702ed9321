"""Transactions that steps open. What a step reads and writes there is committed together with the settle of its task.
The lease is locked and checked in the same transaction, so nothing of a worker that has lost it is ever committed."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, REJECTED, UNAVAILABLE, release, terminate
from forebay.engine.work.attempt import report_error
from forebay.errors import DataError, PermanentError, TransientError, message_without_values, one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.db.pool import Connection, Pool
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.settler import Settler

log = get_logger("transactions")

_RETURNED = (None, "NOT_FOUND", "SKIPPED", "SNOOZED", "CANCELLED")  # the outcomes of a step that has raised nothing


class StepTransaction:
    """The transaction of one attempt: begun by its first block, ended when the attempt is settled."""

    def __init__(self, pool: Pool, longest: float) -> None:
        self.lock = asyncio.Lock()  # blocks that run at the same time, and the commit, take turns
        self.is_overdue = False
        self._pool = pool
        self._longest = longest
        self._conn: Connection | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def connection(self) -> Connection:
        """The connection, in the transaction.

        Raises: TransientError if the transaction has been open for too long.
        """
        if self.is_overdue:
            raise TransientError(self.overdue_reason)
        if self._conn is None:
            conn = await self._pool.acquire()
            try:
                self._transaction = conn.transaction()
                await self._transaction.start()
            except BaseException:
                terminate(conn)
                await release(self._pool, conn)
                raise
            self._conn = conn
            self._timer = asyncio.get_running_loop().call_later(self._longest, self._give_up, conn)
        return self._conn

    @property
    def overdue_reason(self) -> str:
        return (
            f"the transaction of the step was open for more than {self._longest:g} s (FOREBAY_COMMAND_TIMEOUT_S): "
            "open it after the slow work"
        )

    def _give_up(self, conn: Connection) -> None:
        self.is_overdue = True
        terminate(conn)

    @property
    def begun(self) -> Connection | None:
        """The connection, if a block has begun the transaction."""
        return self._conn

    async def commit(self) -> None:
        await self._transaction.commit()

    async def close(self) -> None:
        """Return the connection; what was not committed is rolled back."""
        if self._timer is not None:
            self._timer.cancel()
        if self._conn is None:
            return
        conn, self._conn = self._conn, None
        try:
            async with asyncio.timeout(5):
                if not conn.is_closed() and conn.is_in_transaction():
                    await self._transaction.rollback()
        except (*UNAVAILABLE, *REJECTED):
            terminate(conn)  # the server rolls back
        await release(self._pool, conn)


class StepTransactions:
    """The transactions of the steps of one worker; each uses a connection of a pool of their own."""

    def __init__(self, pool: Pool, settler: Settler, executors: Mapping[int, StepExecutor], *, longest: float) -> None:
        """`longest`: seconds that a transaction can be open."""
        self._pool = pool
        self._settler = settler
        self._executors = executors
        self._longest = longest
        self._settling: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def block(self, attempt: Attempt) -> AsyncGenerator[Connection]:
        """A block in the transaction of an attempt; an exception undoes what the block has written."""
        if self._executors[attempt.lease.step_id].step.batch_size is not None:
            raise PermanentError("batch steps have no transaction: return Done(value, writes=[…]) for each item")
        if attempt.own_transaction is None:
            attempt.own_transaction = StepTransaction(self._pool, self._longest)
        own = attempt.own_transaction
        async with own.lock:
            self._check_running(attempt)
            conn = await own.connection()
            try:
                self._check_running(attempt)
            except PermanentError:  # the step has ended while this block waited for the connection
                await own.close()
                raise
            async with conn.transaction():
                yield conn

    def _check_running(self, attempt: Attempt) -> None:
        if attempt not in self._executors[attempt.lease.step_id].running:
            raise PermanentError("the step has ended, and its transaction with it: await its blocks in the step")

    def settle(self, attempt: Attempt) -> None:
        """Settle an attempt that has opened a transaction."""
        task = asyncio.create_task(self._settle(attempt), name="settle transaction")
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def drained(self) -> None:
        """Wait until no transaction is being settled."""
        while self._settling:
            await asyncio.wait(self._settling)

    async def _settle(self, attempt: Attempt) -> None:
        own = attempt.own_transaction
        assert own is not None  # noqa: S101 - checked by the caller
        try:
            is_settled = _has_returned(attempt) and await self._commit(own, attempt)
        finally:
            await own.close()
        if not is_settled:
            self._settler.add(attempt)

    async def _commit(self, own: StepTransaction, attempt: Attempt) -> bool:
        """Commit what the step has written with its settle; if that fails, the attempt fails. A block that the step
        has begun and does not await ends first."""
        try:
            async with asyncio.timeout(self._longest), own.lock:
                if own.begun is None:
                    return False
                settled = await self._settler.settle_in(own.begun, attempt)
                if settled is not None:
                    await own.commit()
            if settled is not None:
                await self._settler.finish([attempt], settled)
                return True
            _drop_result(attempt)
            attempt.fail("RELEASED", reason="its lease was lost", retry_in=0.0, counts_as_attempt=False)
        except (TransientError, *CONFLICT, *UNAVAILABLE) as error:
            # If the commit succeeded and only its response was lost, the report of this failure is stale.
            lost = f"the transaction of the step was not committed: {one_line(error)}"
            self._fail(attempt, own.overdue_reason if own.is_overdue else lost)
        except (DataError, *REJECTED) as error:
            _drop_result(attempt)
            rejected = f"the transaction of the step was rejected: {message_without_values(error)}"
            reason = str(error) if isinstance(error, DataError) else rejected
            attempt.fail("ERROR", reason=reason, error_class=DataError.error_class)
        return False

    def _fail(self, attempt: Attempt, reason: str) -> None:
        log.warning("transaction_failed", job=attempt.job_id, item=attempt.n, reason=reason)
        _drop_result(attempt)
        report_error(attempt, self._executors[attempt.lease.step_id].step, TransientError(reason))


def _has_returned(attempt: Attempt) -> bool:
    """Whether the step has returned, even if it was told to stop. CANCELLED is also the outcome of a step that ended
    because its job was cancelled."""
    return attempt.outcome in _RETURNED and (attempt.outcome, attempt.stop) != ("CANCELLED", "cancelled")


def _drop_result(attempt: Attempt) -> None:
    attempt.result, attempt.writes = None, ()
