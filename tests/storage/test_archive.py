"""Contents go into an archive and come back, whichever store they are in."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import asyncpg

from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.storage.archive import add_blobs, take_blobs
from tests.storage._help import ANN, BIG


async def test_contents_move_to_another_store(
    blobs: Blobs, conn: asyncpg.Connection[Any], settings: Settings, tmp_path: Any
) -> None:
    stored = [await blobs.put(data, owner_id=ANN, name="a", media_type="image/png") for data in (b"", b"small", BIG)]
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        copied = await add_blobs(archive, conn, blobs.store)
    assert (copied.blobs, copied.bytes, copied.missing) == (3, len(BIG) + 5, [])
    for target in (open_store(Settings(data_dir=tmp_path / "other")), blobs.store):
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            taken = await take_blobs(archive, archive.getmembers(), target)
        assert (taken.blobs, taken.bytes) == (3, len(BIG) + 5)
        moved = Blobs(blobs._pool, target)
        assert [await moved.read(each.sha256) for each in stored] == [b"", b"small", BIG]
