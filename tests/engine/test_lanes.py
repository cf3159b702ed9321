"""Fairness: shares by weight, in virtual time, among owners first."""

# demands: S1-24, S1-93, S1-94, S1-124, X-06

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.engine.db.tasks import LaneInfo, Lease
from forebay.engine.work import lanes as lanes_module
from forebay.engine.work.lane import Lane
from forebay.engine.work.lane_order import LaneOrder
from forebay.engine.work.lanes import StepLanes
from forebay.engine.work.service_time import AGE_S, ServiceTime
from forebay.engine.work.task_queue import TaskQueue


def lease(lane_id: int, size: int, seq: int = 1, rest: int = 0) -> Lease:
    return Lease(seq, 1, lane_id, lane_id, 1, 1, seq, rest, 1, size, list(range(1, size + 1)), ["{}"] * size, None)


def known(*lanes: tuple[int, int, int, float]) -> StepLanes:
    """Lanes as (lane, owner, priority, weight), all with something ready."""
    step = StepLanes(1)
    for lane_id, owner_id, priority, weight in lanes:
        step.learn(LaneInfo(lane_id, owner_id, priority, weight))
        step.wake(lane_id)
    return step


def serve(step: StepLanes, room: int, rounds: int) -> Counter[int]:
    """Serve endless backlogs: every claim returns as much as requested."""
    got: Counter[int] = Counter()
    for n in range(rounds):
        claims = step.pick(room)
        step.claimed(claims, [lease(c.lane_id, c.quota, seq=n + 1) for c in claims])
        for claim in claims:
            got[claim.lane_id] += claim.quota
    return got


def test_equal_owners_get_equal_shares() -> None:
    got = serve(known((1, 1, 0, 1), (2, 2, 0, 1)), 100, 10)
    assert got[1] == got[2] == 500


def test_weights_decide() -> None:
    got = serve(known((1, 1, 0, 3), (2, 2, 0, 1)), 100, 10)
    assert got[1] == 3 * got[2]


def test_many_lanes_do_not_make_a_larger_share() -> None:
    step = known(*((lane, 1, 0, 1.0) for lane in range(1, 10)), (99, 2, 0, 1.0))
    got = serve(step, 90, 10)
    assert got[99] == sum(n for lane, n in got.items() if lane != 99)


def test_when_room_is_short_lanes_take_turns() -> None:
    got = serve(known(*((lane, lane, 0, 1.0) for lane in range(1, 6))), 1, 50)
    assert set(got.values()) == {10}


def test_a_higher_priority_goes_first() -> None:
    assert set(serve(known((1, 1, 0, 1), (2, 2, 5, 1)), 10, 3)) == {2}


def test_a_newcomer_does_not_get_what_it_missed() -> None:
    step = known((1, 1, 0, 1))
    serve(step, 100, 50)
    step.learn(LaneInfo(2, 2, 0, 1))
    step.wake(2)
    got = serve(step, 1, 20)
    assert abs(got[1] - got[2]) <= 2


def test_a_dry_lane_leaves_and_comes_back() -> None:
    step = known((1, 1, 0, 1))
    claims = step.pick(100)
    step.claimed(claims, [lease(1, 5)])
    assert step.pick(100) == []
    assert step.wake(1)
    assert [c.lane_id for c in step.pick(100)] == [1]


def test_a_late_commit_lowers_the_watermark() -> None:
    step = known((1, 1, 0, 1))
    claims = step.pick(10)
    step.claimed(claims, [lease(1, 10, seq=5000)])
    assert step.lanes[1].head == 5000
    step.wake(1, seq=40)
    assert step.lanes[1].head == 39


def test_a_lane_that_is_slow_to_read_from_its_start_is_read_from_there_less_often() -> None:
    now = 100.0
    step = StepLanes(1, clock=lambda: now)
    step.wake(1)

    def heads(seconds: float, since: float) -> tuple[int, int]:
        """Where the next claims begin: one that takes so many seconds, and one so many seconds after it."""
        nonlocal now
        step.rewind(1)
        first = step.pick(10)
        step.claimed(first, [lease(1, 10, seq=5000)], seconds)
        now += since
        step.rewind_if_due(1)
        second = step.pick(10)
        step.claimed(second, [lease(1, 10, seq=5000)], seconds)
        return first[0].head, second[0].head

    assert heads(0.01, 4.9) == (0, 4500)
    assert heads(0.01, 5.1) == (0, 0)
    assert heads(2.0, 99.0) == (0, 4500), "50 times as long as the claim took"
    assert heads(2.0, 101.0) == (0, 0)


