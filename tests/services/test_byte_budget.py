"""How many bytes the rows of a file may take."""

from __future__ import annotations

import pytest

from forebay.errors import DataError
from forebay.services.spreadsheets.byte_budget import ByteBudget


@pytest.mark.parametrize(
    ("size", "most", "allowed"),
    [
        (2000, 10 << 30, 16 << 20),
        (1 << 20, 10 << 30, 200 << 20),
        (1 << 30, 10 << 30, 10 << 30),
        (2000, 1 << 20, 1 << 20),
    ],
)
def test_what_a_file_may_grow_to(size: int, most: int, allowed: int) -> None:
    budget = ByteBudget(size, most)
    assert budget.allowed == allowed
    budget.spend(allowed)
    with pytest.raises(DataError, match=f"more than {allowed} bytes"):
        budget.spend(1)
