"""What the state machines share: their settings, guards of rules, and rules whose operations run in transactions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

import asyncpg
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forebay.db.pool import Connection
    from forebay.engine.db import tasks
    from tests.properties._transactions import Transactions

M = TypeVar("M", bound=RuleBasedStateMachine)
P = ParamSpec("P")

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
LEASE_S = 60.0
CONNECTIONS = 3

picks = st.integers(0, 2**16)
stays_open = st.sampled_from((False, False, True))

_COMMON = settings(
    deadline=None,
    print_blob=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)


def drive(machine: type[RuleBasedStateMachine], *, examples: int, steps: int, **shared: object) -> None:
    """Run a machine; `shared` are attributes of its class, such as the connections of all examples."""
    how = settings(_COMMON, max_examples=examples, stateful_step_count=steps)
    run_state_machine_as_test(type(machine.__name__, (machine,), shared), settings=how)


class When(Generic[M]):
    """Guards a rule, which does nothing unless it fits.

    Hypothesis' own preconditions decide what it draws next, and must not depend on a database, whose plans, and so the
    order in which it returns tasks, change with its statistics.
    """

    def __call__(
        self, fits: Callable[[M], object]
    ) -> Callable[[Callable[Concatenate[M, P], None]], Callable[Concatenate[M, P], None]]:
        def guard(action: Callable[Concatenate[M, P], None]) -> Callable[Concatenate[M, P], None]:
            @wraps(action)
            def guarded(machine: M, /, *args: P.args, **kwargs: P.kwargs) -> None:
                if fits(machine):
                    action(machine, *args, **kwargs)

            return guarded

        return guard


class TransactionMachine(RuleBasedStateMachine):
    """A machine whose operations run in transactions that overlap; `transactions` are those of the test's database."""

    transactions: ClassVar[Transactions]

    def __init__(self) -> None:
        super().__init__()
        self.now = START

    def agrees(self) -> None:
        """Check what is committed: an invariant of every machine."""
        raise NotImplementedError

    def _clear(self, tables: Iterable[str]) -> None:
        self.transactions.reset()
        self.transactions.execute("; ".join(f"delete from forebay.{name}" for name in tables))

    def tick(self, seconds: float = 0.001) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def _run(
        self,
        name: str,
        operation: Callable[[Connection], Any],
        committed: Callable[[Any], None] = lambda _: None,
        ended: Callable[[], None] = lambda: None,
        *,
        stays: bool = False,
    ) -> None:
        """Run an operation in a transaction of its own; one that stays open is ended by another rule."""
        while None not in self.transactions.open:
            self._end_some()
        place = self.transactions.open.index(None)
        self.transactions.begin(place, name, operation, committed, ended)
        if not stays and self.transactions.can_end(place):
            self.transactions.end(place, commit=True)

    def _can_end(self) -> list[int]:
        return [place for place in range(CONNECTIONS) if self.transactions.can_end(place)]

    def _end_some(self) -> None:
        places = self._can_end()
        assert places, "all transactions wait for each other"
        self.transactions.end(places[0], commit=True)
        self.agrees()

    def _end_all(self) -> None:
        while any(self.transactions.open):
            self._end_some()

    @rule(pick=picks, commit=st.sampled_from((True, True, False)))
    def end(self, pick: int, commit: bool) -> None:
        if places := self._can_end():
            self.transactions.end(places[pick % len(places)], commit=commit)


async def unless_refused(conn: Connection, sql: str, *args: object) -> Any:
    """The answer to an operator's request; None if it does not fit the state of the job or the item."""
    try:
        async with conn.transaction():  # the transaction around it stays usable
            return await conn.fetchval(sql, *args)
    except asyncpg.PostgresError as error:
        if not (error.sqlstate or "").startswith("FB"):
            raise
        return None


def report(
    reports: tasks.Reports,
    place: tuple[int, int],
    outcome: str | None,
    *,
    result: str | None = None,
    again: float | None = None,
    ends_item: bool = False,
) -> None:
    """Add the end of a task, by token and n, as a worker reports it; the outcome None is DONE."""
    is_error = outcome == "ERROR"
    reports.tokens.append(place[0])
    reports.ns.append(place[1])
    reports.results.append(result)
    reports.elapsed.append(0.0)
    reports.outcomes.append(outcome)
    reports.retry_ins.append(again)
    reports.count_as_attempts.append(outcome != "SNOOZED")
    reports.ends_items.append(ends_item)
    reports.classes.append("data" if is_error else None)
    reports.reasons.append("because" if is_error else None)
