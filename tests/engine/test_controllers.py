"""Controllers: their decisions for given measurements."""

# demands: S5-07, S5-64, S5-65, S5-66, S5-69, S5-70, S5-180

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.engine.clock import Clock
from forebay.engine.db.tasks import Lease
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.claim_size import ClaimSize, LeaseTime
from forebay.engine.work.ended_attempts import EndedAttempts
from forebay.tuning import Concurrency, Ewma, FailureSpike, ProbingConcurrency
from forebay.waits import Backoff


def test_the_mean_follows_what_it_sees() -> None:
    mean = Ewma(alpha=0.5)
    for value in (10, 20, 20):
        mean.add(value)
    assert mean.mean == 17.5
    assert mean.deviation > 0


@pytest.mark.parametrize(
    ("item_s", "slots", "size"),
    [(1.0, 10, 10), (0.010, 10, 80), (1e-6, 1, 2000), (0.0, 100, 2000)],
)
def test_a_claim_is_what_the_slots_get_through_in_a_slice(item_s: float, slots: int, size: int) -> None:
    claim = ClaimSize(slice_s=0.1, safety=0.8, most=2000)
    claim.add(item_s)
    assert claim.value(slots) == size


def test_the_first_claim_fills_the_slots() -> None:
    assert ClaimSize().value(8) == 8


@pytest.mark.parametrize("outcome", [None, "NOT_FOUND", "SKIPPED"])
def test_a_claim_follows_the_time_of_tasks_with_and_without_a_result(outcome: str | None) -> None:
    size, concurrency = ClaimSize(), Concurrency(1, 8)
    ends = EndedAttempts(Clock(), concurrency, size, lambda *_: None)
    attempt = Attempt(Lease(1, 1, 1, 1, 1, 1, 1, 0, 1, 1, [1], ["{}"], None), 1, 0.0)
    if outcome is not None:
        attempt.fail(outcome, reason="none")
    for _ in range(4):
        ends.add(attempt, 0.001)
    ends.learn(1)
    assert size.value(8) == 640
    assert ends.succeeded == 4


@pytest.mark.parametrize("outcome", ["ERROR", "THROTTLED"])
def test_a_claim_does_not_grow_while_tasks_fail(outcome: str) -> None:
    size = ClaimSize()
    ends = EndedAttempts(Clock(), Concurrency(1, 8), size, lambda *_: None)
    attempt = Attempt(Lease(1, 1, 1, 1, 1, 1, 1, 0, 1, 1, [1], ["{}"], None), 1, 0.0)
    attempt.fail(outcome, reason="none")
    ends.add(attempt, 0.001)
    ends.learn(1)
    assert size.value(8) == 8


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.integers(1, 100))
def test_a_claim_stays_in_its_bounds(times: list[float], slots: int) -> None:
    claim = ClaimSize(least=1, most=500)
    for seconds in times:
        claim.add(seconds)
    assert 1 <= claim.value(slots) <= 500


def run(limit: Concurrency, seconds: float, windows: int = 1) -> None:
    for _ in range(windows):
        count = limit.value
        limit.add(count, seconds * count, count)


def test_concurrency_grows_while_latency_stays() -> None:
    limit = Concurrency(1, 100)
    before = limit.value
    run(limit, 0.05, windows=20)
    assert limit.value == before + 20


def test_concurrency_falls_under_pressure() -> None:
    limit = Concurrency(1, 100)
    run(limit, 0.05, windows=50)
    high = limit.value
    for _ in range(10):
        limit.add_pressure()
        run(limit, 0.05)
    assert limit.value < high * 0.5


def test_concurrency_falls_when_everything_fails() -> None:
    limit = Concurrency(1, 100)
    run(limit, 0.05, windows=50)
    high = limit.value
    for _ in range(high):
        limit.add_pressure()
    assert limit.value == int(high * 0.9)
    for _ in range(20 * high):
        limit.add_pressure()
    assert limit.value == 1


def test_retries_are_spaced_out_while_most_attempts_fail() -> None:
    spike = FailureSpike()
    spike.add(failed=19)
    assert spike.spacing == 1.0  # too few to tell
    spike.add(failed=400)
    assert 3.9 < spike.spacing <= 4.0
    spike.add(succeeded=20)
    assert 1 < spike.spacing < 4
    spike.add(succeeded=100)
    assert spike.spacing == 1.0


def test_failures_now_and_then_space_nothing_out() -> None:
    spike = FailureSpike()
    for _ in range(500):
        spike.add(failed=1)
        spike.add(succeeded=2)
    assert spike.spacing == 1.0