def test_short_runs_are_read_in_larger_numbers() -> None:
    step = known((1, 1, 0, 1))
    claims = step.pick(1000)
    assert claims[0].max_rows == 4
    step.claimed(claims, [lease(1, 1, seq=n) for n in range(1, 5)])
    assert step.pick(1000)[0].max_rows == 16


def test_a_lane_that_trickles_after_a_burst_is_claimed_from_in_small_numbers_again() -> None:
    step = known((1, 1, 0, 1))
    for _ in range(5):  # a burst of jobs of one item
        claims = step.pick(2000)
        step.claimed(claims, [lease(1, 1, seq=n) for n in range(1, claims[0].max_rows + 1)])
    claims = step.pick(2000)
    assert claims[0].max_rows > 500
    step.failed(claims)
    for n in range(5):  # then single jobs at intervals
        step.wake(1)
        claims = step.pick(2000)
        step.claimed(claims, [lease(1, 1, seq=5000 + n)])
    step.wake(1)
    assert step.pick(2000)[0].max_rows <= 8


def test_a_small_claim_does_not_make_large_ones_small() -> None:
    step = known((1, 1, 0, 1))
    for _ in range(5):
        claims = step.pick(2000)
        step.claimed(claims, [lease(1, 1, seq=n) for n in range(1, claims[0].max_rows + 1)])
    claims = step.pick(8)
    step.claimed(claims, [lease(1, 1, seq=n) for n in range(1, 9)])
    assert step.pick(2000)[0].max_rows > 500


def test_a_lane_that_is_being_claimed_is_not_claimed_twice() -> None:
    step = known((1, 1, 0, 1))
    claims = step.pick(10)
    assert step.pick(10) == []
    step.failed(claims)
    assert step.pick(10) != []


@given(st.dictionaries(st.integers(1, 20), st.integers(1, 30), min_size=1), st.integers(1, 5))
def test_the_queue_gives_out_everything_once(sizes: dict[int, int], runs: int) -> None:
    queue = TaskQueue()
    for _ in range(runs):
        for lane_id, size in sizes.items():
            queue.push(lease(lane_id, size), weight=lane_id)
    seen: Counter[tuple[int, int]] = Counter()
    while (task := queue.pop()) is not None:
        seen[task[0].lane_id, task[0].ns[task[1]]] += 1
    assert queue.size == 0
    assert seen == Counter({(lane, n): runs for lane, size in sizes.items() for n in range(1, size + 1)})


def test_the_queue_is_fair_by_weight() -> None:
    queue = TaskQueue()
    queue.push(lease(1, 300), weight=1)
    queue.push(lease(2, 300), weight=3)
    first = Counter(cast("Any", queue.pop())[0].lane_id for _ in range(100))
    assert first[2] in range(74, 77)


def test_the_queue_lets_go_of_leases() -> None:
    queue = TaskQueue()
    a, b = lease(1, 10), lease(1, 10)
    a.token, b.token = 1, 2
    queue.push(a)
    queue.push(b)
    queue.pop()
    assert [n for _, n in queue.drop(lambda lease: lease.token == 1)] == list(range(2, 11))
    assert queue.size == 10
    assert cast("Any", queue.pop())[0] is b
    queue.clear()
    assert queue.pop() is None


def test_the_queue_gives_out_what_is_of_others() -> None:
    queue = TaskQueue()
    mine, theirs = lease(1, 2, seq=1), lease(2, 2, seq=2)
    mine.owner_id, theirs.owner_id = 1, 2
    queue.push(mine)
    queue.push(theirs)
    assert queue.pop_of_others({1}) == (theirs, 0)
    assert queue.pop_of_others({1}) == (theirs, 1)
    assert queue.pop_of_others({1}) is None
    assert (queue.size, queue.pop(), queue.pop(), queue.pop()) == (2, (mine, 0), (mine, 1), None)


def queued(*lanes: tuple[int, int, int]) -> TaskQueue:
    """Three tasks each of lanes as (lane, owner, priority)."""
    queue = TaskQueue()
    for lane_id, owner_id, priority in lanes:
        run = lease(lane_id, 3)
        run.owner_id = owner_id
        queue.push(run, priority)
    return queue


