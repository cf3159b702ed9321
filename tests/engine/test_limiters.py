"""Leased starts in a worker are used neither early, nor late, nor twice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.engine.db.limits import TokenGrant
from forebay.engine.limits.limiters import SLACK, ClockSkew, RateLimiter, RateToken, TokenBlock, Tokens

moments = st.floats(0, 1000)


@given(
    start=moments,
    interval=st.floats(0.0001, 100),
    count=st.integers(1, 50),
    steps=st.lists(st.floats(0, 3), max_size=80),
)
def test_a_start_is_used_between_its_release_and_its_lapse(
    start: float, interval: float, count: int, steps: list[float]
) -> None:
    tokens, now = Tokens(), start
    life = max(interval, SLACK)
    tokens.add(TokenBlock(start, interval, count, life))
    taken: list[RateToken] = []
    for step in steps:
        now += step * interval
        token = tokens.take(now)
        if token is not None:
            assert token.lapses > now
            taken.append(token)
    assert all(b.release - a.release >= interval * 0.999 for a, b in pairwise(taken))
    assert len(taken) + tokens.count(now) + tokens.wasted == count


def test_what_was_given_back_is_taken_again_until_it_lapses() -> None:
    tokens = Tokens()
    tokens.add(TokenBlock(10, 1, 1, 1))
    token = tokens.take(10)
    assert token is not None
    assert token == RateToken(release=10, lapses=11)
    assert tokens.take(10) is None
    tokens.put_back(token)
    assert tokens.take(10.5) == token
    tokens.put_back(token)
    assert tokens.take(11) is None


@given(
    offset=st.floats(-1e6, 1e6),
    trips=st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02)), min_size=1, max_size=10),
)
def test_local_time_is_never_early_nor_late_on_the_servers_clock(
    offset: float, trips: list[tuple[float, float]]
) -> None:
    skew, now = ClockSkew(), 0.0
    for there, back in trips:
        sent, at, now = now, now + there + offset, now + there + back
        skew.observe(sent, at, now)
    assert skew.low - 1e-9 <= offset <= skew.high + 1e-9
    piece = skew.block(TokenGrant(3, now + offset + 1, 0, 0), 0.2)
    assert piece.start + offset >= now + offset + 1 - 1e-9
    assert piece.start + piece.life + offset <= now + offset + 1 + 0.2 + 1e-9


def test_a_server_whose_clock_was_set_is_believed() -> None:
    skew = ClockSkew()
    skew.observe(0, 100, 0.01)
    skew.observe(1, 5000, 1.01)
    assert skew.low == pytest.approx(4998.99)


def test_a_slow_round_trip_leaves_half_of_the_slack() -> None:
    skew = ClockSkew()
    skew.observe(0, 0.2, 0.4)
    assert skew.block(TokenGrant(1, 1, 0, 0), 0.001).life == SLACK / 2


def test_slices_follow_the_use() -> None:
    gate = RateLimiter("r", "", 0.001, keyed=False)
    sizes = [gate.ask(0).want]
    for _ in range(12):
        gate.tokens.add(TokenBlock(0, 0.001, gate.size, 100))
        while gate.tokens.take(0):
            pass
        sizes.append(gate.ask(0).want)
    assert sizes[:4] == [1, 2, 4, 8]
    assert sizes[-1] == 500  # half a second's worth
    gate.tokens.add(TokenBlock(0, 0.001, 500, 0.1))
    gate.tokens.take(0)
    assert gate.ask(10).want == 2  # all but one of those lapsed


def test_a_slow_key_asks_only_for_tasks_that_are_there() -> None:
    gate = RateLimiter("r", "k", 0.02)
    for _ in range(5):
        ask = gate.ask(0)
        assert (ask.want, ask.waiters) == (1, 0)
        gate.tokens.add(TokenBlock(0, 0.02, 1, 100))
        assert gate.tokens.take(0)
        assert not gate.requests_ahead
