"""The adaptive batch size of a stream."""

# demands: S5-07, S5-55, S5-56, S5-60, S5-61, S5-62

from __future__ import annotations

from forebay.engine.submit.batch_size import BatchSize


def sizes(batch: BatchSize, times: int, *, seconds: float, row_bytes: int = 100) -> list[int]:
    """Send full batches; return the size after each."""
    seen: list[int] = []
    for _ in range(times):
        batch.succeeded(batch.rows, batch.rows * row_bytes, seconds)
        seen.append(batch.rows)
    return seen


def test_doubles_while_batches_are_fast() -> None:
    batch = BatchSize()
    assert batch.rows == 64
    assert sizes(batch, 9, seconds=0.01) == [128, 256, 512, 1024, 2048, 4096, 8192, 8192, 8192]


def test_stays_when_twice_the_size_would_be_too_slow() -> None:
    assert sizes(BatchSize(), 3, seconds=0.2) == [64, 64, 64]


def test_halves_while_batches_are_slow() -> None:
    assert sizes(BatchSize(), 8, seconds=1.0) == [32, 16, 8, 4, 2, 1, 1, 1]


def test_one_slow_batch_among_fast_ones_is_forgiven() -> None:
    batch = BatchSize(most=64)
    sizes(batch, 5, seconds=0.01)
    assert sizes(batch, 1, seconds=0.6) == [64]


def test_grows_again_after_a_shrink() -> None:
    batch = BatchSize()
    sizes(batch, 1, seconds=1.0)
    assert sizes(batch, 2, seconds=0.01) == [64, 128]


def test_failures_leave_a_quarter() -> None:
    batch = BatchSize(start=64)
    for expected in (16, 4, 1, 1):
        batch.failed()
        assert batch.rows == expected


def test_a_batch_that_was_not_full_proves_nothing() -> None:
    batch = BatchSize()
    batch.succeeded(10, 1000, 0.001)
    assert batch.rows == 64


def test_bytes_bound_the_rows() -> None:
    batch = BatchSize(most_bytes=1000)
    batch.succeeded(64, 64 * 100, 0.001)
    assert batch.rows == 10
    batch.succeeded(10, 10 * 100_000, 0.001)
    assert batch.rows == 1, "never none"


def test_empty_rows_do_not_divide_by_zero() -> None:
    batch = BatchSize()
    batch.succeeded(64, 0, 0.0)
    assert batch.rows == 128


def test_waiting_for_a_connection_shrinks() -> None:
    batch = BatchSize()
    batch.succeeded(64, 6400, 0.01, waited=0.5)
    assert batch.rows == 32


def test_stays_within_its_bounds() -> None:
    batch = BatchSize(least=16, most=100)
    assert sizes(batch, 2, seconds=0.01) == [100, 100]
    assert sizes(batch, 4, seconds=9.0) == [50, 25, 16, 16]
    assert BatchSize(start=64, most=10).rows == 10


def test_it_says_what_it_does() -> None:
    batch = BatchSize()
    assert str(batch) == "64 at a time"
    batch.succeeded(64, 6400, 0.012)
    assert str(batch) == "128 at a time, 12 ms each time"