def owner(task: tuple[Lease, int] | None) -> int | None:
    return task and task[0].owner_id


def test_who_holds_no_slot_comes_before_a_higher_priority() -> None:
    queue = queued((1, 1, 100), (2, 2, 0), (3, 3, 0))
    assert owner(queue.pop_shared({}, 1)) == 1  # no owner holds a slot: the priority decides
    assert owner(queue.pop_shared({1: 1, 2: 1}, 1)) == 3
    assert owner(queue.pop_shared({1: 2, 3: 1}, 5)) == 2
    assert owner(queue.pop_shared({1: 2, 2: 1, 3: 1}, 5)) == 1


def test_who_holds_all_slots_but_one_comes_after_those_who_hold_fewer() -> None:
    queue = queued((1, 1, 100), (2, 2, 0))
    assert owner(queue.pop_shared({1: 3, 2: 1}, 3)) == 2
    assert owner(queue.pop_shared({1: 2, 2: 1}, 3)) == 1
    assert owner(queue.pop_shared({1: 3, 2: 3}, 3)) == 1
    alone = queued((1, 1, 0), (2, 1, 0))
    assert owner(alone.pop_shared({1: 7}, 3)) == 1


def test_who_was_not_served_last_and_holds_no_slot_can_be_asked_for() -> None:
    """Slots that run short tasks hold nothing between two of them."""
    queue = queued((1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, -1))
    assert owner(queue.pop_waiting({3}, 1)) == 2
    queue.ended(2, 1, 0.05)  # its task took longer than those of the others, for whatever reason
    assert owner(queue.pop()) != 2
    assert owner(queue.pop_waiting({3}, 1)) == 2
    queue.ended(2, 1, 0.06)  # as much slot time as it may be ahead
    assert owner(queue.pop_waiting({3}, 1)) is None
    assert owner(queued((1, 1, 0), (2, 1, 0)).pop_waiting({}, 1)) is None


def test_a_backlog_of_short_tasks_does_not_keep_the_next_task_of_another_owner() -> None:
    queue = TaskQueue()
    for lane_id, size in ((1, 1000), (2, 2)):
        run = lease(lane_id, size)
        run.owner_id = lane_id
        queue.push(run)
    last, order = 0, []
    for _ in range(4):  # slices, each of which begins with an owner who waits
        for place in range(5):
            task = (queue.pop_waiting({}, last) if place == 0 else None) or queue.pop_shared({}, 15)
            assert task is not None
            last = task[0].owner_id
            order.append(last)
            queue.ended(last, 1, 0.02 if last == 2 else 0.0001)
    assert order.count(2) == 2
    assert 2 in order[5:15]  # not after a hundred tasks, which is what its first one took


def test_whom_a_priority_keeps_from_their_turn_can_be_asked_for() -> None:
    queue = queued((1, 1, 100), (2, 1, 0), (3, 2, 100), (4, 3, 0), (5, 4, 0))
    assert owner(queue.pop_outranked({4})) == 3
    assert owner(queue.pop_outranked({3, 4})) is None  # of the same priority, or one's own
    assert owner(queued((1, 1, 0), (2, 2, 0)).pop_outranked({})) is None
    gone = queued((1, 1, 100), (2, 2, 0))
    gone.drop(lambda run: run.owner_id == 1)
    assert gone.pop_outranked({}) is None


def test_a_high_priority_does_not_keep_other_owners_from_being_claimed() -> None:
    step = known((1, 1, 100, 1), (2, 1, 0, 1), (6, 4, 100, 1), (7, 4, 0, 1), (3, 2, 0, 1), (4, 2, 1, 1), (5, 3, 0, 1))
    assert sorted((claim.lane_id, claim.quota) for claim in step.pick_outranked({1})) == [(4, 1), (5, 1)]
    assert [claim.lane_id for claim in step.pick_outranked({1})] == [3]  # the others are being claimed from
    assert known((1, 1, 7, 1), (2, 2, 7, 1)).pick_outranked({1}) == []


# -- many lanes -----------------------------------------------------------------------------------------------------


class Counting(LaneOrder):
    """Counts how often the position of a lane is computed."""

    looks = 0

    def key(self, lane: Lane) -> tuple[float, float, int]:
        Counting.looks += 1
        return super().key(lane)


