"""kill -9 in the middle of a put or of cleaning, a full disk, a large file: nothing lost, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.db.pool import Pool
from forebay.settings import Settings
from forebay.storage import Blobs, Store, clean
from tests.storage._help import ANN, BIG, keys, settle, spools

ROOT = Path(__file__).parents[2]
LATER = datetime.now(UTC) + timedelta(days=2)


def _plain(settings: Settings) -> dict[str, Any]:
    """Settings as another process can be told them."""
    given = settings.model_dump(include=settings.model_fields_set)
    return {
        name: value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)
        for name, value in given.items()
    }


def _killed(dsn: str, settings: Settings, stop: str, adopted: Path | None = None) -> None:
    """Run a child until it has come so far, and kill it there."""
    path = None if adopted is None else str(adopted)
    told = json.dumps({"dsn": dsn, "settings": _plain(settings), "stop": stop, "adopted": path})
    command = [sys.executable, "-m", "tests.storage._child", told]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "reached\n"
        finally:
            child.kill()


@pytest.mark.parametrize("stop", ["source", "put before", "put after"])
async def test_a_put_that_is_killed_costs_nothing(
    blobs: Blobs, pool: Pool, store: Store, settings: Settings, dsn: str, conn: asyncpg.Connection[Any], stop: str
) -> None:
    _killed(dsn, settings, stop)
    assert await conn.fetchval("select count(*) from forebay.blob where stored_at is not null") == 0
    assert len(spools(store)) == 1
    stored = await blobs.put(BIG, owner_id=ANN, name="x")
    await settle(pool, stored)
    assert await blobs.read(stored.sha256) == BIG
    _age_spools(store)
    assert await clean(pool, store, now=LATER) == 0
    assert (len(await keys(store)), spools(store)) == (1, [])


@pytest.mark.parametrize("stop", ["put before", "put after"])
async def test_what_a_killed_put_has_uploaded_is_cleaned_away(
    pool: Pool, store: Store, settings: Settings, dsn: str, conn: asyncpg.Connection[Any], stop: str
) -> None:
    _killed(dsn, settings, stop)
    assert len(await keys(store)) == (stop == "put after")
    assert await clean(pool, store) == 0
    assert await clean(pool, store, now=LATER) == 1
    assert await keys(store) == []
    assert await conn.fetchval("select (select count(*) from forebay.blob) + (select count(*) from forebay.waste)") == 0


@pytest.mark.parametrize("stop", ["put before", "put after"])
async def test_a_file_that_was_being_adopted_is_adopted_by_the_next(
    blobs: Blobs, pool: Pool, store: Store, settings: Settings, dsn: str, stop: str
) -> None:
    path = await blobs.partial_path(ANN, "1-1-download")
    path.write_bytes(BIG)
    _killed(dsn, settings, stop, path)
    assert path.read_bytes() == BIG
    stored = await blobs.adopt(path, owner_id=ANN, name="x")
    await settle(pool, stored)
    assert await blobs.read(stored.sha256) == BIG
    assert not path.exists()
    assert await clean(pool, store, now=LATER) == 0
    assert len(await keys(store)) == 1


@pytest.mark.parametrize("stop", ["delete before", "delete after"])
async def test_cleaning_that_is_killed_is_finished_by_the_next(
    blobs: Blobs, pool: Pool, store: Store, settings: Settings, dsn: str, stop: str
) -> None:
    await blobs.put(b"loose", owner_id=ANN, name="x")
    kept = await blobs.put(b"kept", owner_id=ANN, name="x")
    await settle(pool, kept)
    _killed(dsn, settings, stop)
    again = await blobs.put(b"loose", owner_id=ANN, name="x")
    await settle(pool, again)
    assert await clean(pool, store, now=LATER) == 1
    assert len(await keys(store)) == 2
    assert (await blobs.read(kept.sha256), await blobs.read(again.sha256)) == (b"kept", b"loose")


def _age_spools(store: Store) -> None:
    for file in store.spool.iterdir():
        os.utime(file, (0, time.time() - 2 * 86400))


# A disk of two megabytes, which only this process and its children see.
_ON_A_SMALL_DISK = """
mount -t tmpfs -o size=2m none {folder} && exec {python} -c '
import asyncio, os
from pathlib import Path
from forebay.storage.local import LocalStore
from forebay.storage.spool import spooled
from forebay.errors import ResourceError

async def main():
    store = LocalStore(Path("{folder}"))
    async def put(size):
        async with spooled(os.urandom(size), store.spool) as spool:
            await store.put(f"ab/{{size}}", spool, "text/plain")
    await put(1_000_000)
    for size in (900_000, 5_000_000):
        try:
            await put(size)
            await put(size + 1)
        except ResourceError as error:
            print(error)
    print(sorted(str(each.relative_to(store.folder)) for each in store.folder.rglob("*") if each.is_file()))

asyncio.run(main())
'
"""


def test_a_full_disk_is_told_as_such_and_leaves_nothing(tmp_path: Path) -> None:
    apart = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*apart, "mount", "-t", "tmpfs", "none", tmp_path], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    script = _ON_A_SMALL_DISK.format(folder=tmp_path, python=sys.executable)
    done = subprocess.run([*apart, "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"cannot write to {tmp_path}/.spool: No space left on device",
        f"cannot write to {tmp_path}/.spool: No space left on device",
        "['ab/1000000', 'ab/900000']",
    ]


_LARGE = """
import asyncio, json, resource, sys
from pathlib import Path
from forebay.db.pool import open_pool
from forebay.settings import Settings
from forebay.storage import Blobs, open_store

async def source(megabytes):
    for n in range(megabytes):
        yield n.to_bytes(4, "big") * (1 << 18)

async def main(dsn, settings):
    async with await open_pool(dsn, size=2, name="forebay tests") as pool:
        blobs = Blobs(pool, open_store(Settings(**settings)))
        await blobs.put(source(20), owner_id=1, name="x")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        stored = await blobs.put(source(300), owner_id=1, name="x")
        size = 0
        async for chunk in await blobs.open(stored.sha256):
            size += len(chunk)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(json.dumps({"size": size, "grown_mb": grown >> 10}))

asyncio.run(main(**json.loads(sys.argv[1])))
"""


def test_memory_does_not_grow_with_the_file(settings: Settings, dsn: str) -> None:
    told = json.dumps({"dsn": dsn, "settings": _plain(settings)})
    done = subprocess.run([sys.executable, "-c", _LARGE, told], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["size"] == 300 << 20
    assert answer["grown_mb"] < 100
