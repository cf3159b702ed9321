"""A machine that is short of a resource makes claims smaller, in proportion to the shortage."""

# demands: S5-68

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from forebay import Context, Pipeline
from forebay.engine.work import machine
from forebay.engine.work.machine import Machine, free_memory, load
from forebay.testing import testbed


def calm(seen: Machine, times: int = 30) -> None:
    for _ in range(times):
        seen.observe(late=0.0, load=0.5, free=0.5)


def test_a_calm_machine_takes_all() -> None:
    seen = Machine()
    calm(seen)
    assert seen.share == 1.0
    assert seen.describe() == {"share": 1.0, "lag_ms": 0.0, "load": 0.5, "free_memory": 0.5}


@pytest.mark.parametrize(
    ("late", "load", "free", "share"),
    [(0.4, 0.5, 0.5, 0.25), (0.0, 12.0, 0.5, 0.25), (0.0, 0.5, 0.025, 0.25), (9.0, 99.0, 0.0, 0.05)],
)
def test_the_scarcest_decides(late: float, load: float, free: float, share: float) -> None:
    seen = Machine()
    seen.observe(late=late, load=load, free=free)
    assert seen.share == pytest.approx(share)


def test_relief_comes_in_steps() -> None:
    seen = Machine()
    seen.observe(late=0.0, load=30.0, free=0.5)
    seen.observe(late=0.0, load=0.5, free=0.5)
    assert seen.share == pytest.approx(0.2)
    calm(seen)
    assert seen.share == 1.0


def test_this_machine_can_be_read() -> None:
    assert load() >= 0
    assert 0 < free_memory() <= 1


def test_a_container_counts_when_it_has_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("990\n")
    (tmp_path / "memory.stat").write_text("anon 900\ninactive_file 40\n")
    assert free_memory() == pytest.approx(0.05)
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() > 0.05


async def test_what_a_testbed_claims_does_not_depend_on_the_load(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "load", lambda: 1000.0)
    monkeypatch.setattr(machine, "_TICK", 0.001)
    parcels: Pipeline[dict[str, int]] = Pipeline("parcels", dict)
    sizes: list[int] = []

    @parcels.batch_step(size=10)
    async def weigh(ctx: Context, found: Sequence[dict[str, int]]) -> list[int]:
        sizes.append(len(found))
        return [1] * len(found)

    async with testbed(dsn, [parcels], migrated=True) as bed:
        await parcels.submit_many(bed.pool, [{"n": n} for n in range(8)])
        await bed.finish()
    assert sizes == [8]
