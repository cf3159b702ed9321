"""Ending during or right after a call of the store: the process ends as it should, a cancelled upload stops."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.storage import open_store
from forebay.storage import store as store_module
from forebay.storage.spool import spooled
from forebay.storage.store import PART
from tests.storage._help import keys
from tests.storage._s3 import S3
from tests.storage.conftest import s3_settings

SOURCE = Path(__file__).parents[2] / "src"

_READ = """
import asyncio, json, sys
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.storage.spool import spooled

async def main(settings):
    store = open_store(Settings(**settings))
    async with spooled(b"x" * 1_000_000, store.spool) as content:
        await store.put("some", content, "text/plain")
    async for chunk in await store.open("some"):
        pass

sys.setswitchinterval(10)  # no thread gets a turn that this one does not give away
asyncio.run(main(json.loads(sys.argv[1])))
"""


def test_a_process_that_ends_right_after_a_read_ends_well(tmp_path: Path) -> None:
    """Several at once: with the asynchronous functions of obstore, mostly one of them was aborted."""
    command = [sys.executable, "-c", _READ, json.dumps({"data_dir": str(tmp_path)})]
    children = [subprocess.Popen(command) for _ in range(8)]
    assert [child.wait() for child in children] == [0] * 8


def test_nothing_calls_the_asynchronous_functions_of_object_stores() -> None:
    named = re.compile(r"\b(?:put|get|get_range|get_ranges|head|delete|copy|rename|sign|open_reader)_async\(")
    found = [str(file) for file in SOURCE.rglob("*.py") if named.search(file.read_text())]
    assert found == []


async def test_a_cancelled_upload_stops_at_its_next_part(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder gets a file by its name; only a bucket gets it in parts."""
    store = open_store(s3_settings(s3, tmp_path))
    begun, cancelled, ended, parts = threading.Event(), threading.Event(), threading.Event(), 0
    real = store_module._parts

    def counted(content: bytes | Path, stopped: threading.Event) -> Iterator[bytes]:
        nonlocal parts
        try:
            for part in real(content, stopped):
                parts += 1
                yield part
                begun.set()
                cancelled.wait(60)
        finally:
            ended.set()

    monkeypatch.setattr(store_module, "_parts", counted)
    async with spooled(b"0" * (6 * PART), store.spool) as content:
        upload = asyncio.create_task(store.put("large", content, "text/plain"))
        assert await asyncio.to_thread(begun.wait, 60)
        upload.cancel()
        with pytest.raises(asyncio.CancelledError):
            await upload
    cancelled.set()
    assert await asyncio.to_thread(ended.wait, 60)
    assert parts == 1
    assert await keys(store) == []
