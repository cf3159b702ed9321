"""Files that become blobs as they are, and partial files that wait for the next attempt."""

from __future__ import annotations

import hashlib
import os
import time
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from forebay.db.pool import Pool
from forebay.errors import DataError
from forebay.services.download.partial_file import open_partial
from forebay.settings import Settings
from forebay.storage import Blobs, Store, open_store
from forebay.storage.adopting import read_regular
from forebay.storage.local import LocalStore, _name
from tests.storage._help import ANN, BIG, BOB, keys, settle, spools

DAY = timedelta(days=1)


@pytest.mark.parametrize("data", [b"", b"small", BIG * 5], ids=["empty", "small", "parts"])
async def test_an_adopted_file_is_read_as_any(blobs: Blobs, pool: Pool, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "made"
    path.write_bytes(data)
    stored = await blobs.adopt(path, owner_id=ANN, name="a/b.mp4")
    await settle(pool, stored)
    assert (stored.sha256, stored.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (stored.name, stored.media_type) == ("b.mp4", "video/mp4")
    assert await blobs.read(stored.sha256) == data
    assert (path.exists(), spools(blobs.store)) == (False, [])


async def test_a_folder_store_takes_the_file_itself(pool: Pool, tmp_path: Path) -> None:
    """No byte is copied: it is the same file, by another name. A hash that is known is not computed again."""
    blobs = Blobs(pool, open_store(Settings(data_dir=tmp_path)))
    path = await blobs.partial_path(ANN, "x")
    path.write_bytes(BIG)
    path.chmod(0o644)
    before = path.stat()
    stored = await blobs.adopt(path, owner_id=ANN, name="x", sha256="ab" * 32)
    async with blobs.local(stored.sha256) as kept:
        after = kept.stat()
    assert (after.st_ino, after.st_nlink, after.st_mode & 0o777) == (before.st_ino, 1, 0o600)
    assert stored.sha256 == "ab" * 32


async def test_a_second_name_or_a_link_is_copied(pool: Pool, tmp_path: Path) -> None:
    """Whoever has the other name could change the blob."""
    blobs = Blobs(pool, open_store(Settings(data_dir=tmp_path / "data")))
    path, other = tmp_path / "made", tmp_path / "other"
    path.write_bytes(BIG)
    other.hardlink_to(path)
    stored = await blobs.adopt(path, owner_id=ANN, name="x", sha256="ab" * 32)
    other.write_bytes(b"changed")
    assert await blobs.read(stored.sha256) == BIG
    assert stored.sha256 == hashlib.sha256(BIG).hexdigest()


async def test_the_same_content_is_stored_once(blobs: Blobs, pool: Pool, tmp_path: Path) -> None:
    for owner in (ANN, BOB):
        path = tmp_path / f"of-{owner}"
        path.write_bytes(BIG)
        await settle(pool, await blobs.adopt(path, owner_id=owner, name="x"))
        assert not path.exists()
    assert len(await keys(blobs.store)) == 1


async def test_one_that_is_too_large_stays(blobs: Blobs, tmp_path: Path) -> None:
    path = tmp_path / "made"
    path.write_bytes(b"12345")
    with pytest.raises(DataError, match=r"^has more than 4 bytes, the maximum$"):
        await blobs.adopt(path, owner_id=ANN, name="x", max_bytes=4)
    assert path.read_bytes() == b"12345"


def test_a_file_on_another_disk_is_copied(tmp_path: Path) -> None:
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or shared_memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has no second file system to write to")
    with NamedTemporaryFile(dir=shared_memory) as made:
        made.write(b"content")
        made.flush()
        store = LocalStore(tmp_path / "blobs")
        _name(Path(made.name), store.folder / "ab" / "cd", store.spool)
    assert (store.folder / "ab" / "cd").read_bytes() == b"content"
    assert spools(store) == []


def _age(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (0, time.time() - 2 * 86400))


async def test_partial_files_go_when_nobody_continues_them(blobs: Blobs, store: Store) -> None:
    old, fresh, held = [await blobs.partial_path(owner, "1-1-download") for owner in (ANN, BOB, 3)]
    for path in (old, fresh, held):
        async with open_partial(path) as partial:
            await partial.begin("v", None)
            await partial.append(b"begun")
    journals = [path.with_name(f"{path.name}.json") for path in (old, fresh, held)]
    stray = old.with_name("0" * 40 + ".json")
    stray.write_text("{}")
    _age(old, held, stray, *journals)
    async with open_partial(held) as partial:
        _age(held)
        assert await store.tidy(DAY) == 1
        assert partial.size == 5
    left = sorted(each for each in store.spool.rglob("*") if each.is_file())
    assert left == sorted([fresh, held, journals[1], journals[2]])
    assert await store.tidy(DAY) == 1  # nobody has it open any more


async def test_partial_files_are_private_and_their_names_tell_nothing(blobs: Blobs) -> None:
    path = await blobs.partial_path(ANN, "../../etc/passwd")
    assert path.parent == blobs.store.spool / "partial" / str(ANN)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path == await blobs.partial_path(ANN, "../../etc/passwd") != await blobs.partial_path(ANN, "b")


async def test_only_regular_files_are_adopted(blobs: Blobs, tmp_path: Path) -> None:
    """Programs that nobody trusts make them: a link would show what is behind it, a pipe would hang."""
    (tmp_path / "secret").write_bytes(b"of bob")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(DataError, match="is not a regular file and cannot be stored"):
            await blobs.adopt(tmp_path / name, owner_id=ANN, name="x")
    with pytest.raises(DataError, match="is not a regular file"):
        _ = [block async for block in read_regular(tmp_path / "pipe")]
    with pytest.raises(OSError, match="symbolic links"):
        _ = [block async for block in read_regular(tmp_path / "link")]
