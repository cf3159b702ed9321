"""Uploads that break off leave no bytes on the disk, not even in files that have no name any more."""

from __future__ import annotations

import asyncio
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from forebay.engine.db import registry
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from tests.api._service import Service
from tests.api._streams import socketed
from tests.services.egress._world import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

_BLOCK = b"1,kettle,9.99\n" * 75_000  # about a mebibyte


def _held(folder: Path) -> int:
    """Bytes on the disk: of files below the folder, and of those without a name that this process has open."""
    held = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found = entry.stat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 and "memfd:" not in str(entry.readlink()):
                held += found.st_blocks * 512
    return held


@pytest.mark.parametrize("megabytes", [32, pytest.param(2000, marks=pytest.mark.soak)])
async def test_a_form_that_breaks_off(service: Service, megabytes: int) -> None:
    for pipeline in (sheets, sheet_intake):
        await registry.register(service.admin, pipeline.definition())
    folder = Path(service.app.state.settings.data_dir)
    before = _held(folder)
    head = (
        "POST /api/jobs HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {service.tokens['ann']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {2047 << 20}\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="pipeline"\r\n\r\nsheets\r\n'
        '--b\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n\r\n'
    )
    async with socketed(service) as live:
        there = urlsplit(live.url)
        reader, writer = await asyncio.open_connection(there.hostname, there.port)
        writer.write(head.encode())
        for _ in range(megabytes):
            writer.write(_BLOCK)
            await writer.drain()
        await until(lambda: _held(folder) - before > (megabytes << 20) // 2)  # else there would be nothing to leave
        writer.transport.abort()
        with suppress(ConnectionError):
            await reader.read()
        await until(lambda: _held(folder) - before < 1 << 20)
    assert await service.admin.fetchval("select count(*) from forebay.sheet") == 0
