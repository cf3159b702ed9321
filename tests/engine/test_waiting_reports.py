"""Which reports are settled together, and which do not wait for those of others."""

from __future__ import annotations

from forebay.engine.db.tasks import Lease
from forebay.engine.work.attempt import Attempt
from forebay.engine.work.waiting_reports import WaitingReports

_SOLO = 1  # a step of a single-step pipeline


def report(owner_id: int, n: int, *, step_id: int = 2) -> Attempt:
    lease = Lease(owner_id, step_id, owner_id, owner_id, owner_id, 1, 1, 0, n, n, [n], ["{}"], None)
    return Attempt(lease, n, 0.0)


def waiting(*owners: tuple[int, int], step_id: int = 2) -> WaitingReports:
    """Reports of owners as (owner, number)."""
    found = WaitingReports({_SOLO})
    for owner_id, count in owners:
        for n in range(count):
            found.add(report(owner_id, n, step_id=step_id))
    return found


def owners(batch: list[Attempt]) -> set[int]:
    return {each.lease.owner_id for each in batch}


def test_reports_wait_for_the_batch_in_progress() -> None:
    reports = waiting((1, 3))
    first = reports.begin()
    reports.add(report(1, 7))
    assert reports.begin() == []
    reports.end(first)
    second = reports.begin()
    assert [each.n for each in second] == [7]
    assert not reports.is_settled
    reports.end(second)
    assert reports.is_settled


def test_others_do_not_wait_for_the_batches_of_the_owner_of_most_reports() -> None:
    reports = waiting((1, 100))
    regular = reports.begin()
    reports.add(report(2, 1))
    express = reports.begin()
    assert (owners(regular), owners(express)) == ({1}, {2})
    reports.add(report(3, 1))
    assert reports.begin() == []  # one such batch at a time
    reports.end(express)
    assert owners(reports.begin()) == {3}


def test_they_are_not_settled_in_one_batch_with_that_owner_either() -> None:
    for step_id in (_SOLO, 2):
        reports = waiting((1, 100), (2, 1), step_id=step_id)
        assert (owners(reports.begin()), owners(reports.begin())) == ({2}, {1})
        assert not len(reports)


def test_reports_of_few_tasks_or_of_many_owners_share_a_batch() -> None:
    assert owners(waiting((1, 5), (2, 1)).begin()) == {1, 2}
    assert owners(waiting((1, 40), (2, 40)).begin()) == {1, 2}
    assert len(owners(waiting(*((owner_id, 40 if owner_id == 1 else 1) for owner_id in range(1, 40))).begin())) == 39


def test_a_full_batch_does_not_wait_for_the_one_in_progress_but_a_third_does() -> None:
    reports = waiting((1, 1))
    reports.begin()
    for n in range(1, 2000):
        reports.add(report(1, n))
    assert reports.begin() == []
    reports.add(report(1, 2000))
    assert len(reports.begin()) == 2000
    for n in range(2001, 4100):
        reports.add(report(1, n))
    assert reports.begin() == []


def test_few_large_results_fill_a_batch() -> None:
    reports = waiting((1, 1))
    reports.begin()
    large = "x" * (4 << 20)
    for n in (1, 2):
        assert reports.begin() == []
        one = report(1, n)
        one.result = large
        reports.add(one)
    assert [each.n for each in reports.begin()] == [1, 2]


def test_a_batch_has_one_report_of_an_item() -> None:
    reports = waiting((1, 2))
    reports.add(report(1, 1))
    first = reports.begin()
    assert [each.n for each in first] == [0, 1]
    reports.end(first)
    assert [each.n for each in reports.begin()] == [1]
