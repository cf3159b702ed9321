"""Approvals from their webhook to the voucher.

ARCH-007-A and B, the worker and its task, are held here and in test_faults; C, the retries, in test_faults; D, the
repository, and E, the health, in test_operating.
"""

# demands: S3-97, S3-100

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest_asyncio

from tests.pipelines.attachments._world import World, open_world


@pytest_asyncio.fixture(loop_scope="session")
async def world(dsn: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(dsn, tmp_path) as opened:
        yield opened


async def test_an_approval_becomes_files_and_a_voucher(world: World) -> None:
    world.fake.put("A-1", "发票.pdf", "b.png", "c.pdf")
    world.fake.faults["A-1/b.png"] = deque(["500", "truncate"])
    answer = await world.announce("A-1")
    assert (answer.status_code, answer.json()) == (200, {})
    before = await world.detail("A-1")
    assert (before["files"], before["why"]) == (
        {"pending": 0, "downloaded": 0, "failed": 0},
        "the form has not been read yet",
    )
    await world.bed.finish()
    after = await world.detail("A-1")
    assert after["files"] == {"pending": 0, "downloaded": 3, "failed": 0}
    assert (after["voucher"], after["why"], after["title"]) == ("READY", None, "报销 Expenses")
    for file in after["allFiles"]:
        whole = world.fake.contents[f"A-1/{file['name']}"]
        assert file["sha256"] == sha256(whole).hexdigest()
        assert await world.content(file["fileId"]) == whole
    assert (await world.content(after["voucherId"])).startswith(b"%PDF")
    assert world.fake.wrong == []