def test_concurrency_falls_when_latency_leaves_its_band() -> None:
    limit = Concurrency(1, 100)
    run(limit, 0.05, windows=20)
    high = limit.value
    run(limit, 0.5)
    assert limit.value < high


def test_concurrency_does_not_grow_when_it_is_not_used() -> None:
    limit = Concurrency(1, 100)
    before = limit.value
    for _ in range(20):
        limit.add(before, 0.05 * before, running=1)
    assert limit.value == before


def test_noise_far_below_a_millisecond_is_no_pressure() -> None:
    limit = Concurrency(1, 20)
    for n in range(100):
        run(limit, 1e-6 * (1 + n % 7 * 10))
    assert limit.value == 20


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=200))
def test_concurrency_stays_in_its_bounds(events: list[tuple[float, bool]]) -> None:
    limit = Concurrency(2, 30)
    for seconds, pressed in events:
        if pressed:
            limit.add_pressure()
        run(limit, seconds)
        assert 2 <= limit.value <= 30


def test_a_lease_is_longer_than_its_floor_only_after_late_heartbeats() -> None:
    lease = LeaseTime(floor=10, cap=600)
    assert lease.value == 10
    lengths = []
    for gap in (2.5, 60.0, 3600.0):
        lease.add_gap(gap)
        lengths.append(lease.value)
    assert lengths == [10, 120, 600]
    for _ in range(200):
        lease.add_gap(2.5)
    assert lease.value == 10


def test_pauses_grow_and_vanish() -> None:
    backoff = Backoff(1, 8)
    assert [backoff.grow() for _ in range(5)] == [1, 2, 4, 8, 8]
    backoff.reset()
    assert backoff.pause == 0


def _ask(limit: ProbingConcurrency, hands: int, seconds: float, windows: int, thrash: float = 0.02) -> float:
    """Call a service with this concurrency as often as the limit allows; return the last latency."""
    latency = seconds
    for _ in range(windows):
        for _ in range(limit.value):
            waiting = max(0, limit.value - hands)
            latency = seconds * max(1.0, limit.value / hands) * (1 + thrash * waiting)
            limit.add(1, latency, limit.value)
    return latency


@pytest.mark.parametrize("hands", [1, 3, 8, 20])
def test_what_a_service_can_do_is_found_and_no_more(hands: int) -> None:
    limit = ProbingConcurrency(1, 200, start=2)
    for _ in range(50):
        _ask(limit, hands, 0.1, 10)
        assert limit.value <= 2 * hands + 3
    assert limit.value >= hands


def test_a_slow_service_is_not_a_queue() -> None:
    """Its throughput per concurrency stays the same, only the latency increases."""
    limit = ProbingConcurrency(1, 200, start=2)
    _ask(limit, 8, 0.1, 60)
    seen: list[int] = []
    for _ in range(40):
        _ask(limit, 8, 1.0, 1)
        seen.append(limit.value)
    assert sorted(seen[10:])[len(seen) // 5] >= 8  # except while it measures the latency with half the concurrency
    _ask(limit, 8, 0.1, 60)
    assert 8 <= limit.value <= 19


def test_hands_that_go_and_come_back() -> None:
    limit = ProbingConcurrency(1, 200, start=2)
    _ask(limit, 16, 0.1, 60)
    assert limit.value >= 16
    _ask(limit, 2, 0.1, 100)
    assert limit.value <= 8
    _ask(limit, 16, 0.1, 80)
    assert limit.value >= 14


def test_failures_shrink_what_is_sought() -> None:
    limit = ProbingConcurrency(1, 50, start=2)
    _ask(limit, 20, 0.1, 60)
    for _ in range(60):
        limit.drop()
    assert limit.value == 1
    assert limit.describe()["base_ms"] is not None
    _ask(limit, 20, 0.1, 60)
    assert limit.value >= 20
    limit.add_pressure()
    before = limit.limit
    _ask(limit, 20, 0.1, 1)
    assert limit.limit < before


def test_after_an_outage_the_concurrency_is_soon_what_it_was() -> None:
    limit = ProbingConcurrency(1, 200, start=2)
    _ask(limit, hands=40, seconds=0.2, windows=100)
    before = limit.value
    assert before >= 40
    for _ in range(5):
        limit.drop()
    limit.begin_again()
    assert limit.value == 1
    _ask(limit, hands=40, seconds=0.2, windows=6)
    assert limit.value >= before // 2
    _ask(limit, hands=40, seconds=0.2, windows=1)
    assert limit.value <= before // 2 + 3  # from half on one by one: nobody knows what the service can handle now
