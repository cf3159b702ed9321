"""Workers that are killed while a step maps, and while its children run: each child once, and the next step once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crash._rig import Watch, Workers, eventually
from tests.crash._steps import Order, books

if TYPE_CHECKING:
    from pathlib import Path

_PAGES = 4400


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    (tmp_path / "gate").mkdir()
    return tmp_path / "gate"


async def test_workers_killed_while_they_store_and_run_children(workers: Workers, watch: Watch, gate: Path) -> None:
    job = (await books.submit(await watch.conn(), Order(number=_PAGES, gate=str(gate)))).job_id
    first = workers.start()

    async def is_at_gate() -> bool:
        return bool(os.listdir(gate))  # noqa: PTH208 - what a Path does blocks here

    await eventually("the items are being stored", is_at_gate)
    assert await watch.one("select sum(total) from forebay.job where parent_id = $1 and not sealed", job) > 4000
    first.kill()
    (gate / "open").touch()
    second = workers.start(claim_max="50")
    some_ended = "select done > 50 from forebay.job where parent_id = $1 and sealed"
    await watch.until("some children have ended", some_ended, job)
    second.kill()
    workers.start()
    await watch.done([job])
    await watch.until("the children that never started are gone", "select count(*) = 2 from forebay.job")
    await workers.stop_all()
    counts = await watch.fetch(
        "select e.step, count(*), count(distinct (e.job_id, e.n)) as tasks from effects e group by 1 order by 1"
    )
    assert [tuple(row) for row in counts] == [("bind", 1, 1), ("ship", _PAGES, _PAGES)]
    result = await watch.one("select result ->> 'bind' from forebay.item where job_id = $1", job)
    assert int(result) == sum(2 * number for number in range(_PAGES))
    assert await watch.one("select count(*) from forebay.item") == _PAGES + 1
