"""Two worker processes share the rate and the quota of Lark."""

# demands: S3-07

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.api._service import serving
from tests.pipelines.attachments._fake_lark import APP, SECRET, FakeLark, fake_lark
from tests.pipelines.attachments._world import KEY, approval, signed

RATE, QUOTA, APPROVALS = 2, 12, 5  # of three files each: more than the quota
_WORKERS = "select count(*) from forebay.worker where stopped_at is null"
_STORED = "select count(*) from forebay.attachment where status = 'DOWNLOADED'"
_USED = "select coalesce(sum(used), 0) from forebay.attachment_quota"


@asynccontextmanager
async def _workers(count: int, environment: dict[str, str]) -> AsyncIterator[list[Process]]:
    command = (sys.executable, "-m", "forebay", "worker")
    workers = [
        await asyncio.create_subprocess_exec(*command, env=os.environ | environment, stdout=DEVNULL, stderr=DEVNULL)
        for _ in range(count)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()


async def test_the_rate_and_the_quota_are_those_of_both(dsn: str, tmp_path: Path) -> None:
    fake = FakeLark(rate=RATE + 3, quota=QUOTA, token_uses=1000)  # the network may bunch requests
    for at in range(APPROVALS):
        fake.put(f"A-{at}", *(f"{each}-{at}.pdf" for each in "abc"))
    async with fake_lark(fake):
        own = {
            "lark_app_id": APP, "lark_app_secret": SECRET, "lark_encrypt_key": KEY, "lark_owner": "ann",
            "lark_url": fake.url, "lark_rate": str(RATE), "lark_daily_quota": str(QUOTA),
        }  # fmt: skip
        environment = {
            **{f"FOREBAY_ATTACHMENTS_{name.upper()}": value for name, value in own.items()},
            "FOREBAY_PIPELINES": "forebay.pipelines.attachments",
            "FOREBAY_DATABASE_URL": dsn,
            "FOREBAY_DATA_DIR": str(tmp_path),
            "FOREBAY_SANDBOX": "preferred",
        }
        from forebay.pipelines.attachments.settings import AttachmentsSettings
        from forebay.pipelines.attachments.steps import attachment_files, attachments

        package = AttachmentsSettings(**own)  # type: ignore[arg-type]
        async with (
            serving(dsn, attachments, attachment_files, packages=[package], data_dir=tmp_path) as service,
            _workers(2, environment) as workers,
        ):

            async def until_equal(question: str, count: int) -> None:
                while await service.admin.fetchval(question) != count:
                    assert [each.returncode for each in workers] == [None, None]
                    await asyncio.sleep(0.05)

            await until_equal(_WORKERS, 2)
            began = time.monotonic()
            async with service.client() as sender:
                for at in range(APPROVALS):
                    body, headers = signed(approval(f"A-{at}"))
                    answer = await sender.post("/api/attachments/hooks/lark", content=body, headers=headers)
                    assert answer.status_code == 200
            await until_equal(_USED, QUOTA)
            while len(fake.asked) < QUOTA:  # noqa: ASYNC110 - other processes send what was counted
                await asyncio.sleep(0.05)
            await until_equal(_STORED, sum(fake.served.values()))
            assert fake.wrong == []
            assert len(fake.asked) == sum(fake.served.values()) + fake.limited == QUOTA
            assert set(fake.served.values()) == {1}
            assert len(fake.issued) == 2  # both have fetched files, each with a token of its own
            # One start in each interval, and one that was not used before; two rates would take half as long.
            assert fake.asked[-1] - began >= (QUOTA - 2) / RATE
