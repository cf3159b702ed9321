"""Many approvals with every fault, and workers that are killed in the middle."""

# demands: S3-07

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections import deque
from pathlib import Path

import pytest

from tests.api._service import serving
from tests.pipelines.attachments._fake_lark import APP, SECRET, FakeLark, fake_lark
from tests.pipelines.attachments._world import KEY, approval, signed
from tests.pipelines.attachments.test_faults import PLANS

_OPEN = "select count(*) from forebay.attachment_instance where voucher = 'WAITING'"


async def _worker(environment: dict[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "forebay", "worker", env=os.environ | environment, stdout=DEVNULL, stderr=DEVNULL
    )


@pytest.mark.soak
@pytest.mark.parametrize("approvals", [30, 1000])
async def test_killed_workers_lose_and_repeat_nothing(dsn: str, tmp_path: Path, approvals: int) -> None:
    fake = FakeLark(rate=1000, quota=100_000, token_uses=200, clock=time.monotonic)
    expected: dict[str, str] = {}
    for at in range(approvals):
        names = [f"{each}-{at}.pdf" for each in "abc"]
        fake.put(f"A-{at}", *names, size=400_000 if at % 10 == 0 else 3000)
        for which, name in enumerate(names):
            faults, end = PLANS[(at * 3 + which) % len(PLANS)]
            fake.faults[f"A-{at}/{name}"] = deque(faults)
            expected[name] = end
    async with fake_lark(fake):
        own = {
            "lark_app_id": APP, "lark_app_secret": SECRET, "lark_encrypt_key": KEY, "lark_owner": "ann",
            "lark_url": fake.url, "lark_rate": "400", "lark_daily_quota": "100000",
        }  # fmt: skip
        environment = {
            **{f"FOREBAY_ATTACHMENTS_{name.upper()}": value for name, value in own.items()},
            "FOREBAY_DATABASE_URL": dsn,
            "FOREBAY_DATA_DIR": str(tmp_path),
            "FOREBAY_SANDBOX": "preferred",
            "FOREBAY_LEASE_FLOOR_S": "5",
        }
        from forebay.pipelines.attachments.settings import AttachmentsSettings
        from forebay.pipelines.attachments.steps import attachment_files, attachments

        package = AttachmentsSettings(**own)  # type: ignore[arg-type]
        async with serving(dsn, attachments, attachment_files, packages=[package], data_dir=tmp_path) as service:
            worker = await _worker(environment)
            try:
                async with service.client() as sender:
                    for at in range(approvals):
                        for _ in range(2 if at % 7 == 0 else 1):
                            body, headers = signed(approval(f"A-{at}"))
                            answer = await sender.post("/api/attachments/hooks/lark", content=body, headers=headers)
                            assert answer.status_code == 200
                kills = 0
                while (left := await service.admin.fetchval(_OPEN)) > 0:
                    if kills < 3 and left < approvals * (3 - kills) / 4:
                        worker.send_signal(signal.SIGKILL)
                        await worker.wait()
                        kills += 1
                        worker = await _worker(environment)
                    await asyncio.sleep(0.2)
            finally:
                worker.kill()
                await worker.wait()
            rows = await service.admin.fetch("select name, status, error from forebay.attachment")
            found = {row["name"]: row["status"] for row in rows}
            assert len(rows) == 3 * approvals
            # A kill may come between a fault and its row, so that a file that should fail gets one try more.
            assert [name for name, end in expected.items() if end == "DOWNLOADED" and found[name] != end] == []
            assert fake.wrong == []
            files = await service.admin.fetchval("select count(*) from forebay.file")
            assert files == list(found.values()).count("DOWNLOADED") + approvals
            used = await service.admin.fetchval("select sum(used) from forebay.attachment_quota")
            assert used >= len(fake.asked)