@pytest.mark.parametrize("count", [500, 20_000])
def test_a_wake_up_or_a_claim_costs_the_same_beside_any_number_of_lanes(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes_module, "LaneOrder", Counting)
    monkeypatch.setattr(Counting, "looks", 0)
    step = StepLanes(1)
    for lane_id in range(1, count + 1):
        step.wake(lane_id)
        step.learn(LaneInfo(lane_id, lane_id, 0, 1))
    assert Counting.looks <= 8 * count
    Counting.looks = 0
    for n in range(10):
        claims = step.pick(64)
        assert len(claims) == 64
        step.claimed(claims, [lease(c.lane_id, 1, seq=n + 1) for c in claims[:32]])
        step.wake(10 * count + n)
    assert Counting.looks <= 10 * 64 * 8


def test_a_claim_goes_round_all_lanes_before_it_comes_back_to_one() -> None:
    step = known(*((lane, lane, 0, 1.0) for lane in range(1, 301)))
    got = serve(step, 60, 15)
    assert set(got.values()) == {3}


def test_lanes_that_are_served_again_and_again_leave_no_entries_behind() -> None:
    step = known((1, 1, 0, 1))
    for n in range(2000):
        claims = step.pick(10, served={1})
        step.claimed(claims, [lease(1, 10, seq=n + 1)])
    assert sum(len(heap) for heap in step._order._heaps.values()) < 200


def test_only_idle_lanes_are_forgotten_and_owners_keep_what_they_were_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "_MAX_IDLE", 10)
    step = known((1, 1, 0, 1), (2, 2, 0, 1))
    serve(step, 10, 5)
    before = {owner_id: owner.virtual for owner_id, owner in step._owners.items()}
    for lane_id in range(100, 150):  # these come and go
        step.learn(LaneInfo(lane_id, lane_id, 0, 1))
        step.wake(lane_id)
        claims = step.pick(100)
        step.claimed(claims, [lease(c.lane_id, c.quota, seq=7) for c in claims if c.lane_id < 100])
    step.forget_idle()
    assert sorted(step.lanes) == [1, 2, *range(140, 150)]
    assert set(step._owners) == {1, 2, *range(140, 150)}
    assert all(step._owners[owner_id].virtual > virtual for owner_id, virtual in before.items())


def test_a_lane_that_is_paused_while_it_is_claimed_from_can_come_back() -> None:
    step = known((1, 1, 0, 1))
    claims = step.pick(10)
    step.learn(LaneInfo(1, 1, 0, 1, paused=True))
    step.claimed(claims, [lease(1, 10)])
    assert step.pick(10) == []
    step.learn(LaneInfo(1, 1, 0, 1))
    assert step.wake(1)
    assert [claim.lane_id for claim in step.pick(10)] == [1]


# -- slot time ------------------------------------------------------------------------------------------------------


def test_the_estimate_of_a_lane_is_corrected_when_its_tasks_end() -> None:
    service = ServiceTime()
    charged = service.take(10, 0.001)
    charged += service.end(4, 20.0)
    assert service.mean == 5
    charged += service.take(2, 0.001)
    charged += service.end(6, 30.0) + service.refund(2)
    assert charged == pytest.approx(50.0)
    assert service.end(1, 5.0) == 5.0  # nothing was charged for it


def test_owners_share_slot_time_not_tasks() -> None:
    """One owner's tasks take a hundred times as long: claims of one task at a time go to the other."""
    step = known((1, 1, 0, 1), (2, 2, 0, 1))
    seconds, used, got = {1: 5.0, 2: 0.05}, {1: 0.0, 2: 0.0}, Counter[int]()
    for n in range(1000):
        (claim,) = step.pick(1)
        step.claimed([claim], [lease(claim.lane_id, 1, seq=n + 1)])
        step.ended(claim.lane_id, 1, seconds[claim.lane_id])
        used[claim.lane_id] += seconds[claim.lane_id]
        got[claim.lane_id] += 1
    assert abs(used[1] - used[2]) <= 5
    assert got[2] > 80 * got[1]


