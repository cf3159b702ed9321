"""A machine that is short of a resource makes claims smaller, in proportion to the shortage."""

# demands: S5-68

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from forebay import Context, Pipeline
from forebay.engine.work import cgroup, machine
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


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The control groups; those of this process are written by `own`."""
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(cgroup, "_OWN", tmp_path / "own")
    (tmp_path / "own").write_text("0::/\n")
    return tmp_path / "cgroup"


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


def test_a_container_counts_when_it_has_less(groups: Path) -> None:
    stat = "anon 900\ninactive_file 40"
    write(groups, memory__max="1000", memory__current="990", memory__stat=stat)
    assert free_memory() == pytest.approx(0.05)
    write(groups, memory__max="max")
    assert cgroup.free_memory() == 1.0


def test_a_container_of_cgroup_v1_counts_when_it_has_less(groups: Path) -> None:
    own = groups.parent / "own"
    own.write_text("7:memory:/pods/mine\n3:cpu,cpuacct:/pods/mine\n")
    memory = {"memory__usage_in_bytes": "990", "memory__stat": "total_inactive_file 40"}
    write(groups / "memory" / "pods" / "mine", memory__limit_in_bytes="1000", **memory)
    write(groups / "memory", memory__limit_in_bytes=str((1 << 63) - 4096), **memory)
    write(groups / "cpu" / "pods", cpu__cfs_quota_us="150000", cpu__cfs_period_us="100000")
    write(groups / "cpu" / "pods" / "mine", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert cgroup.free_memory() == pytest.approx(0.05)
    assert cgroup.cores() == 1.5


def test_neighbours_of_a_container_with_its_own_cores_do_not_count(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0 * (os.cpu_count() or 1), 0.0, 0.0))
    assert load() == 9.0
    (groups.parent / "own").write_text("0::/forebay.service\n")
    pressure = "some avg10=90.00 avg60=0.00 avg300=0.00 total=1\nfull avg10={}.00 avg60=0.00 avg300=0.00 total=1"
    write(groups / "forebay.service", cpu__max="50000 100000", cpu__pressure=pressure.format(0))
    assert (cgroup.cores(), load()) == (0.5, 1.0)
    write(groups / "forebay.service", cpu__pressure=pressure.format(75))  # it wants four times its limit
    assert load() == 4.0
    write(groups / "forebay.service", cpu__max="max 100000")
    assert load() == 9.0


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