def test_slots_are_shared_in_time_too() -> None:
    """Four slots, two owners with endless tasks of 5 s and of 0.05 s: each uses half of the slot time."""
    queue, seconds, used = TaskQueue(), {1: 5.0, 2: 0.05}, {1: 0.0, 2: 0.0}
    slots = [0.0] * 4
    running: list[tuple[float, int]] = []
    for lane_id in seconds:
        run = lease(lane_id, 20_000)
        run.owner_id = lane_id
        queue.push(run)
    for _ in range(8000):
        now = slots.pop(0)
        for ended, lane_id in [each for each in running if each[0] <= now]:
            running.remove((ended, lane_id))
            queue.ended(lane_id, 1, seconds[lane_id])
        lane_id = cast("Any", queue.pop())[0].lane_id
        used[lane_id] += seconds[lane_id]
        running.append((now + seconds[lane_id], lane_id))
        slots = sorted([*slots, now + seconds[lane_id]])
    assert 0.9 < used[1] / used[2] < 1.1


def test_an_empty_queue_forgets_no_charge() -> None:
    queue = TaskQueue()
    queue.push(lease(1, 1, seq=1))
    queue.pop()
    queue.ended(1, 1, 60.0)
    queue.push(lease(1, 1, seq=2))
    queue.push(lease(2, 1, seq=3))
    assert cast("Any", queue.pop())[0].lane_id == 2


# -- priorities -----------------------------------------------------------------------------------------------------


def test_a_low_priority_is_slow_but_is_claimed_from() -> None:
    now = 100.0
    step = StepLanes(1, clock=lambda: now)
    for lane_id, priority in ((1, 5), (2, 2)):
        step.learn(LaneInfo(lane_id, 1, priority, 1))
        step.wake(lane_id)
    assert step.has_priorities
    got: Counter[int] = Counter()
    for n in range(300):  # 30 s
        now += 0.1
        for claims in (step.pick(10), step.pick_aged()):
            step.claimed(claims, [lease(c.lane_id, c.quota, seq=n + 1) for c in claims])
            got.update({c.lane_id: c.quota for c in claims})
    assert got[1] == 3000
    assert got[2] in (9, 10)  # one in three seconds


def test_no_more_aged_lanes_are_claimed_from_than_there_is_capacity() -> None:
    now = 100.0
    step = StepLanes(1, clock=lambda: now)
    for lane_id in (1, 2, 3):
        step.learn(LaneInfo(lane_id, 1, -lane_id, 1))
        step.wake(lane_id)
    now += 100
    assert [len(step.pick_aged(most)) for most in (-1, 0, 1)] == [0, 0, 1]


def test_a_low_priority_is_slow_but_gets_a_slot() -> None:
    queue = queued((1, 1, 2), (2, 1, 0))
    began = queue._time
    queue.age(began)
    assert [cast("Any", queue.pop())[0].lane_id for _ in range(2)] == [1, 1]
    queue.push(lease(1, 100), 2)
    queue.age(began + 1.9 * AGE_S)
    assert cast("Any", queue.pop())[0].lane_id == 1
    queue.age(began + 2.1 * AGE_S)
    assert Counter(cast("Any", queue.pop())[0].lane_id for _ in range(4)) == {1: 3, 2: 1}  # then it is low again


def test_the_longest_wait_of_a_lane_is_known() -> None:
    now = 100.0
    step = StepLanes(1, clock=lambda: now)
    assert step.longest_wait() == 0
    for lane_id in (1, 2):
        step.learn(LaneInfo(lane_id, lane_id, 0, 1))
        step.wake(lane_id)
    now = 160.0
    assert step.longest_wait() == 60
    step.claimed(step.pick(2), [lease(1, 1), lease(2, 1)])
    now = 161.0
    assert step.longest_wait() == 1


def test_a_crowd_of_lanes_gets_no_small_claims_except_for_those_that_are_new() -> None:
    step = known(*((lane, lane, 0, 1.0) for lane in range(1, 201)))
    while claims := step.pick_waiting(16, ()):  # a few tasks of each, once
        step.claimed(claims, [lease(c.lane_id, c.quota) for c in claims])
    assert not any(lane.fresh for lane in step.lanes.values())
    step.learn(LaneInfo(999, 999, 0, 1.0))
    step.wake(999)
    assert [claim.lane_id for claim in step.pick_waiting(16, ())] == [999]


def test_few_lanes_always_get_small_claims() -> None:
    step = known(*((lane, lane, 0, 1.0) for lane in range(1, 11)))
    for _ in range(3):
        claims = step.pick_waiting(16, ())
        assert claims
        step.claimed(claims, [lease(c.lane_id, c.quota) for c in claims])
